package coverage

import (
	"fatview/arch"
	"fatview/fatbin"
	"fatview/gpu"
)

// An Image is what the rules need to know of an image.
type Image struct {
	Kind         fatbin.Kind
	Arch         arch.Arch
	ISA          arch.Version // of PTX
	Compression  fatbin.Compression
	Concatenated bool
	Relocatable  bool // an unlinked cubin
	Bits32       bool
	MapF64       bool         // .target map_f64_to_f32
	Bytes        int64        // decompressed
	Kernels      int          // -1 while unknown
	Damaged      bool         // its bytes make no sense: no driver loads it
	Toolkit      arch.Version // that wrote the cubin; zero while unknown
}

// Name returns sm_90a or compute_90.
func (im Image) Name() string {
	if im.sass() {
		return im.Arch.SASS()
	}
	return im.Arch.PTX()
}

func (im Image) sass() bool { return im.Kind == fatbin.KindCubin }
func (im Image) ptx() bool {
	return im.Kind == fatbin.KindPTX || im.Kind == fatbin.KindRelocatablePTX
}

// holdsKernels is true as well while nobody has looked.
func (im Image) holdsKernels() bool { return (im.sass() || im.ptx()) && im.Kernels != 0 }

// A Container is a list of images, in the order of the file.
type Container struct {
	Images []Image
	// Input marks a container of relocatable code. Beside a linked container
	// it counts nowhere; without one it is judged as if it were linked.
	Input bool
	// Linked marks the container of a device link, which the driver may make
	// again from the inputs.
	Linked bool
	// Runtime is the CUDA runtime that registers the container; zero if the
	// program loads it by itself or nothing tells.
	Runtime Runtime
}

// A Target is a GPU with its driver. A zero Driver means unknown: the answer
// is then for any driver that can drive the GPU.
type Target struct {
	CC     arch.CC
	Driver gpu.Driver
	// ForceJIT ignores all SASS and DisableJIT all PTX, as the environment
	// variables CUDA_FORCE_PTX_JIT and CUDA_DISABLE_PTX_JIT do.
	ForceJIT, DisableJIT bool
}

// Refusal is why an image was not taken.
type Refusal uint8

// The refusals.
const (
	Taken         Refusal = iota
	OtherMajor            // SASS of another major capability
	HigherMinor           // SASS or family of a higher minor
	StandsAlone           // integrated, both ways
	ExactOnly             // suffix a of another capability
	OtherFamily           // suffix f of another family
	HigherPTX             // PTX for a higher capability
	NotLoadable           // kind that has to be linked or is unknown
	OldPTX                // 32-bit or map_f64_to_f32
	Outranked             // fits, another image is preferred
	NeedsDriver           // fits, but not with this driver
	HoldsNoKernel         // taken, and empty
	Switched              // SASS ignored because CUDA_FORCE_PTX_JIT is set
	Unreadable            // taken, and damaged
	NoDriverLeft          // fits, but needs a driver that has dropped the GPU
	SwitchedPTX           // PTX ignored because CUDA_DISABLE_PTX_JIT is set
)

// A Step is one image on the way to a verdict.
type Step struct {
	Image   int
	Fits    bool // by architecture
	Refusal Refusal
	Rule    Rule
	Needs   arch.Version // CUDA version of the least driver, if Fits

	blocks []block // what the driver lacks, if Refusal is NeedsDriver
}

// A Result is the verdict for a container, with the reason as data.
type Result struct {
	Verdict Verdict
	Image   int // the one taken, -1 if none
	Steps   []Step
	Needs   arch.Version // CUDA version of the least driver; zero if none serves
	Relink  bool         // jit by linking again from relocatable PTX
	Rule    Rule         // that decided
}

