package needs

import (
	"strings"
	"testing"
)

// Where the names of the table below come from. Lists of NVIDIA and others
// name files; "file" means that an entry was read with readelf or objdump from
// the package that is named.
const (
	finder  = "cuda-pathfinder, supported_nvidia_libs and descriptor_catalog"
	redist  = "CUDA Toolkit EULA, attachment A, and the redist archives"
	cudnn   = "cuDNN API overview; cuDNN 8 and 9 archives"
	trt     = "TensorRT 8 and 10 archives"
	driver  = "Linux driver README, installed components; Windows driver"
	torch   = "bundled in PyTorch wheels (build scripts)"
	rocm    = "PyTorch's ROCm libraries; TheRock's file lists; HIPRT's loader"
	oneapi  = "oneAPI runtime packages; PyTorch's XPU wheel"
	bnb     = "file: bitsandbytes 0.50.2 for Linux"
	bnbWin  = "file: bitsandbytes 0.50.2 for Windows"
	ort     = "file: com.github.asus4.onnxruntime, Linux"
	ortWin  = "file: com.github.asus4.onnxruntime, Windows"
	llama   = "file: @node-llama-cpp/linux-x64-cuda 3.22.1"
	debian  = "file: libavfilter8 5.1.9 of Debian"
	mangled = "auditwheel's and delvewheel's renaming"
	khr     = "Khronos' loaders"
)

