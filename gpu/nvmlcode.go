package gpu

import "fmt"

// The return codes of NVML, as nvml.h numbers them, that have a meaning here.
// nvidia-smi exits with the same numbers.
const (
	nvmlSuccess          = 0
	nvmlInvalidArgument  = 2
	nvmlNotSupported     = 3
	nvmlNoPermission     = 4
	nvmlNotFound         = 6
	nvmlDriverNotLoaded  = 9
	nvmlLibraryNotFound  = 12
	nvmlFunctionNotFound = 13
	nvmlGPULost          = 15
	nvmlVersionMismatch  = 18
)

// codeNames are the words of nvml.h for codes without a sentence of their own.
var codeNames = map[int]string{
	1: "uninitialized", 2: "invalid argument", 3: "not supported", 5: "already initialized", 6: "not found",
	7: "insufficient size", 8: "insufficient power", 10: "timeout", 11: "IRQ issue", 13: "function not found",
	14: "corrupted inforom", 16: "reset required", 17: "operating system", 19: "in use", 20: "memory",
	21: "no data", 22: "vGPU ECC not supported", 23: "insufficient resources", 24: "frequency not supported",
	25: "argument version mismatch", 26: "deprecated", 27: "not ready", 28: "GPU not found", 29: "invalid state",
	999: "unknown",
}

// codeSentence says what an NVML return code means for whoever wants to see
// their GPUs, and what to do about it.
func codeSentence(code int) string {
	switch code {
	case nvmlDriverNotLoaded:
		return "the NVIDIA driver is installed but not loaded (NVML error 9): load it with modprobe nvidia, or restart; in a container the device nodes are missing, start it with --gpus all"
	case nvmlLibraryNotFound:
		return "library not found: no libnvidia-ml.so.1 and no nvidia-smi, so install the NVIDIA driver or name a GPU, such as H100; in a container, the `utility` capability is missing (NVIDIA_DRIVER_CAPABILITIES=compute,utility)"
	case nvmlVersionMismatch:
		return "the NVIDIA driver was updated while the old kernel module is still loaded (NVML error 18, library and kernel versions differ): restart the machine"
	case nvmlNoPermission:
		return "no permission to talk to the NVIDIA driver (NVML error 4): check the access rights of /dev/nvidia* for this user"
	case nvmlGPULost:
		return "a GPU is lost (NVML error 15): it fell off the bus or hangs, restart the machine"
	}
	return fmt.Sprintf("the NVIDIA driver answered with %s: run nvidia-smi to see whether it works", codeText(code))
}

func codeText(code int) string {
	if name, ok := codeNames[code]; ok {
		return fmt.Sprintf("NVML error %d (%s)", code, name)
	}
	return fmt.Sprintf("NVML error %d", code)
}

// deviceSentence is codeSentence for one GPU of several.
func deviceSentence(index, code int) string {
	switch code {
	case nvmlGPULost:
		return fmt.Sprintf("GPU %d is lost (NVML error 15): it fell off the bus or hangs, restart the machine", index)
	case nvmlNoPermission:
		return fmt.Sprintf("no permission to use GPU %d (NVML error 4): check the access rights of /dev/nvidia%d, and whether this container was given that GPU", index, index)
	}
	return fmt.Sprintf("GPU %d could not be asked, %s: run nvidia-smi to see whether it works", index, codeText(code))
}

const noGPUSentence = "the NVIDIA driver works but sees no GPU: check that one is installed and, in a virtual machine or container, passed through; or name a GPU, such as H100"
