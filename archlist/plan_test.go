package archlist

import (
	"errors"
	"strings"
	"testing"

	"fatview/arch"
)

// images writes a plan as "sm_80 compute_80 lto_80 sm_21<compute_20".
func images(p Plan) string {
	var out []string
	for _, im := range p.Images {
		s := im.Name()
		if im.Via.CC != 0 {
			s += "<" + im.Via.PTX()
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func version(t *testing.T, s string) arch.Version {
	t.Helper()
	if s == "" {
		return arch.Version{}
	}
	v, err := arch.ParseVersion(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// parsed reads a list for a toolkit ("" is unknown) on a machine with an RTX
// 5090 and an H100.
func parsed(t *testing.T, s Syntax, list, toolkit string) (Plan, error) {
	t.Helper()
	return Parse(list, s, Options{Toolkit: version(t, toolkit), Native: []arch.CC{120, 90}})
}

// Each expectation is what the reader's documentation or source says of the
// list; those of nvcc are what nvcc --dryrun of 13.0, 13.3 and 13.5 answered.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		syntax        Syntax
		list, toolkit string
		want          string
	}{
		{NVCC, "-arch=sm_86", "", "sm_86 compute_86"},
		{NVCC, "-arch sm_86", "", "sm_86 compute_86"},
		{NVCC, "--gpu-architecture=compute_80 --gpu-code=sm_80,compute_80", "", "sm_80 compute_80"},
		{NVCC, "-arch=compute_80 -code=sm_80,sm_86", "", "sm_80 sm_86<compute_80"},
		{NVCC, "-arch=compute_80", "", "compute_80"},
		{NVCC, "-arch=compute_90a", "13.5", "compute_90 compute_90a"},
		{NVCC, "-arch=sm_90a", "13.0", "sm_90a compute_90 compute_90a"},
		{NVCC, "-arch=sm_120f", "13.5", "sm_120f compute_120 compute_120f"},
		{NVCC, "-arch=sm_90a", "12.8", "sm_90a compute_90a"},
		{NVCC, "-gencode arch=compute_90a,code=sm_90a", "13.5", "sm_90a"},
		{NVCC, "-gencode arch=compute_80,code=[sm_80,compute_80]", "", "sm_80 compute_80"},
		{NVCC, `-gencode=arch=compute_80,code=\"sm_80,compute_80\"`, "", "sm_80 compute_80"},
		{NVCC, `-gencode "arch=compute_80,code=sm_80" --generate-code=arch=compute_90,code=compute_90`, "", "sm_80 compute_90"},
		{NVCC, "-gencode;arch=compute_80,code=sm_80;-O3;-gencode;arch=compute_86,code=sm_86", "", "sm_80 sm_86"},
		{NVCC, "-gencode code=sm_80,arch=compute_80", "", "sm_80"},
		{NVCC, "-O3 -std=c++17 -Xcompiler -fPIC -arch=sm_75", "", "sm_75 compute_75"},
		{NVCC, "-rdc=true -gencode arch=compute_80,code=[lto_80,sm_80]", "", "sm_80 lto_80"},
		{NVCC, "-arch=lto_80", "", "lto_80"},
		{NVCC, "-arch=sm_80 -gencode arch=compute_90,code=sm_90", "", "sm_80 sm_90 compute_80"},
		{NVCC, "-arch=sm_80 -arch=sm_90", "", "sm_90 compute_90"},
		{NVCC, "-gencode arch=compute_100f,code=sm_103", "", "sm_103f<compute_100f"},
		{NVCC, "-gencode arch=compute_120f,code=sm_121a", "", "sm_121a<compute_120f"},
		{NVCC, "-gencode arch=compute_80,code=sm_120", "", "sm_120<compute_80"},
		{NVCC, "-arch=all", "13.5", "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_107 sm_110 sm_120 sm_121 compute_120"},
		{NVCC, "-arch=all", "13.0", "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121 compute_120"},
		{NVCC, "-arch=all-major", "13.3", "sm_75 sm_80 sm_90 sm_100 sm_110 sm_120 compute_120"},
		{NVCC, "-arch=all-major -gencode arch=compute_90a,code=sm_90a", "12.8", "sm_50 sm_60 sm_70 sm_80 sm_90 sm_90a sm_100 sm_120 compute_120"},
		{NVCC, "-arch=native", "12.8", "sm_90 sm_120"},
		{NVCC, "NVCC_GENCODE=-gencode=arch=compute_70,code=sm_70 -gencode=arch=compute_90,code=compute_90", "", "sm_70 compute_90"},

		{CMake, "80", "", "sm_80 compute_80"},
		{CMake, "75-real;80-virtual;90a;120f", "", "sm_75 sm_90a sm_120f compute_80 compute_90a compute_120f"},
		{CMake, "70-real;;72-virtual;", "", "sm_70 compute_72"},
		{CMake, "-DCMAKE_CUDA_ARCHITECTURES=75;80", "", "sm_75 sm_80 compute_75 compute_80"},
		{CMake, `cmake -B build "-DCMAKE_CUDA_ARCHITECTURES:STRING=86-real"`, "", "sm_86"},
		{CMake, "set(CMAKE_CUDA_ARCHITECTURES 75 80-real)", "", "sm_75 sm_80 compute_75"},
		{CMake, `set(CMAKE_CUDA_ARCHITECTURES "60;70" CACHE STRING "which")`, "", "sm_60 sm_70 compute_60 compute_70"},
		{CMake, "set_property(TARGET tgt PROPERTY CUDA_ARCHITECTURES 70-real 72-virtual)", "", "sm_70 compute_72"},
		{CMake, "export CUDAARCHS='86;89'", "", "sm_86 sm_89 compute_86 compute_89"},
		{CMake, "all-major", "11.8", "sm_35 sm_50 sm_60 sm_70 sm_80 sm_90 compute_90"},
		{CMake, "all", "11.1", "sm_35 sm_37 sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 compute_86"},
		{CMake, "native", "12.8", "sm_90 sm_120"},
		{CMake, "OFF", "", ""},
		{CMake, "OFF", "13.1", "sm_75 compute_75"},

		{LlamaCpp, "86;89;120", "", "sm_86 sm_89 sm_120a compute_86 compute_89 compute_120a"},
		{LlamaCpp, "120f-virtual;121-real", "", "sm_121a compute_120f"},
		{LlamaCpp, "native", "12.8", "sm_90 sm_120a"},
		{LlamaCpp, "50-virtual;61-virtual;70-virtual;75-virtual;80-virtual;86-real;89-real;90-virtual;120a-real;121a-real", "12.9",
			"sm_86 sm_89 sm_120a sm_121a compute_50 compute_61 compute_70 compute_75 compute_80 compute_90"},

		{ONNXRuntime, "60;70;75;80;86;89;90;100;120", "", "sm_60 sm_70 sm_75 sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a"},
		{ONNXRuntime, "all", "12.8", "sm_60 sm_70 sm_75 sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a"},
		{ONNXRuntime, "all-major", "12.6", "sm_52 sm_60 sm_70 sm_75 sm_80 sm_86 sm_89 sm_90a"},
		{ONNXRuntime, "75-real;80-virtual;86;90-virtual;103a", "", "sm_75 sm_86 sm_103 compute_90"},
		{ONNXRuntime, "75;90a-virtual", "", "sm_75 compute_90a"},
		{ONNXRuntime, "native", "12.8", "sm_120a"},

		{FindCUDA, "3.0 3.5+PTX 5.2(5.0) Maxwell", "", "sm_30 sm_35 sm_50 sm_52 sm_52<compute_50 compute_35"},
		{FindCUDA, "Ampere+PTX", "", "sm_80 sm_86 compute_80 compute_86"},
		{FindCUDA, "Volta;Turing+PTX", "", "sm_70 sm_75 compute_75"},
		{FindCUDA, "2.1(2.0)", "", "sm_21<compute_20"},
		{FindCUDA, "3.5(3.0)+PTX", "", "sm_35<compute_30 compute_30 compute_35"},
		{FindCUDA, "9.0a", "", "sm_90a"},
		{FindCUDA, "Auto", "", "sm_90 sm_120"},
		{FindCUDA, "Common", "10.2", "sm_35 sm_50 sm_52 sm_60 sm_61 sm_70 sm_75 compute_75"},
		{FindCUDA, "Common", "11.4", "sm_35 sm_50 sm_52 sm_60 sm_61 sm_70 sm_75 sm_80 sm_86 compute_86"},
		{FindCUDA, "All", "8.0", "sm_32 sm_35 sm_37 sm_50 sm_52 sm_53 sm_60 sm_61"},

		// BVLC Caffe's Makefile.config.example.
		{Caffe, caffe, "", "sm_20 sm_21<compute_20 sm_30 sm_35 sm_50 sm_52 sm_60 sm_61 compute_61"},

		{PyTorch, "7.5;8.0 8.6+PTX", "", "sm_75 sm_80 sm_86 compute_86"},
		// vLLM's docker/Dockerfile.
		{PyTorch, "7.5 8.0 8.6 8.9 9.0 10.0 11.0 12.0+PTX", "13.0", "sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_110 sm_120 compute_120"},
		{PyTorch, "ARG torch_cuda_arch_list\nENV TORCH_CUDA_ARCH_LIST='7.0 7.5'", "", "sm_70 sm_75"},
		{PyTorch, "TORCH_CUDA_ARCH_LIST=8.0;9.0a pip install .", "", "sm_80 sm_90a"},
		{PyTorch, "3.5;5.2;6.0;6.1;7.0+PTX", "", "sm_35 sm_52 sm_60 sm_61 sm_70 compute_70"},
		{PyTorch, "9.0a", "", "sm_90a"},
		{PyTorch, "Ampere", "", "sm_80 sm_86 compute_86"},
		{PyTorch, "Maxwell;Kepler+Tesla;Volta+Tegra", "", "sm_37 sm_50 sm_52 sm_72 compute_52"},
		{PyTorch, "Hopper Ada", "", "sm_89 sm_90 compute_89 compute_90"},
		{PyTorch, "Blackwell", "13.0", "sm_100 sm_103 sm_120 sm_121 compute_121"},
		{PyTorch, "Blackwell+Tegra", "13.0", "sm_110"},
		{PyTorch, "Blackwell+Tegra", "12.8", "sm_101"},
		{PyTorch, "native", "", "sm_90 sm_120 compute_90"}, // sorted as text

		{TensorFlow, "sm_60,sm_70,compute_80", "", "sm_60 sm_70 sm_80 compute_80"},
		{TensorFlow, "7.0,7.5,8.0", "", "sm_70 sm_75 sm_80 compute_80"},
		{TensorFlow, "3.5,7.0", "", "sm_35 sm_70 compute_70"},
		{TensorFlow, "8.0,9.0,12.0", "", "sm_80 sm_90 sm_120 compute_90"}, // sorted as text
		{TensorFlow, "8.0,sm_90a", "", "sm_80 sm_90a compute_80"},
		{TensorFlow, `build:cuda --repo_env HERMETIC_CUDA_COMPUTE_CAPABILITIES="sm_75,sm_80,sm_90,sm_100,compute_120"`, "", "sm_75 sm_80 sm_90 sm_100 sm_120 compute_120"},
		{TensorFlow, "TF_CUDA_COMPUTE_CAPABILITIES=8.9", "", "sm_89 compute_89"},
	} {
		p, err := parsed(t, c.syntax, c.list, c.toolkit)
		if err != nil {
			t.Errorf("%s %q: %v", c.syntax, c.list, err)
		} else if got := images(p); got != c.want {
			t.Errorf("%s %q for %q:\n got %s\nwant %s", c.syntax, c.list, c.toolkit, got, c.want)
		}
	}
}

const caffe = `# CUDA directory contains bin/ and lib/ directories that we need.
CUDA_DIR := /usr/local/cuda

# CUDA architecture setting: going with all of them.
# For CUDA < 6.0, comment the *_50 through *_61 lines for compatibility.
CUDA_ARCH := -gencode arch=compute_20,code=sm_20 \
		-gencode arch=compute_20,code=sm_21 \
		-gencode arch=compute_30,code=sm_30 \
		-gencode arch=compute_35,code=sm_35 \
		-gencode arch=compute_50,code=sm_50 \
		-gencode arch=compute_52,code=sm_52 \
		-gencode arch=compute_60,code=sm_60 \
		-gencode arch=compute_61,code=sm_61 \
		-gencode arch=compute_61,code=compute_61

BLAS := atlas
`

// An error names the item, its position and how to write it.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		syntax        Syntax
		list, toolkit string
		index, offset int
		says          string
	}{
		{PyTorch, "7.5,8.0", "", 1, 0, "write 7.5;8.0"},
		{PyTorch, "7.5;8.6+ptx", "", 2, 4, "write 8.6+PTX"},
		{PyTorch, "8.0 12.0f", "", 2, 4, "write 12.0 or 12.0a"},
		{PyTorch, "80", "", 1, 0, "write 8.0"},
		{PyTorch, "8.8", "", 1, 0, "does not have it"},
		{PyTorch, "ampere", "", 1, 0, "write Ampere"},
		{PyTorch, "8.4", "", 1, 0, "write 8.0 or 8.6"},
		{PyTorch, "9.10", "", 1, 0, "neither"},
		{CMake, "75;8.6", "", 2, 3, "write 86-real"},
		{CMake, "8.6+PTX", "", 1, 0, "write 86"},
		{CMake, "75 80", "", 1, 0, "write 75;80"},
		{CMake, "75,80", "", 1, 0, "write 75;80"},
		{CMake, "sm_80", "", 1, 0, "write 80-real"},
		{CMake, "80;all", "", 2, 3, "whole list"},
		{CMake, "ALL", "", 1, 0, "write all"},
		{CMake, "80a", "", 1, 0, "write 80"},
		{CMake, "set(CMAKE_CUDA_ARCHITECTURES 75 8x)", "", 2, 32, "not an architecture"},
		{ONNXRuntime, "75;120f", "", 2, 3, "write 120"},
		{ONNXRuntime, "OFF", "", 1, 0, "80;90"},
		{TensorFlow, "sm_80,sm_100f", "", 2, 6, "write sm_100"},
		{TensorFlow, "80", "", 1, 0, "write sm_80, compute_80 or 8.0"},
		{TensorFlow, "8.0;9.0", "", 1, 0, "write 8.0,9.0"},
		{FindCUDA, "3.0(3.5)", "", 1, 0, "write 3.5(3.0)"},
		{FindCUDA, "12.0f", "", 1, 0, "write 12.0"},
		{NVCC, "-gencode arch=compute_80,code=sm_80,compute_80", "", 2, 9, "code=[sm_80,compute_80]"},
		{NVCC, "-gencode arch=compute_80", "", 2, 9, "code= is missing"},
		{NVCC, "-gencode", "", 1, 0, "value is missing"},
		{NVCC, "arch=compute_80,code=sm_80", "", 1, 0, "write -gencode arch="},
		{NVCC, "-code=sm_80", "", 1, 6, "without -arch"},
		{NVCC, "-arch=sm_80 -code=sm_80", "", 1, 6, "write arch=compute_80"},
		{NVCC, "-gencode arch=compute_80,code=compute_75", "", 2, 9, "cannot make compute_75 from compute_80"},
		{NVCC, "-gencode arch=compute_80,code=sm_75", "", 2, 9, "cannot make sm_75"},
		{NVCC, "-gencode arch=compute_90a,code=sm_90", "", 2, 9, "suffix a"},
		{NVCC, "-gencode arch=compute_100f,code=sm_120", "", 2, 9, "another family"},
		{NVCC, "-arch=all -code=sm_80", "13.0", 2, 16, "cannot stand beside"},
		{NVCC, "-O2", "", 1, 0, "no option names"},
		{NVCC, "-arch=80", "", 1, 6, "write sm_80"},
	} {
		_, err := parsed(t, c.syntax, c.list, c.toolkit)
		var e *ItemError
		if !errors.As(err, &e) {
			t.Errorf("%s %q: %v is not about an item", c.syntax, c.list, err)
			continue
		}
		if e.Index != c.index || e.Offset != c.offset || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %q: item %d at %d, %v; want item %d at %d, %q", c.syntax, c.list, e.Index, e.Offset, err, c.index, c.offset, c.says)
		}
	}
}

