package coverage

import (
	"slices"

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
	Switched              // ignored because of the environment
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
		r.Verdict, r.Rule = without(c, t), RulePerContainer
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
	case im.Kernels == 0:
		step.Refusal = HoldsNoKernel
		r.Verdict, r.Rule, r.Needs = without(c, t), RuleEmpty, arch.Version{}
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
			return no(RuleJITOff, Switched)
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
func without(c Container, t Target) Verdict {
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

// leastCUDA is the CUDA version of the least driver that runs an image which
// fits by architecture.
func leastCUDA(im Image, c arch.CC, needs arch.Version) arch.Version {
	if b, _, ok := gpu.FirstBranch(c); ok {
		needs = later(needs, b.CUDA)
	}
	if im.ptx() {
		if p, ok := gpu.PTXFor(im.ISA); ok {
			needs = later(needs, p.CUDA)
		} else if newest := newestISA(); newest.ISA.Less(im.ISA) {
			// Newer than the tables: no driver that we know of will do.
			needs = later(needs, arch.Version{Major: newest.CUDA.Major, Minor: newest.CUDA.Minor + 1})
		}
	}
	if im.Compression == fatbin.CompressionZstd {
		needs = later(needs, zstdCUDA)
	}
	if im.Concatenated {
		needs = later(needs, concatCUDA)
	}
	if im.sass() && im.Toolkit.Major > 0 {
		needs = later(needs, arch.Version{Major: im.Toolkit.Major})
	}
	return needs
}

// First CUDA versions whose drivers read zstd and concatenated entries.
var (
	zstdCUDA   = arch.Version{Major: 12, Minor: 4}
	concatCUDA = arch.Version{Major: 13, Minor: 4}
)

func newestISA() gpu.PTXInfo {
	t := gpu.PTXTable()
	return t[len(t)-1]
}

func later(a, b arch.Version) arch.Version {
	if a.Less(b) {
		return b
	}
	return a
}

// tooOld reports whether the driver is known and older than a CUDA version.
func tooOld(t Target, needs arch.Version) bool {
	return t.Driver.Known() && t.Driver.CUDA.Less(needs)
}

// A block is one thing that a driver is too old for.
type block struct {
	rule  Rule
	needs arch.Version
	why   string
}

// blocking lists what the known driver is too old for, the least demand
// first. It is never empty.
func blocking(im Image, rt Runtime, t Target) []block {
	var out []block
	ask := func(r Rule, needs arch.Version, why string) {
		if t.Driver.CUDA.Less(needs) {
			out = append(out, block{r, needs, why})
		}
	}
	has := driverName(t.Driver)
	if im.Compression == fatbin.CompressionZstd {
		ask(RuleZstd, zstdCUDA, "it is compressed with zstd, which needs a driver of R550 (CUDA 12.4) or newer, not "+has+" (error 200)")
	}
	if rt.CUDA.Major > 0 {
		ask(RuleRuntime, rt.CUDA, rt.From+" needs a driver of "+branchName(rt.CUDA)+" or newer, not "+has+" (error 35)")
	}
	if im.sass() && im.Toolkit.Major > rt.CUDA.Major {
		ask(RuleNewerToolkit, arch.Version{Major: im.Toolkit.Major}, "it was made by CUDA "+im.Toolkit.String()+", and "+has+" is CUDA "+t.Driver.CUDA.String()+" (error 200)")
	}
	if im.sass() {
		if f := sassFits(im.Arch, t.CC); f.rule == RuleOrin {
			ask(RuleOrin, f.needs, "it needs a driver of R595 (CUDA 13.2) or newer, not "+has)
		}
	}
	if im.Concatenated {
		ask(RuleConcat, concatCUDA, "it is a concatenated entry, which needs a driver for about CUDA 13.4 (not confirmed), not "+has)
	}
	if im.ptx() {
		if p, ok := gpu.PTXFor(im.ISA); ok {
			ask(RulePTXVersion, p.CUDA, "needs a driver of "+branchName(p.CUDA)+" or newer: PTX ISA "+im.ISA.String()+" is CUDA "+p.CUDA.String()+", and "+has+" knows "+t.Driver.PTX.String()+" (error 222)")
		} else {
			ask(RulePTXVersion, arch.Version{Major: 999}, "PTX ISA "+im.ISA.String()+" is newer than every driver that fatview knows (error 222)")
		}
	}
	if len(out) == 0 {
		out = append(out, block{RuleGPUDriver, arch.Version{}, "it needs a newer driver than " + has})
	}
	slices.SortStableFunc(out, func(a, b block) int {
		switch {
		case a.needs.Less(b.needs):
			return -1
		case b.needs.Less(a.needs):
			return 1
		}
		return 0
	})
	return out
}

// decisive names the block that a user meets first: a runtime that refuses the
// driver does so at start, before any image is looked at; otherwise it is the
// greatest demand.
func decisive(blocks []block) Rule {
	for _, b := range blocks {
		if b.rule == RuleRuntime {
			return RuleRuntime
		}
	}
	return blocks[len(blocks)-1].rule
}

// Impossible returns a sentence if the driver cannot drive the GPU at all, and
// "" if it can or is unknown.
func Impossible(t Target) string {
	if !t.Driver.Known() {
		return ""
	}
	if first, _, ok := gpu.FirstBranch(t.CC); ok && t.Driver.CUDA.Less(first.CUDA) {
		return "driver " + t.Driver.Version + " does not know compute capability " + t.CC.String() + ": the first that does is R" + itoa(first.Number)
	}
	if last := gpu.LastBranch(t.CC); last != 0 && t.Driver.Branch > last {
		return "driver " + t.Driver.Version + " no longer supports compute capability " + t.CC.String() + " (" + gpu.FamilyOf(t.CC) + "): the last that does is R" + itoa(last)
	}
	return ""
}