var names = []struct{ name, product, version, vendor, from string }{
	{"libcudart.so.11.0", "CUDA runtime", "11.0", nvidia, bnb},
	{"libcudart.so.12", "CUDA runtime", "12", nvidia, llama},
	{"libcudart.so.13", "CUDA runtime", "13", nvidia, bnb},
	{"libcudart.so.10.2", "CUDA runtime", "10.2", nvidia, redist},
	{"libcudart.so", "CUDA runtime", "", nvidia, redist},
	{"cudart64_110.dll", "CUDA runtime", "11.0", nvidia, bnbWin},
	{"cudart64_12.dll", "CUDA runtime", "12", nvidia, bnbWin},
	{"cudart64_13.dll", "CUDA runtime", "13", nvidia, finder},
	{"cudart64_101.dll", "CUDA runtime", "10.1", nvidia, finder},
	{"cudart64_65.dll", "CUDA runtime", "6.5", nvidia, finder},
	{"cudart32_110.dll", "CUDA runtime", "11.0", nvidia, finder},
	{"libcudart.10.2.dylib", "CUDA runtime", "10.2", nvidia, redist},
	{"@rpath/libcudart.dylib", "CUDA runtime", "", nvidia, redist},
	{"/usr/local/cuda/lib64/libcudart.so.12", "CUDA runtime", "12", nvidia, redist},
	{"libcudart-d0da41ae.so.11.0", "CUDA runtime", "11.0", nvidia, torch},
	{"libcudart-8774224f.so.12", "CUDA runtime", "12", nvidia, torch},
	{"libcudart-1b2c3d4e.so.12.8.90", "CUDA runtime", "12.8.90", nvidia, mangled},
	{"cudart64_12-8f3c0f2f9d3a4b5c6d7e8f9012345678.dll", "CUDA runtime", "12", nvidia, mangled},
	{"libcublas.so.11", "cuBLAS", "11", nvidia, bnb},
	{"libcublas.so.13", "cuBLAS", "13", nvidia, bnb},
	{"cublas64_12.dll", "cuBLAS", "12", nvidia, bnbWin},
	{"cublas64_92.dll", "cuBLAS", "9.2", nvidia, redist},
	{"cublas64_100.dll", "cuBLAS", "10.0", nvidia, redist},
	{"libcublas-3b81d170.so.11", "cuBLAS", "11", nvidia, torch},
	{"libcublasLt.so.12", "cuBLASLt", "12", nvidia, bnb},
	{"libcublasLt-b6d14a74.so.11", "cuBLASLt", "11", nvidia, torch},
	{"cublasLt64_13.dll", "cuBLASLt", "13", nvidia, ortWin},
	{"CUBLASLT64_13.DLL", "cuBLASLt", "13", nvidia, "import tables do not agree on case"},
	{"nvblas64_12.dll", "NVBLAS", "12", nvidia, finder},
	{"libnvblas.so.13", "NVBLAS", "13", nvidia, finder},
	{"libcufft.so.11", "cuFFT", "11", nvidia, finder},
	{"cufft64_10.dll", "cuFFT", "10", nvidia, finder},
	{"cufftw64_12.dll", "cuFFTW", "12", nvidia, finder},
	{"libcurand.so.10", "cuRAND", "10", nvidia, ort},
	{"curand64_10.dll", "cuRAND", "10", nvidia, finder},
	{"libcusolver.so.11", "cuSOLVER", "11", nvidia, finder},
	{"cusolver64_12.dll", "cuSOLVER", "12", nvidia, finder},
	{"cusolverMg64_11.dll", "cuSOLVERMg", "11", nvidia, finder},
	{"libcusparse.so.12", "cuSPARSE", "12", nvidia, finder},
	{"cusparse64_11.dll", "cuSPARSE", "11", nvidia, finder},
	{"libnppc.so.12", "NPP", "12", nvidia, finder},
	{"nppial64_11.dll", "NPP", "11", nvidia, finder},
	{"libnppicc.so.13", "NPP", "13", nvidia, finder},
	{"nppidei64_12.dll", "NPP", "12", nvidia, finder},
	{"libnppitc.so.11", "NPP", "11", nvidia, finder},
	{"npps64_13.dll", "NPP", "13", nvidia, finder},
	{"libnvjpeg.so.12", "nvJPEG", "12", nvidia, finder},
	{"nvjpeg64_13.dll", "nvJPEG", "13", nvidia, finder},
	{"libnvgraph.so.10", "nvGRAPH", "10", nvidia, redist},
	{"libcufile.so.0", "cuFile", "0", nvidia, finder},
	{"libcufile_rdma.so.1", "cuFile", "1", nvidia, finder},
	{"libcupti.so.12", "CUPTI", "12", nvidia, finder},
	{"libcupti.so.11.8", "CUPTI", "11.8", nvidia, redist},
	{"cupti64_2024.3.2.dll", "CUPTI", "2024.3.2", nvidia, finder},
	{"cupti64_102.dll", "CUPTI", "10.2", nvidia, redist},
	{"cuinj64_128.dll", "CUDA profiler injection", "12.8", nvidia, redist},
	{"libnvToolsExt.so.1", "NVTX", "1", nvidia, redist},
	{"libnvToolsExt-847d78f2.so.1", "NVTX", "1", nvidia, torch},
	{"nvToolsExt64_1.dll", "NVTX", "1", nvidia, redist},
	{"libnvrtc.so.11.2", "NVRTC", "11.2", nvidia, finder},
	{"libnvrtc.so.12", "NVRTC", "12", nvidia, finder},
	{"nvrtc64_112_0.dll", "NVRTC", "11.2", nvidia, finder},
	{"nvrtc64_120_0.dll", "NVRTC", "12.0", nvidia, finder},
	{"nvrtc64_120_0.alt.dll", "NVRTC", "12.0", nvidia, finder},
	{"libnvrtc-6d168ef8.so.12", "NVRTC", "12", nvidia, torch},
	{"nvrtc-builtins64_128.dll", "NVRTC built-ins", "12.8", nvidia, finder},
	{"libnvrtc-builtins.so.12.4", "NVRTC built-ins", "12.4", nvidia, torch},
	{"libnvrtc-builtins-07fb3db5.so.11.8", "NVRTC built-ins", "11.8", nvidia, mangled},
	{"libnvJitLink.so.12", "nvJitLink", "12", nvidia, finder},
	{"nvJitLink_120_0.dll", "nvJitLink", "12.0", nvidia, finder},
	{"nvJitLink_130_0.dll", "nvJitLink", "13.0", nvidia, finder},
	{"libnvfatbin.so.13", "nvFatbin", "13", nvidia, finder},
	{"nvfatbin_120_0.dll", "nvFatbin", "12.0", nvidia, finder},
	{"libnvvm.so.4", "NVVM", "4", nvidia, finder},
	{"nvvm64_40_0.dll", "NVVM", "4.0", nvidia, finder},
	{"nvvm64_33_0.dll", "NVVM", "3.3", nvidia, finder},
	{"nvvm64.dll", "NVVM", "", nvidia, finder},
	{"nvvm70.dll", "NVVM", "", nvidia, finder},
	{"libcudla.so.1", "cuDLA", "1", nvidia, finder},

	{"libcudnn.so.9", "cuDNN", "9", nvidia, ort},
	{"libcudnn.so.8.9.7", "cuDNN", "8.9.7", nvidia, cudnn},
	{"cudnn64_9.dll", "cuDNN", "9", nvidia, ortWin},
	{"cudnn64_7.dll", "cuDNN", "7", nvidia, cudnn},
	{"libcudnn_graph.so.9", "cuDNN", "9", nvidia, cudnn},
	{"libcudnn_engines_precompiled.so.9", "cuDNN", "9", nvidia, cudnn},
	{"cudnn_ops64_9.dll", "cuDNN", "9", nvidia, cudnn},
	{"cudnn_heuristic64_9.dll", "cuDNN", "9", nvidia, cudnn},
	{"cudnn_cnn_infer64_8.dll", "cuDNN", "8", nvidia, cudnn},
	{"libcudnn_adv_train.so.8", "cuDNN", "8", nvidia, cudnn},
	{"libnvinfer.so.10", "TensorRT", "10", nvidia, ort},
	{"nvinfer_10.dll", "TensorRT", "10", nvidia, ortWin},
	{"nvinfer.dll", "TensorRT", "", nvidia, trt},
	{"libnvinfer_plugin.so.8", "TensorRT", "8", nvidia, trt},
	{"libnvinfer_vc_plugin.so.8.6.1", "TensorRT", "8.6.1", nvidia, trt},
	{"nvinfer_builder_resource_sm80_10.dll", "TensorRT", "10", nvidia, trt},
	{"libnvinfer_builder_resource_sm90.so.10.9.0", "TensorRT", "10.9.0", nvidia, trt},
	{"libnvonnxparser.so.10", "TensorRT ONNX parser", "10", nvidia, ort},
	{"nvonnxparser_10.dll", "TensorRT ONNX parser", "10", nvidia, ortWin},
	{"libnvparsers.so.8", "TensorRT parsers", "8", nvidia, trt},
	{"libnccl.so.2", "NCCL", "2", nvidia, finder},
	{"libnvshmem_host.so.3", "NVSHMEM", "3", nvidia, finder},
	{"libcutensor.so.2", "cuTENSOR", "2", nvidia, finder},
	{"cutensor.dll", "cuTENSOR", "", nvidia, finder},
	{"libcutensorMg.so.2", "cuTENSORMg", "2", nvidia, finder},
	{"libcutensornet.so.2", "cuTensorNet", "2", nvidia, finder},
	{"libcusparseLt.so.0", "cuSPARSELt", "0", nvidia, finder},
	{"cusparseLt.dll", "cuSPARSELt", "", nvidia, finder},
	{"cudss64_0.dll", "cuDSS", "0", nvidia, finder},
	{"libcufftMp.so.11", "cuFFTMp", "11", nvidia, finder},
	{"libcublasmp.so.0", "cuBLASMp", "0", nvidia, finder},
	{"libcusolverMp.so.0", "cuSOLVERMp", "0", nvidia, finder},
	{"libcustatevec.so.1", "cuStateVec", "1", nvidia, finder},
	{"mathdx64_0.dll", "MathDx", "0", nvidia, finder},
	{"libcuda.so.1", "NVIDIA driver (libcuda)", "1", nvidia, llama},
	{"nvcuda.dll", "NVIDIA driver (libcuda)", "", nvidia, finder},
	{"libnvidia-ml.so.1", "NVML", "1", nvidia, finder},
	{"nvml.dll", "NVML", "", nvidia, finder},
	{"libnvidia-ptxjitcompiler.so.1", "NVIDIA PTX compiler", "1", nvidia, driver},
	{"libnvcuvid.so.1", "NVDEC", "1", nvidia, driver},
	{"nvcuvid.dll", "NVDEC", "", nvidia, driver},
	{"libnvidia-encode.so.1", "NVENC", "1", nvidia, driver},
	{"nvEncodeAPI64.dll", "NVENC", "", nvidia, driver},
	{"libnvoptix.so.1", "OptiX", "1", nvidia, driver},

	{"libamdhip64.so.6", "HIP", "6", amd, rocm},
	{"amdhip64_7.dll", "HIP", "7", amd, bnbWin},
	{"amdhip64.dll", "HIP", "", amd, rocm},
	{"libhiprtc.so.7", "hipRTC", "7", amd, rocm},
	{"hiprtc0605.dll", "hipRTC", "6.5", amd, rocm},
	{"hiprtc07013.dll", "hipRTC", "7.13", amd, rocm},
	{"libhsa-runtime64.so.1", "ROCr", "1", amd, rocm},
	{"libamd_comgr.so.2", "Code Object Manager", "2", amd, rocm},
	{"librocblas.so.4", "rocBLAS", "4", amd, rocm},
	{"rocblas.dll", "rocBLAS", "", amd, bnbWin},
	{"libhipblas.so.3", "hipBLAS", "3", amd, bnb},
	{"hipblas.dll", "hipBLAS", "", amd, bnbWin},
	{"libhipblaslt.so.1", "hipBLASLt", "1", amd, bnb},
	{"libhipblaslt.dll", "hipBLASLt", "", amd, bnbWin},
	{"librocrand.so.1", "rocRAND", "1", amd, bnb},
	{"librocfft-device-0.so.0", "rocFFT", "0", amd, rocm},
	{"libMIOpen.so.1", "MIOpen", "1", amd, rocm},
	{"librccl.so.1", "RCCL", "1", amd, rocm},
	{"librocsolver.so.0", "rocSOLVER", "0", amd, rocm},
	{"libhipsparselt.so.0", "hipSPARSELt", "0", amd, rocm},
	{"librocm_smi64.so.5", "ROCm SMI", "5", amd, rocm},
	{"libroctx64.so.4", "rocTracer", "4", amd, rocm},
	{"librocprofiler-register.so.0", "ROCProfiler", "0", amd, rocm},

	{"libsycl.so.8", "SYCL runtime", "8", intel, bnb},
	{"libsycl.so.9", "SYCL runtime", "9", intel, bnb},
	{"sycl8.dll", "SYCL runtime", "8", intel, bnbWin},
	{"sycl7d.dll", "SYCL runtime", "7", intel, oneapi},
	{"libze_loader.so.1", "Level Zero loader", "1", intel, oneapi},
	{"libze_intel_gpu.so.1", "Level Zero driver", "1", intel, oneapi},
	{"libur_loader.so.0", "Unified Runtime", "0", intel, oneapi},
	{"libur_adapter_level_zero.so.0.10.8", "Unified Runtime", "0.10.8", intel, oneapi},
	{"ur_adapter_level_zero_v2.dll", "Unified Runtime", "", intel, oneapi},
	{"libmkl_sycl_blas.so.5", "oneMKL (SYCL)", "5", intel, oneapi},
	{"mkl_sycl_blas.5.dll", "oneMKL (SYCL)", "5", intel, oneapi},
	{"libpti_view.so.0.10", "Intel PTI", "0.10", intel, oneapi},

	{"libOpenCL.so.1", "OpenCL", "1", khronos, debian},
	{"OpenCL.dll", "OpenCL", "", khronos, khr},
	{"libvulkan.so.1", "Vulkan", "1", khronos, khr},
	{"vulkan-1.dll", "Vulkan", "1", khronos, khr},
}

