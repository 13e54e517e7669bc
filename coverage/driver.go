package coverage

import (
	"slices"

	"fatview/arch"
	"fatview/fatbin"
	"fatview/gpu"
)

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

// beyondLast reports whether a CUDA version is newer than any driver that
// still drives the GPU.
func beyondLast(c arch.CC, needs arch.Version) bool {
	last := gpu.LastBranch(c)
	if last == 0 {
		return false
	}
	b, ok := gpu.BranchFor(last)
	return ok && b.CUDA.Less(needs)
}

// Impossible returns a sentence if the driver cannot drive the GPU at all, and
// "" if it can or is unknown.
func Impossible(t Target) string {
	if !t.Driver.Known() {
		return ""
	}
	if first, _, ok := gpu.FirstBranch(t.CC); ok && t.Driver.CUDA.Less(first.CUDA) {
		return driverName(t.Driver) + " does not know compute capability " + t.CC.String() + ": the first that does is R" + itoa(first.Number)
	}
	if last := gpu.LastBranch(t.CC); last != 0 && t.Driver.Branch > last {
		return driverName(t.Driver) + " no longer supports compute capability " + t.CC.String() + " (" + gpu.FamilyOf(t.CC) + "): the last that does is R" + itoa(last)
	}
	return ""
}
