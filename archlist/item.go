package archlist

import (
	"errors"
	"fmt"
	"strings"

	"fatview/arch"
	"fatview/gpu"
)

// Bounds of what is read: the longest real list has some 2 KiB, a
// Makefile.config 6 KiB.
const (
	maxList  = 64 << 10
	maxItems = 1000
)

// An ItemError says which item of a list its reader would refuse, and how to
// write it.
type ItemError struct {
	Syntax  Syntax
	Item    string // shortened if long
	Index   int    // 1 is the first
	Offset  int    // in bytes, in the list as it was given
	Problem string
	Write   string // a way to write it
}

func (e *ItemError) Error() string {
	s := fmt.Sprintf("%s: item %d, %q (position %d): %s", e.Syntax.Title(), e.Index, e.Item, e.Offset+1, e.Problem)
	if e.Write != "" {
		s += ": write " + e.Write
	}
	return s
}

// item is one entry of a list, with its place.
type item struct {
	text          string
	index, offset int
}

func (b *builder) fail(it item, problem, write string) error {
	return &ItemError{Syntax: b.plan.Syntax, Item: clip(it.text), Index: it.index, Offset: it.offset, Problem: clipTo(problem, 400), Write: clipTo(write, 400)}
}

// clip shortens what an error quotes.
func clip(s string) string { return clipTo(s, 60) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

const blanks = " \t\r\n"

// split cuts a list at any of the separators and leaves out empty items.
func split(v value, seps string) ([]item, error) {
	var out []item
	start := -1
	for i := 0; i <= len(v.text); i++ {
		if i < len(v.text) && strings.IndexByte(seps, v.text[i]) < 0 {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			out = append(out, item{v.text[start:i], len(out) + 1, v.offset + start})
			start = -1
		}
	}
	switch {
	case len(out) == 0:
		return nil, errEmpty
	case len(out) > maxItems:
		return nil, fmt.Errorf("the list has more than %d items", maxItems)
	}
	return out, nil
}

var errEmpty = errors.New("the list is empty: write an architecture, such as 8.0 for PyTorch or 80 for CMake")

// dotted reads 8.6 or 9.0a.
func dotted(s string) (arch.Arch, bool) {
	major, minor, ok := strings.Cut(s, ".")
	if !ok || !digit(major) || !digit(minor) || len(minor) > 1 && digit(minor[1:]) {
		return arch.Arch{}, false
	}
	return number(major + minor)
}

func digit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// number reads 86, 90a or 120f.
func number(s string) (arch.Arch, bool) {
	digits := strings.TrimRight(s, "af")
	if len(s)-len(digits) > 1 || len(digits) < 2 || len(digits) > 3 || digits[0] == '0' {
		return arch.Arch{}, false
	}
	n := 0
	for _, r := range digits {
		if r < '0' || r > '9' {
			return arch.Arch{}, false
		}
		n = 10*n + int(r-'0')
	}
	var suffix byte
	if len(s) > len(digits) {
		suffix = s[len(digits)]
	}
	return arch.New(n, suffix), true
}

// prefixed reads sm_90a after its prefix.
func prefixed(s, prefix string) (arch.Arch, bool) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return arch.Arch{}, false
	}
	return number(rest)
}

// dottedName returns 9.0a.
func dottedName(a arch.Arch) string {
	s := a.CC.String()
	if a.Suffix != 0 {
		s += string(rune(a.Suffix))
	}
	return s
}

func plain(a arch.Arch) arch.Arch { return arch.Arch{CC: a.CC} }

// made checks that an architecture exists. One that is newer than the tables
// passes with a note, because toolkits come out faster than this program.
func (b *builder) made(it item, a arch.Arch) error {
	if _, ok := gpu.ArchFor(a); ok {
		return nil
	}
	all := gpu.Archs()
	if newest := all[len(all)-1].Arch; newest.CC < a.CC {
		b.note("%s is newer than the tables of this program: what is said of it follows the general rules", a.SASS())
		return nil
	}
	if _, ok := gpu.ArchFor(plain(a)); ok {
		return b.fail(it, fmt.Sprintf("%s has no form with the suffix %c", a.CC, a.Suffix), b.spell(plain(a)))
	}
	below, above := arch.Arch{}, arch.Arch{}
	for _, info := range all {
		switch {
		case info.Arch.Suffix != 0:
		case info.Arch.CC < a.CC:
			below = info.Arch
		case above == arch.Arch{}:
			above = info.Arch
		}
	}
	near := b.spell(above)
	if below.CC != 0 {
		near = b.spell(below) + " or " + near
	}
	return b.fail(it, "there is no such architecture", near)
}

// spell writes an architecture as the grammar has it.
func (b *builder) spell(a arch.Arch) string {
	switch b.plan.Syntax {
	case PyTorch, FindCUDA:
		return dottedName(a)
	case CMake, ONNXRuntime, LlamaCpp:
		return a.Name()
	}
	return a.SASS()
}
