package coverage

import (
	"slices"

	"fatview/arch"
)

// A Kernel set of one container: which images hold which kernels. Names do
// not matter, only their number and where they are.
type KernelSet struct {
	Total int   // union over SASS and PTX images
	In    []int // kernels of the union that image i holds
}

// FileContainer is a container with its kernels; Kernels is nil while unknown.
type FileContainer struct {
	Container
	Kernels *KernelSet
}

// FileResult is the answer for a file on one GPU.
type FileResult struct {
	Verdict      Verdict
	Containers   Counts
	Kernels      Counts
	KernelsKnown bool
	// Uncovered is how many of the missing kernels are in missing containers;
	// the others are missing from images that were chosen.
	Uncovered  int
	Results    []Result     // by container; of an input beside a linked one Verdict is Unknown
	Needs      arch.Version // CUDA version of the least driver
	Inputs     int          // relocatable containers that are counted nowhere
	AsIfLinked bool         // relocatable containers judged as if linked
}

// JudgeFile decides for all containers of a file on one GPU.
func JudgeFile(containers []FileContainer, t Target) FileResult {
	f := FileResult{Results: make([]Result, len(containers)), KernelsKnown: true}
	linked := slices.ContainsFunc(containers, func(c FileContainer) bool { return c.Linked })
	for i, c := range containers {
		if c.Input && linked {
			f.Inputs++
			f.Results[i] = Result{Image: -1}
			continue
		}
		f.AsIfLinked = f.AsIfLinked || c.Input
		r := Judge(c.Container, t)
		if c.Linked && (r.Verdict == Missing || r.Verdict == Specialised) {
			r = relink(r, c.Container, containers, t)
		}
		f.Results[i] = r
		f.count(c, r)
		if r.Verdict == Native || r.Verdict == JIT || r.Verdict == Driver {
			f.Needs = later(f.Needs, r.Needs)
		}
	}
	f.Verdict = f.Containers.FileVerdict()
	return f
}

func (f *FileResult) count(c FileContainer, r Result) {
	f.Containers.Add(r.Verdict, 1)
	switch {
	case c.Kernels == nil:
		f.KernelsKnown = false
	case r.Relink:
		f.Kernels.Add(r.Verdict, c.Kernels.Total)
	case r.Image >= 0 && (r.Verdict == Native || r.Verdict == JIT || r.Verdict == Driver):
		in := c.Kernels.In[r.Image]
		f.Kernels.Add(r.Verdict, in)
		f.Kernels.Missing += c.Kernels.Total - in
	default:
		f.Kernels.Add(r.Verdict, c.Kernels.Total)
		if r.Verdict == Missing {
			f.Uncovered += c.Kernels.Total
		}
	}
}

// relink turns the result of a linked container that has no code for the GPU
// into JIT if every relocatable container has PTX that fits: NVIDIA's manual
// says that the driver may then compile and link again.
func relink(r Result, linked Container, containers []FileContainer, t Target) Result {
	inputs := 0
	again := Result{Verdict: JIT, Image: -1, Steps: r.Steps, Relink: true, Rule: RuleRelink, Needs: linked.Runtime.CUDA}
	for _, c := range containers {
		if !c.Input || allEmptyOrOther(c.Container) {
			continue
		}
		inputs++
		best := bestPTX(c.Container, t)
		if best < 0 {
			return r
		}
		again.Needs = later(again.Needs, leastCUDA(c.Images[best], t.CC, arch.Version{}))
	}
	if inputs == 0 {
		return r
	}
	if tooOld(t, again.Needs) {
		again.Verdict = Driver
		if tooOld(t, linked.Runtime.CUDA) {
			again.Rule = RuleRuntime
		}
	}
	return again
}

// allEmptyOrOther reports whether a container holds neither SASS nor PTX.
func allEmptyOrOther(c Container) bool {
	for _, im := range c.Images {
		if im.sass() || im.ptx() {
			return false
		}
	}
	return true
}

// bestPTX returns the PTX image that fits best, or -1.
func bestPTX(c Container, t Target) int {
	best := -1
	for i, im := range c.Images {
		if !im.ptx() || !imageFits(im, t, true).ok {
			continue
		}
		if best < 0 || c.Images[best].Arch.CC < im.Arch.CC {
			best = i
		}
	}
	return best
}
