package archlist

import (
	"fmt"
	"slices"
	"strings"

	"fatview/arch"
)

// Toolkits at which nvcc's options changed. CMake's documentation tells when
// all and all-major came, llama.cpp's CMakeLists.txt when native did. That
// -arch with a suffix adds plain PTX was seen in nvcc 13.0 to 13.5; older ones
// could not be asked.
var (
	allSince      = arch.Version{Major: 11, Minor: 5}
	nativeSince   = arch.Version{Major: 11, Minor: 6}
	plainPTXSince = arch.Version{Major: 13}
)

// nvcc reads flags. What is not about architectures is passed over.
func (b *builder) nvcc(v value) error {
	words, err := nvccWords(v)
	if err != nil {
		return err
	}
	var target, code *item
	found, rdc := false, false
	for i := 0; i < len(words); i++ {
		w := words[i]
		option, at := nvccOption(w.text)
		switch {
		case option == "rdc":
			rdc = true
			continue
		case option == "" && strings.Contains(w.text, "arch=compute_"):
			return b.fail(w, "there is no -gencode before it", "-gencode "+w.text)
		case option == "":
			continue
		case at < 0:
			i++
			if i == len(words) {
				return b.fail(w, "its value is missing", w.text+map[string]string{"gencode": " arch=compute_80,code=sm_80", "arch": "=sm_80", "code": "=sm_80"}[option])
			}
			w = words[i]
		default:
			w.text, w.offset = w.text[at:], w.offset+at
		}
		found = true
		switch option {
		case "gencode":
			if err := b.gencode(w); err != nil {
				return err
			}
		case "arch":
			if target != nil && target.text != w.text {
				b.note("nvcc takes the last -arch, %s", clip(unquote(w.text)))
			}
			target = &w
		case "code":
			code = &w
		}
	}
	if !found {
		return b.fail(words[0], "no option names an architecture", "-arch=sm_80, or -gencode arch=compute_80,code=sm_80")
	}
	if err := b.nvccArch(target, code); err != nil {
		return err
	}
	if !rdc && slices.ContainsFunc(b.plan.Images, func(im Image) bool { return im.Kind == LTO }) {
		b.note("nvcc takes lto_ only together with -rdc=true or -dlto")
	}
	return nil
}

// gencode reads arch=compute_80,code=[sm_80,compute_80].
func (b *builder) gencode(it item) error {
	const form = "arch=compute_80,code=[sm_80,compute_80]"
	text := it.text
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		text = text[1 : n-1] // a shell's, around all of it
	}
	var virtual, codes string
	for _, part := range commas(text) {
		key, val, ok := strings.Cut(part, "=")
		switch strings.Trim(key, blanks+`\"'`) {
		case "arch":
			virtual = strings.Trim(unquote(val), blanks)
		case "code":
			codes = strings.Trim(unquote(val), blanks+"[]")
		default:
			if !ok && codes != "" {
				return b.fail(it, "nvcc takes several codes only in brackets", fmt.Sprintf("arch=%s,code=[%s,%s]", clip(virtual), clip(codes), clip(unquote(part))))
			}
			return b.fail(it, "it has to be arch= and code=", form)
		}
	}
	switch {
	case virtual == "":
		return b.fail(it, "arch= is missing", form)
	case codes == "":
		return b.fail(it, "code= is missing", form)
	}
	return b.codes(it, virtual, codes)
}

// codes adds the images of one virtual architecture.
func (b *builder) codes(it item, virtual, codes string) error {
	via, ok := prefixed(virtual, "compute_")
	if !ok {
		if a, isReal := prefixed(virtual, "sm_"); isReal {
			return b.fail(it, "arch= has to be a virtual architecture here", "arch="+a.PTX())
		}
		return b.fail(it, "arch= is not a virtual architecture", "arch=compute_80")
	}
	if err := b.made(it, via); err != nil {
		return err
	}
	for code := range strings.SplitSeq(codes, ",") {
		if code = strings.Trim(code, blanks); code == "" {
			continue
		}
		kind, a, ok := codeName(code)
		if !ok {
			return b.fail(it, fmt.Sprintf("code %q is not an architecture", clip(code)), "sm_80, compute_80 or lto_80")
		}
		if err := b.made(it, a); err != nil {
			return err
		}
		a, why := compatible(via, a, kind)
		if why != "" {
			return b.fail(it, why, "")
		}
		b.addVia(kind, a, via)
	}
	return nil
}

func codeName(s string) (Kind, arch.Arch, bool) {
	for _, k := range []struct {
		kind   Kind
		prefix string
	}{{SASS, "sm_"}, {PTX, "compute_"}, {LTO, "lto_"}} {
		if a, ok := prefixed(s, k.prefix); ok {
			return k.kind, a, true
		}
	}
	return 0, arch.Arch{}, false
}

// families lists which capabilities a family target can be compiled for.
var families = [][]arch.CC{{100, 103, 107}, {101}, {110}, {120, 121}}

// compatible applies nvcc's rules for a code of a virtual architecture, as
// nvcc 13.5 answered. From a family target, machine code without a suffix
// becomes the family's.
func compatible(via, a arch.Arch, kind Kind) (arch.Arch, string) {
	im := Image{Kind: kind, Arch: a}
	no := fmt.Sprintf("nvcc cannot make %s from %s", im.Name(), via.PTX())
	switch {
	case kind == PTX && a != via:
		return a, no + ": PTX has the number of arch="
	case kind == PTX || a == via:
		return a, ""
	case via.Suffix == 'a':
		return a, no + ": suffix a is for exactly one architecture"
	case a.CC < via.CC:
		return a, no + ", which is higher"
	case via.Suffix == 'f':
		same := slices.ContainsFunc(families, func(f []arch.CC) bool { return slices.Contains(f, a.CC) && slices.Contains(f, via.CC) })
		if !same {
			return a, no + ": it is of another family"
		}
		if a.Suffix == 0 {
			a.Suffix = 'f'
		}
	}
	return a, ""
}

// nvccArch reads -arch and -code.
func (b *builder) nvccArch(target, code *item) error {
	switch {
	case target == nil && code == nil:
		return nil
	case target == nil:
		return b.fail(*code, "-code stands without -arch", "-arch=compute_80 -code=sm_80")
	}
	name := strings.Trim(unquote(target.text), blanks)
	switch name {
	case "all", "all-major", "native":
		if code != nil {
			return b.fail(*code, "-code cannot stand beside -arch="+name, "-gencode for further architectures")
		}
		return b.nvccSpecial(name)
	}
	if code != nil {
		return b.codes(*target, name, strings.Trim(unquote(code.text), blanks+"[]"))
	}
	kind, a, ok := codeName(name)
	if !ok {
		return b.fail(*target, "it is not an architecture", "sm_80, compute_80, all, all-major or native")
	}
	if err := b.made(*target, a); err != nil {
		return err
	}
	b.add(kind, a)
	if kind == LTO {
		return nil
	}
	b.add(PTX, a)
	if a.Suffix != 0 && !b.plan.Toolkit.Less(plainPTXSince) || a.Suffix != 0 && b.plan.Toolkit.IsZero() {
		b.add(PTX, plain(a))
		b.note("-arch with %s adds plain %s, as nvcc of CUDA 13.0 and newer does", a.Name(), plain(a).PTX())
	}
	return nil
}
