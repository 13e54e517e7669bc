package foreign

import "strings"

// splitID takes a bundle entry id apart:
// <kind>-<arch>-<vendor>-<system>-<environment>[-<target>], where the
// environment is mostly empty, old tools leave it out, and Intel's write only
// the architecture. target falls back to the architecture.
func splitID(id string) (kind, vendor, target string) {
	f := strings.SplitN(cutText(id), "-", 5)
	kind = f[0]
	arch, maker := "", ""
	if len(f) > 1 {
		arch = f[1]
	}
	if len(f) > 2 {
		maker = f[2]
	}
	if len(f) > 4 {
		switch rest := f[4]; {
		case strings.HasPrefix(rest, "gfx"), strings.HasPrefix(rest, "sm_"):
			target = rest // hip-amdgcn-amd-amdhsa-gfx906, without an environment
		default:
			_, target, _ = strings.Cut(rest, "-")
		}
	}
	if target == "" {
		target = arch
	}
	return kind, vendorOf(arch, maker), target
}

// vendorOf tells who takes code for a triple's architecture and vendor.
func vendorOf(arch, maker string) string {
	has := strings.HasPrefix
	switch {
	case maker == "nvidia", has(arch, "nvptx"), has(arch, "nvidia_gpu"):
		return vendorNVIDIA
	case maker == "amd", has(arch, "amdgcn"), has(arch, "amdgpu"), has(arch, "amd_gpu"), arch == "r600":
		return vendorAMD
	case maker == "intel", has(arch, "intel_gpu"), has(arch, "spir64_"):
		return vendorIntel // spir64_gen, spir64_x86_64, spir64_fpga
	case has(arch, "spir"):
		return vendorKhronos
	case maker == "apple":
		return vendorApple
	}
	return ""
}

// cutText bounds a text from the file.
func cutText(s string) string { return s[:min(len(s), maxName)] }
