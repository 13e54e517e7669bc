package archlist

import (
	"slices"
	"strings"

	"fatview/arch"
)

// ortAccelerated lists what ONNX Runtime builds with suffix a whatever is
// written.
var ortAccelerated = []arch.CC{90, 100, 101, 120}

// ortReal is the machine code that ONNX Runtime builds for an architecture: a
// suffix is thrown away, then some get an a.
func ortReal(a arch.Arch) arch.Arch {
	a.Suffix = 0
	if slices.Contains(ortAccelerated, a.CC) {
		a.Suffix = 'a'
	}
	return a
}

// ortDefaults are ONNX Runtime's own lists, which all, all-major and an unset
// variable mean, by the toolkit below which they hold (x86-64).
var ortDefaults = []struct {
	below arch.Version
	ccs   []arch.CC
}{
	{arch.Version{Major: 12}, []arch.CC{37, 50, 52, 60, 70, 75, 80, 86, 89}},
	{arch.Version{Major: 12, Minor: 8}, []arch.CC{52, 60, 70, 75, 80, 86, 89, 90}},
	{arch.Version{Major: 1 << 30}, []arch.CC{60, 70, 75, 80, 86, 89, 90, 100, 120}},
}

// onnxruntime reads a list as ONNX Runtime's CMake files rewrite it: machine
// code only, of each entry that is not -virtual, and PTX of the last -virtual.
func (b *builder) onnxruntime(v value) error {
	entries, special, err := b.cmakeEntries(v)
	var ccs []arch.CC
	switch {
	case err != nil:
		return err
	case cmakeFalse(special):
		return b.fail(item{special, 1, v.offset}, "ONNX Runtime takes it for an architecture and stops", "the architectures, such as 80;90")
	case special == "native":
		local, err := b.localGPUs(special)
		if err != nil {
			return err
		}
		ccs = local[len(local)-1:]
		b.note("ONNX Runtime builds for the highest GPU of the machine only")
	case special != "" && b.plan.Toolkit.IsZero():
		return needsToolkit(special)
	case special != "":
		for _, d := range ortDefaults {
			if b.plan.Toolkit.Less(d.below) {
				ccs = d.ccs
				break
			}
		}
		b.note("%s means ONNX Runtime's own list for CUDA %s on x86-64", special, b.plan.Toolkit)
	}
	for _, cc := range ccs {
		b.ortSASS(arch.Arch{CC: cc}, true)
	}
	return b.ortEntries(entries)
}

func (b *builder) ortEntries(entries []entry) error {
	var last *entry
	virtuals := 0
	for i, e := range entries {
		if e.arch.Suffix == 'f' {
			return b.fail(e.it, "ONNX Runtime refuses family targets", strings.Replace(e.it.text, "f", "", 1))
		}
		if e.virtual && !e.real {
			last = &entries[i]
			virtuals++
			continue
		}
		b.ortSASS(e.arch, e.virtual)
	}
	if virtuals > 1 {
		b.note("of %d -virtual entries ONNX Runtime keeps the last, %s", virtuals, last.it.text)
	}
	if last != nil {
		b.add(PTX, last.arch)
	}
	return nil
}

func (b *builder) ortSASS(a arch.Arch, wantsPTX bool) {
	built := ortReal(a)
	if built != a {
		b.note("ONNX Runtime turns %s into %s", a.SASS(), built.SASS())
	}
	if wantsPTX {
		b.note("ONNX Runtime builds no PTX for entries without -virtual")
	}
	b.add(SASS, built)
}
