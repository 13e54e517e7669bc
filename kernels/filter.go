package kernels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fatview/arch"
	"fatview/fatbin"
)

// A Filter says which kernels are listed: those that pass all of its parts.
// The zero value lets everything through.
type Filter struct {
	Archs      []Arch
	Name       string // part of the name, mangled or not; case does not matter
	Registers  Bounds
	Containers []int
}

// Empty reports whether the filter lets everything through.
func (f Filter) Empty() bool {
	return len(f.Archs) == 0 && f.Name == "" && len(f.Registers) == 0 && len(f.Containers) == 0
}

func (f Filter) container(id int) bool {
	return len(f.Containers) == 0 || slices.Contains(f.Containers, id)
}

// image reports whether an image can have kernels that pass.
func (f Filter) image(im *fatbin.Image) bool {
	switch im.Kind {
	case fatbin.KindCubin:
	case fatbin.KindPTX, fatbin.KindRelocatablePTX:
		if len(f.Registers) > 0 {
			return false // PTX has no registers yet
		}
	default:
		return false
	}
	return len(f.Archs) == 0 || slices.ContainsFunc(f.Archs, func(a Arch) bool { return a.Match(im) })
}

func (f Filter) row(r *Row) bool {
	return f.Registers.Hold(uint64(r.Registers)) && NameMatches(r.Name, f.Name)
}

// NameMatches reports whether a kernel's name, mangled or not, has the part in
// it. Case does not matter.
func NameMatches(name, part string) bool {
	part = strings.ToLower(part)
	return part == "" || strings.Contains(strings.ToLower(name), part) || strings.Contains(strings.ToLower(fatbin.FullName(name)), part)
}

// An Arch is an architecture to choose images by.
type Arch struct {
	arch.Arch
	SASS, PTX bool
}

// ParseArch reads sm_90a, compute_90 or, for both, 90a. The suffix counts:
// sm_90 is not sm_90a.
func ParseArch(s string) (Arch, error) {
	a, err := arch.Parse(s)
	if err != nil {
		return Arch{}, err
	}
	s = strings.ToLower(strings.TrimSpace(s))
	return Arch{a, !strings.HasPrefix(s, "compute_"), !strings.HasPrefix(s, "sm_")}, nil
}

// Match reports whether the image is of the architecture.
func (a Arch) Match(im *fatbin.Image) bool {
	if im.Arch != a.Arch {
		return false
	}
	if im.Kind == fatbin.KindCubin || im.Kind == fatbin.KindOldCubin {
		return a.SASS
	}
	return a.PTX
}

// Bounds are conditions on a number, all of which must hold.
type Bounds []bound

type bound struct {
	op string
	n  uint64
}

// ParseBounds reads ">128", ">=32,<=64" or "255". Operators are > >= < <= = and
// !=.
func ParseBounds(s string) (Bounds, error) {
	var out Bounds
	for _, part := range strings.Split(s, ",") {
		t := strings.TrimSpace(part)
		op := "="
		for _, o := range []string{">=", "<=", "!=", ">", "<", "="} {
			if rest, ok := strings.CutPrefix(t, o); ok {
				op, t = o, strings.TrimSpace(rest)
				break
			}
		}
		n, err := strconv.ParseUint(t, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no condition on a number: write \">128\", \"<=64\" or \">=32,<64\"", part)
		}
		out = append(out, bound{op, n})
	}
	return out, nil
}

// Hold reports whether n fulfils all conditions.
func (b Bounds) Hold(n uint64) bool {
	for _, c := range b {
		ok := false
		switch c.op {
		case ">":
			ok = n > c.n
		case ">=":
			ok = n >= c.n
		case "<":
			ok = n < c.n
		case "<=":
			ok = n <= c.n
		case "!=":
			ok = n != c.n
		default:
			ok = n == c.n
		}
		if !ok {
			return false
		}
	}
	return true
}
