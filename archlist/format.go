package archlist

import (
	"fmt"
	"slices"
	"strings"

	"fatview/arch"
)

// Format writes a plan in a grammar. Lost says what the text builds otherwise
// than the plan, in sentences without full stop; it is empty if Parse gives
// back the same images. Ok is false if nothing of the plan can be said.
func Format(p Plan, s Syntax) (text string, lost []string, ok bool) {
	w := &writer{syntax: s}
	switch s {
	case NVCC:
		text = strings.Join(gencodes(p), " ")
	case Caffe:
		if flags := gencodes(p); len(flags) > 0 {
			text = "CUDA_ARCH := " + strings.Join(flags, " \\\n\t\t")
		}
	case CMake, LlamaCpp:
		text = w.cmake(p)
	case ONNXRuntime:
		text = w.onnxruntime(p)
	case FindCUDA, PyTorch, TensorFlow:
		text = w.listed(p)
	}
	if text == "" {
		return "", w.lost, false
	}
	return text, w.lost, true
}

// gencodes writes one flag for each image, which needs no brackets that a
// shell could take for its own.
func gencodes(p Plan) []string {
	var out []string
	for _, im := range inOrder(p.Images) {
		via := im.Arch
		if im.Via.CC != 0 {
			via = im.Via
		}
		out = append(out, "-gencode arch="+via.PTX()+",code="+im.Name())
	}
	return out
}

// inOrder sorts by architecture, machine code before PTX.
func inOrder(ims []Image) []Image {
	out := slices.Clone(ims)
	slices.SortStableFunc(out, func(x, y Image) int {
		if x.Arch != y.Arch {
			return order(x.Arch, y.Arch)
		}
		return int(x.Kind) - int(y.Kind)
	})
	return out
}

// writer collects what is lost on the way.
type writer struct {
	syntax Syntax
	lost   []string
}

func (w *writer) lose(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(w.lost, s) && len(w.lost) < maxNotes {
		w.lost = append(w.lost, s)
	}
}

// sets splits a plan into what most grammars can say, machine code and PTX,
// after a change to each architecture. Change says why it changes one; a zero
// architecture is left out.
func (w *writer) sets(p Plan, change func(Kind, arch.Arch) (arch.Arch, string)) (sass, ptx map[arch.Arch]bool) {
	sass, ptx = map[arch.Arch]bool{}, map[arch.Arch]bool{}
	for _, im := range p.Images {
		if im.Kind == LTO {
			w.lose("%s is left out: %s has no word for LTO IR", im.Name(), w.syntax.Title())
			continue
		}
		if im.Arch.CC == 21 && im.Via.CC != 0 && w.syntax != FindCUDA {
			w.lose("%s is left out: nvcc has no compute_21, and %s cannot say %s", im.Name(), w.syntax.Title(), im.Via.PTX())
			continue
		}
		to, why := change(im.Kind, im.Arch)
		switch {
		case to.CC == 0:
			w.lose("%s is left out: %s", im.Name(), why)
			continue
		case to != im.Arch:
			w.lose("%s becomes %s: %s", im.Name(), Image{Kind: im.Kind, Arch: to}.Name(), why)
		}
		if im.Via.CC != 0 && w.syntax != FindCUDA {
			w.lose("%s is compiled through %s, not through %s", to.SASS(), to.PTX(), im.Via.PTX())
		}
		if im.Kind == SASS {
			sass[to] = true
		} else {
			ptx[to] = true
		}
	}
	return sass, ptx
}