// What a list leaves to the toolkit or the machine is asked for.
func TestParseNeeds(t *testing.T) {
	for _, c := range []struct {
		syntax Syntax
		list   string
		o      Options
		says   string
	}{
		{CMake, "all", Options{}, "depends on the CUDA toolkit"},
		{NVCC, "-arch=all-major", Options{}, "depends on the CUDA toolkit"},
		{NVCC, "-arch=all", Options{Toolkit: arch.Version{Major: 11, Minor: 4}}, "11.5 or newer"},
		{NVCC, "-arch=native", Options{Toolkit: arch.Version{Major: 11, Minor: 5}}, "11.6 or newer"},
		{FindCUDA, "Common", Options{}, "depends on the CUDA toolkit"},
		{ONNXRuntime, "all", Options{}, "depends on the CUDA toolkit"},
		{CMake, "native", Options{}, "none is known here"},
		{PyTorch, "native", Options{}, "none is known here"},
		{FindCUDA, "Auto", Options{}, "none is known here"},
		{LlamaCpp, "native", Options{}, "none is known here"},
		{ONNXRuntime, "native", Options{}, "none is known here"},
		{PyTorch, " ;; ", Options{}, "the list is empty"},
		{PyTorch, "", Options{}, "the list is empty"},
		{PyTorch, strings.Repeat("8.0;", 1001), Options{}, "more than 1000 items"},
		{PyTorch, strings.Repeat("8.0;", 20000), Options{}, "longer than"},
		{"bazel", "8.0", Options{}, "no syntax"},
	} {
		if _, err := Parse(c.list, c.syntax, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %.40q: %v, want %q", c.syntax, c.list, err, c.says)
		}
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		syntax Syntax
		list   string
		says   string
	}{
		{TensorFlow, "8.0,12.0", "as text, so PTX is built for 8.0, not for 12.0"},
		{ONNXRuntime, "90", "turns sm_90 into sm_90a"},
		{ONNXRuntime, "75", "no PTX"},
		{ONNXRuntime, "75-virtual;80-virtual", "keeps the last, 80-virtual"},
		{LlamaCpp, "120", "turns 120 into 120a"},
		{NVCC, "-gencode arch=compute_80,code=lto_80", "-rdc=true"},
		{NVCC, "-arch=sm_90a", "adds plain compute_90"},
		{PyTorch, "Turing", "none in PyTorch's CMake build"},
		{PyTorch, "Turing+PTX", "refuses Turing+PTX"},
		{CMake, "OFF", "no architecture flags"},
		{CMake, "130", "newer than the tables"},
		{Caffe, "CUDA_ARCH := -arch=sm_50\nCUDA_ARCH := -arch=sm_60\n", "line 2 sets CUDA_ARCH again"},
	} {
		p, err := parsed(t, c.syntax, c.list, "")
		if err != nil || !strings.Contains(strings.Join(p.Notes, "\n"), c.says) {
			t.Errorf("%s %q: notes %q, %v; want %q", c.syntax, c.list, p.Notes, err, c.says)
		}
	}
}

