package advice

import (
	"strings"
	"testing"

	"fatview/arch"
	"fatview/archlist"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
)

// container reads "sm_80 ptx_90:8.4 sm_90a=0 sm_86/z" made by a toolkit.
func container(t *testing.T, toolkit, s string) coverage.FileContainer {
	t.Helper()
	var c coverage.FileContainer
	tk, err := arch.ParseVersion(toolkit)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range strings.Fields(s) {
		w, zstd := strings.CutSuffix(w, "/z")
		w, empty := strings.CutSuffix(w, "=0")
		w, isa, ptx := strings.Cut(w, ":")
		im := coverage.Image{Kind: fatbin.KindCubin, Kernels: 1, Toolkit: tk}
		if ptx {
			im.Kind, im.Toolkit = fatbin.KindPTX, arch.Version{}
			if im.ISA, err = arch.ParseVersion(isa); err != nil {
				t.Fatal(err)
			}
			w = strings.Replace(w, "ptx_", "", 1)
		}
		if im.Arch, err = arch.Parse(w); err != nil {
			t.Fatal(err)
		}
		if zstd {
			im.Compression = fatbin.CompressionZstd
		}
		if empty {
			im.Kernels = 0
		}
		c.Images = append(c.Images, im)
	}
	return c
}

func advise(t *testing.T, toolkit, containers, gpus, driver string) Advice {
	t.Helper()
	var cs []coverage.FileContainer
	for _, s := range strings.Split(containers, ";") {
		cs = append(cs, container(t, toolkit, s))
	}
	ts, err := gpu.Parse(gpus)
	if err != nil {
		t.Fatal(err)
	}
	var targets []coverage.Target
	var results []coverage.FileResult
	for _, x := range ts {
		target := coverage.Target{CC: x.CC}
		if driver != "" {
			if target.Driver, err = gpu.ParseDriver(driver); err != nil {
				t.Fatal(err)
			}
		}
		targets = append(targets, target)
		results = append(results, coverage.JudgeFile(cs, target))
	}
	return For(cs, targets, results)
}

func list(as []arch.Arch) string {
	var names []string
	for _, a := range as {
		names = append(names, a.Name())
	}
	return strings.Join(names, " ")
}

// What is added is the least that serves all GPUs that were left out, and what
// it gives is judged again: it must serve them.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name, toolkit, file, gpus string
		sass, ptx                 string // added by the first and by the second option
		toolkitSays, caution      string
	}{
		{"faiss on Hopper", "12.4", "sm_70 sm_80", "9.0", "90", "80", "12.4", ""},
		{"one group, one architecture", "12.4", "sm_70 sm_75", "8.6,8.9", "86", "75", "12.4", ""},
		{"two groups", "12.8", "sm_80 sm_75", "9.0,12.0,12.1", "90 120", "80", "12.8", ""},
		{"toolkit too old", "12.4", "sm_80 sm_75", "12.0", "120", "80", "takes CUDA 12.8 or newer; the file was built by 12.4", ""},
		{"toolkit too new", "13.0", "sm_80 sm_90", "6.1", "61", "61", "built by CUDA 13.0", "CUDA 12.9 is the last that builds sm_61"},
		{"old and new together", "12.9", "sm_50 sm_80", "11.0", "110", "80", "takes CUDA 13.0", "CUDA 12.9 is the last that builds sm_50"},
	} {
		a := advise(t, c.toolkit, c.file, c.gpus, "")
		if len(a.Options) != 2 {
			t.Errorf("%s: %d options, want machine code and PTX", c.name, len(a.Options))
			continue
		}
		if got := list(a.Options[0].AddSASS); got != c.sass {
			t.Errorf("%s: adds machine code for %s, want %s", c.name, got, c.sass)
		}
		if got := list(a.Options[1].AddPTX); got != c.ptx {
			t.Errorf("%s: adds PTX for %s, want %s", c.name, got, c.ptx)
		}
		if got := a.Options[0].Toolkit; !strings.Contains(got, c.toolkitSays) {
			t.Errorf("%s: %q does not say %q", c.name, got, c.toolkitSays)
		}
		if got := a.Options[0].Caution; !strings.Contains(got, c.caution) || (c.caution == "") != (got == "") {
			t.Errorf("%s: caution %q, want %q", c.name, got, c.caution)
		}
		serves(t, c.name, a.Options, c.gpus)
	}
}

func serves(t *testing.T, name string, options []Option, gpus string) {
	t.Helper()
	ts, err := gpu.Parse(gpus)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range options {
		var c coverage.FileContainer
		for _, a := range o.SASS {
			c.Images = append(c.Images, coverage.Image{Kind: fatbin.KindCubin, Arch: a, Kernels: 1})
		}
		for _, a := range o.PTX {
			c.Images = append(c.Images, coverage.Image{Kind: fatbin.KindPTX, Arch: a, ISA: arch.Version{Major: 8}, Kernels: 1})
		}
		for _, x := range ts {
			if r := coverage.JudgeFile([]coverage.FileContainer{c}, coverage.Target{CC: x.CC}); !r.Verdict.Served() {
				t.Errorf("%s: after %q, %s is %s", name, o.Title, x.CC, r.Verdict)
			}
		}
	}
}

