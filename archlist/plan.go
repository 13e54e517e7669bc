// Package archlist reads the architecture lists that people write for their
// build systems, knows what each build system would build from one, and writes
// the same plan in the grammar of another. It is pure functions over strings:
// no file, no environment, no device.
//
// A list means nothing without the program that reads it: "90" builds machine
// code and PTX in CMake, only sm_90a in ONNX Runtime, and is refused by
// PyTorch. The rules were read at the source of each project:
//
//   - nvcc: NVIDIA's nvcc manual, and nvcc 13.0 to 13.3 and 13.5 asked with
//     --dryrun
//   - CMake: Help/prop_tgt/CUDA_ARCHITECTURES.rst,
//     Modules/Internal/CMakeCUDAArchitecturesValidate.cmake and
//     CMakeCUDAArchitecturesAll.cmake
//   - FindCUDA: CMake's Modules/FindCUDA/select_compute_arch.cmake and the copy
//     that PyTorch continues in cmake/Modules_CUDA_fix
//   - Caffe: Makefile.config.example
//   - PyTorch: torch/utils/cpp_extension.py
//   - TensorFlow, XLA, JAX: XLA's
//     third_party/gpus/cuda/hermetic/cuda_configure.bzl
//   - ONNX Runtime: cmake/external/cuda_configuration.cmake
//   - llama.cpp: ggml/src/ggml-cuda/CMakeLists.txt
package archlist

import (
	"fmt"
	"slices"
	"strings"

	"fatview/arch"
)

// Syntax is a grammar of architecture lists, named for the program that reads
// it.
type Syntax string

// The grammars.
const (
	NVCC        Syntax = "nvcc"
	CMake       Syntax = "cmake"
	FindCUDA    Syntax = "findcuda"
	Caffe       Syntax = "caffe"
	PyTorch     Syntax = "pytorch"
	TensorFlow  Syntax = "tensorflow"
	ONNXRuntime Syntax = "onnxruntime"
	LlamaCpp    Syntax = "llama.cpp"
)

// syntaxes are the facts of each grammar, in the order in which they are shown.
var syntaxes = []struct {
	syntax   Syntax
	title    string
	variable string // where the list is written
	aliases  []string
}{
	{NVCC, "nvcc", "", []string{"gencode"}},
	{CMake, "CMake", "CMAKE_CUDA_ARCHITECTURES", []string{"cudaarchs"}},
	{FindCUDA, "FindCUDA", "CUDA_ARCH_LIST", nil},
	{Caffe, "Caffe", "CUDA_ARCH", []string{"makefile"}},
	{PyTorch, "PyTorch", "TORCH_CUDA_ARCH_LIST", []string{"torch", "vllm"}},
	{TensorFlow, "TensorFlow/XLA", "HERMETIC_CUDA_COMPUTE_CAPABILITIES", []string{"tf", "xla", "jax"}},
	{ONNXRuntime, "ONNX Runtime", "CMAKE_CUDA_ARCHITECTURES", []string{"ort"}},
	{LlamaCpp, "llama.cpp", "CMAKE_CUDA_ARCHITECTURES", []string{"llama", "ggml"}},
}

// Syntaxes returns every grammar.
func Syntaxes() []Syntax {
	out := make([]Syntax, len(syntaxes))
	for i, s := range syntaxes {
		out[i] = s.syntax
	}
	return out
}

// ParseSyntax reads the name of a grammar as a user writes it.
func ParseSyntax(name string) (Syntax, error) {
	n := strings.ToLower(strings.TrimSpace(name))
	var names []string
	for _, s := range syntaxes {
		if n == string(s.syntax) || slices.Contains(s.aliases, n) {
			return s.syntax, nil
		}
		names = append(names, string(s.syntax))
	}
	return "", fmt.Errorf("%q is no syntax of architecture lists: write one of %s", clip(name), strings.Join(names, ", "))
}

// Title returns the name of the program that reads the grammar.
func (s Syntax) Title() string {
	for _, x := range syntaxes {
		if x.syntax == s {
			return x.title
		}
	}
	return string(s)
}

// Variable returns the variable in which the list is written, "" for nvcc,
// whose flags stand on the command line.
func (s Syntax) Variable() string {
	for _, x := range syntaxes {
		if x.syntax == s {
			return x.variable
		}
	}
	return ""
}

// Kind is what an image holds.
type Kind uint8

// The kinds of image.
const (
	SASS Kind = iota
	PTX
	LTO // LTO IR: input of a device link, nothing by itself
)