func TestRecognise(t *testing.T) {
	for list, want := range map[string]string{
		"7.5;8.0 8.6+PTX":                     "pytorch findcuda",
		"8.0,9.0":                             "tensorflow",
		"8.0":                                 "pytorch tensorflow findcuda",
		"sm_80,compute_90":                    "tensorflow",
		"80;90":                               "cmake onnxruntime llama.cpp",
		"75-real;120f":                        "cmake llama.cpp",
		"all":                                 "cmake onnxruntime llama.cpp",
		"OFF":                                 "cmake llama.cpp",
		"native":                              "cmake pytorch onnxruntime llama.cpp",
		"Auto":                                "findcuda",
		"3.5(3.0)":                            "findcuda",
		"Ampere":                              "pytorch findcuda",
		"-gencode arch=compute_80,code=sm_80": "nvcc",
		"-DCMAKE_CUDA_ARCHITECTURES=80":       "cmake onnxruntime llama.cpp",
		"TORCH_CUDA_ARCH_LIST=80":             "pytorch", // wrong, and its reader says so
		"HERMETIC_CUDA_COMPUTE_CAPABILITIES=sm_8": "tensorflow",
		caffe: "caffe",
		"8x":  "cmake",
		"":    "",
	} {
		var got []string
		for _, s := range Recognise(list) {
			got = append(got, string(s))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.60q is %q, want %q", list, got, want)
		}
	}
}

func TestParseSyntax(t *testing.T) {
	for in, want := range map[string]Syntax{"ORT": ONNXRuntime, "torch": PyTorch, "llama": LlamaCpp, "xla": TensorFlow, "nvcc": NVCC} {
		if got, err := ParseSyntax(in); got != want || err != nil {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	if _, err := ParseSyntax("bazel"); err == nil || !strings.Contains(err.Error(), "onnxruntime") {
		t.Error(err)
	}
}
