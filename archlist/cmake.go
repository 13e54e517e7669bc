package archlist

import (
	"fmt"
	"strings"

	"fatview/arch"
)

// entry is one architecture of a CMake list.
type entry struct {
	it            item
	arch          arch.Arch
	real, virtual bool
}

// cmakeEntries reads 75-real;80-virtual;90a. A list that is one special word is
// returned as that word.
func (b *builder) cmakeEntries(v value) (entries []entry, special string, err error) {
	seps := ";"
	if v.args {
		seps += blanks
	}
	items, err := split(v, seps)
	if err != nil {
		return nil, "", err
	}
	for _, it := range items {
		name := it.text
		if cmakeSpecial(name) {
			if len(items) > 1 {
				return nil, "", b.fail(it, "it has to be the whole list", name)
			}
			return nil, name, nil
		}
		e := entry{it: it}
		if rest, ok := strings.CutSuffix(name, "-real"); ok {
			name, e.real = rest, true
		} else if rest, ok := strings.CutSuffix(name, "-virtual"); ok {
			name, e.virtual = rest, true
		} else {
			e.real, e.virtual = true, true
		}
		var ok bool
		if e.arch, ok = number(name); !ok {
			return nil, "", b.badEntry(it, name)
		}
		if err := b.made(it, e.arch); err != nil {
			return nil, "", err
		}
		entries = append(entries, e)
	}
	return entries, "", nil
}

// badEntry says what is wrong with an entry, by what it looks like.
func (b *builder) badEntry(it item, name string) error {
	if strings.ContainsAny(it.text, ", \t\r\n") {
		return b.fail(it, "CMake lists are separated by semicolons", strings.Join(strings.FieldsFunc(clip(it.text), func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }), ";"))
	}
	bare, _, ptx := strings.Cut(name, "+PTX")
	if a, ok := dotted(bare); ok {
		write := a.Name() + "-real"
		if ptx {
			write = a.Name()
		}
		return b.fail(it, "CMake writes architectures without a dot", write)
	}
	for _, prefix := range []string{"sm_", "compute_"} {
		if a, ok := prefixed(name, prefix); ok {
			return b.fail(it, "CMake writes architectures as bare numbers", a.Name()+map[string]string{"sm_": "-real", "compute_": "-virtual"}[prefix])
		}
	}
	if l := strings.ToLower(name); l != name && cmakeSpecial(l) {
		return b.fail(it, "the word is written in small letters", l)
	}
	return b.fail(it, "it is not an architecture", "80, 80-real or 80-virtual")
}

// cmakeSpecial reports whether a list is a word: all and its like, or one of
// CMake's false values.
func cmakeSpecial(s string) bool {
	return s == "all" || s == "all-major" || s == "native" || cmakeFalse(s)
}

func cmakeFalse(s string) bool {
	switch strings.ToUpper(s) {
	case "OFF", "NO", "FALSE", "N", "0", "IGNORE", "NOTFOUND":
		return true
	}
	return false
}

// cmake reads a list as CMake does, and with llama.cpp's change to it: 12x
// without a suffix becomes 12xa.
func (b *builder) cmake(v value) error {
	entries, special, err := b.cmakeEntries(v)
	switch {
	case err != nil:
		return err
	case cmakeFalse(special):
		return b.cmakeOff()
	case special == "native" && b.plan.Syntax == LlamaCpp:
		ccs, err := b.localGPUs(special)
		for _, cc := range ccs {
			b.add(SASS, b.llama(arch.Arch{CC: cc}))
		}
		return err
	case special == "native":
		return b.nvccSpecial(special)
	case special != "":
		return b.cmakeAll(special)
	}
	for _, e := range entries {
		a := b.llama(e.arch)
		if e.real {
			b.add(SASS, a)
		}
		if e.virtual {
			b.add(PTX, a)
		}
	}
	return nil
}

// llama applies llama.cpp's change.
func (b *builder) llama(a arch.Arch) arch.Arch {
	if b.plan.Syntax == LlamaCpp && llamaChanges(a) {
		b.note("llama.cpp turns %s into %sa", a.Name(), a.Name())
		a.Suffix = 'a'
	}
	return a
}

func llamaChanges(a arch.Arch) bool { return a.Suffix == 0 && a.CC.Major() == 12 }

// cmakeAll resolves all and all-major. From CUDA 11.5 nvcc does it; before,
// CMake builds machine code for every architecture and PTX for the last.
func (b *builder) cmakeAll(name string) error {
	t := b.plan.Toolkit
	if t.IsZero() || !t.Less(allSince) {
		return b.nvccSpecial(name)
	}
	var last arch.Arch
	for _, a := range buildable(t) {
		// 2.1 and 3.7 are not among CMake's major architectures, 3.5 is.
		if name == "all" || a.CC.Minor() == 0 || a.CC == 35 {
			b.add(SASS, a)
			last = a
		}
	}
	if last.CC == 0 {
		return fmt.Errorf("no architecture is known for CUDA %s", t)
	}
	b.add(PTX, last)
	b.note("%s is read for CUDA %s", name, t)
	return nil
}

// nvccDefaults lists what nvcc builds without a flag: SASS and PTX of one
// architecture. sm_75 was seen in nvcc 13.0 to 13.5, the others are those of
// the release notes.
var nvccDefaults = []struct {
	since arch.Version
	cc    arch.CC
}{{arch.Version{Major: 13}, 75}, {arch.Version{Major: 11}, 52}, {arch.Version{Major: 9}, 30}}

func (b *builder) cmakeOff() error {
	b.note("OFF makes CMake pass no architecture flags: what is built is up to flags elsewhere")
	for _, d := range nvccDefaults {
		if !b.plan.Toolkit.IsZero() && !b.plan.Toolkit.Less(d.since) {
			b.both(arch.Arch{CC: d.cc})
			b.note("without any flag nvcc of CUDA %s builds sm_%d with its PTX", b.plan.Toolkit, int(d.cc))
			return nil
		}
	}
	return nil
}
