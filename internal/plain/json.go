package plain

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a writer for the output of a JSON encoder, which it must get in
// whole writes, as encoding/json does it: every character that a terminal could
// act on becomes an escape.
func JSON(w io.Writer) io.Writer { return escaper{w} }

// escaper writes control and format characters as \uXXXX. They can occur in
// JSON inside of strings only, where that means the same. The encoder writes a
// value in one piece, so no character is split.
type escaper struct{ w io.Writer }

func (x escaper) Write(b []byte) (int, error) {
	start := 0
	for i := 0; i < len(b); {
		if b[i] < 0x7F {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if Hostile(r) {
			if _, err := x.w.Write(b[start:i]); err != nil {
				return 0, err
			}
			var u []byte
			for _, unit := range utf16.Encode([]rune{r}) {
				u = fmt.Appendf(u, "\\u%04x", unit)
			}
			if _, err := x.w.Write(u); err != nil {
				return 0, err
			}
			start = i + n
		}
		i += n
	}
	if _, err := x.w.Write(b[start:]); err != nil {
		return 0, err
	}
	return len(b), nil
}
