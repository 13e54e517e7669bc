package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"fatview/internal/plain"
)

// clean makes text from a file safe to draw. Beyond plain.Text it writes out
// the characters whose width terminals disagree about (variation selectors,
// flags, skin tones), so that what we count is what is shown.
func clean(s string) string {
	s = plain.Text(s)
	for i := 0; i < len(s); i++ {
		if s[i] >= 0xEF {
			return writeOut(s)
		}
	}
	return s
}

func writeOut(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 0xFE00 && r <= 0xFE0F || r >= 0x1F1E6 && r <= 0x1F1FF || r >= 0x1F3FB && r <= 0x1F3FF || r >= 0xE0100 && r <= 0xE01EF {
			b.WriteString(`\u{`)
			const hex = "0123456789abcdef"
			for shift := 16; shift >= 0; shift -= 4 {
				b.WriteByte(hex[r>>shift&15])
			}
			b.WriteByte('}')
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cleanTo is clean for text of any length of which at most w columns are
// wanted: it looks at no more bytes than can matter.
func cleanTo(s string, w int) string {
	if most := 8*w + 64; len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		return clean(s[:most]) + "…"
	}
	return clean(s)
}

// width is the number of columns of a clean text.
func width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// cut shortens a clean text to w columns, with an ellipsis for what is gone.
func cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// cutMiddle keeps both ends of a clean text, for paths.
func cutMiddle(s string, w int) string {
	n := width(s)
	if n <= w {
		return s
	}
	if w < 8 {
		return cut(s, w)
	}
	head := (w - 1) / 3
	return ansi.Truncate(s, head, "") + "…" + ansi.TruncateLeft(s, n-(w-1-head), "")
}

// wrap breaks a clean text into lines of at most w columns: at spaces, and
// inside of words that are longer than a line, after a mark where one is near.
func wrap(s string, w int) []string {
	if w < 1 {
		return nil
	}
	if width(s) <= w {
		return []string{s}
	}
	var lines []string
	var b strings.Builder
	left := w
	flush := func() {
		lines = append(lines, strings.TrimRight(b.String(), " "))
		b.Reset()
		left = w
	}
	for i, word := range strings.Split(s, " ") {
		n := width(word)
		if i > 0 && left > 0 && left < w {
			if n+1 > left && n <= w || left < 8 && n > left {
				flush()
			} else {
				b.WriteByte(' ')
				left--
			}
		} else if i > 0 && left == 0 {
			flush()
		}
		for n > left {
			head := breakable(word, left)
			b.WriteString(head)
			word = word[len(head):]
			n = width(word)
			flush()
		}
		b.WriteString(word)
		left -= n
	}
	if b.Len() > 0 {
		flush()
	}
	return lines
}

// breakable returns the beginning of a word that fills at most w columns, up
// to the last mark in its second half if there is one.
func breakable(word string, w int) string {
	head := ansi.Truncate(word, w, "")
	if head == "" { // a wide character on one column
		_, n := utf8.DecodeRuneInString(word)
		return word[:n]
	}
	for i := len(head); i > len(head)/2; i-- {
		if c := head[i-1]; c == ',' || c == ':' || c == '<' || c == '/' || c == '\\' {
			return head[:i]
		}
	}
	return head
}

// A seg is a piece of a line in one paint. Its text is clean.
type seg struct {
	text  string
	paint paint
}

// A line is drawn from left to right and never grows beyond its width.
type line struct {
	b    strings.Builder
	left int
	over *paint // instead of every piece's own, for the row under the cursor
}

func newLine(w int) *line { return &line{left: max(w, 0)} }

// put adds a clean text, cut to what is left.
func (l *line) put(p paint, s string) {
	if l.left == 0 || s == "" {
		return
	}
	n := width(s)
	if n > l.left {
		s = cut(s, l.left)
		s += spaces(l.left - width(s)) // a wide character may leave a column
		n = l.left
	}
	l.left -= n
	if l.over != nil {
		p = *l.over
	}
	l.b.WriteString(p.on)
	l.b.WriteString(s)
	l.b.WriteString(p.off)
}

const blanks = "                                                                                                                                                                                                                                                                "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// space adds n blanks.
func (l *line) space(n int) { l.put(paint{}, spaces(min(n, l.left))) }

// String fills the line up to its width.
func (l *line) String() string {
	l.space(l.left)
	return l.b.String()
}

// fill draws segments on a line of exactly w columns.
func fill(w int, segs ...seg) string {
	l := newLine(w)
	for _, s := range segs {
		l.put(s.paint, s.text)
	}
	return l.String()
}

func segsWidth(segs []seg) int {
	n := 0
	for _, s := range segs {
		n += width(s.text)
	}
	return n
}

// ends draws left segments and, at the right end, right ones. The left gives
// way.
func ends(w int, left, right []seg) string {
	r := segsWidth(right)
	if r > w {
		right, r = nil, 0
	}
	l := newLine(w - r)
	for _, s := range left {
		l.put(s.paint, s.text)
	}
	return l.String() + fill(r, right...)
}

// cutLeft keeps the last w columns of a clean text.
func cutLeft(s string, w int) string {
	if n := width(s); n > w {
		return ansi.TruncateLeft(s, n-w, "")
	}
	return s
}
