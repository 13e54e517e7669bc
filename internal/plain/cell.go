package plain

import (
	"strings"
	"unicode/utf8"
)

// Cell returns s as the text of a cell of a table that a spreadsheet may open:
// made safe as by Text, and with an apostrophe before what a spreadsheet would
// take for a formula, that is before = + - @, a tab or a carriage return at the
// beginning. The list is that of OWASP's page on CSV injection. The wide forms of
// the signs count too, because some spreadsheets read them as the narrow ones.
func Cell(s string) string {
	t := Text(s)
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", first) {
		return "'" + t
	}
	return t
}

// Width returns how many columns of a terminal s takes at most: characters
// that some terminals draw two columns wide count as two.
func Width(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth counts everything from the Hangul Jamo on as wide, except for the
// punctuation, arrows and signs of U+2000 to U+2BFF.
func runeWidth(r rune) int {
	if r < 0x1100 || r >= 0x2000 && r < 0x2C00 {
		return 1
	}
	return 2
}

// Fit shortens s to at most so many columns, with an ellipsis for what is gone.
func Fit(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	if len(s) <= columns || Width(s) <= columns {
		return s
	}
	used := 0
	for i, r := range s {
		if used += runeWidth(r); used > columns-1 {
			return s[:i] + "…"
		}
	}
	return s
}
