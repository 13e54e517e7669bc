package archlist

import (
	"fmt"

	"fatview/arch"
	"fatview/gpu"
)

// Toolkits returns which CUDA toolkits build everything in a plan: from first
// to last, with a zero last if the newest still does. Problem says why none
// does, and first and last are then those of the two targets that conflict; or
// that nobody knows.
func Toolkits(p Plan) (first, last arch.Version, problem string) {
	var firstOf, lastOf, unknown string
	for _, t := range targets(p) {
		info, ok := gpu.ArchFor(t.arch)
		if !ok {
			if unknown == "" {
				unknown = t.name
			}
			continue
		}
		if first.Less(info.FirstToolkit) {
			first, firstOf = info.FirstToolkit, t.name
		}
		if !info.LastToolkit.IsZero() && (last.IsZero() || info.LastToolkit.Less(last)) {
			last, lastOf = info.LastToolkit, t.name
		}
	}
	switch {
	case !last.IsZero() && last.Less(first):
		problem = fmt.Sprintf("no CUDA toolkit builds both %s and %s: %s is the last with %s, and %s takes %s", lastOf, firstOf, last, lastOf, firstOf, first)
	case unknown != "":
		problem = fmt.Sprintf("%s is newer than the tables of this program: which toolkit builds it is not known", unknown)
	}
	return first, last, problem
}

type target struct {
	arch arch.Arch
	name string
}

// targets returns what the compiler is asked for, virtual architectures on the
// way included.
func targets(p Plan) []target {
	var out []target
	for _, im := range p.Images {
		out = append(out, target{im.Arch, im.Name()})
		if im.Via.CC != 0 {
			out = append(out, target{im.Via, im.Via.PTX()})
		}
	}
	return out
}

// Refused says what of a plan a toolkit does not build, in sentences without
// full stop.
func Refused(p Plan, t arch.Version) []string {
	out := []string{}
	for _, x := range targets(p) {
		info, ok := gpu.ArchFor(x.arch)
		s := ""
		switch {
		case !ok || builds(info, t):
		case t.Less(info.FirstToolkit):
			s = fmt.Sprintf("CUDA %s does not build %s yet: it takes %s", t, x.name, info.FirstToolkit)
		default:
			s = fmt.Sprintf("CUDA %s no longer builds %s: the last that does is %s", t, x.name, info.LastToolkit)
			if x.arch.CC == 101 {
				s += ", from 13.0 it is called sm_110"
			}
		}
		if s != "" && len(out) < maxNotes {
			out = append(out, s)
		}
	}
	return out
}

// PTXVersion returns the PTX ISA version that a toolkit writes, zero for
// toolkits older than the table.
func PTXVersion(t arch.Version) arch.Version {
	var isa arch.Version
	for _, p := range gpu.PTXTable() {
		if !t.Less(p.CUDA) {
			isa = p.ISA
		}
	}
	return isa
}
