package archlist

import (
	"slices"
	"strings"

	"fatview/arch"
)

// family is a name that stands for architectures.
type family struct {
	name string
	// bins and ptx are what FindCUDA builds: bins always, ptx for +PTX. In
	// PyTorch's cpp_extension the name alone builds bins and, if open, PTX for
	// the last of them.
	bins, ptx []arch.CC
	torch     bool // known to PyTorch's cpp_extension
	open      bool
}

// familyNames are those of PyTorch's copy of FindCUDA; cpp_extension knows
// further Blackwells. Kepler+Tegra is CMake's alone.
var familyNames = []family{
	{"Kepler+Tegra", []arch.CC{32}, nil, false, false},
	{"Kepler+Tesla", []arch.CC{37}, nil, true, false},
	{"Kepler", []arch.CC{35}, []arch.CC{35}, true, true},
	{"Maxwell+Tegra", []arch.CC{53}, nil, true, false},
	{"Maxwell", []arch.CC{50, 52}, []arch.CC{52}, true, true},
	{"Pascal", []arch.CC{60, 61}, []arch.CC{61}, true, true},
	{"Volta+Tegra", []arch.CC{72}, nil, true, false},
	{"Volta", []arch.CC{70}, []arch.CC{70}, true, true},
	{"Turing", []arch.CC{75}, []arch.CC{75}, true, true},
	{"Ampere+Tegra", []arch.CC{87}, nil, true, false},
	{"Ampere", []arch.CC{80, 86}, []arch.CC{80, 86}, true, true},
	{"Ada", []arch.CC{89}, []arch.CC{89}, true, true},
	{"Hopper", []arch.CC{90}, []arch.CC{90}, true, true},
	{"Blackwell+Tegra", []arch.CC{101}, nil, true, false},
	{"Blackwell", []arch.CC{100, 120}, []arch.CC{100, 120}, true, true},
}

func familyNamed(name string) (family, bool) {
	i := slices.IndexFunc(familyNames, func(f family) bool { return f.name == name })
	if i < 0 {
		return family{}, false
	}
	return familyNames[i], true
}

// torchAccepts lists what cpp_extension takes. Releases differ: 10.1 was taken
// until Thor became 11.0.
var torchAccepts = []string{"3.5", "3.7", "5.0", "5.2", "5.3", "6.0", "6.1", "6.2", "7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.9",
	"9.0", "9.0a", "10.0", "10.0a", "10.1", "10.1a", "10.3", "10.3a", "11.0", "11.0a", "12.0", "12.0a", "12.1", "12.1a"}

func torchTakes(a arch.Arch) bool { return slices.Contains(torchAccepts, dottedName(a)) }

// pytorch reads TORCH_CUDA_ARCH_LIST as torch.utils.cpp_extension does.
func (b *builder) pytorch(v value) error {
	items, err := split(v, ";"+blanks)
	if err != nil {
		return err
	}
	if len(items) == 1 && items[0].text == "native" {
		return b.pytorchNative()
	}
	for _, it := range items {
		name, ptx := strings.CutSuffix(it.text, "+PTX")
		if f, ok := familyNamed(name); ok && f.torch {
			b.pytorchFamily(f, ptx)
			continue
		}
		a, ok := dotted(name)
		if !ok {
			return b.badTorch(it)
		}
		if err := b.made(it, a); err != nil {
			return err
		}
		switch {
		case a.Suffix == 'f':
			return b.fail(it, "PyTorch refuses family targets", strings.Replace(it.text, "f", "", 1)+" or "+strings.Replace(it.text, "f", "a", 1))
		case !torchTakes(a):
			return b.fail(it, "PyTorch's list of architectures does not have it", "one of "+strings.Join(torchAccepts, " "))
		case a.CC == 101:
			b.note("only PyTorch releases before Thor became 11.0 take 10.1")
		}
		b.add(SASS, a)
		if ptx {
			b.add(PTX, a)
		}
	}
	return nil
}

// pytorchFamily adds what a name stands for. The lists of Blackwell follow
// cpp_extension, where Thor got its number 11.0 with CUDA 13.
func (b *builder) pytorchFamily(f family, ptx bool) {
	bins := f.bins
	switch f.name {
	case "Blackwell":
		bins = []arch.CC{100, 103, 120, 121}
		b.note("Blackwell is read as PyTorch's newer releases do: 10.0;10.3;12.0;12.1+PTX")
	case "Blackwell+Tegra":
		if b.plan.Toolkit.IsZero() || !b.plan.Toolkit.Less(arch.Version{Major: 13}) {
			bins = []arch.CC{110}
		}
	}
	for _, cc := range bins {
		b.add(SASS, arch.Arch{CC: cc})
	}
	last := arch.Arch{CC: bins[len(bins)-1]}
	if f.open || ptx {
		b.add(PTX, last)
	}
	if ptx && f.open {
		b.note("torch.utils.cpp_extension refuses %s+PTX, because %s stands for +PTX already; CMake builds of PyTorch take it", f.name, f.name)
	} else if f.open {
		b.note("%s adds PTX in torch.utils.cpp_extension, and none in PyTorch's CMake build", f.name)
	}
}

// pytorchNative is the GPUs of the machine, with PTX for the one whose name
// sorts last as text: 9.0 comes after 12.0.
func (b *builder) pytorchNative() error {
	ccs, err := b.localGPUs("native")
	if err != nil {
		return err
	}
	last := slices.MaxFunc(ccs, func(x, y arch.CC) int { return strings.Compare(x.String(), y.String()) })
	for _, cc := range ccs {
		b.add(SASS, arch.Arch{CC: cc})
	}
	b.add(PTX, arch.Arch{CC: last})
	return nil
}

func (b *builder) badTorch(it item) error {
	switch {
	case strings.Contains(it.text, ","):
		return b.fail(it, "commas separate nothing here, semicolons and blanks do", strings.ReplaceAll(clip(it.text), ",", ";"))
	case strings.HasSuffix(strings.ToUpper(it.text), "+PTX") && !strings.HasSuffix(it.text, "+PTX"):
		return b.fail(it, "+PTX is written in capitals", it.text[:len(it.text)-4]+"+PTX")
	}
	for _, prefix := range []string{"", "sm_", "compute_"} {
		if a, ok := prefixed(it.text, prefix); ok {
			return b.fail(it, b.plan.Syntax.Title()+" writes architectures with a dot", dottedName(a))
		}
	}
	for _, f := range familyNames {
		if strings.EqualFold(f.name, it.text) && f.name != it.text {
			return b.fail(it, "names are written with a capital", f.name)
		}
	}
	return b.fail(it, "it is neither an architecture nor a name", "8.0, 8.6+PTX, 9.0a or Ampere")
}