func union(a, b map[arch.Arch]bool) []arch.Arch {
	var out []arch.Arch
	for x := range a {
		out = append(out, x)
	}
	for x := range b {
		if !a[x] {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, order)
	return out
}

func (w *writer) cmake(p Plan) string {
	sass, ptx := w.sets(p, func(_ Kind, a arch.Arch) (arch.Arch, string) {
		if w.syntax == LlamaCpp && llamaChanges(a) {
			return arch.Arch{CC: a.CC, Suffix: 'a'}, "llama.cpp gives every plain 12x the suffix a"
		}
		return a, ""
	})
	var out []string
	for _, a := range union(sass, ptx) {
		s := a.Name()
		switch {
		case !ptx[a]:
			s += "-real"
		case !sass[a]:
			s += "-virtual"
		}
		out = append(out, s)
	}
	return strings.Join(out, ";")
}

// onnxruntime writes entries that mean the same to CMake. Of several PTX it
// keeps the lowest, which serves every GPU that the others serve.
func (w *writer) onnxruntime(p Plan) string {
	sass, ptx := w.sets(p, func(k Kind, a arch.Arch) (arch.Arch, string) {
		if k == PTX {
			if a.Suffix == 'f' {
				return plain(a), "ONNX Runtime refuses family targets"
			}
			return a, ""
		}
		return ortReal(a), "ONNX Runtime decides about the suffix itself"
	})
	var out []string
	for _, a := range union(sass, nil) {
		out = append(out, a.Name()+"-real")
	}
	virtuals := union(ptx, nil)
	keep := slices.IndexFunc(virtuals, func(a arch.Arch) bool { return a.Suffix == 0 })
	keep = max(keep, 0)
	for i, a := range virtuals {
		if i != keep {
			w.lose("%s is left out: ONNX Runtime keeps one -virtual entry", a.PTX())
		}
	}
	if len(virtuals) > 0 {
		out = append(out, virtuals[keep].Name()+"-virtual")
	}
	return strings.Join(out, ";")
}

// listed writes the grammars in which PTX comes with machine code.
func (w *writer) listed(p Plan) string {
	sass, ptx := w.sets(p, func(_ Kind, a arch.Arch) (arch.Arch, string) {
		why := ""
		if a.Suffix == 'f' {
			a, why = plain(a), w.syntax.Title()+" refuses the suffix f"
		}
		if w.syntax == PyTorch && !torchTakes(a) {
			return arch.Arch{}, "PyTorch's list of architectures does not have " + dottedName(a)
		}
		return a, why
	})
	vias := map[arch.Arch]arch.Arch{}
	direct := map[arch.Arch]bool{}
	if w.syntax == FindCUDA {
		vias, direct = w.vias(p, sass)
	}
	var out []string
	for _, a := range union(sass, ptx) {
		via, indirect := vias[a]
		if indirect {
			out = append(out, dottedName(a)+"("+dottedName(via)+")")
		}
		if indirect && !direct[a] && !ptx[a] {
			continue
		}
		if !sass[a] || indirect && !direct[a] {
			w.lose("%s is added: %s cannot say PTX without machine code", a.SASS(), w.syntax.Title())
		}
		out = append(out, w.word(a, ptx[a]))
	}
	return strings.Join(out, map[Syntax]string{FindCUDA: ";", PyTorch: ";", TensorFlow: ","}[w.syntax])
}

// vias returns, for FindCUDA, what is compiled through a lower number, and
// which machine code of the plan is not.
func (w *writer) vias(p Plan, sass map[arch.Arch]bool) (via map[arch.Arch]arch.Arch, direct map[arch.Arch]bool) {
	via, direct = map[arch.Arch]arch.Arch{}, map[arch.Arch]bool{}
	for _, im := range p.Images {
		switch {
		case im.Kind != SASS:
		case im.Via.CC == 0:
			if a := plainIfFamily(im.Arch); sass[a] {
				direct[a] = true
			}
		case im.Arch.Suffix != 0 || im.Via.Suffix != 0:
			w.lose("%s is compiled through its own number, not through %s", im.Name(), im.Via.PTX())
			direct[plainIfFamily(im.Arch)] = true
		default:
			if v, twice := via[im.Arch]; twice {
				w.lose("%s is compiled through %s only, not through %s", im.Name(), v.PTX(), im.Via.PTX())
				continue
			}
			via[im.Arch] = im.Via
		}
	}
	return via, direct
}

func plainIfFamily(a arch.Arch) arch.Arch {
	if a.Suffix == 'f' {
		return plain(a)
	}
	return a
}

func (w *writer) word(a arch.Arch, ptx bool) string {
	switch {
	case w.syntax == TensorFlow && ptx:
		return a.PTX()
	case w.syntax == TensorFlow:
		return a.SASS()
	case ptx:
		return dottedName(a) + "+PTX"
	}
	return dottedName(a)
}
