package archlist

import (
	"fmt"
	"slices"
	"strings"

	"fatview/arch"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
)

// BuiltWith returns the toolkit that a plan is judged for: the plan's own, or
// the first that builds all of it. Assumed is true for the latter.
func BuiltWith(p Plan) (t arch.Version, assumed bool) {
	if !p.Toolkit.IsZero() {
		return p.Toolkit, false
	}
	first, _, _ := Toolkits(p)
	return first, true
}

// Container returns what a translation unit becomes: every image of the plan,
// in each the same kernels, whose number is unknown.
func Container(p Plan, toolkit arch.Version) coverage.Container {
	var c coverage.Container
	for _, im := range p.Images {
		ci := coverage.Image{Arch: im.Arch, Kernels: -1}
		switch im.Kind {
		case SASS:
			ci.Kind, ci.Toolkit = fatbin.KindCubin, toolkit
		case PTX:
			ci.Kind, ci.ISA = fatbin.KindPTX, PTXVersion(toolkit)
		default:
			ci.Kind = fatbin.KindNVVM
		}
		c.Images = append(c.Images, ci)
	}
	return c
}

// Warnings says what a plan leads to that its maker may not want: PTX that is
// a dead end, capabilities between its architectures that nothing serves, and
// those that only specialised code serves. Drivers are left aside.
func Warnings(p Plan) []string {
	out := []string{}
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if len(p.Images) == 0 {
		return out
	}
	deadEnds(p, warn)
	t, _ := BuiltWith(p)
	c := Container(p, t)
	// Without the suffixes: who is left with nothing?
	general := c
	general.Images = slices.DeleteFunc(slices.Clone(c.Images), func(im coverage.Image) bool { return im.Arch.Suffix != 0 })
	var gap, above, special []string
	lowest, highest := span(p)
	for _, cc := range gpu.Capabilities() {
		on := coverage.Target{CC: cc}
		switch {
		case !coverage.Judge(c, on).Verdict.Served():
			if cc > highest {
				above = append(above, cc.String())
			} else if cc > lowest {
				gap = append(gap, cc.String())
			}
		case !coverage.Judge(general, on).Verdict.Served():
			special = append(special, cc.String())
		}
	}
	if len(gap) > 0 {
		warn("gap: nothing in the list serves %s, which %s between its architectures", and(gap), oneOf(gap, "lies", "lie"))
	}
	if len(above) > 0 {
		warn("nothing in the list serves %s, newer than its architectures: PTX without a suffix would", and(above))
	}
	if len(special) > 0 {
		warn("only code with a suffix serves %s: it runs on no other architecture", and(special))
	}
	return out
}

// span is from the lowest to the highest architecture. Thor's old number counts
// as its new one.
func span(p Plan) (lowest, highest arch.CC) {
	for i, im := range p.Images {
		cc := im.Arch.CC
		if cc == 101 {
			cc = 110
		}
		if i == 0 || cc < lowest {
			lowest = cc
		}
		highest = max(highest, cc)
	}
	return lowest, highest
}

func deadEnds(p Plan, warn func(string, ...any)) {
	anyPTX := false
	for _, im := range p.Images {
		if im.Kind != PTX {
			continue
		}
		anyPTX = true
		// Plain PTX at or below makes up for it.
		helped := slices.ContainsFunc(p.Images, func(x Image) bool {
			return x.Kind == PTX && x.Arch.Suffix == 0 && x.Arch.CC <= im.Arch.CC
		})
		switch {
		case helped:
		case im.Arch.Suffix == 'a':
			warn("%s is a dead end: it is compiled for %s only, not for newer GPUs; plain %s would be", im.Name(), im.Arch.CC, plain(im.Arch).PTX())
		case im.Arch.Suffix == 'f':
			warn("%s is a dead end: it is compiled for its family only, not for newer ones; plain %s would be", im.Name(), plain(im.Arch).PTX())
		}
	}
	if !anyPTX {
		warn("no PTX: GPUs newer than the list find nothing to compile")
	}
	if !slices.ContainsFunc(p.Images, func(im Image) bool { return im.Kind != LTO }) {
		warn("LTO IR alone runs nowhere: it has to be linked on the device")
	}
}

func and(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

func oneOf(words []string, one, many string) string {
	if len(words) == 1 {
		return one
	}
	return many
}
