package gpu

import (
	"fmt"
	"strconv"
	"strings"

	"fatview/arch"
)

// Driver is a display driver, as far as it matters for what it can load. The
// zero value is an unknown driver.
type Driver struct {
	Version string       // "535.104.05" as given; "" if only a CUDA version is known
	Branch  int          // the table's branch, 550 for 551.61
	CUDA    arch.Version // the newest CUDA version it supports
	PTX     arch.Version // the newest PTX ISA version it compiles
	Certain bool         // false: CUDA and PTX are inferred, nobody confirmed them
}

// Known reports whether d says anything about a driver.
func (d Driver) Known() bool { return d.Branch != 0 }

// String returns the version, or the branch as "R535", or "unknown driver".
func (d Driver) String() string {
	switch {
	case d.Version != "":
		return d.Version
	case d.Branch != 0:
		return "R" + strconv.Itoa(d.Branch)
	}
	return "unknown driver"
}

const howToWriteADriver = "write it like 535, R535 or 535.104.05"

// ParseDriver reads a driver version as a user writes it: "535", "R535",
// "535.104.05", or a Windows number such as "551.61". Branches newer than the
// table are taken for its newest, with Certain false.
func ParseDriver(s string) (Driver, error) {
	text := strings.TrimSpace(s)
	n, ok := branchNumber(text)
	if !ok {
		return Driver{}, fmt.Errorf("%q is not a driver version: %s", clip(s), howToWriteADriver)
	}
	if n > 999 {
		return Driver{}, fmt.Errorf("driver %q is out of range, branches have three digits: %s", clip(s), howToWriteADriver)
	}
	b, ok := BranchFor(n)
	if !ok {
		return Driver{}, fmt.Errorf("driver %q is out of range, the oldest branch in the table is R%d: %s", clip(s), oldestBranch(), howToWriteADriver)
	}
	return Driver{Version: strings.TrimLeft(text, "rR"), Branch: b.Number, CUDA: b.CUDA, PTX: b.PTX, Certain: b.Certain}, nil
}

func oldestBranch() int {
	if table := branchTable(); len(table) > 0 {
		return table[0].Number
	}
	return 0
}

// branchNumber returns the number before the first dot of a driver version,
// with or without the R of a branch name, and whether s is a version at all.
func branchNumber(s string) (int, bool) {
	if s != "" && (s[0] == 'R' || s[0] == 'r') {
		s = s[1:]
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return 0, false
	}
	first := 0
	for i, part := range parts {
		// Five digits are enough for every part, and cannot overflow.
		if part == "" || len(part) > 5 || strings.Trim(part, "0123456789") != "" {
			return 0, false
		}
		if i == 0 {
			first, _ = strconv.Atoi(part)
		}
	}
	return first, true
}

// DriverForCUDA returns the first driver branch with a CUDA version, for the
// question "what if the driver supports CUDA 12.2". Its Version is empty.
func DriverForCUDA(s string) (Driver, error) {
	v, err := arch.ParseVersion(s)
	if err != nil {
		return Driver{}, fmt.Errorf("%q is not a CUDA version: write it like 12.2", clip(s))
	}
	b, ok := firstBranch(func(b Branch) bool { return b.CUDA == v })
	if !ok {
		return Driver{}, fmt.Errorf("no driver branch has CUDA %s: %s", v, neighbours(v))
	}
	return Driver{Branch: b.Number, CUDA: b.CUDA, PTX: b.PTX, Certain: b.Certain}, nil
}

// neighbours names the CUDA versions just below and above one that no branch
// has, with the branches that brought them.
func neighbours(v arch.Version) string {
	var below arch.Version
	for _, b := range branchTable() {
		if b.CUDA.Less(v) && below.Less(b.CUDA) {
			below = b.CUDA
		}
	}
	above, haveAbove := firstBranch(func(b Branch) bool { return v.Less(b.CUDA) })
	at, haveBelow := firstBranch(func(b Branch) bool { return b.CUDA == below })
	switch {
	case haveBelow && haveAbove:
		return fmt.Sprintf("%s came with R%d and %s with R%d", at.CUDA, at.Number, above.CUDA, above.Number)
	case haveAbove:
		return fmt.Sprintf("the oldest in the table is %s with R%d", above.CUDA, above.Number)
	}
	return fmt.Sprintf("the newest in the table is %s with R%d", at.CUDA, at.Number)
}

// Reported returns the driver of a machine that is elsewhere, of which someone
// wrote down the version, the newest CUDA version, or both: "" and zero stand
// for what is not known. A version that is none and a CUDA version of zero give
// an unknown driver.
func Reported(version string, cuda arch.Version) Driver { return detected(version, cuda) }

// detected makes a Driver of what a running driver said of itself. Its own CUDA
// version is better than the table's, because a forward-compatibility package
// raises it; a zero one was not told. Nothing here fails: a driver older than
// the table is known by its number alone.
func detected(version string, cuda arch.Version) Driver {
	d := Driver{Version: version}
	if n, ok := branchNumber(version); ok {
		d.Branch = n
		if b, ok := BranchFor(n); ok {
			d = Driver{Version: version, Branch: b.Number, CUDA: b.CUDA, PTX: b.PTX, Certain: b.Certain}
		}
	}
	if cuda.IsZero() {
		return d
	}
	b, known := firstBranch(func(b Branch) bool { return b.CUDA == cuda })
	if d.Branch == 0 {
		d.Branch = b.Number
	}
	d.CUDA, d.PTX, d.Certain = cuda, ptxOfCUDA(cuda), known
	return d
}

// CompareVersions orders dotted numbers part by part: 525.60.13 comes before
// 525.105.17. A missing part counts as zero, a leading R and whatever follows
// the digits of a part are ignored.
func CompareVersions(a, b string) int {
	as, bs := versionParts(a), versionParts(b)
	for i := range max(len(as), len(bs)) {
		var x, y string
		if i < len(as) {
			x = as[i]
		}
		if i < len(bs) {
			y = bs[i]
		}
		// Without leading zeros the longer number is the larger one, so parts
		// of any length compare without overflow.
		if len(x) != len(y) {
			return sign(len(x) - len(y))
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

func versionParts(s string) []string {
	parts := strings.Split(strings.TrimLeft(strings.TrimSpace(s), "rR"), ".")
	for i, part := range parts {
		end := 0
		for end < len(part) && part[end] >= '0' && part[end] <= '9' {
			end++
		}
		parts[i] = strings.TrimLeft(part[:end], "0")
	}
	return parts
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
