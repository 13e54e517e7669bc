package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// build makes the probe, and the stand-in for libcuda in a folder of its own.
func build(t *testing.T) (probe, lib string) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no C compiler for Linux")
	}
	dir := t.TempDir()
	probe = filepath.Join(dir, "probe")
	for _, args := range [][]string{
		{"-Wall", "-Werror", "-o", probe, "../../scripts/probe.c", "-ldl"},
		{"-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"), "testdata/fakecuda.c"},
	} {
		if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return probe, dir
}

func TestProbe(t *testing.T) {
	probe, lib := build(t)
	t.Setenv("LD_LIBRARY_PATH", lib)
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, []byte("000 209 222 "), 0o644); err != nil {
		t.Fatal(err)
	}
	items := []item{
		{path: image, title: "a", size: 4, verdict: "native", load: 0, kernels: []string{"_Zhere", "_Zabsent"}, want: map[string]int{"_Zhere": 0, "_Zabsent": 500}},
		{path: image, title: "b", offset: 4, size: 4, verdict: "missing", load: 209},
		{path: image, title: "c", offset: 8, size: 4, verdict: "jit", load: 0},
		{path: image, title: "d", offset: 4, size: 4, verdict: "input", load: -1},
	}
	a, err := checker{probe: probe}.ask(items)
	if err != nil {
		t.Fatal(err)
	}
	if a.cc != "9.0" || a.cuda != 12080 || len(a.results) != 4 {
		t.Fatalf("%+v", a)
	}
	var out bytes.Buffer
	compared, wrong := 0, 0
	for i, it := range items {
		n, bad := it.compare(&out, a.results[i])
		compared, wrong = compared+n, wrong+bad
	}
	// Two kernels and three loads; the third is refused although it was to run.
	if compared != 5 || wrong != 1 {
		t.Errorf("%d compared, %d differ\n%s", compared, wrong, out.String())
	}
	for _, want := range []string{
		"same    " + image + ", a: fatview says native (0), the driver 0 CUDA_SUCCESS\n",
		"same    " + image + ", b: fatview says missing (209), the driver 209 CUDA_ERROR_FAKE, as a library 0\n",
		"DIFFERS " + image + ", c: fatview says jit (0), the driver 222 CUDA_ERROR_FAKE\n",
		"not told " + image + ", d: fatview says input, the driver 209",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if _, err := (checker{probe: probe}).ask([]item{{path: image, offset: 8, size: 100}}); err == nil {
		t.Error("bytes that are not there were read")
	}
}

func TestProbeSkips(t *testing.T) {
	probe, lib := build(t)
	for name, want := range map[string]string{"FAKECUDA_NONE": "no GPU", "FAKECUDA_INIT": "cuInit: 100 CUDA_ERROR_FAKE", "": "no libcuda.so.1"} {
		t.Run(want, func(t *testing.T) {
			t.Setenv("LD_LIBRARY_PATH", lib)
			if name == "" {
				t.Setenv("LD_LIBRARY_PATH", "/nowhere")
				if exec.Command(probe).Run() == nil {
					t.Skip("this machine has a driver")
				}
			} else {
				t.Setenv(name, "100")
			}
			var out bytes.Buffer
			if code := (checker{probe: probe}).run(&out, nil); code != 0 || !strings.Contains(out.String(), "skip probe: "+want) {
				t.Errorf("exit %d: %s", code, out.String())
			}
		})
	}
}

func TestExpected(t *testing.T) {
	e := func(code int) *jsonError { return &jsonError{Code: code} }
	for _, c := range []struct {
		verdict, rule string
		e             *jsonError
		want          int
	}{
		{"native", "sass-group", nil, 0}, {"jit", "ptx-forward", nil, 0}, {"jit", "relink", nil, -1}, {"input", "", nil, -1}, {"empty", "", nil, -1},
		{"missing", "", e(209), 209}, {"driver", "", e(222), 222}, {"driver", "", e(35), -1}, {"missing", "", e(98), 0}, {"driver", "", nil, -1},
	} {
		if got := expected(c.verdict, c.rule, c.e); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// What fatview predicts for the fixtures is read from its real JSON.
func TestPredict(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "fatview")
	if out, err := exec.Command("go", "build", "-o", bin, "../..").CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	file := "../../testdata/fixtures/mixed.so"
	items, err := checker{fatview: bin}.predict(file, []string{"--gpu", "9.0", "--cuda", "13.0"})
	if err != nil || len(items) != 3 {
		t.Fatalf("%v, %+v", err, items)
	}
	// The report says of this file: two containers run on 9.0, one is for other
	// hardware; two kernels are in the first.
	if items[0].load != 0 || items[0].verdict != "native" || len(items[0].kernels) != 2 || items[0].offset != 12504 || items[0].size != 27344 {
		t.Errorf("%+v", items[0])
	}
	rdc, err := checker{fatview: bin}.predict("../../testdata/fixtures/rdc-object.o", []string{"--gpu", "9.0"})
	if err != nil || len(rdc) == 0 || rdc[0].load != -1 || !rdc[0].input {
		t.Errorf("an input of a device link is compared: %v, %+v", err, rdc)
	}
	loads := 0
	for _, it := range items {
		if it.load == 209 && it.verdict == "specialised" {
			loads++
		}
	}
	if loads != 1 {
		t.Errorf("%+v", items)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("gpu\t9\t0\t12080\nload\t0\tCUDA_SUCCESS\nkernel\t0\tX\t_Z1f\n"))
	f.Add([]byte("library\t0\tx\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parse(b)
		if err == nil && a.cc == "" || len(a.results) > bytes.Count(b, []byte("load")) {
			t.Fatalf("%q: %+v", b, a)
		}
	})
}
