package needs

import (
	"strings"
	"sync"
)

const (
	nvidia  = "NVIDIA"
	amd     = "AMD"
	intel   = "Intel"
	khronos = "Khronos"
)

// A product is a row of the table. Stems are in lower case, without "lib",
// version and the "64" that Windows puts behind most; one that ends with "*"
// stands for all that begin so.
type product struct {
	name      string
	vendor    string
	numbering numbering
	stems     string // separated by spaces
}

// rows is only read. The order does not matter.
var rows = []product{
	// The CUDA Toolkit. Stems and Windows numbers: cuda-pathfinder's
	// supported_nvidia_libs and the toolkit's redistrib_*.json.
	{"CUDA runtime", nvidia, toolkit, "cudart"},
	{"cuBLAS", nvidia, toolkit, "cublas"},
	{"cuBLASLt", nvidia, toolkit, "cublaslt"},
	{"NVBLAS", nvidia, toolkit, "nvblas"},
	{"cuFFT", nvidia, toolkit, "cufft"},
	{"cuFFTW", nvidia, toolkit, "cufftw"},
	{"cuRAND", nvidia, toolkit, "curand"},
	{"cuSOLVER", nvidia, toolkit, "cusolver"},
	{"cuSOLVERMg", nvidia, toolkit, "cusolvermg"},
	{"cuSPARSE", nvidia, toolkit, "cusparse"},
	{"nvGRAPH", nvidia, toolkit, "nvgraph"},
	{"NPP", nvidia, toolkit, "nppc nppi nppial nppicc nppicom nppidei nppif nppig nppim nppist nppisu nppitc npps"},
	{"nvJPEG", nvidia, toolkit, "nvjpeg"},
	{"cuFile", nvidia, plain, "cufile cufile_rdma"},
	{"CUPTI", nvidia, toolkit, "cupti pcsamplingutil nvperf_host nvperf_target"},
	{"CUDA profiler injection", nvidia, packed, "accinj cuinj"},
	{"NVTX", nvidia, plain, "nvtoolsext nvtx3interop"},
	{"NVRTC", nvidia, packed, "nvrtc"},
	{"NVRTC built-ins", nvidia, packed, "nvrtc-builtins"},
	{"nvJitLink", nvidia, packed, "nvjitlink"},
	{"nvFatbin", nvidia, packed, "nvfatbin"},
	{"NVVM", nvidia, packed, "nvvm"},
	{"NVVM", nvidia, packed, "nvvm70"}, // not 7.0: CUDA 13 calls it libnvvm.so.4 elsewhere
	{"cuDLA", nvidia, plain, "cudla"},

	// NVIDIA's other libraries: cuDNN's API overview lists its parts, TensorRT's
	// installation guide its own; the rest by cuda-pathfinder and the archives.
	{"cuDNN", nvidia, plain, "cudnn cudnn_*"},
	{"TensorRT", nvidia, plain, "nvinfer nvinfer_*"},
	{"TensorRT ONNX parser", nvidia, plain, "nvonnxparser nvonnxparser_runtime"},
	{"TensorRT parsers", nvidia, plain, "nvparsers nvcaffe_parser nvuffparser"},
	{"TensorRT for RTX", nvidia, plain, "tensorrt_rtx tensorrt_onnxparser_rtx"},
	{"NCCL", nvidia, plain, "nccl"},
	{"NVSHMEM", nvidia, plain, "nvshmem nvshmem_*"},
	{"cuTENSOR", nvidia, plain, "cutensor"},
	{"cuTENSORMg", nvidia, plain, "cutensormg"},
	{"cuTENSORMp", nvidia, plain, "cutensormp"},
	{"cuSPARSELt", nvidia, plain, "cusparselt"},
	{"cuDSS", nvidia, plain, "cudss cudss_*"},
	{"cuBLASMp", nvidia, plain, "cublasmp"},
	{"cuFFTMp", nvidia, plain, "cufftmp"},
	{"cuSOLVERMp", nvidia, plain, "cusolvermp"},
	{"cuStateVec", nvidia, plain, "custatevec"},
	{"cuTensorNet", nvidia, plain, "cutensornet"},
	{"cuDensityMat", nvidia, plain, "cudensitymat"},
	{"cuPauliProp", nvidia, plain, "cupauliprop"},
	{"cuStabilizer", nvidia, plain, "custabilizer"},
	{"MathDx", nvidia, plain, "mathdx"},
	{"nvCOMP", nvidia, plain, "nvcomp nvcomp_*"},
	{"nvJPEG2000", nvidia, plain, "nvjpeg2k"},
	{"nvTIFF", nvidia, plain, "nvtiff"},
	{"nvImageCodec", nvidia, plain, "nvimgcodec"},
	{"CV-CUDA", nvidia, plain, "cvcuda nvcv_types"},

	// What comes with the driver (the driver's README, "Installed Components").
	{"NVIDIA driver (libcuda)", nvidia, plain, "cuda nvcuda"},
	{"NVML", nvidia, plain, "nvidia-ml nvml"},
	{"NVIDIA PTX compiler", nvidia, plain, "nvidia-ptxjitcompiler"},
	{"NVIDIA driver NVVM", nvidia, plain, "nvidia-nvvm nvidia-nvvm70"},
	{"NVIDIA driver OpenCL", nvidia, plain, "nvidia-opencl nvopencl"},
	{"NVDEC", nvidia, plain, "nvcuvid"},
	{"NVENC", nvidia, plain, "nvidia-encode nvencodeapi"},
	{"NVIDIA Optical Flow", nvidia, plain, "nvidia-opticalflow nvofapi"},
	{"OptiX", nvidia, plain, "nvoptix optix optix_prime"},

	// ROCm: what PyTorch's ROCm wheels bundle, and AMD's list of libraries.
	{"HIP", amd, plain, "amdhip amdhip64"},
	{"hipRTC", amd, paired, "hiprtc"},
	{"hipRTC built-ins", amd, paired, "hiprtc-builtins"},
	{"ROCr", amd, plain, "hsa-runtime hsa-runtime64"},
	{"Code Object Manager", amd, paired, "amd_comgr"},
	{"rocBLAS", amd, plain, "rocblas"},
	{"hipBLAS", amd, plain, "hipblas"},
	{"hipBLASLt", amd, plain, "hipblaslt rocroller"},
	{"rocFFT", amd, plain, "rocfft rocfft-device-*"},
	{"hipFFT", amd, plain, "hipfft hipfftw"},
	{"rocRAND", amd, plain, "rocrand"},
	{"hipRAND", amd, plain, "hiprand"},
	{"rocSOLVER", amd, plain, "rocsolver"},
	{"hipSOLVER", amd, plain, "hipsolver hipsolver_fortran"},
	{"rocSPARSE", amd, plain, "rocsparse"},
	{"hipSPARSE", amd, plain, "hipsparse"},
	{"hipSPARSELt", amd, plain, "hipsparselt"},
	{"hipTensor", amd, plain, "hiptensor"},
	{"rocALUTION", amd, plain, "rocalution rocalution_hip"},
	{"MIOpen", amd, plain, "miopen"},
	{"hipDNN", amd, plain, "hipdnn_backend"},
	{"MIGraphX", amd, plain, "migraphx migraphx_*"},
	{"RCCL", amd, plain, "rccl"},
	{"ROCm SMI", amd, plain, "rocm_smi rocm_smi64"},
	{"AMD SMI", amd, plain, "amd_smi"},
	{"ROCm core", amd, plain, "rocm-core"},
	{"rocTracer", amd, plain, "roctracer roctracer64 roctx roctx64"},
	{"ROCProfiler", amd, plain, "rocprofiler rocprofiler64 rocprofiler-sdk rocprofiler-sdk-roctx rocprofiler-register hsa-amd-aqlprofile hsa-amd-aqlprofile64"},
	{"rocDecode", amd, plain, "rocdecode"},
	{"rocJPEG", amd, plain, "rocjpeg"},

	// oneAPI: Intel's lists of redistributable files and PyTorch's XPU wheels.
	// The parts of oneMKL and oneDNN that run on processors only, or that do
	// not tell, are not here.
	{"SYCL runtime", intel, plain, "sycl sycl-preview"},
	{"Level Zero loader", intel, plain, "ze_loader ze_tracing_layer ze_validation_layer"},
	{"Level Zero driver", intel, plain, "ze_intel_gpu"},
	{"Unified Runtime", intel, plain, "ur_loader ur_adapter_* pi_level_zero pi_opencl pi_cuda pi_hip pi_unified_runtime"},
	{"oneMKL (SYCL)", intel, plain, "mkl_sycl mkl_sycl_*"},
	{"oneMath", intel, plain, "onemkl onemkl_* onemath onemath_*"},
	{"oneCCL", intel, plain, "ccl"},
	{"Intel PTI", intel, plain, "pti_view"},
	{"Intel OpenCL driver", intel, plain, "igdrcl"},
	{"Intel Graphics Compiler", intel, plain, "igc iga"},

	{"OpenCL", khronos, plain, "opencl"},
	{"Vulkan", khronos, plain, "vulkan vulkan-"},
}

