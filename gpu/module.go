package gpu

import (
	"fmt"
	"strings"

	"fatview/internal/sysroot"
)

// Module is NVIDIA's kernel module, as /proc and /sys tell it.
type Module struct {
	Version string // "535.104.05"; "" if no module is loaded or none tells
	Open    bool   // the open kernel modules rather than the proprietary ones
}

// maxProc bounds what is read of one file below /proc; the longest that counts
// here, /proc/modules, has some 20 kB.
const maxProc = 256 << 10

// ReadModule reads which kernel module is loaded, from
// /proc/driver/nvidia/version or, where that is hidden as in some containers,
// from /sys/module/nvidia/version.
func ReadModule(root sysroot.Root) Module {
	if b, err := root.ReadFile("/proc/driver/nvidia/version", maxProc); err == nil {
		if m, ok := parseModule(string(b)); ok {
			return m
		}
	}
	v := sanitize(root.Line("/sys/module/nvidia/version"))
	if n, ok := branchNumber(v); !ok || n < 100 {
		return Module{}
	}
	return Module{Version: v}
}

// parseModule reads a line such as "NVRM version: NVIDIA UNIX Open Kernel Module
// for x86_64  580.65.06  Release Build". The words before the number changed
// over the years, so the first word that looks like a version is it.
func parseModule(text string) (Module, bool) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "NVRM version:")
		if !ok {
			continue
		}
		for _, word := range strings.Fields(rest) {
			if n, ok := branchNumber(word); ok && n >= 100 && strings.Contains(word, ".") {
				return Module{Version: word, Open: strings.Contains(rest, "Open Kernel Module")}, true
			}
		}
	}
	return Module{}, false
}

// Stack is the driver in its two halves: the kernel module and the libraries
// that programs load.
type Stack struct {
	Module  Module
	Libcuda []sysroot.Library // every libcuda.so.1 on the dynamic linker's path, in order
	NVML    []sysroot.Library // every libnvidia-ml.so.1
	// CUDA is the version of the libcuda that the linker takes, "" unknown.
	CUDA string
	// NVMLVersion is that of the first libnvidia-ml, "" unknown.
	NVMLVersion string
	Relation    Relation
}

// Relation says how the libcuda that programs load stands to the kernel module.
type Relation int

// The relations. NVIDIA's CUDA compatibility guide has the rules of forward
// compatibility; errors 803 and 804 are what cuda.h calls
// CUDA_ERROR_SYSTEM_DRIVER_MISMATCH and
// CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE.
const (
	RelationUnknown Relation = iota
	SameVersion              // one driver
	ForwardCompat            // a newer libcuda of a forward-compatibility package
	UselessCompat            // such a package that is no newer than the module
	Mismatch                 // two drivers mixed, as after an update without a restart
)

// Folders where libcuda is found though the linker's configuration may not name
// them: WSL's, that of GKE and of the GPU operator, NixOS's, and Jetson's.
var extraDirs = []string{
	"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/run/opengl-driver/lib",
	"/usr/lib/aarch64-linux-gnu/nvidia", "/usr/lib/aarch64-linux-gnu/tegra",
	"/run/nvidia/driver/usr/lib/x86_64-linux-gnu", "/run/nvidia/driver/usr/lib/aarch64-linux-gnu", "/run/nvidia/driver/usr/lib64",
}

// ExtraDirs returns the folders where drivers put libraries beside those that
// the dynamic linker searches anyway.
func ExtraDirs() []string { return append([]string(nil), extraDirs...) }

// ReadStack reads the driver's halves from files alone. LD_LIBRARY_PATH comes
// from getenv.
func ReadStack(root sysroot.Root, getenv func(string) (string, bool)) Stack {
	s := Stack{Module: ReadModule(root)}
	path, _ := getenv("LD_LIBRARY_PATH")
	dirs := root.LoaderDirs(path)
	s.Libcuda = root.Libraries("libcuda.so.1", dirs)
	s.NVML = root.Libraries("libnvidia-ml.so.1", dirs)
	cuda, found := sysroot.First(s.Libcuda)
	s.CUDA = driverVersion(cuda)
	if nvml, ok := sysroot.First(s.NVML); ok {
		s.NVMLVersion = driverVersion(nvml)
	}
	if found {
		s.Relation = relate(s.Module.Version, s.CUDA, s.NVMLVersion, isCompat(cuda))
	}
	return s
}

