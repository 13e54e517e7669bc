//go:build linux && cgo

package gpu

import (
	"errors"
	"os"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

const canLoadNVML = true

const noLibraryReason = "no library to load"

// usualLibraries names the driver's own library as the dynamic linker finds it,
// and then where it lies when the linker's configuration does not know: WSL
// shares that of Windows, the GPU operator and GKE install one for containers,
// NixOS has a folder for drivers. Of those only what is there is tried. The
// unversioned name is that of the toolkit's stub for linkers, which answers
// nothing.
func usualLibraries() []string {
	out := []string{"libnvidia-ml.so.1"}
	for _, dir := range extraDirs {
		path := dir + "/libnvidia-ml.so.1"
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// goNVML is NVML through go-nvml. Its functions are bound lazily by the dynamic
// linker, and calling one that the library lacks ends the process, which no
// recover catches: so every call asks first whether the symbol is there.
type goNVML struct {
	lib nvml.Interface
	has func(symbols ...string) bool // whether one of them is there
}

// openLibrary loads a library and checks that it is one that can be started.
func openLibrary(path string) (library, error) {
	// A look with local visibility first: it tells the dynamic linker's own
	// reason, which go-nvml drops, and makes nothing global that is refused.
	so := dl.New(path, dl.RTLD_LAZY|dl.RTLD_LOCAL)
	if err := so.Open(); err != nil {
		return nil, err
	}
	// A library that is used keeps this handle, and so stays loaded: the dynamic
	// linker bound its functions for good, and another one could not replace it.
	has := func(symbols ...string) bool {
		for _, s := range symbols {
			if so.Lookup(s) == nil {
				return true
			}
		}
		return false
	}
	var refusal error
	switch {
	case isStub():
		refusal = errors.New("it is the toolkit's stub, which knows no GPUs")
	case !has("nvmlInit_v2", "nvmlInit"):
		refusal = errors.New("it has no nvmlInit, so it is not NVML")
	}
	if refusal != nil {
		so.Close()
		return nil, refusal
	}
	return &goNVML{lib: nvml.New(nvml.WithLibraryPath(path)), has: has}, nil
}

// isStub reports whether the NVML that was just loaded lies in a stubs folder,
// as happens when LD_LIBRARY_PATH names one.
func isStub() bool {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "libnvidia-ml") && strings.Contains(line, "/stubs/") {
			return true
		}
	}
	return false
}

func (l *goNVML) start() int { return int(l.lib.Init()) }

func (l *goNVML) stop() {
	if l.has("nvmlShutdown") {
		l.lib.Shutdown()
	}
}

func (l *goNVML) driver() (string, int) {
	if !l.has("nvmlSystemGetDriverVersion") {
		return "", nvmlFunctionNotFound
	}
	v, ret := l.lib.SystemGetDriverVersion()
	return v, int(ret)
}

func (l *goNVML) cuda() (int, int) {
	switch {
	case l.has("nvmlSystemGetCudaDriverVersion_v2"):
		v, ret := l.lib.SystemGetCudaDriverVersion_v2()
		return v, int(ret)
	case l.has("nvmlSystemGetCudaDriverVersion"):
		v, ret := l.lib.SystemGetCudaDriverVersion()
		return v, int(ret)
	}
	return 0, nvmlFunctionNotFound
}

func (l *goNVML) count() (int, int) {
	if !l.has("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") {
		return 0, nvmlFunctionNotFound
	}
	n, ret := l.lib.DeviceGetCount()
	return n, int(ret)
}

func (l *goNVML) device(i int) (device, int) {
	if !l.has("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex") {
		return nil, nvmlFunctionNotFound
	}
	d, ret := l.lib.DeviceGetHandleByIndex(i)
	return &goDevice{d, l}, int(ret)
}

type goDevice struct {
	nvml.Device
	lib *goNVML
}

func (d *goDevice) name() (string, int) {
	if !d.lib.has("nvmlDeviceGetName") {
		return "", nvmlFunctionNotFound
	}
	s, ret := d.GetName()
	return s, int(ret)
}

func (d *goDevice) uuid() (string, int) {
	if !d.lib.has("nvmlDeviceGetUUID") {
		return "", nvmlFunctionNotFound
	}
	s, ret := d.GetUUID()
	return s, int(ret)
}

func (d *goDevice) capability() (major, minor, code int) {
	if !d.lib.has("nvmlDeviceGetCudaComputeCapability") {
		return 0, 0, nvmlFunctionNotFound
	}
	major, minor, ret := d.GetCudaComputeCapability()
	return major, minor, int(ret)
}

func (d *goDevice) slices() []device {
	for _, s := range []string{"nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex"} {
		if !d.lib.has(s) {
			return nil
		}
	}
	if on, _, ret := d.GetMigMode(); ret != nvml.SUCCESS || on != nvml.DEVICE_MIG_ENABLE {
		return nil
	}
	n, ret := d.GetMaxMigDeviceCount()
	if ret != nvml.SUCCESS {
		return nil
	}
	var out []device
	for i := range min(n, maxDevices) {
		// Places without a slice answer "not found".
		if s, ret := d.GetMigDeviceHandleByIndex(i); ret == nvml.SUCCESS {
			out = append(out, &goDevice{s, d.lib})
		}
	}
	return out
}

var (
	_ library = (*goNVML)(nil)
	_ device  = (*goDevice)(nil)
)
