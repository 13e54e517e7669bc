package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestVariantStem(t *testing.T) {
	for _, c := range []struct{ path, stem, tag string }{
		{"p/libbitsandbytes_cuda118.so", "p/libbitsandbytes_cuda*.so", "118"},
		{"p/libbitsandbytes_cuda130.dll", "p/libbitsandbytes_cuda*.dll", "130"},
		{"w.whl!a/ggml-cuda-12.so", "w.whl!a/ggml-cuda-*.so", "12"},
		{"x_cu12.4.so", "x_cu*.so", "12.4"},
		{"x_cu121.so", "x_cu*.so", "121"},
		{"libtorch_cuda.so", "libtorch_cuda.so", ""},
		{"libbitsandbytes_rocm72.so", "libbitsandbytes_rocm72.so", ""},
		{"circuit.so", "circuit.so", ""},
		{"cuda12/libx.so", "cuda12/libx.so", ""}, // the folder is not the name
		{"cuda1234567.so", "cuda1234567.so", ""},
		{"libexecutorch_cu121.so", "libexecutorch_cu*.so", "121"},
		{"occupancy_cu118.so", "occupancy_cu*.so", "118"},
		{"libkern_cuda1.so", "libkern_cuda1.so", ""}, // a part, not a version
		{"libgemm_cu80.so", "libgemm_cu80.so", ""},   // a capability
		{"libgemm_cu90.so", "libgemm_cu90.so", ""},
		{"x_cuda9.2.so", "x_cuda*.so", "9.2"},
		{"x_cuda12.34.so", "x_cuda12.34.so", ""},
	} {
		if stem, tag := variantStem(c.path); stem != c.stem || tag != c.tag {
			t.Errorf("%s: %q %q, not %q %q", c.path, stem, tag, c.stem, c.tag)
		}
	}
}

// fileOn is a file with one container whose verdict on GPU 0 is given.
func fileOn(path, verdict string) File {
	f := File{Path: path, Containers: []Container{{}}}
	c := Coverage{Verdict: verdict}
	switch verdict {
	case "native":
		c.Containers.Native = 3
	case "jit":
		c.Containers.JIT = 2
	case "none":
		c.Containers.Missing = 4
	case "driver":
		c.Containers.Driver = 5
	}
	f.Coverage = []Coverage{c}
	return f
}

func TestDistributionVerdict(t *testing.T) {
	for _, c := range []struct {
		files   []File
		verdict string
		counts  ContainerCounts
		reason  string
	}{
		{[]File{fileOn("a.so", "native")}, "native", ContainerCounts{Native: 3}, "native: a.so"},
		{[]File{fileOn("a.so", "native"), fileOn("b.so", "none")}, "partial", ContainerCounts{Native: 3, Missing: 4}, "native: a.so; none: b.so"},
		{[]File{fileOn("a.so", "native"), fileOn("b.so", "jit")}, "mixed", ContainerCounts{Native: 3, JIT: 2}, "native: a.so; jit: b.so"},
		// Variants stand for each other: the best counts, and all are told.
		{[]File{fileOn("x_cuda118.so", "none"), fileOn("x_cuda126.so", "native"), fileOn("x_cuda130.so", "driver")}, "native", ContainerCounts{Native: 3}, "native: x_cuda*.so (variants: native 126; driver 130; none 118)"},
		{[]File{fileOn("x_cuda118.so", "none"), fileOn("x_cuda126.so", "none")}, "none", ContainerCounts{Missing: 4}, "none: x_cuda*.so (2 variants alike)"},
		// In different folders they do not.
		{[]File{fileOn("a/x_cuda118.so", "none"), fileOn("b/x_cuda126.so", "native")}, "partial", ContainerCounts{Native: 3, Missing: 4}, "native: x_cuda126.so; none: x_cuda118.so"},
		{[]File{fileOn("a.so", "jit"), fileOn("b.so", "jit"), fileOn("c.so", "jit"), fileOn("d.so", "jit")}, "jit", ContainerCounts{JIT: 8}, "all 4 libraries are jit"},
	} {
		r := &Report{GPUs: []GPU{{}}, Files: c.files}
		d := &Distribution{}
		for i := range c.files {
			d.Files = append(d.Files, i)
		}
		got, ok := judgeUnits(r, d.units(r), 0)
		if !ok || got.Verdict != c.verdict || got.Containers != c.counts || got.Reason != c.reason {
			t.Errorf("%+v: %v, not %s %+v %q", got, ok, c.verdict, c.counts, c.reason)
		}
	}
	// A file without CUDA code has no say; nothing but such files, no verdict.
	r := &Report{GPUs: []GPU{{}}, Files: []File{{Path: "rocm.so"}}}
	d := &Distribution{Files: []int{0}}
	if _, ok := judgeUnits(r, d.units(r), 0); ok {
		t.Error("a verdict on nothing")
	}
}

func TestShortfalls(t *testing.T) {
	r := &Report{GPUs: []GPU{{Name: "X", CC: "9.0"}}, Files: []File{fileOn("libapp.so", "native"), fileOn("d/libdep.so.1", "none")}}
	d := Dependency{File: 0, To: 1, Name: "libdep.so.1"}
	d.shortfalls(r)
	if len(d.Unserved) != 1 || d.Unserved[0].Verdict != "none" || d.Unserved[0].Message != "it needs libdep.so.1 (d/libdep.so.1), which has no code for this GPU" {
		t.Errorf("%+v", d.Unserved)
	}
	for _, pair := range [][2]string{{"none", "none"}, {"native", "jit"}, {"driver", "none"}} {
		r.Files = []File{fileOn("a", pair[0]), fileOn("b", pair[1])}
		d := Dependency{File: 0, To: 1}
		d.shortfalls(r)
		if len(d.Unserved) != 0 {
			t.Errorf("%v: %+v", pair, d.Unserved)
		}
	}
	r.Files = []File{fileOn("libapp.so", "native"), fileOn("d/libdep.so.1", "none")}
	r.Dependencies = []Dependency{{File: 0, To: 1, Name: "libdep.so.1"}}
	r.Dependencies[0].shortfalls(r)
	r.Distributions = []Distribution{
		{Name: "app", Version: "2", Files: []int{0}, Coverage: []DistributionCoverage{{Verdict: "native", Reason: "native: libapp.so"}}},
		{Name: "dep", Version: "1", Files: []int{1}, Coverage: []DistributionCoverage{{Verdict: "none", Reason: "none: libdep.so.1"}}},
	}
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"● app 2: native\n      native: libapp.so; but it needs dep 1, which is none\n",
		"✗ dep 1: none\n",
		"! X (9.0): needs a library that is none\n      it needs libdep.so.1 (d/libdep.so.1), which has no code for this GPU.\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, b.String())
		}
	}
}