// index is made at the first call: stems to rows, and the stems that stand for
// a beginning.
var index = sync.OnceValues(func() (map[string]product, []string) {
	exact := make(map[string]product)
	var open []string
	for _, p := range rows {
		for stem := range strings.FieldsSeq(p.stems) {
			if begin, ok := strings.CutSuffix(stem, "*"); ok {
				open = append(open, begin)
				stem = begin + "*"
			}
			exact[stem] = p
		}
	}
	return exact, open
})

// lookup finds the row of a stem and what of the stem is version: the longest
// stem of the table that leaves nothing, or "64" or "32", an underscore or dot
// and a number.
func lookup(stem string) (p product, digits string, ok bool) {
	exact, open := index()
	for end := len(stem); end > 0; end-- {
		p, ok := exact[stem[:end]]
		if !ok {
			continue
		}
		if digits, ok := tail(stem[end:]); ok {
			return p, digits, true
		}
	}
	for _, begin := range open {
		if len(stem) > len(begin) && strings.HasPrefix(stem, begin) {
			return exact[begin+"*"], openTail(stem[len(begin):]), true
		}
	}
	return product{}, "", false
}

// tail reads what Windows puts behind the name of a library.
func tail(s string) (digits string, ok bool) {
	for _, bits := range []string{"64", "32"} {
		if rest, found := strings.CutPrefix(s, bits); found && (rest == "" || rest[0] == '_') {
			s = rest
			break
		}
	}
	if n := len(s); n > 1 && s[n-1] == 'd' && isDigit(s[n-2]) {
		s = s[:n-1] // a debug build, as Intel's sycl8d
	}
	if s != "" && (s[0] == '_' || s[0] == '.') {
		s = s[1:]
		if s == "" {
			return "", false
		}
	}
	if s != "" && (!isDigit(s[0]) || strings.Trim(s, "0123456789._") != "") {
		return "", false
	}
	return s, true
}

// openTail is the number at the end of a name such as "ops_infer64_8" or
// "blas.5".
func openTail(s string) string {
	i := strings.LastIndexAny(s, "_.")
	if digits := s[i+1:]; i >= 0 && leadingVersion(digits) == digits {
		return digits
	}
	return ""
}
