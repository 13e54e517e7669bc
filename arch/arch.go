// Package arch holds the three small values that every other package speaks
// of: a compute capability, an architecture name and a dotted version. They
// live apart so that fatbin (which knows no GPUs) and gpu (which knows no
// files) can name the same thing without importing each other.
//
// Sources of the naming: the nvcc manual's "GPU Architecture" and "GPU Feature
// List" chapters; the suffixes a and f are those of "architecture-specific"
// and "family-specific" targets.
package arch

import (
	"fmt"
	"strconv"
	"strings"
)

// CC is a compute capability as one number, 10·major + minor: 86 is 8.6 and
// 103 is 10.3. The zero value means "none".
type CC uint16

// Major returns the part before the dot.
func (c CC) Major() int { return int(c) / 10 }

// Minor returns the part after the dot.
func (c CC) Minor() int { return int(c) % 10 }

// String returns the dotted form, "8.6".
func (c CC) String() string { return strconv.Itoa(c.Major()) + "." + strconv.Itoa(c.Minor()) }

// Arch is a target that code was built for: a number and an optional suffix.
type Arch struct {
	CC     CC
	Suffix byte // 0, 'a' (exactly this capability) or 'f' (its family)
}

// New returns the architecture of a number as it is written after "sm_", and
// a suffix of 0, 'a' or 'f'.
func New(num int, suffix byte) Arch { return Arch{CC: CC(num), Suffix: suffix} }

// Name returns the number with its suffix, "90a".
func (a Arch) Name() string {
	s := strconv.Itoa(int(a.CC))
	if a.Suffix != 0 {
		s += string(rune(a.Suffix))
	}
	return s
}

// SASS returns the name of machine code for a, "sm_90a".
func (a Arch) SASS() string { return "sm_" + a.Name() }

// PTX returns the name of the virtual architecture, "compute_90a".
func (a Arch) PTX() string { return "compute_" + a.Name() }

// Less orders architectures by number, then plain before a before f.
func (a Arch) Less(b Arch) bool {
	if a.CC != b.CC {
		return a.CC < b.CC
	}
	return a.Suffix < b.Suffix
}

// Parse reads "90", "90a", "sm_90a", "compute_90a", "9.0" or "9.0a" in any
// case. It checks the form, not that such an architecture was ever made.
func Parse(s string) (Arch, error) {
	t := strings.ToLower(strings.TrimSpace(s))
	t = strings.TrimPrefix(strings.TrimPrefix(t, "compute_"), "sm_")
	var a Arch
	if n := len(t); n > 0 && (t[n-1] == 'a' || t[n-1] == 'f') {
		a.Suffix = t[n-1]
		t = t[:n-1]
	}
	bad := fmt.Errorf("%q is not an architecture: write 9.0, 90, sm_90 or sm_90a", s)
	num := t
	if major, minor, dotted := strings.Cut(t, "."); dotted {
		if len(minor) != 1 || major == "" {
			return Arch{}, bad
		}
		num = major + minor
	}
	if len(num) < 2 || len(num) > 3 {
		return Arch{}, bad
	}
	for _, r := range num {
		if r < '0' || r > '9' {
			return Arch{}, bad
		}
	}
	v, err := strconv.Atoi(num)
	if err != nil || v < 10 {
		return Arch{}, bad
	}
	a.CC = CC(v)
	return a, nil
}

// Version is a pair such as a PTX ISA version or a CUDA version. The zero
// value means "unknown".
type Version struct{ Major, Minor int }

// IsZero reports whether the version is unknown.
func (v Version) IsZero() bool { return v == Version{} }

// Less reports whether v comes before w.
func (v Version) Less(w Version) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	return v.Minor < w.Minor
}

// String returns "12.4".
func (v Version) String() string { return strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor) }

// ParseVersion reads "12.4" or "12" (which is 12.0). Parts must be at most
// three digits.
func ParseVersion(s string) (Version, error) {
	major, minor, dotted := strings.Cut(strings.TrimSpace(s), ".")
	if !dotted {
		minor = "0"
	}
	a, err1 := small(major)
	b, err2 := small(minor)
	if err1 != nil || err2 != nil {
		return Version{}, fmt.Errorf("%q is not a version: write it like 12.4", s)
	}
	return Version{a, b}, nil
}

func small(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err == nil && n > 999 {
		err = strconv.ErrRange
	}
	return int(n), err
}
