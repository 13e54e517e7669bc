package needs

import (
	"strconv"
	"strings"
)

// numbering says how a product writes versions into the names of its DLLs.
// Versions behind ".so" need no reading.
type numbering int

const (
	// plain: "cudnn64_9" is 9, "sycl8" is 8, "cupti64_2024.3.2" is 2024.3.2.
	plain numbering = iota
	// toolkit: CUDA's scheme up to 11.0, digits without dots, of which the last
	// is the minor version ("cudart64_65" 6.5, "cudart64_110" 11.0,
	// "cublas64_92" 9.2), and since then the major version ("cublas64_12").
	toolkit
	// packed: the last digit is always the minor version, and a build number
	// may follow ("nvrtc64_112_0" 11.2, "nvrtc-builtins64_128" 12.8).
	packed
	// paired: two digits of major version, the rest is the minor
	// ("hiprtc0605" 6.5, "hiprtc07013" 7.13).
	paired
)

// number is the version that the end of a DLL's name tells, "" if it tells none.
func (p product) number(s string) string {
	if i := strings.IndexByte(s, '_'); i >= 0 && p.numbering == packed {
		s = s[:i]
	}
	s = leadingVersion(s)
	if p.numbering == plain || strings.Contains(s, ".") {
		return s
	}
	major := len(s) - 1
	switch {
	case p.numbering == paired && len(s) > 2:
		major = 2
	case p.numbering == packed && len(s) >= 2:
	case p.numbering == toolkit && (len(s) == 3 || len(s) == 2 && s[0] >= '4'):
	default:
		return s
	}
	a, errA := strconv.Atoi(s[:major])
	b, errB := strconv.Atoi(s[major:])
	if errA != nil || errB != nil {
		return s
	}
	return strconv.Itoa(a) + "." + strconv.Itoa(b)
}
