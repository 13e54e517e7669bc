package coverage

import (
	"strings"

	"fatview/arch"
)

// A Runtime is the CUDA runtime library that a file works with. From CUDA 11 on
// it asks for the first driver of its major, whatever its minor version.
type Runtime struct {
	CUDA arch.Version // that the driver must know; zero unknown
	From string       // what tells so: "libcudart.so.12", "the CUDA 13.1 runtime linked into it"
}

// RuntimeOf finds the runtime among the libraries that a file needs or
// imports. Those whose number follows the toolkit's major count; cuFFT,
// cuSOLVER and others go by numbers of their own.
func RuntimeOf(needed []string) (Runtime, bool) {
	var best Runtime
	for _, name := range needed {
		if v := cudaVersion(name); best.CUDA.Less(v) {
			best = Runtime{v, name}
		}
	}
	return best, best.CUDA.Major > 0
}

// stems lists the libraries that are numbered by the toolkit's major.
var stems = []string{"cudart", "cublaslt", "cublas", "nvrtc", "nvjitlink"}

// cudaVersion reads libcudart.so.12, libcudart-1b2c3d4e.so.11.0 (as wheels
// carry it), cudart64_110.dll, cublas64_12.dll, nvrtc64_120_0.dll or
// nvJitLink_130_0.dll; zero if the name is of another kind or tells no
// version. From 11 on any driver of the major will do, so the minor is dropped.
func cudaVersion(name string) arch.Version {
	s := strings.ToLower(name)
	s = strings.TrimPrefix(s, "lib")
	for _, stem := range stems {
		rest, ok := strings.CutPrefix(s, stem)
		if !ok {
			continue
		}
		if _, version, elf := strings.Cut(rest, ".so."); elf {
			if rest[0] != '.' && rest[0] != '-' {
				return arch.Version{}
			}
			major, minor, _ := strings.Cut(version, ".")
			return plausible(leading(major), leading(minor))
		}
		rest = strings.TrimPrefix(rest, "64")
		if version, pe := strings.CutPrefix(rest, "_"); pe && strings.HasSuffix(rest, ".dll") {
			n := leading(version)
			if n >= 80 { // 92 is 9.2, 110 is 11.0, 120 is 12.0
				return plausible(n/10, n%10)
			}
			return plausible(n, 0)
		}
		return arch.Version{}
	}
	return arch.Version{}
}

// leading reads the digits at the beginning of s, at most four.
func leading(s string) int {
	n := 0
	for i := 0; i < len(s) && i < 4 && s[i] >= '0' && s[i] <= '9'; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func plausible(major, minor int) arch.Version {
	switch {
	case major < 7 || major > 99 || minor > 9:
		return arch.Version{}
	case major >= 11:
		minor = 0
	}
	return arch.Version{Major: major, Minor: minor}
}

// ToolkitRuntime is the runtime of code that a toolkit built and no needed
// library tells about: it is linked in statically and of the same major.
func ToolkitRuntime(toolkit arch.Version) Runtime {
	if toolkit.IsZero() {
		return Runtime{}
	}
	return Runtime{arch.Version{Major: toolkit.Major}, "the CUDA " + toolkit.String() + " runtime linked into it"}
}
