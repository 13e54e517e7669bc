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

// common is the driver branch that a cautious build still serves: the oldest
// production branch that many clusters run.
const common = 535

// warnings lists the dead ends of a file.
func warnings(containers []coverage.FileContainer) []string {
	w := []string{}
	say := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	var general, zstd int
	var ptx, suffixedPTX []arch.Arch
	var isa arch.Version
	emptyArchs := map[string]int{}
	special, plain := map[arch.CC]bool{}, map[arch.CC]bool{}
	for _, c := range containers {
		if c.Input {
			continue
		}
		kernels := false
		for _, im := range c.Images {
			if im.Kernels == 0 {
				emptyArchs[im.Name()]++
				continue
			}
			switch im.Kind {
			case fatbin.KindPTX:
				kernels = true
				if isa.Less(im.ISA) {
					isa = im.ISA
				}
				if im.Arch.Suffix == 'a' {
					suffixedPTX = insert(suffixedPTX, im.Arch)
				} else {
					ptx = insert(ptx, im.Arch)
				}
			case fatbin.KindCubin:
				kernels = true
				if im.Arch.Suffix == 0 {
					plain[im.Arch.CC] = true
				} else {
					special[im.Arch.CC] = true
				}
			}
			if im.Compression == fatbin.CompressionZstd && im.Kind == fatbin.KindCubin {
				zstd++
			}
		}
		if kernels {
			general++
		}
	}
	if general == 0 {
		return w
	}
	if len(ptx) == 0 {
		say("there is no PTX for GPUs to come: the next architecture is not served until the library is rebuilt")
	}
	for _, a := range suffixedPTX {
		say("%s is PTX for %s alone; no other GPU can use it", a.PTX(), a.CC)
	}
	if b, ok := gpu.BranchFor(common); ok && b.PTX.Less(isa) {
		say("the PTX is of ISA %s, which drivers of R%d and older do not know", isa, common)
	}
	if zstd > 0 {
		say("machine code is compressed with zstd, which drivers before R550 cannot read (error 200)")
	}
	for _, c := range sortedCC(special) {
		if !plain[c] {
			say("%s is served by architecture-specific code only, which runs on no other capability", c)
		}
	}
	if gap := gaps(plain, ptx); len(gap) > 0 {
		say("between the architectures there is nothing for %s", strings.Join(gap, ", "))
	}
	for _, n := range sortedNames(emptyArchs) {
		if whole := everywhereEmpty(containers, n); whole {
			say("%s is listed and holds no kernel at all", n)
		}
	}
	return w
}

// gaps lists capabilities that lie between the lowest and the highest
// architecture of a file and that neither its machine code nor its PTX serves.
func gaps(plain map[arch.CC]bool, ptx []arch.Arch) []string {
	var out []string
	ccs := sortedCC(plain)
	if len(ccs) == 0 {
		return nil
	}
	for _, c := range gpu.Capabilities() {
		if c < ccs[0] || c > ccs[len(ccs)-1] {
			continue
		}
		if i, ok := gpu.ArchFor(arch.Arch{CC: c}); !ok || i.Integrated {
			continue // few build for them on purpose
		}
		served := false
		for _, a := range ccs {
			served = served || coverage.Runs(arch.Arch{CC: a}, c)
		}
		for _, p := range ptx {
			served = served || coverage.Compiles(p, c)
		}
		if !served {
			out = append(out, c.String())
		}
	}
	return out
}

func everywhereEmpty(containers []coverage.FileContainer, name string) bool {
	for _, c := range containers {
		for _, im := range c.Images {
			if im.Name() == name && im.Kernels != 0 {
				return false
			}
		}
	}
	return true
}

func sortedCC(set map[arch.CC]bool) []arch.CC {
	out := make([]arch.CC, 0, len(set))
	for c := range set {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

func sortedNames(set map[string]int) []string {
	out := make([]string, 0, len(set))
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