// String returns the word that reports use.
func (k Kind) String() string {
	switch k {
	case SASS:
		return "sass"
	case PTX:
		return "ptx"
	}
	return "lto"
}

// Image is one image that a build puts into every container.
type Image struct {
	Kind Kind
	Arch arch.Arch
	// Via is the virtual architecture that SASS or LTO IR is compiled through,
	// where it is not the one of the same number; else zero.
	Via arch.Arch
}

// Name returns sm_90a, compute_90 or lto_80.
func (im Image) Name() string {
	switch im.Kind {
	case SASS:
		return im.Arch.SASS()
	case PTX:
		return im.Arch.PTX()
	}
	return "lto_" + im.Arch.Name()
}

// Plan is what a list builds.
type Plan struct {
	Syntax Syntax
	// Toolkit is the CUDA toolkit that the list was read for; zero if unknown.
	Toolkit arch.Version
	Images  []Image  // SASS, PTX, LTO IR, each ascending and once
	Notes   []string // what the reader does that the list does not show
}

// Has reports whether the plan holds an image of a kind and architecture.
func (p Plan) Has(k Kind, a arch.Arch) bool {
	return slices.ContainsFunc(p.Images, func(im Image) bool { return im.Kind == k && im.Arch == a })
}

// Options is what some lists leave to the machine that builds.
type Options struct {
	Toolkit arch.Version // resolves all and all-major; zero if unknown
	Native  []arch.CC    // the GPUs of the machine that builds, for native and Auto
}

// builder collects the images and notes of a list.
type builder struct {
	plan   Plan
	native []arch.CC
	seen   map[Image]bool
}

// maxNotes bounds what a hostile list can make a plan say.
const maxNotes = 40

func newBuilder(s Syntax, o Options) *builder {
	return &builder{plan: Plan{Syntax: s, Toolkit: o.Toolkit}, native: sortedCCs(o.Native), seen: map[Image]bool{}}
}

func sortedCCs(ccs []arch.CC) []arch.CC {
	out := slices.Clone(ccs)
	slices.Sort(out)
	return slices.Compact(out)
}

func (b *builder) add(k Kind, a arch.Arch) { b.addVia(k, a, a) }

func (b *builder) addVia(k Kind, a, via arch.Arch) {
	im := Image{Kind: k, Arch: a, Via: via}
	if via == a || k == PTX {
		im.Via = arch.Arch{}
	}
	if !b.seen[im] {
		b.seen[im] = true
		b.plan.Images = append(b.plan.Images, im)
	}
}

// both adds machine code and PTX.
func (b *builder) both(a arch.Arch) {
	b.add(SASS, a)
	b.add(PTX, a)
}

func (b *builder) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if len(b.plan.Notes) < maxNotes && !slices.Contains(b.plan.Notes, s) {
		b.plan.Notes = append(b.plan.Notes, s)
	}
}

func (b *builder) done() Plan {
	sortImages(b.plan.Images)
	return b.plan
}

func sortImages(ims []Image) {
	slices.SortFunc(ims, func(x, y Image) int {
		switch {
		case x.Kind != y.Kind:
			return int(x.Kind) - int(y.Kind)
		case x.Arch != y.Arch:
			return order(x.Arch, y.Arch)
		}
		return order(x.Via, y.Via)
	})
}

func order(a, b arch.Arch) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

// Parse reads a list in a grammar. An assignment around the list, as in
// TORCH_CUDA_ARCH_LIST="8.0", is looked through; so is a whole Makefile.config.
// The error of a list that its reader would refuse is an *ItemError where one
// item is to blame.
func Parse(list string, s Syntax, o Options) (Plan, error) {
	v, err := unwrap(list)
	if err != nil {
		return Plan{}, err
	}
	b := newBuilder(s, o)
	if v.again > 0 {
		b.note("line %d sets %s again and was not read", v.again, v.name)
	}
	switch s {
	case NVCC, Caffe:
		err = b.nvcc(v)
	case CMake, LlamaCpp:
		err = b.cmake(v)
	case ONNXRuntime:
		err = b.onnxruntime(v)
	case FindCUDA:
		err = b.findcuda(v)
	case PyTorch:
		err = b.pytorch(v)
	case TensorFlow:
		err = b.tensorflow(v)
	default:
		_, err = ParseSyntax(string(s))
	}
	if err != nil {
		return Plan{}, err
	}
	return b.done(), nil
}
