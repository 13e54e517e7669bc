package index

import (
	"errors"
	"io"

	"fatview/arch"
	"fatview/coverage"
	"fatview/fatbin"
)

// Coverage returns the containers as the rules want them, with what is known
// of their kernels by now.
func (f *File) Coverage() []coverage.FileContainer {
	out := make([]coverage.FileContainer, len(f.Containers))
	for i, c := range f.Containers {
		out[i] = c.Coverage()
	}
	f.SetRuntime(out)
	return out
}

// SetRuntime gives the file's CUDA runtime to the containers that it
// registers, for those who keep the result of Coverage and renew parts of it.
func (f *File) SetRuntime(containers []coverage.FileContainer) {
	runtime := f.Runtime()
	for i, c := range f.Containers[:len(containers)] {
		if c.Linkage != Embedded && c.Linkage != Loose {
			containers[i].Runtime = runtime
		}
	}
}

// Runtime returns the CUDA runtime that registers the file's containers: that
// of a library it needs, else the one linked into it, which is of the toolkit
// that the decoded cubins name. It is zero while nothing tells.
func (f *File) Runtime() coverage.Runtime {
	if rt, ok := coverage.RuntimeOf(f.Needed); ok {
		return rt
	}
	if f.Relocatable {
		return coverage.Runtime{} // an object has none yet
	}
	var newest arch.Version
	for _, c := range f.Containers {
		d := c.Decoded()
		if d == nil || c.Linkage == Embedded || c.Linkage == Loose {
			continue
		}
		for i := range d.Images {
			if t := d.Images[i].Toolkit; newest.Less(t) {
				newest = t
			}
		}
	}
	return coverage.ToolkitRuntime(newest)
}

// Coverage returns the container as the rules want it.
func (c *Container) Coverage() coverage.FileContainer {
	out := coverage.FileContainer{Container: coverage.Container{
		Images: make([]coverage.Image, len(c.Images)),
		Input:  c.Linkage == Relocatable, Linked: c.Linkage == Linked,
	}}
	d := c.Decoded()
	for i, im := range c.Images {
		ci := &out.Images[i]
		*ci = coverage.Image{
			Kind: im.Kind, Arch: im.Arch, ISA: im.PTXISA(), Compression: im.Compression,
			Concatenated: im.Concatenated(), Bytes: im.Bytes, Bits32: im.Flags&fatbin.Flag64Bit == 0 && im.Kind == fatbin.KindPTX, Kernels: -1,
		}
		if d == nil {
			continue
		}
		d.Images[i].Describe(ci)
	}
	if d != nil && d.complete(c) {
		out.Kernels = &d.Set
	}
	return out
}

// complete reports whether the kernels of every image that a driver could load
// are known: those of a damaged one nobody can, of one that is stored in a way
// fatview does not read somebody else might.
func (d *Decoded) complete(c *Container) bool {
	for i, im := range c.Images {
		ct := &d.Images[i]
		if (im.Kind == fatbin.KindCubin || im.Kind == fatbin.KindPTX) && !ct.Known && !ct.damaged() {
			return false
		}
	}
	return true
}

// damaged reports whether the payload was read and makes no sense.
func (ct *Contents) damaged() bool {
	var bad *fatbin.FormatError
	return !ct.Known && ct.Err != nil && (errors.As(ct.Err, &bad) || errors.Is(ct.Err, io.ErrUnexpectedEOF) || errors.Is(ct.Err, fatbin.ErrNotCubin))
}

// Describe adds to a coverage image what its payload says.
func (ct *Contents) Describe(ci *coverage.Image) {
	if ct.Known {
		ci.Kernels = len(ct.Kernels)
	}
	ci.Damaged = ct.damaged()
	ci.Relocatable, ci.Toolkit = ct.Relocatable, ct.Toolkit
	ci.Bits32 = ci.Bits32 || ct.AddressSize == 32
	for _, m := range ct.Modifiers {
		ci.MapF64 = ci.MapF64 || m == "map_f64_to_f32"
	}
}