func TestNothingToAdvise(t *testing.T) {
	if a := advise(t, "12.4", "sm_80 ptx_80:8.4", "8.0,9.0", ""); len(a.Options)+len(a.Drivers) != 0 {
		t.Errorf("%+v", a)
	}
}

func TestDrivers(t *testing.T) {
	for _, c := range []struct{ file, gpu, driver, says string }{
		{"ptx_80:8.7", "9.0", "551.61", "update the driver to Linux 570.26, Windows 570.65 or newer; or build with CUDA 12.4 or older"},
		{"sm_86/z", "8.6", "537.13", "-compress-mode=speed"},
	} {
		a := advise(t, "12.8", c.file, c.gpu, c.driver)
		if len(a.Drivers) != 1 || !strings.Contains(a.Drivers[0], c.says) {
			t.Errorf("%s on %s with %s: %q", c.file, c.gpu, c.driver, a.Drivers)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ file, says string }{
		{"sm_80 sm_90", "there is no PTX"},
		{"sm_80 ptx_90a:8.0", "compute_90a is PTX for 9.0 alone"},
		{"sm_80 ptx_80:8.7", "ISA 8.7, which drivers of R535 and older do not know"},
		{"sm_80/z ptx_80:8.0", "zstd"},
		{"sm_80 sm_90a ptx_80:8.0", "9.0 is served by architecture-specific code only"},
		{"sm_80 sm_120", "nothing for 9.0, 10.0, 10.3"},
		{"sm_80 sm_90a=0 ptx_80:8.0; sm_80 ptx_80:8.0", "sm_90a is listed and holds no kernel at all"},
	} {
		got := strings.Join(advise(t, "12.4", c.file, "8.0", "").Warnings, "\n")
		if !strings.Contains(got, c.says) {
			t.Errorf("%s: %q does not warn of %q", c.file, got, c.says)
		}
	}
	if w := advise(t, "12.2", "sm_80 sm_90 ptx_90:8.2", "8.0", "").Warnings; len(w) != 0 {
		t.Errorf("a careful build is warned of: %q", w)
	}
}

// The flags are read again by the grammar's own reader and must build what the
// option says, unless they say what is lost.
func TestFlagsBuildTheOption(t *testing.T) {
	a := advise(t, "12.8", "sm_75 sm_80", "9.0,12.0", "")
	for _, o := range a.Options {
		flags := o.Flags()
		if len(flags) < 6 {
			t.Errorf("%q is written for %d build systems only", o.Title, len(flags))
		}
		for _, f := range flags {
			if f.System == "Caffe (CMake)" {
				continue // no reader of ours: TestCaffeCMake
			}
			syntax, err := archlist.ParseSyntax(map[string]string{"nvcc": "nvcc", "CMake": "cmake", "FindCUDA": "findcuda", "Caffe": "caffe", "PyTorch": "pytorch", "TensorFlow/XLA": "tensorflow", "ONNX Runtime": "onnxruntime", "llama.cpp": "llama.cpp"}[f.System])
			if err != nil {
				t.Fatalf("%s: %v", f.System, err)
			}
			p, err := archlist.Parse(f.Text, syntax, archlist.Options{})
			if err != nil {
				t.Errorf("%s refuses %q: %v", f.System, f.Text, err)
				continue
			}
			for _, added := range o.AddSASS {
				if len(f.Lost) == 0 && !p.Has(archlist.SASS, added) {
					t.Errorf("%s: %q does not build %s", f.System, f.Text, added.SASS())
				}
			}
			for _, added := range o.AddPTX {
				if len(f.Lost) == 0 && !p.Has(archlist.PTX, added) {
					t.Errorf("%s: %q does not build %s", f.System, f.Text, added.PTX())
				}
			}
		}
	}
}

func TestCaffeCMake(t *testing.T) {
	o := Option{SASS: []arch.Arch{arch.New(52, 0), arch.New(61, 0)}, PTX: []arch.Arch{arch.New(61, 0)}}
	for _, f := range o.Flags() {
		if f.System == "Caffe (CMake)" {
			if want := `-DCUDA_ARCH_NAME=Manual -DCUDA_ARCH_BIN="5.2 6.1" -DCUDA_ARCH_PTX="6.1"`; f.Text != want || len(f.Lost) != 0 {
				t.Errorf("%q, want %q; lost %q", f.Text, want, f.Lost)
			}
			return
		}
	}
	t.Error("there is no line for Caffe's CMake")
}
