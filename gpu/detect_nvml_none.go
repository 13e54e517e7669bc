//go:build !(linux && cgo) && !windows

package gpu

import (
	"errors"
	"runtime"
)

const canLoadNVML = false

// NVML is a C library that exists for Linux and Windows. On Linux it is loaded
// through cgo, and a build without cgo is left with nvidia-smi.
const noLibraryReason = "this build cannot load it (" + runtime.GOOS + ", without cgo)"

func usualLibraries() []string { return nil }

func openLibrary(string) (library, error) { return nil, errors.New(noLibraryReason) }