// Judge decides for one container on one GPU.
func Judge(c Container, t Target) Result {
	r := Result{Image: -1, Steps: make([]Step, len(c.Images))}
	best := -1
	for i, im := range c.Images {
		f := imageFits(im, t, c.Input)
		r.Steps[i] = Step{Image: i, Fits: f.ok, Refusal: f.refusal, Rule: f.rule}
		if !f.ok {
			continue
		}
		r.Steps[i].Needs = later(leastCUDA(im, t.CC, f.needs), c.Runtime.CUDA)
		if beyondLast(t.CC, r.Steps[i].Needs) {
			r.Steps[i].Fits, r.Steps[i].Refusal, r.Steps[i].Rule = false, NoDriverLeft, RuleGPUDriver
			continue
		}
		if best < 0 || preferred(c.Images, r.Steps, i, best, t) {
			best = i
		}
	}
	for i := range r.Steps {
		if r.Steps[i].Fits && i != best {
			r.Steps[i].Refusal = Outranked
			if tooOld(t, r.Steps[i].Needs) {
				r.Steps[i].Refusal = NeedsDriver
				r.Steps[i].blocks = blocking(c.Images[i], c.Runtime, t)
			}
		}
	}
	if best < 0 {
		r.Verdict, r.Rule = without(c), RulePerContainer
		return r
	}
	step := &r.Steps[best]
	r.Image, r.Rule, r.Needs = best, step.Rule, step.Needs
	im := c.Images[best]
	switch {
	case allEmpty(c):
		r.Verdict = Empty
	case tooOld(t, step.Needs):
		// A driver that cannot read an image fails on it before anyone sees
		// whether it holds kernels, so this is asked before emptiness.
		r.Verdict, step.Refusal = Driver, NeedsDriver
		step.blocks = blocking(im, c.Runtime, t)
		r.Rule = decisive(step.blocks)
	case im.Damaged:
		step.Refusal = Unreadable
		r.Verdict, r.Rule, r.Needs = Missing, RuleUnreadable, arch.Version{}
	case im.Kernels == 0:
		step.Refusal = HoldsNoKernel
		r.Verdict, r.Rule, r.Needs = without(c), RuleEmpty, arch.Version{}
	case im.sass():
		r.Verdict = Native
	default:
		r.Verdict = JIT
	}
	return r
}

// imageFits applies the rules about architectures and kinds.
func imageFits(im Image, t Target, asIfLinked bool) fit {
	switch {
	case im.sass():
		if im.Relocatable && !asIfLinked {
			return no(RuleNotLoadable, NotLoadable)
		}
		if t.ForceJIT {
			return no(RuleForceJIT, Switched)
		}
		return sassFits(im.Arch, t.CC)
	case im.ptx():
		if im.Kind == fatbin.KindRelocatablePTX && !asIfLinked {
			return no(RuleNotLoadable, NotLoadable)
		}
		if im.Bits32 || im.MapF64 {
			return no(RulePTX32, OldPTX)
		}
		f := ptxFits(im.Arch, t.CC)
		if f.ok && t.DisableJIT {
			return no(RuleJITOff, SwitchedPTX)
		}
		return f
	}
	return no(RuleNotLoadable, NotLoadable)
}

// preferred reports whether image i comes before image j: SASS before PTX,
// then the higher number, then a before f before plain, then the first. SASS
// that only a newer driver takes (Orin) does not outrank what works now.
func preferred(images []Image, steps []Step, i, j int, t Target) bool {
	a, b := images[i], images[j]
	if t.Driver.Known() {
		ai, bi := steps[i].Rule == RuleOrin && tooOld(t, orinCUDA), steps[j].Rule == RuleOrin && tooOld(t, orinCUDA)
		if ai != bi {
			return bi
		}
	}
	if a.sass() != b.sass() {
		return a.sass()
	}
	if x, y := renamed(a.Arch.CC), renamed(b.Arch.CC); x != y {
		return x > y
	}
	return suffixRank(a.Arch.Suffix) > suffixRank(b.Arch.Suffix)
}

func suffixRank(s byte) int {
	switch s {
	case 'a':
		return 2
	case 'f':
		return 1
	}
	return 0
}

// allEmpty reports whether every image is known to hold no kernel.
func allEmpty(c Container) bool {
	for _, im := range c.Images {
		if im.Kernels != 0 || !im.sass() && !im.ptx() {
			return false
		}
	}
	return true
}

// without is the verdict of a container that has no code for the GPU:
// specialised if, of its images that hold kernels, every one carries a suffix,
// or none is PTX and all are of one group; else missing.
func without(c Container) Verdict {
	if allEmpty(c) {
		return Empty
	}
	suffixed, oneGroup, first, any := true, true, -1, false
	for _, im := range c.Images {
		if !im.holdsKernels() {
			continue
		}
		if im.Arch.Suffix == 0 {
			suffixed = false
		}
		g, ok := group(im.Arch.CC)
		switch {
		case im.ptx() || !ok || any && g != first:
			oneGroup = false
		case !any:
			first = g
		}
		any = true
	}
	if any && (suffixed || oneGroup) {
		return Specialised
	}
	return Missing
}
