// Package advice says what to rebuild a library with, so that it serves GPUs
// that it does not: the smallest change to what the file holds, as
// architectures, and the toolkit it takes. It also warns of dead ends, which
// are choices that work today and fail on the next GPU or an older driver.
//
// It is pure functions over the containers and verdicts of package coverage;
// package archlist writes the lists in the grammars of build systems.
package advice

import (
	"fmt"
	"slices"
	"strings"

	"fatview/arch"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
)

// Advice is what can be done about the GPUs that a file does not serve.
type Advice struct {
	Options  []Option
	Drivers  []string // what a newer driver, or an older toolkit, would do
	Notes    []string // what the options alone will not mend
	Warnings []string // dead ends
}

// An Option is one change that serves every GPU that was left out.
type Option struct {
	Title            string // "machine code for 9.0 and 12.0"
	AddSASS, AddPTX  []arch.Arch
	SASS, PTX        []arch.Arch // everything the file would then be built for
	Toolkit, Caution string      // the toolkit it takes; what stands against it
}

// holdings is what a file has now.
type holdings struct {
	sass, ptx []arch.Arch
	toolkit   arch.Version // newest that wrote a cubin; zero unknown
}

// For advises for the targets whose results are given beside them.
func For(containers []coverage.FileContainer, targets []coverage.Target, results []coverage.FileResult) Advice {
	a := Advice{Options: []Option{}, Drivers: []string{}, Notes: []string{}, Warnings: warnings(containers)}
	h := holdingsOf(containers)
	var lacking []arch.CC
	for i, r := range results {
		if left := r.Verdict == coverage.None || r.Containers.Missing > 0; left && !slices.Contains(lacking, targets[i].CC) {
			lacking = append(lacking, targets[i].CC)
		}
		if r.Containers.Driver > 0 {
			a.addDriver(containers, targets[i], r)
		}
	}
	if len(lacking) == 0 || len(containers) == 0 {
		return a
	}
	slices.Sort(lacking)
	a.Notes = h.present(lacking, containers)
	a.Options = append(a.Options, h.native(lacking))
	if o, ok := h.jit(lacking); ok {
		a.Options = append(a.Options, o)
	}
	return a
}

func holdingsOf(containers []coverage.FileContainer) holdings {
	var h holdings
	for _, c := range containers {
		for _, im := range c.Images {
			if im.Kernels == 0 {
				continue // what is empty everywhere is not built for
			}
			switch im.Kind {
			case fatbin.KindCubin:
				h.sass = insert(h.sass, im.Arch)
				if h.toolkit.Less(im.Toolkit) {
					h.toolkit = im.Toolkit
				}
			case fatbin.KindPTX:
				h.ptx = insert(h.ptx, im.Arch)
			}
		}
	}
	return h
}

// present notes which lacking capabilities some containers have code for: a
// longer list changes nothing there, the others were compiled without it.
func (h holdings) present(lacking []arch.CC, containers []coverage.FileContainer) []string {
	notes := []string{}
	for _, cc := range lacking {
		with := 0
		for _, c := range containers {
			for _, im := range c.Images {
				if im.Kind == fatbin.KindCubin && im.Kernels != 0 && coverage.Runs(im.Arch, cc) {
					with++
					break
				}
			}
		}
		if with > 0 {
			notes = append(notes, fmt.Sprintf("%s is in this build already: %s of %s containers have code for it, and the others were compiled without; a list for the whole build does not reach them where their own flags leave it out",
				cc, coverage.Number(with), coverage.Number(len(containers))))
		}
	}
	return notes
}

// insert adds a to a sorted list that has it at most once.
func insert(list []arch.Arch, a arch.Arch) []arch.Arch {
	i, found := slices.BinarySearchFunc(list, a, func(x, y arch.Arch) int {
		switch {
		case x.Less(y):
			return -1
		case y.Less(x):
			return 1
		}
		return 0
	})
	if found {
		return list
	}
	return slices.Insert(list, i, a)
}

// native adds machine code: per group of capabilities the lowest that is
// lacking, which runs on the higher ones as well.
func (h holdings) native(lacking []arch.CC) Option {
	var add []arch.Arch
	for _, cc := range lacking {
		served := false
		for _, a := range add {
			served = served || coverage.Runs(a, cc)
		}
		if !served {
			add = insert(add, arch.Arch{CC: cc})
		}
	}
	o := Option{Title: "machine code for " + ccList(lacking), AddSASS: add}
	h.finish(&o)
	return o
}

