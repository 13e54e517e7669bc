// Package plain makes text that came from a file safe to show. Kernel names,
// section names and paths are data from strangers: they may hold escape
// sequences that drive a terminal, bidirectional controls that reorder a line,
// or Markdown that changes a document.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s with everything that a terminal could act on written out as
// an escape: control characters, bidirectional and zero-width formatting,
// line separators and bytes that are not UTF-8. Ordinary text is returned as
// it is.
func Text(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Hostile(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case Hostile(r) && r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		case Hostile(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7F {
			return plainRunes(s)
		}
	}
	return true
}

func plainRunes(s string) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 || Hostile(r) {
			return false
		}
		i += n
	}
	return true
}

// Hostile reports whether a rune can do more than be seen. Category Cf holds
// the bidirectional and zero-width controls.
func Hostile(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u2028' || r == '\u2029' || r == '\u115f' || r == '\u1160' || r == '\u3164'
}

// Markdown returns s as text that no Markdown reader takes for markup, fit for
// a table cell. It escapes the punctuation that begins markup and leaves the
// rest, so that ordinary names stay readable in the source.
func Markdown(s string) string {
	s = Text(s)
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '>':
			b.WriteString("&gt;")
			continue
		case r == '&':
			b.WriteString("&amp;")
			continue
		case r == '@':
			b.WriteString("&#64;") // no mention of a person
			continue
		case strings.ContainsRune("\\`*_{}[]#!|~$", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// HTML returns s as text inside of an HTML element that stands in Markdown:
// every punctuation character that either could take for markup is an entity.
func HTML(s string) string {
	var b strings.Builder
	for _, r := range Text(s) {
		if r < 0x80 && strings.ContainsRune("&<>\"'`*_[]|\\~@$!#{}", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Cut shortens s to at most n runes, with an ellipsis for what is gone.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count == n-1 {
			if utf8.RuneCountInString(s[i:]) <= 1 {
				return s
			}
			return s[:i] + "…"
		}
		count++
	}
	return s
}
