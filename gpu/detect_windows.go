package gpu

import (
	"bytes"
	"errors"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

const canLoadNVML = true

const noLibraryReason = "the system folders are unknown"

// usualLibraries names nvml.dll by absolute paths only, so that a DLL beside
// the program or in the current folder is never loaded: System32, where current
// drivers put it, then the folder of older ones.
func usualLibraries() []string {
	var out []string
	if dir, err := windows.GetSystemDirectory(); err == nil {
		out = append(out, filepath.Join(dir, "nvml.dll"))
	}
	if dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramFiles, 0); err == nil {
		out = append(out, filepath.Join(dir, "NVIDIA Corporation", "NVSMI", "nvml.dll"))
	}
	return out
}

// dllNVML is NVML through system calls, which need no cgo.
type dllNVML struct{ dll *windows.DLL }

func openLibrary(path string) (library, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("not an absolute path")
	}
	handle, err := windows.LoadLibraryEx(path, 0, windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR|windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	if err != nil {
		return nil, err
	}
	return &dllNVML{&windows.DLL{Name: path, Handle: handle}}, nil
}

// call calls the first of the functions that the library has; older libraries
// lack the newer versions of a name. Pointers among the arguments must be
// converted in the argument list itself: only there the directive keeps what
// they point to on the heap, where it does not move, for as long as the call.
//
//go:uintptrescapes
func (l *dllNVML) call(names []string, args ...uintptr) int {
	for _, name := range names {
		if proc, err := l.dll.FindProc(name); err == nil {
			code, _, _ := proc.Call(args...)
			return int(int32(code))
		}
	}
	return nvmlFunctionNotFound
}

// textSize is enough for every text that NVML fills in; nvml.h asks for 96.
const textSize = 256

func text(buf [textSize]byte) string {
	s, _, _ := bytes.Cut(buf[:], []byte{0})
	return string(s)
}

func (l *dllNVML) start() int { return l.call([]string{"nvmlInit_v2", "nvmlInit"}) }
func (l *dllNVML) stop()      { l.call([]string{"nvmlShutdown"}) }

func (l *dllNVML) driver() (string, int) {
	var buf [textSize]byte
	code := l.call([]string{"nvmlSystemGetDriverVersion"}, uintptr(unsafe.Pointer(&buf[0])), textSize)
	return text(buf), code
}

func (l *dllNVML) cuda() (int, int) {
	var v int32
	code := l.call([]string{"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}, uintptr(unsafe.Pointer(&v)))
	return int(v), code
}

func (l *dllNVML) count() (int, int) {
	var n uint32
	code := l.call([]string{"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, uintptr(unsafe.Pointer(&n)))
	return int(n), code
}

func (l *dllNVML) device(i int) (device, int) {
	d := &dllDevice{lib: l}
	code := l.call([]string{"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, uintptr(i), uintptr(unsafe.Pointer(&d.handle)))
	return d, code
}

type dllDevice struct {
	lib    *dllNVML
	handle uintptr
}

func (d *dllDevice) name() (string, int) { return d.text("nvmlDeviceGetName") }
func (d *dllDevice) uuid() (string, int) { return d.text("nvmlDeviceGetUUID") }

func (d *dllDevice) text(function string) (string, int) {
	var buf [textSize]byte
	code := d.lib.call([]string{function}, d.handle, uintptr(unsafe.Pointer(&buf[0])), textSize)
	return text(buf), code
}

func (d *dllDevice) capability() (major, minor, code int) {
	var a, b int32
	code = d.lib.call([]string{"nvmlDeviceGetCudaComputeCapability"}, d.handle, uintptr(unsafe.Pointer(&a)), uintptr(unsafe.Pointer(&b)))
	return int(a), int(b), code
}

// slices is empty: MIG exists on Linux only.
func (d *dllDevice) slices() []device { return nil }
