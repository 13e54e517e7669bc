package coverage

// A CUDAError is what a program gets from CUDA, by number.
type CUDAError struct {
	Code int
	Name string
	Text string // as cudaGetErrorString prints it
}

var cudaErrors = map[int]CUDAError{
	35:  {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
	98:  {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
	200: {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
	209: {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
	222: {222, "cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."},
	223: {223, "cudaErrorJitCompilationDisabled", "PTX JIT compilation was disabled"},
}

// Error returns the error that a program sees at the first launch of a kernel
// of the container, or at start for a runtime that the driver is too old for.
// ok is false where kernels run.
func (r Result) Error() (e CUDAError, ok bool) {
	code := 0
	switch r.Verdict {
	case Missing, Specialised:
		code = 209
		switch {
		case r.Rule == RuleEmpty:
			code = 98 // the chosen image loads, the kernel is not in it
		case r.Rule == RuleUnreadable:
			code = 200
		case r.switchedOff():
			code = 223
		}
	case Driver:
		switch r.Rule {
		case RulePTXVersion:
			code = 222
		case RuleZstd, RuleConcat, RuleNewerToolkit:
			code = 200
		case RuleRuntime:
			code = 35
		default:
			code = 209
		}
	}
	e, ok = cudaErrors[code]
	return e, ok
}

// switchedOff reports whether PTX was there and the environment ignores it.
func (r Result) switchedOff() bool {
	for _, s := range r.Steps {
		if s.Refusal == SwitchedPTX {
			return true
		}
	}
	return false
}

// MissingKernelError is what a launch gives of a kernel that the chosen image
// does not hold.
func MissingKernelError() CUDAError { return cudaErrors[98] }
