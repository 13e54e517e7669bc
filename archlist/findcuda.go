package archlist

import (
	"strings"

	"fatview/arch"
)

// findcuda reads CUDA_ARCH_LIST.
func (b *builder) findcuda(v value) error {
	items, err := split(v, ";"+blanks)
	if err != nil {
		return err
	}
	if len(items) == 1 {
		switch items[0].text {
		case "Auto":
			ccs, err := b.localGPUs("Auto")
			for _, cc := range ccs {
				via := arch.Arch{CC: cc}
				if cc == 21 {
					via.CC = 20
				}
				b.addVia(SASS, arch.Arch{CC: cc}, via)
			}
			return err
		case "Common", "All":
			if b.plan.Toolkit.IsZero() {
				return needsToolkit(items[0].text)
			}
			b.note("%s is CMake's own list for CUDA %s; PyTorch's copy of the module has another", items[0].text, b.plan.Toolkit)
			list := findcudaSets(items[0].text, b.plan.Toolkit)
			items, err = split(value{text: list}, " ")
			if err != nil {
				return err
			}
		}
	}
	for _, it := range items {
		if err := b.findcudaItem(it); err != nil {
			return err
		}
	}
	return nil
}

// findcudaItem reads 3.5, 9.0a, 3.5(3.0) or a name, each with or without +PTX.
func (b *builder) findcudaItem(it item) error {
	name, ptx := strings.CutSuffix(it.text, "+PTX")
	if f, ok := familyNamed(name); ok {
		archs := f.ptx
		if archs == nil {
			archs = f.bins
		}
		for _, cc := range f.bins {
			b.add(SASS, arch.Arch{CC: cc})
		}
		for _, cc := range archs {
			if ptx {
				b.add(PTX, arch.Arch{CC: cc})
			}
		}
		return nil
	}
	head, inner, paired := strings.Cut(name, "(")
	a, ok := dotted(head)
	via := a
	if paired {
		var closed, okVia bool
		inner, closed = strings.CutSuffix(inner, ")")
		via, okVia = dotted(inner)
		ok = ok && closed && okVia && via.Suffix == 0
	}
	if !ok {
		return b.badTorch(it)
	}
	for _, x := range []arch.Arch{a, via} {
		if err := b.made(it, x); err != nil {
			return err
		}
	}
	switch {
	case a.Suffix == 'f':
		return b.fail(it, "FindCUDA does not know the suffix f", dottedName(plain(a)))
	case via != a && (a.CC < via.CC || a.Suffix != 0):
		return b.fail(it, "the number in parentheses is the PTX to compile through, so it has to be the lower one", dottedName(via)+"("+dottedName(plain(a))+")")
	case a.Suffix != 0 || a.CC >= 100:
		b.note("%s is known to the FindCUDA module that PyTorch ships, not to CMake's own", dottedName(a))
	}
	b.addVia(SASS, a, via)
	if ptx {
		b.add(PTX, a)
		b.add(PTX, via)
	}
	return nil
}

// findcudaSets returns what Common and All stand for in CMake's module, which
// grew with the toolkits and forgot nothing.
func findcudaSets(name string, t arch.Version) string {
	since := func(major, minor int) bool { return !t.Less(arch.Version{Major: major, Minor: minor}) }
	steps := []struct {
		major, minor        int
		common, last, names string
	}{
		{7, 0, "5.2", "5.2+PTX", "Kepler+Tegra Kepler+Tesla Maxwell+Tegra"},
		{8, 0, "6.0 6.1", "6.2+PTX", "Pascal"},
		{9, 0, "7.0", "7.2+PTX", "Volta"},
		{10, 0, "7.5", "7.5+PTX", "Turing"},
		{11, 0, "8.0", "8.0+PTX", "Ampere"},
		{11, 1, "8.6", "8.6+PTX", ""},
	}
	common, all, last := []string{"3.5 5.0"}, []string{"Kepler Maxwell"}, ""
	for _, s := range steps {
		if since(s.major, s.minor) {
			common, all, last = append(common, s.common), append(all, s.names), s.last
		}
	}
	if name == "All" {
		return strings.Join(all, " ")
	}
	return strings.Join(append(common, last), " ")
}