// driverVersion returns the driver version that the name of a library ends
// with. Jetson's libcuda.so.1.1 tells none.
func driverVersion(l sysroot.Library) string {
	if n, ok := branchNumber(l.Version); !ok || n < 100 {
		return ""
	}
	return l.Version
}

// isCompat reports whether a library lies where NVIDIA's packages put those for
// forward compatibility: /usr/local/cuda-12.8/compat, or compat/orin.
func isCompat(l sysroot.Library) bool {
	return strings.Contains(l.Path+"\n"+l.Real, "/compat/") || strings.Contains(l.Path+"\n"+l.Real, "cuda-compat")
}

// relate compares the versions of module, libcuda and NVML.
func relate(module, cuda, nvml string, compat bool) Relation {
	if module == "" || cuda == "" {
		return RelationUnknown
	}
	newer := CompareVersions(cuda, module)
	switch {
	case newer == 0:
		return SameVersion
	case compat && branchOf(cuda) > branchOf(module):
		return ForwardCompat
	case compat:
		return UselessCompat
	// NVML is never part of a compatibility package: where it belongs to the
	// module and libcuda is of a newer branch, somebody copied the package.
	case nvml == module && branchOf(cuda) > branchOf(module):
		return ForwardCompat
	}
	return Mismatch
}

func branchOf(version string) int {
	n, _ := branchNumber(version)
	return n
}

// compatKinds says for which kinds of product forward compatibility works.
// NVIDIA's guide names data center GPUs, some RTX cards that are certified for
// servers, and Jetson; libcuda refuses all others with error 804.
var compatKinds = map[string]bool{"datacenter": true, "jetson/embedded": true, "soc/desktop": true}

// CompatAllowed says whether forward compatibility works on a GPU: yes, no, or
// not known for a name that the catalogue does not hold or a workstation card.
func CompatAllowed(name string) (allowed, known bool) {
	lower := strings.ToLower(name)
	for _, brand := range []string{"geforce", "titan"} {
		if strings.Contains(lower, brand) {
			return false, true
		}
	}
	hits := search(name)
	if len(hits) == 0 {
		return false, false
	}
	for _, h := range hits {
		if !compatKinds[h.Kind] {
			return false, false
		}
	}
	return true, true
}

// CompatDriver returns what the driver of a kernel module can do with the
// libcuda of a forward-compatibility package: the GPUs of the one, the CUDA of
// the other.
func CompatDriver(module, cuda string) Driver {
	return detected(module, detected(cuda, Driver{}.CUDA).CUDA)
}

// note says what the relation means for whoever asks for GPUs; "" if nothing.
func (s Stack) note(targets []Target) string {
	lib, _ := sysroot.First(s.Libcuda)
	at := sanitize(lib.Path)
	switch s.Relation {
	case ForwardCompat:
		d := CompatDriver(s.Module.Version, s.CUDA)
		text := fmt.Sprintf("programs load libcuda %s (%s) over the kernel driver %s: forward compatibility raises CUDA to %s", s.CUDA, at, s.Module.Version, d.CUDA)
		for _, t := range targets {
			if ok, known := CompatAllowed(t.Name); known && !ok {
				return text + ", but " + t.Name + " is not among the GPUs that it is for (error 804)"
			}
		}
		return text + ", on data center GPUs, Jetson and some RTX cards for servers only (error 804 elsewhere)"
	case UselessCompat:
		return fmt.Sprintf("programs load libcuda %s of a forward-compatibility package (%s), which is no newer than the kernel driver %s: take its folder off LD_LIBRARY_PATH, or CUDA may end with error 803", s.CUDA, at, s.Module.Version)
	case Mismatch:
		return fmt.Sprintf("libcuda is %s (%s) and the kernel driver %s: they do not go together (error 803) until the machine is restarted", s.CUDA, at, s.Module.Version)
	}
	return ""
}
