package ui

import (
	"strings"

	"fatview/coverage"
)

// A detLine is a line of the details.
type detLine []seg

func (l detLine) text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// A teller collects lines of a width.
type teller struct {
	w     int
	th    *theme
	lines []detLine
}

func (t *teller) add(segs ...seg) { t.lines = append(t.lines, segs) }
func (t *teller) gap() {
	if n := len(t.lines); n > 0 && len(t.lines[n-1]) > 0 {
		t.lines = append(t.lines, nil)
	}
}

// para adds a wrapped text. Texts of strangers are cut to a length that can be
// read.
func (t *teller) para(p paint, text string) { t.indented("", p, text) }

func (t *teller) indented(by string, p paint, text string) {
	if text == "" {
		return
	}
	const longest = 6000
	text = cutBytes(text, longest)
	for _, l := range wrap(text, max(8, t.w-width(by))) {
		t.add(seg{by, paint{}}, seg{l, p})
	}
}

func (t *teller) title(text string) {
	t.gap()
	t.add(seg{text, t.th.title})
}

// field adds "name   value", the value wrapped beside the name.
const fieldWidth = 13

func (t *teller) field(name, value string) {
	if value == "" {
		return
	}
	lines := wrap(cutBytes(value, 6000), max(12, t.w-fieldWidth))
	for i, l := range lines {
		if i > 0 {
			name = ""
		}
		t.add(seg{pad(cut(name, fieldWidth-1), fieldWidth), t.th.dim}, seg{l, paint{}})
	}
}

func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "… (" + coverage.Number(len(s)) + " bytes)"
}

// safe makes text of a stranger fit to tell: cut before it is cleaned.
func (t *teller) safe(s string) string {
	const longest = 4000
	if len(s) <= longest {
		return clean(s)
	}
	return clean(strings.ToValidUTF8(s[:longest], "")) + "… (" + coverage.Number(len(s)) + " bytes)"
}

// sentence makes a clause of the rules into a sentence. Names of architectures
// keep their small letter.
func sentence(s string) string {
	s = strings.TrimSuffix(clean(s), ".")
	if s == "" {
		return ""
	}
	if strings.HasPrefix(s, "sm_") || strings.HasPrefix(s, "compute_") {
		return s + "."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
