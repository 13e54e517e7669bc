package coverage

import (
	"sort"
	"strconv"
	"strings"

	"fatview/arch"
	"fatview/fatbin"
	"fatview/gpu"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Why says for one image what became of it, as a clause without full stop.
func (s Step) Why(im Image, t Target) string {
	name, cc := im.Name(), t.CC.String()
	switch s.Refusal {
	case Taken:
		if im.sass() {
			return name + " runs on " + cc + unconfirmed(s.Rule)
		}
		return name + " (PTX ISA " + im.ISA.String() + ") is compiled for " + cc + " at first use" + newer(im) + unconfirmed(s.Rule)
	case OtherMajor:
		return name + " is another architecture than " + cc
	case HigherMinor:
		return name + " is higher than " + cc
	case StandsAlone:
		if alone(renamed(im.Arch.CC)) {
			return name + " stands alone: it runs on " + renamed(im.Arch.CC).String() + " only"
		}
		return cc + " stands alone and does not run " + name
	case ExactOnly:
		return name + " runs on " + renamed(im.Arch.CC).String() + " only"
	case OtherFamily:
		return name + " runs on its own family only"
	case HigherPTX:
		return name + " is PTX for " + im.Arch.CC.String() + " and higher"
	case NotLoadable:
		if im.sass() {
			return name + " is relocatable and has to be linked first"
		}
		return im.Kind.Title() + " cannot be loaded by itself"
	case OldPTX:
		if im.MapF64 {
			return name + " uses map_f64_to_f32, which runs nowhere today"
		}
		return name + " is 32-bit PTX, which runs nowhere today"
	case Outranked:
		return name + " fits too, another image comes first"
	case NeedsDriver:
		whys := make([]string, len(s.blocks))
		for i, b := range s.blocks {
			whys[i] = b.why
		}
		return name + " fits, but " + strings.Join(whys, "; and ")
	case Unreadable:
		return name + " is taken, and damaged: it cannot be loaded"
	case NoDriverLeft:
		return name + " needs a driver of " + branchName(s.Needs) + " or newer, and the last for " + cc + " is " + lastDriver(t.CC)
	case HoldsNoKernel:
		return name + " is taken and holds no kernels"
	case Switched:
		return name + " is ignored: CUDA_FORCE_PTX_JIT is set"
	case SwitchedPTX:
		return name + " is ignored: CUDA_DISABLE_PTX_JIT is set (error 223)"
	}
	return name
}

// newer says that no driver is known to compile an image's PTX.
func newer(im Image) string {
	if _, ok := gpu.PTXFor(im.ISA); ok || !newestISA().ISA.Less(im.ISA) {
		return ""
	}
	return ", by a driver newer than any that fatview knows"
}

func unconfirmed(r Rule) string {
	if i := r.Info(); !i.Confirmed {
		return " (not confirmed)"
	}
	return ""
}

func driverName(d gpu.Driver) string {
	if d.Version != "" {
		return "driver " + d.Version
	}
	return "a driver for CUDA " + d.CUDA.String()
}

// branchName returns "R550" for the first driver branch of a CUDA version.
func branchName(v arch.Version) string {
	if _, _, branch, ok := gpu.MinDriverForCUDA(v); ok {
		return "R" + itoa(branch)
	}
	return "CUDA " + v.String()
}

// LeastDriver returns the least driver versions for a CUDA version, "" where
// the tables have none.
func LeastDriver(needs arch.Version) (linux, windows string) {
	if needs.IsZero() {
		return "", ""
	}
	linux, windows, _, _ = gpu.MinDriverForCUDA(needs)
	if needs == (arch.Version{Major: 11}) {
		windows = "452.39" // what the runtime of 11.x asks for; its own first driver was 451.48
	}
	return linux, windows
}

// LeastConfirmed reports whether the least driver for a CUDA version is known
// to support it, rather than expected to.
func LeastConfirmed(needs arch.Version) bool {
	_, _, branch, ok := gpu.MinDriverForCUDA(needs)
	if !ok {
		return false
	}
	b, ok := gpu.BranchFor(branch)
	return ok && b.Certain
}

// Reason returns the verdict of a container as one sentence without full stop.
func (r Result) Reason(c Container, t Target) string {
	switch {
	case r.Relink:
		return relinkReason(r, t)
	case r.Verdict == Unknown:
		return "relocatable input of the linked container, counted nowhere"
	case r.Verdict == Empty:
		return "holds no kernels on any architecture"
	case r.Verdict == Missing || r.Verdict == Specialised:
		return noImage(tally(nil, c, r), t)
	case r.Image < 0:
		return "no image"
	}
	s := r.Steps[r.Image].Why(c.Images[r.Image], t)
	if r.Verdict != Driver && r.Rule == RuleOrin && !t.Driver.Known() {
		s += ", with a driver of R595 (CUDA 13.2) or newer"
	}
	if d := r.differs(c); d != "" {
		s += d
	}
	if c.Input {
		s += ", once linked"
	}
	return s
}

// differs notes where the guide and nvJitLink choose differently.
func (r Result) differs(c Container) string {
	if r.Verdict != Native {
		return ""
	}
	for _, s := range r.Steps {
		im := c.Images[s.Image]
		if s.Fits && im.Kernels != 0 && s.Refusal != NeedsDriver && im.ptx() && renamed(im.Arch.CC) > renamed(c.Images[r.Image].Arch.CC) {
			return " (NVIDIA's linker would prefer " + im.Name() + "; either way it runs)"
		}
	}
	return ""
}

func relinkReason(r Result, t Target) string {
	s := "no linked image for " + t.CC.String() + "; the driver may link again from the relocatable PTX (documented, not proven)"
	if r.Verdict == Driver && r.Rule == RuleRuntime {
		return s + ", with a driver of " + branchName(r.Needs) + " or newer, which its CUDA runtime asks for (error 35)"
	}
	if r.Verdict == Driver {
		s += ", with a driver of " + branchName(r.Needs) + " or newer"
	}
	return s
}

// named is an architecture as SASS or as PTX.
type named struct {
	arch arch.Arch
	ptx  bool
}

func (n named) String() string {
	if n.ptx {
		return n.arch.PTX()
	}
	return n.arch.SASS()
}

// A refusalTally collects, over one or many containers, the images by name and
// why each was refused.
type refusalTally struct {
	byReason map[Refusal]map[named]bool
	ptx      bool                 // PTX was among them
	empty    map[named]bool       // fitted, and held no kernels
	unused   map[named]bool       // fitted, and came after an empty one
	kinds    map[fatbin.Kind]bool // kinds that cannot be loaded
}

func tally(t *refusalTally, c Container, r Result) *refusalTally {
	if t == nil {
		t = &refusalTally{byReason: map[Refusal]map[named]bool{}, empty: map[named]bool{}, unused: map[named]bool{}, kinds: map[fatbin.Kind]bool{}}
	}
	for _, s := range r.Steps {
		im := c.Images[s.Image]
		n := named{im.Arch, im.ptx()}
		t.ptx = t.ptx || im.ptx()
		switch {
		case s.Fits && im.Kernels == 0:
			t.empty[n] = true
		case s.Fits && s.Refusal == Outranked:
			t.unused[n] = true
		case s.Fits && s.Refusal != Unreadable || im.Kernels == 0 && (im.sass() || im.ptx()):
		case s.Refusal == NotLoadable && !im.sass():
			t.kinds[im.Kind] = true
		default:
			if t.byReason[s.Refusal] == nil {
				t.byReason[s.Refusal] = map[named]bool{}
			}
			t.byReason[s.Refusal][n] = true
		}
	}
	return t
}

// noImage is the sentence for containers without code for a GPU.
func noImage(t *refusalTally, target Target) string {
	cc := target.CC.String()
	var parts []string
	say := func(set map[named]bool, one, many string) {
		if names := nameList(set); len(names) > 0 {
			parts = append(parts, list(names)+" "+plural(len(names), one, many))
		}
	}
	say(t.byReason[OtherMajor], "is another architecture", "are other architectures")
	say(t.byReason[HigherMinor], "is higher", "are higher")
	for _, n := range sorted(t.byReason[StandsAlone]) {
		if cc := renamed(n.arch.CC); alone(cc) {
			parts = append(parts, n.String()+" is "+relation(cc, target.CC)+"and stands alone")
		} else {
			parts = append(parts, target.CC.String()+" stands alone and does not run "+n.String())
		}
	}
	for _, n := range sorted(t.byReason[ExactOnly]) {
		parts = append(parts, n.String()+" runs on "+renamed(n.arch.CC).String()+" only")
	}
	say(t.byReason[OtherFamily], "runs on its own family only", "run on their own families only")
	say(t.byReason[NoDriverLeft], "needs a newer driver than the last for "+cc+", "+lastDriver(target.CC), "need a newer driver than the last for "+cc+", "+lastDriver(target.CC))
	say(t.byReason[Unreadable], "is damaged and cannot be loaded", "are damaged and cannot be loaded")
	say(t.byReason[Switched], "is ignored under CUDA_FORCE_PTX_JIT", "are ignored under CUDA_FORCE_PTX_JIT")
	say(t.byReason[SwitchedPTX], "is ignored under CUDA_DISABLE_PTX_JIT", "are ignored under CUDA_DISABLE_PTX_JIT")
	say(t.byReason[NotLoadable], "is relocatable and has to be linked first", "are relocatable and have to be linked first")
	say(t.empty, "holds no kernels", "hold no kernels")
	say(t.unused, "fits too and is never chosen", "fit too and are never chosen")
	say(t.byReason[HigherPTX], "is PTX for higher capabilities", "are PTX for higher capabilities")
	say(t.byReason[OldPTX], "is PTX that runs nowhere today", "are PTX that runs nowhere today")
	for _, k := range []fatbin.Kind{fatbin.KindNVVM, fatbin.KindTileIR, fatbin.KindRelocatablePTX, fatbin.KindOldCubin, fatbin.KindMercury, fatbin.KindIndex} {
		if t.kinds[k] {
			parts = append(parts, k.Title()+" cannot be loaded by itself")
		}
	}
	if !t.ptx {
		parts = append(parts, "there is no PTX")
	}
	return "no image for " + cc + ": " + clauses(parts)
}

// lastDriver names the last driver branch for a capability, "R470".
func lastDriver(c arch.CC) string { return "R" + itoa(gpu.LastBranch(c)) }

// relation says "higher " or "lower " of an architecture of the same major.
func relation(a, c arch.CC) string {
	switch {
	case a.Major() != c.Major() || a == c:
		return ""
	case a > c:
		return "higher "
	}
	return "lower "
}

func nameList(set map[named]bool) []string {
	var names []string
	for _, n := range sorted(set) {
		names = append(names, n.String())
	}
	return names
}

// sorted orders by architecture, SASS before PTX.
func sorted(set map[named]bool) []named {
	out := make([]named, 0, len(set))
	for n := range set {
		out = append(out, n)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		switch {
		case a.ptx != b.ptx:
			return b.ptx
		default:
			return a.arch.Less(b.arch)
		}
	})
	return out
}
