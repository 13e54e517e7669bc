package advice

import (
	"slices"
	"strings"

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
		if s == archlist.Caffe {
			flags = append(flags, o.caffeCMake())
		}
	}
	return flags
}

// caffeCMake writes the list as Caffe's own CMake files read it
// (cmake/Cuda.cmake): two lists of numbers, machine code and PTX, which know
// no suffix.
func (o Option) caffeCMake() Flag {
	f := Flag{System: "Caffe (CMake)", Text: "-DCUDA_ARCH_NAME=Manual"}
	dotted := func(list []arch.Arch) string {
		var words []string
		for _, a := range list {
			words = append(words, a.CC.String())
			if a.Suffix != 0 {
				f.Lost = append(f.Lost, "the suffix of "+a.Name()+" cannot be said")
			}
		}
		return strings.Join(words, " ")
	}
	f.Text += ` -DCUDA_ARCH_BIN="` + dotted(o.SASS) + `" -DCUDA_ARCH_PTX="` + dotted(o.PTX) + `"`
	return f
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