func TestParse(t *testing.T) {
	for _, c := range names {
		got, ok := Parse(c.name)
		if want := (Library{c.name, c.product, c.version, c.vendor}); !ok || got != want {
			t.Errorf("Parse(%q) = %+v, %v, want %+v (%s)", c.name, got, ok, want, c.from)
		}
	}
}

// Names of ordinary libraries, most of them needed by the files of the table
// above, and near misses.
func TestParseOthers(t *testing.T) {
	for _, name := range []string{
		"", "lib.so", ".dll", "libc.so.6", "libstdc++.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libgomp-a34b3233.so.1.0.0",
		"libfaiss-aa62252d.so", "libggml-base.so", "libggml-cuda.so", "libllama.cuda.v0.5.0.so", "libc10_cuda.so", "libtorch_cuda.so",
		"libavcodec.so.59", "libopenblas-r0-f650aae0.3.3.so", "libimf.so", "libmkl_core.so.2", "libdnnl.so.3", "libze.so", "libnpp.so",
		"onnxruntime_providers_cuda.dll", "onnxruntime_providers_tensorrt.dll", "KERNEL32.dll", "libiomp5md.dll", "python311.dll",
		"cudart.so.12", "libcudart_static.a", "libcudartx.so.12", "libcudart.sox", "cudart64_.dll", "cudart64x12.dll", "cudart6412.exe",
		"cudnn_.dll", "libcudart-xyz.so.12", "libcudart-12345.so", "cudart64-12.dll", "libcudart.so.12/", strings.Repeat("a", 300) + "/libfoo.so",
		"lib" + strings.Repeat("cudart", 100) + ".so", "libcudnn_" + strings.Repeat("x", 300) + ".so.9",
	} {
		if got, ok := Parse(name); ok {
			t.Errorf("Parse(%q) = %+v", name, got)
		}
	}
}

// No stem may stand in two rows.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for _, p := range rows {
		for stem := range strings.FieldsSeq(p.stems) {
			if stem != strings.ToLower(stem) || strings.HasPrefix(stem, "lib") {
				t.Errorf("stem %q of %s cannot be met", stem, p.name)
			}
			if seen[stem] != "" {
				t.Errorf("stem %q is in %s and %s", stem, seen[stem], p.name)
			}
			seen[stem] = p.name
		}
	}
}

// FuzzParse checks that a version is made of digits and single dots and that
// nothing is said of the rest.
func FuzzParse(f *testing.F) {
	for _, c := range names {
		f.Add(c.name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		l, ok := Parse(name)
		if !ok {
			if l != (Library{}) {
				t.Fatalf("%+v", l)
			}
			return
		}
		v := l.Version
		if l.Name != name || l.Product == "" || l.Vendor == "" || strings.Trim(v, "0123456789.") != "" ||
			strings.Contains(v, "..") || strings.HasPrefix(v, ".") || strings.HasSuffix(v, ".") {
			t.Fatalf("%+v", l)
		}
	})
}
