package fatbin

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// maxMangled bounds the names that are demangled, in bytes. Templates of the
// CUTLASS kind reach a few kilobytes. Time grows with the square of the length
// on hostile names: a tenth of a second at this one.
const maxMangled = 4 << 10

// FullName returns the demangled form of a kernel's name with its parameters,
// or the name itself where it is not mangled.
func FullName(name string) string { return demangled(name) }

// ShortName returns the demangled name without parameters and return type,
// and with template arguments deeper than the first level left out.
func ShortName(name string) string {
	s := demangled(name, demangle.NoParams)
	if s == name {
		return name // of C, or of nothing that fatview knows
	}
	if s = foldTemplates(dropReturnType(s)); s == "" {
		return name
	}
	return s
}

// FamilyName returns the short name without any template arguments: what the
// instances of one template have in common.
func FamilyName(name string) string {
	s := demangled(name, demangle.NoParams)
	if s == name {
		return name
	}
	if s = strings.TrimRight(dropTemplates(dropReturnType(s)), " "); s == "" {
		return name
	}
	return s
}

// demangled leaves out clone suffixes and cuts the result at 64 KiB.
func demangled(name string, options ...demangle.Option) string {
	if len(name) > maxMangled || !strings.HasPrefix(name, "_Z") || packCost(name) > maxPackCost {
		return name
	}
	options = append(options, demangle.NoClones, demangle.LLVMStyle, demangle.MaxLength(16))
	s, err := demangle.ToString(name, options...)
	if err != nil {
		return name
	}
	return s
}

// dropReturnType removes what stands before the last space outside of
// brackets: templates carry their return type in the mangled name. The name of
// an operator may have spaces of its own, and so may qualifiers.
func dropReturnType(s string) string {
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<', '(', '[', '{':
			depth++
		case '>', ')', ']', '}':
			depth--
		case ' ':
			if depth == 0 && !strings.HasPrefix(s[i:], " const") && !strings.HasPrefix(s[i:], " volatile") {
				start = i + 1
			}
		case 'o':
			if depth == 0 && isOperator(s, i) {
				return s[start:]
			}
		}
	}
	return s[start:]
}

// isOperator reports whether the word operator stands at offset i of s.
func isOperator(s string, i int) bool {
	const word = "operator"
	if !strings.HasPrefix(s[i:], word) || i > 0 && s[i-1] != ':' && s[i-1] != ' ' {
		return false
	}
	end := i + len(word)
	return end < len(s) && s[end] != '_' && s[end] != ':' && !isAlphanumeric(s[end])
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// foldTemplates replaces template arguments inside of template arguments by
// an ellipsis: f<A<B<C>>, D> becomes f<A<…>, D>.
func foldTemplates(s string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == 'o' && isOperator(s, i):
			// The brackets of operator<< and its like are no templates.
			n := len("operator")
			for i+n < len(s) && strings.IndexByte("<>=-", s[i+n]) >= 0 {
				n++
			}
			if depth < 2 {
				b.WriteString(s[i : i+n])
			}
			i += n - 1
			continue
		case c == '<':
			if depth++; depth == 2 {
				b.WriteString("<…>")
			}
		case c == '>' && i > 0 && s[i-1] == '-':
		case c == '>':
			if depth = max(0, depth-1); depth >= 1 {
				continue
			}
		}
		if depth < 2 {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// dropTemplates leaves out template arguments.
func dropTemplates(s string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == 'o' && isOperator(s, i):
			n := len("operator")
			for i+n < len(s) && strings.IndexByte("<>=-", s[i+n]) >= 0 {
				n++
			}
			if depth == 0 {
				b.WriteString(s[i : i+n])
			}
			i += n - 1
		case c == '<':
			depth++
		case c == '>' && i > 0 && s[i-1] == '-' && depth > 0:
		case c == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// maxPackCost bounds packCost: half a second on the worst names.
const maxPackCost = 250_000

// packCost bounds what expanding a name's parameter packs costs. The demangler
// copies the whole pack for each of its elements, for each expansion, whatever
// its output is limited to: 4,000 elements, in 4 KiB of name, take an hour.
func packCost(name string) int {
	longest := len(name) - max(0, strings.IndexByte(name, 'J'))
	return strings.Count(name, "Dp") * longest * longest
}
