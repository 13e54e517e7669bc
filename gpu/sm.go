package gpu

import (
	"slices"
	"sync"

	"fatview/arch"
)

// ArchInfo is what the table says of one architecture.
type ArchInfo struct {
	Arch         arch.Arch
	Family       string       // NVIDIA's name of the generation, "Hopper"
	FirstToolkit arch.Version // the first CUDA toolkit that builds for it
	LastToolkit  arch.Version // the last one; zero: still built
	FirstPTX     arch.Version // the first PTX ISA version that names it
	LastBranch   int          // the last driver branch that drives it; 0: still supported
	Integrated   bool         // part of a system on a chip: Jetson, DRIVE
}

// thorBefore13 is the number that Thor had until CUDA 13.0 renamed it to 110.
// Code still says sm_101, but no GPU reports 10.1.
const (
	thorBefore13 arch.CC = 101
	thor         arch.CC = 110
)

var archTable = sync.OnceValue(func() []ArchInfo {
	var out []ArchInfo
	for _, r := range rows(smTSV, 7) {
		var c cell
		info := ArchInfo{
			Arch: c.arch(r[0]), Family: c.text(r[1]),
			FirstToolkit: c.version(r[2]), LastToolkit: c.optVersion(r[3]),
			FirstPTX: c.version(r[4]), LastBranch: c.optInt(r[5]), Integrated: c.yes(r[6]),
		}
		if !c.bad {
			out = append(out, info)
		}
	}
	slices.SortStableFunc(out, func(a, b ArchInfo) int {
		switch {
		case a.Arch.Less(b.Arch):
			return -1
		case b.Arch.Less(a.Arch):
			return 1
		}
		return 0
	})
	return out
})

// Archs returns every architecture in the table, in ascending order: a number
// without a suffix, then its a, then its f.
func Archs() []ArchInfo { return slices.Clone(archTable()) }

// ArchFor returns what the table says of a, suffix included.
func ArchFor(a arch.Arch) (ArchInfo, bool) {
	for _, info := range archTable() {
		if info.Arch == a {
			return info, true
		}
	}
	return ArchInfo{}, false
}

var capabilityTable = sync.OnceValue(func() []arch.CC {
	var out []arch.CC
	for _, info := range archTable() {
		if info.Arch.Suffix == 0 && info.Arch.CC != thorBefore13 {
			out = append(out, info.Arch.CC)
		}
	}
	return out
})

// Capabilities returns every compute capability that a GPU can report, in
// ascending order. 10.1 is not among them: it is the former name of 11.0.
func Capabilities() []arch.CC { return slices.Clone(capabilityTable()) }

// FamilyOf returns the name of a capability's generation, "Hopper" for 9.0,
// and "" for one that the table does not know.
func FamilyOf(cc arch.CC) string {
	info, _ := ArchFor(arch.Arch{CC: cc})
	return info.Family
}

// LastBranch returns the last driver branch that drives GPUs of a capability,
// or 0 if the newest still does, or if the table does not know the capability.
func LastBranch(cc arch.CC) int {
	info, _ := ArchFor(arch.Arch{CC: cc})
	return info.LastBranch
}
