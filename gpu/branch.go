package gpu

import (
	"slices"
	"strconv"
	"sync"

	"fatview/arch"
)

// Branch is a line of driver releases that share the number before the first
// dot on Linux, and with it a CUDA and a PTX ISA version.
type Branch struct {
	Number    int
	CUDA, PTX arch.Version
	Certain   bool // false: inferred, nobody confirmed it
}

var branchTable = sync.OnceValue(func() []Branch {
	var out []Branch
	for _, r := range rows(driversTSV, 4) {
		var c cell
		b := Branch{Number: c.optInt(r[0]), CUDA: c.version(r[1]), PTX: c.version(r[2]), Certain: c.yes(r[3])}
		if !c.bad && b.Number != 0 {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b Branch) int { return a.Number - b.Number })
	return out
})

// Branches returns the driver branches by number. CUDA versions do not ascend
// everywhere: R430 and R435 are out of step.
func Branches() []Branch { return slices.Clone(branchTable()) }

// BranchFor returns the branch of a driver whose version begins with number:
// the row at or below it. That covers the Windows numbers between the branches,
// because 551 and 552 are releases of R550. A number above the newest row gets
// that row with Certain false, and one below the oldest gets nothing.
func BranchFor(number int) (Branch, bool) {
	var found Branch
	table := branchTable()
	for _, b := range table {
		if b.Number <= number {
			found = b
		}
	}
	if len(table) > 0 && number > table[len(table)-1].Number {
		found.Certain = false
	}
	return found, found.Number != 0
}

// firstBranch returns the least branch for which fits holds. A certain row wins
// against an uncertain one with a lower number, so that R430, of which reports
// say CUDA 10.2, does not pass for the first branch with it.
func firstBranch(fits func(Branch) bool) (Branch, bool) {
	var guess Branch
	for _, b := range branchTable() {
		switch {
		case !fits(b):
		case b.Certain:
			return b, true
		case guess.Number == 0:
			guess = b
		}
	}
	return guess, guess.Number != 0
}

// documented returns the least Linux and Windows driver of a branch's CUDA
// version, as the release notes give them, and the branch that the Linux one
// belongs to: CUDA 9.1 was seen on R387, but the documented floor is 390.46.
// Where nothing is documented the branch number alone is the answer.
func documented(b Branch) (floor Branch, linux, windows string) {
	linux = strconv.Itoa(b.Number)
	windows = linux
	for _, info := range ptxTable() {
		if info.CUDA != b.CUDA {
			continue
		}
		if n, ok := branchNumber(info.MinLinux); ok {
			linux = info.MinLinux
			if row, ok := BranchFor(n); ok {
				b = row
			}
		}
		if info.MinWindows != "" {
			windows = info.MinWindows
		}
	}
	return b, linux, windows
}

// FirstBranch returns the first driver branch that knows GPUs of a capability,
// and the least driver version on Linux. GPUs older than the table (CUDA 7.0)
// had a driver before its first row, so they get that row with Certain false.
// There is no answer for capabilities that the table does not know, and for
// those that were dropped before its first row (1.x).
func FirstBranch(a arch.CC) (Branch, string, bool) {
	info, ok := ArchFor(arch.Arch{CC: a})
	if !ok {
		return Branch{}, "", false
	}
	b, ok := firstBranch(func(b Branch) bool {
		return !b.PTX.Less(info.FirstPTX) && !b.CUDA.Less(info.FirstToolkit)
	})
	if !ok || (info.LastBranch != 0 && info.LastBranch < b.Number) {
		return Branch{}, "", false
	}
	b, linux, _ := documented(b)
	if oldest := branchTable()[0]; info.FirstToolkit.Less(oldest.CUDA) {
		b.Certain = false
	}
	return b, linux, true
}

// MinDriverForCUDA returns the least drivers for a CUDA version, and their
// branch: those that the release notes name, and otherwise the bare branch
// number. A version that no branch brought (11.9) needs the next one. It is not
// ok for versions older than the table and for those that no branch has yet.
func MinDriverForCUDA(v arch.Version) (linux, windows string, branch int, ok bool) {
	if table := branchTable(); len(table) == 0 || v.Less(table[0].CUDA) {
		return "", "", 0, false
	}
	b, ok := firstBranch(func(b Branch) bool { return !b.CUDA.Less(v) })
	if !ok {
		return "", "", 0, false
	}
	b, linux, windows = documented(b)
	return linux, windows, b.Number, true
}
