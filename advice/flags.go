package advice

import (
	"slices"

	"fatview/arch"
	"fatview/archlist"
)

// A Flag is a whole architecture list as one build system reads it.
type Flag struct {
	System   string   // "CMake"
	Variable string   // where the list is written; "" on the command line
	Text     string   // the list
	Lost     []string // what this grammar builds otherwise
}

// Flags writes the option's whole list for every build system that can say it.
func (o Option) Flags() []Flag {
	var p archlist.Plan
	for _, a := range o.SASS {
		p.Images = append(p.Images, archlist.Image{Kind: archlist.SASS, Arch: a})
	}
	for _, a := range o.PTX {
		p.Images = append(p.Images, archlist.Image{Kind: archlist.PTX, Arch: a})
	}
	flags := []Flag{}
	for _, s := range archlist.Syntaxes() {
		text, lost, ok := archlist.Format(p, s)
		if !ok {
			continue
		}
		flags = append(flags, Flag{System: s.Title(), Variable: s.Variable(), Text: text, Lost: slices.Clone(lost)})
	}
	return flags
}

// names returns the architectures as sm_N or compute_N.
func names(list []arch.Arch, name func(arch.Arch) string) []string {
	out := []string{}
	for _, a := range list {
		out = append(out, name(a))
	}
	return out
}

// Added names what the option adds, "sm_90" or "compute_80".
func (o Option) Added() []string {
	return append(names(o.AddSASS, arch.Arch.SASS), names(o.AddPTX, arch.Arch.PTX)...)
}
