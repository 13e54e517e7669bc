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
		return name + " (PTX ISA " + im.ISA.String() + ") is compiled for " + cc + " at first use" + unconfirmed(s.Rule)
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
	case HoldsNoKernel:
		return name + " is taken and holds no kernels"
	case Switched:
		return name + " is ignored: CUDA_FORCE_PTX_JIT is set"
	case SwitchedPTX:
		return name + " is ignored: CUDA_DISABLE_PTX_JIT is set (error 223)"
	}
	return name
}

func unconfirmed(r Rule) string {
	if i := r.Info(); !i.Confirmed && r != RuleChoice {
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
		if s.Fits && im.ptx() && renamed(im.Arch.CC) > renamed(c.Images[r.Image].Arch.CC) {
			return " (NVIDIA's linker would prefer " + im.Name() + "; either way it runs)"
		}
	}
	return ""
}

func relinkReason(r Result, t Target) string {
	s := "no linked image for " + t.CC.String() + "; the driver may link again from the relocatable PTX (documented, not proven)"
	if r.Verdict == Driver {
		s += ", with a driver of " + branchName(r.Needs) + " or newer"
	}
	return s
}

// A refusalTally collects, over one or many containers, the images by name and
// why each was refused.
type refusalTally struct {
	byReason map[Refusal]map[arch.Arch]bool // SASS and PTX apart by reason
	ptx      bool                           // PTX was among them
	empty    map[string]bool                // names of images without kernels
	kinds    map[fatbin.Kind]bool           // kinds that cannot be loaded
}

func tally(t *refusalTally, c Container, r Result) *refusalTally {
	if t == nil {
		t = &refusalTally{byReason: map[Refusal]map[arch.Arch]bool{}, empty: map[string]bool{}, kinds: map[fatbin.Kind]bool{}}
	}
	for _, s := range r.Steps {
		im := c.Images[s.Image]
		if im.ptx() && im.Kernels != 0 {
			t.ptx = true
		}
		switch {
		case s.Fits && im.Kernels == 0:
			t.empty[im.Name()] = true
		case s.Fits || im.Kernels == 0 && (im.sass() || im.ptx()):
		case s.Refusal == NotLoadable && !im.sass():
			t.kinds[im.Kind] = true
		default:
			if t.byReason[s.Refusal] == nil {
				t.byReason[s.Refusal] = map[arch.Arch]bool{}
			}
			t.byReason[s.Refusal][im.Arch] = true
		}
	}
	return t
}

// noImage is the sentence for containers without code for a GPU.
func noImage(t *refusalTally, target Target) string {
	cc := target.CC.String()
	var parts []string
	say := func(r Refusal, ptx bool, one, many string) {
		if names := archNames(t.byReason[r], ptx); len(names) == 1 {
			parts = append(parts, names[0]+" "+one)
		} else if len(names) > 1 {
			parts = append(parts, list(names)+" "+many)
		}
	}
	say(OtherMajor, false, "is another architecture", "are other architectures")
	say(HigherMinor, false, "is higher", "are higher")
	for _, a := range sorted(t.byReason[StandsAlone]) {
		if alone(renamed(a.CC)) {
			parts = append(parts, a.SASS()+" is "+relation(renamed(a.CC), target.CC)+"and stands alone")
		} else {
			parts = append(parts, cc+" stands alone and does not run "+a.SASS())
		}
	}
	for _, a := range sorted(t.byReason[ExactOnly]) {
		parts = append(parts, a.SASS()+" runs on "+renamed(a.CC).String()+" only")
	}
	say(OtherFamily, false, "runs on its own family only", "run on their own families only")
	say(Switched, false, "is ignored under CUDA_FORCE_PTX_JIT", "are ignored under CUDA_FORCE_PTX_JIT")
	say(SwitchedPTX, true, "is ignored under CUDA_DISABLE_PTX_JIT", "are ignored under CUDA_DISABLE_PTX_JIT")
	say(NotLoadable, false, "is relocatable and has to be linked first", "are relocatable and have to be linked first")
	if names := keys(t.empty); len(names) > 0 {
		parts = append(parts, list(names)+" "+plural(len(names), "holds", "hold")+" no kernels")
	}
	say(HigherPTX, true, "is PTX for higher capabilities", "are PTX for higher capabilities")
	say(OldPTX, true, "is PTX that runs nowhere today", "are PTX that runs nowhere today")
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

func archNames(set map[arch.Arch]bool, ptx bool) []string {
	var names []string
	for _, a := range sorted(set) {
		if ptx {
			names = append(names, a.PTX())
		} else {
			names = append(names, a.SASS())
		}
	}
	return names
}

func sorted(set map[arch.Arch]bool) []arch.Arch {
	out := make([]arch.Arch, 0, len(set))
	for a := range set {
		out = append(out, a)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Less(out[j]) })
	return out
}

func keys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	sort.Slice(out, func(i, j int) bool {
		a, _ := arch.Parse(out[i])
		b, _ := arch.Parse(out[j])
		return a.Less(b)
	})
	return out
}
