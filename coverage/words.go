package coverage

import (
	"strconv"
	"strings"
)

// list joins names as in a sentence: "a, b and c".
func list(items []string) string { return join(items, " and ") }

// clauses joins what may hold commas itself: "a, b, and c".
func clauses(items []string) string { return join(items, ", and ") }

func join(items []string, last string) string {
	n := len(items)
	if n < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:n-1], ", ") + last + items[n-1]
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func counted(n, of int, noun string) string {
	return Number(n) + " of " + Number(of) + " " + noun + plural(of, "", "s")
}

func quantity(n int, noun string) string { return Number(n) + " " + noun + plural(n, "", "s") }

// Number writes n with commas between thousands.
func Number(n int) string {
	s := strconv.Itoa(n)
	if n < 0 {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
