package gpu

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxName = 128

// sanitize makes text from a driver or a program fit to show: names come from
// firmware, from wrappers and from whatever calls itself nvidia-smi, so control
// characters, direction marks and bytes that are no UTF-8 go, and at most 128
// runes stay.
func sanitize(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			continue
		}
		if n == maxName {
			break
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}

// clip shortens what a user typed for an error message, which quotes it.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= 60 {
		return s
	}
	return string([]rune(s)[:59]) + "…"
}
