// Package needs says what the libraries are that a library asks its loader
// for, and which files at hand provide them.
//
// The names come from DT_NEEDED entries and import tables, which the caller
// reads. What a name stands for is a table made from NVIDIA's lists of the
// redistributable files of the CUDA Toolkit and of cuDNN, TensorRT, cuTENSOR,
// NCCL and NVSHMEM, from the sonames and DLLs that NVIDIA's cuda-pathfinder
// collected over all toolkits from 11.0 on, from the libraries that PyTorch
// bundles in its ROCm and XPU wheels, and from Intel's oneAPI and Khronos'
// loader documentation. Wheels rename what they bundle: auditwheel puts eight
// hexadecimal digits behind the name ("libcudart-d0da41ae.so.11.0"), delvewheel
// 32 ("cudart64_12-….dll"); both are read through.
//
// A need that is not in the list of a file is not seen: much is opened by name
// at run time, such as cuDNN's parts and the NVIDIA driver.
package needs

import "strings"

// A Library is what the name of a needed library stands for.
type Library struct {
	Name    string // as it is asked for: "libcudart.so.12", "cudart64_110.dll"
	Product string // "CUDA runtime", "cuBLAS", "NVIDIA driver (libcuda)"
	// Version is the library's own, as far as the name tells: "12", "11.0",
	// "8.9.7"; "" = unknown. It is the toolkit's only for libraries that are
	// numbered like it: cuFFT 11 is part of CUDA 12.
	Version string
	Vendor  string // "NVIDIA", "AMD", "Intel" or "Khronos"
}

// maxName bounds the bytes of a base name; file systems stop at 255.
const maxName = 255

// Parse says what a needed library is: a soname, a DLL or a dylib, with or
// without folders. It returns false for what is no library of GPU computing.
func Parse(name string) (Library, bool) {
	file := name[strings.LastIndexAny(name, `/\`)+1:]
	if len(file) > maxName {
		return Library{}, false
	}
	stem, version, ok := splitFile(strings.ToLower(file))
	if !ok {
		return Library{}, false
	}
	p, digits, ok := lookup(unmangle(stem))
	if !ok {
		return Library{}, false
	}
	if version == "" {
		version = p.number(digits)
	}
	return Library{Name: name, Product: p.name, Version: version, Vendor: p.vendor}, true
}

// splitFile cuts a name in lower case into its stem, without "lib", and the
// version behind ".so" or before ".dylib". A DLL's version is part of its stem.
func splitFile(file string) (stem, version string, ok bool) {
	switch {
	case strings.HasSuffix(file, ".dll"):
		stem = strings.TrimSuffix(file, ".dll")
		return strings.TrimPrefix(stem, "lib"), "", true
	case strings.HasSuffix(file, ".dylib"):
		file, ok = strings.CutPrefix(strings.TrimSuffix(file, ".dylib"), "lib")
		stem, version, _ = strings.Cut(file, ".")
	default:
		var found bool
		file, ok = strings.CutPrefix(file, "lib")
		stem, version, found = strings.Cut(file+".", ".so.")
		ok = ok && found
	}
	return stem, leadingVersion(version), ok
}

// leadingVersion is what begins s of numbers and single dots between them.
func leadingVersion(s string) string {
	end := 0
	for end < len(s) && (isDigit(s[end]) || s[end] == '.' && end > 0 && isDigit(s[end-1])) {
		end++
	}
	return strings.TrimSuffix(s[:end], ".")
}

// unmangle takes off the digest that auditwheel and delvewheel add, and the
// mark of NVRTC's second build.
func unmangle(stem string) string {
	if i := strings.LastIndexByte(stem, '-'); i > 0 && len(stem)-i-1 >= 8 && strings.Trim(stem[i+1:], "0123456789abcdef") == "" {
		stem = stem[:i]
	}
	return strings.TrimSuffix(stem, ".alt")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
