package gpu

import (
	"slices"
	"strings"
	"sync"

	"fatview/arch"
)

// PTXInfo is a row of the release table of the PTX ISA.
type PTXInfo struct {
	ISA  arch.Version // the number behind .version in PTX text
	CUDA arch.Version // the toolkit that brought it
	// MinLinux and MinWindows are the least drivers that NVIDIA documents for
	// that toolkit; "" where the release notes name none.
	MinLinux, MinWindows string
	NewTargets           []arch.Arch // the targets that this version added
}

var ptxTable = sync.OnceValue(func() []PTXInfo {
	var out []PTXInfo
	for _, r := range rows(ptxTSV, 5) {
		var c cell
		info := PTXInfo{ISA: c.version(r[0]), CUDA: c.version(r[1]), MinLinux: r[2], MinWindows: r[3]}
		for _, name := range strings.Fields(r[4]) {
			info.NewTargets = append(info.NewTargets, c.arch(name))
		}
		if !c.bad {
			info.NewTargets = slices.Clip(info.NewTargets)
			out = append(out, info)
		}
	}
	return out
})

// PTXTable returns the release table in ascending order. The caller must not
// change the NewTargets inside.
func PTXTable() []PTXInfo { return slices.Clone(ptxTable()) }

// PTXFor returns the row of a PTX ISA version.
func PTXFor(isa arch.Version) (PTXInfo, bool) {
	for _, info := range ptxTable() {
		if info.ISA == isa {
			return info, true
		}
	}
	return PTXInfo{}, false
}

// ptxOfCUDA returns the newest PTX ISA version that a CUDA version knows: that
// of its own row, or of the last one before it, because a release does not
// always bring a new ISA (12.6 has that of 12.5).
func ptxOfCUDA(cuda arch.Version) arch.Version {
	var isa arch.Version
	for _, info := range ptxTable() {
		if !cuda.Less(info.CUDA) && isa.Less(info.ISA) {
			isa = info.ISA
		}
	}
	return isa
}