// jit adds one PTX: of the highest architecture that the file is built for and
// that every lacking GPU can compile, so that nothing else has to change.
func (h holdings) jit(lacking []arch.CC) (Option, bool) {
	least := lacking[0]
	best := arch.Arch{}
	for _, a := range h.sass {
		if p := (arch.Arch{CC: a.CC}); p.CC <= least && p.CC > best.CC && exists(p) {
			best = p
		}
	}
	if best.CC == 0 {
		best = arch.Arch{CC: least}
	}
	if slices.Contains(h.ptx, best) {
		return Option{}, false // it is there and did not help: some containers lack it
	}
	o := Option{Title: "PTX that the driver compiles for " + ccList(lacking), AddPTX: []arch.Arch{best}}
	h.finish(&o)
	return o, true
}

func exists(a arch.Arch) bool {
	_, ok := gpu.ArchFor(a)
	return ok
}

// finish fills in the whole list and the toolkit.
func (h holdings) finish(o *Option) {
	o.SASS, o.PTX = slices.Clone(h.sass), slices.Clone(h.ptx)
	for _, a := range o.AddSASS {
		o.SASS = insert(o.SASS, a)
	}
	for _, a := range o.AddPTX {
		o.PTX = insert(o.PTX, a)
	}
	o.Toolkit, o.Caution = toolkits(h.toolkit, append(slices.Clone(o.AddSASS), o.AddPTX...), o.SASS, o.PTX)
}

// toolkits says which toolkit can build what is added, and what of the whole
// list it cannot build any more.
func toolkits(now arch.Version, added []arch.Arch, lists ...[]arch.Arch) (need, caution string) {
	var first arch.Version
	for _, a := range added {
		if i, ok := gpu.ArchFor(a); ok && first.Less(i.FirstToolkit) {
			first = i.FirstToolkit
		}
	}
	var gone []string
	for _, a := range added {
		if i, ok := gpu.ArchFor(a); ok && !i.LastToolkit.IsZero() && i.LastToolkit.Less(later(now, first)) {
			gone = append(gone, fmt.Sprintf("CUDA %s is the last that builds %s", i.LastToolkit, a.SASS()))
		}
	}
	switch {
	case first.IsZero():
	case now.IsZero():
		need = "takes CUDA " + first.String() + " or newer"
	case now.Less(first):
		need = "takes CUDA " + first.String() + " or newer; the file was built by " + now.String()
	default:
		need = "CUDA " + now.String() + ", which built the file, can do it"
	}
	if len(gone) > 0 && !now.Less(first) {
		need = "the file was built by CUDA " + now.String()
	}
	for _, list := range lists {
		for _, a := range list {
			i, ok := gpu.ArchFor(a)
			if ok && !slices.Contains(added, a) && !i.LastToolkit.IsZero() && i.LastToolkit.Less(first) {
				gone = append(gone, fmt.Sprintf("CUDA %s is the last that builds %s, which the file has", i.LastToolkit, a.SASS()))
			}
		}
	}
	return need, strings.Join(gone, "; ")
}

func later(a, b arch.Version) arch.Version {
	if a.Less(b) {
		return b
	}
	return a
}

func ccList(ccs []arch.CC) string {
	names := make([]string, len(ccs))
	for i, c := range ccs {
		names[i] = c.String()
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// addDriver says what helps a GPU whose code waits for a driver.
func (a *Advice) addDriver(containers []coverage.FileContainer, t coverage.Target, r coverage.FileResult) {
	linux, windows := coverage.LeastDriver(r.Needs)
	s := "on " + t.CC.String() + ": update the driver"
	if linux != "" {
		s += " to Linux " + linux
	}
	if windows != "" {
		s += ", Windows " + windows
	}
	s += " or newer"
	rules := map[coverage.Rule]bool{}
	for _, x := range r.Results {
		if x.Verdict == coverage.Driver {
			rules[x.Rule] = true
		}
	}
	switch {
	case rules[coverage.RulePTXVersion]:
		s += "; or build with CUDA " + t.Driver.CUDA.String() + " or older, whose PTX this driver knows, or with machine code for " + t.CC.String()
	case rules[coverage.RuleZstd] && len(rules) == 1:
		s += "; or build with -Xfatbin -compress-mode=speed, which is LZ4 and read by every driver"
	case rules[coverage.RuleRuntime] && t.Driver.CUDA.Major > 0:
		s += "; or take the build for CUDA " + fmt.Sprint(t.Driver.CUDA.Major)
	}
	if !slices.Contains(a.Drivers, s) {
		a.Drivers = append(a.Drivers, s)
	}
}
