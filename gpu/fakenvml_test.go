//go:build linux && cgo

package gpu

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fatview/internal/sysroot"
)

// The dynamic linker binds NVML's functions once for a process, so each
// scenario runs in a process of its own: this test binary again, which then
// prints an inventory instead of running tests.
const helperEnv = "FATVIEW_TEST_DETECT"

func TestMain(m *testing.M) {
	if paths, ok := os.LookupEnv(helperEnv); ok {
		opts := Options{Root: sysroot.Root{Dir: os.Getenv("FATVIEW_TEST_ROOT")}}
		if paths != "usual" {
			opts.LibraryPaths = filepath.SplitList(paths)
		}
		opts.Timeout, _ = time.ParseDuration(os.Getenv("FATVIEW_TEST_TIMEOUT"))
		inv := DetectWith(context.Background(), opts)
		if os.Getenv("FATVIEW_TEST_TWICE") != "" {
			inv = DetectWith(context.Background(), opts)
		}
		json.NewEncoder(os.Stdout).Encode(inv)
		return
	}
	code := m.Run()
	if dir, err := builtIn(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

var builtIn = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "fakenvml") })

// fakeNVML builds the stand-in and returns its path: dir/libnvidia-ml.so.1.
func fakeNVML(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skipf("no C compiler (%s) to build the stand-in for NVML with", cc)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "libnvidia-ml.so.1")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	args := append([]string{"-shared", "-fPIC", "-o", path, "testdata/fakenvml.c"}, flags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("building the stand-in for NVML: %v\n%s", err, out)
	}
	return path
}

func fake(t *testing.T) string {
	t.Helper()
	dir, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	return fakeNVML(t, filepath.Join(dir, "new"))
}

// detectIn runs detection in a process with an environment of its own.
func detectIn(t *testing.T, env ...string) Inventory {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	// The race detector would wait a second at the end of each process.
	cmd.Env = append([]string{"PATH=/nowhere", "FATVIEW_TEST_ROOT=/nowhere", "GORACE=atexit_sleep_ms=0"}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var inv Inventory
	if err := json.Unmarshal(out, &inv); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return inv
}

func scenario(t *testing.T, name string, env ...string) Inventory {
	t.Helper()
	return detectIn(t, append(env, helperEnv+"="+fake(t), "FAKENVML="+name)...)
}

func describe(inv Inventory) string {
	var out []string
	for _, t := range inv.Targets {
		s := fmt.Sprintf("%d %s %s %s", t.Index, t.Name, t.CC, t.Source)
		if t.MIG {
			s += " MIG"
		}
		if t.Hidden {
			s += " hidden"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

const twoGPUs = "0 NVIDIA GeForce RTX 5090 12.0 nvml; 1 NVIDIA A100-SXM4-80GB 8.0 nvml"

func TestNVML(t *testing.T) {
	inv := scenario(t, "")
	if describe(inv) != twoGPUs || inv.Problem != "" || inv.Note != "" || inv.Source != "nvml" {
		t.Errorf("%s; %+v", describe(inv), inv)
	}
	want := detected("570.86.10", version(t, "12.8"))
	if inv.Driver != want || inv.Targets[1].Driver != want || want.PTX != version(t, "8.7") || !want.Certain {
		t.Errorf("driver %+v", inv.Driver)
	}
	if got := inv.Targets[1].UUID; got != "GPU-00000001-a100-0000-0000-000000000000" {
		t.Errorf("UUID %q", got)
	}
	if len(inv.Tried) != 1 || inv.Tried[0].Reason != "" {
		t.Errorf("tried %+v", inv.Tried)
	}
	if again := scenario(t, "", "FATVIEW_TEST_TWICE=1"); describe(again) != twoGPUs {
		t.Errorf("the second time: %s, %s", describe(again), again.Problem)
	}
}

func TestNVMLByItsUsualName(t *testing.T) {
	inv := detectIn(t, helperEnv+"=usual", "LD_LIBRARY_PATH="+filepath.Dir(fake(t)))
	if describe(inv) != twoGPUs || inv.Tried[0].Name != "libnvidia-ml.so.1" {
		t.Errorf("%s; %+v", describe(inv), inv)
	}
}

func TestNVMLMIG(t *testing.T) {
	inv := scenario(t, "mig")
	want := twoGPUs + "; 1 NVIDIA A100-SXM4-80GB MIG 1g.10gb 8.0 nvml MIG; 1 NVIDIA A100-SXM4-80GB MIG 8.0 nvml MIG"
	if describe(inv) != want || inv.Problem != "" || !strings.HasPrefix(inv.Targets[2].UUID, "MIG-") {
		t.Errorf("%s\n%+v", describe(inv), inv)
	}
}

// Each of these has a sentence of its own, that names what to do.
func TestNVMLErrors(t *testing.T) {
	for name, want := range map[string][]string{
		"init9":   {"not loaded", "modprobe nvidia", "--gpus all"},
		"init18":  {"updated", "error 18", "restart"},
		"init4":   {"no permission", "/dev/nvidia*"},
		"init15":  {"lost", "error 15", "restart"},
		"init12":  {"library not found", "in a container, the `utility` capability is missing"},
		"init999": {"error 999 (unknown)", "run nvidia-smi"},
		"init77":  {"error 77", "run nvidia-smi"},
		"empty":   {"sees no GPU"},
		"nocount": {"error 999"},
	} {
		inv := scenario(t, name)
		if len(inv.Targets) > 0 || inv.Source != "" || !containsEach(inv.Problem, want) {
			t.Errorf("%s: %s; %q, want %q", name, describe(inv), inv.Problem, want)
		}
	}
}

func containsEach(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// A GPU that fails does not take the others with it.
func TestNVMLPartly(t *testing.T) {
	for name, want := range map[string][2]string{
		"lost":     {"1 NVIDIA A100-SXM4-80GB 8.0 nvml", "GPU 0 is lost (NVML error 15)"},
		"lostlate": {"0 NVIDIA GeForce RTX 5090 12.0 nvml", "GPU 1 is lost (NVML error 15)"},
		"denied":   {"0 NVIDIA GeForce RTX 5090 12.0 nvml", "no permission to use GPU 1 (NVML error 4)"},
		"strange":  {"1 NVIDIA A100-SXM4-80GB 8.0 nvml", "GPU 0 could not be asked"},
	} {
		if inv := scenario(t, name); describe(inv) != want[0] || !strings.Contains(inv.Problem, want[1]) || inv.Source != "nvml" {
			t.Errorf("%s: %s; %q", name, describe(inv), inv.Problem)
		}
	}
	if inv := scenario(t, "many"); len(inv.Targets) > maxDevices {
		t.Errorf("%d GPUs", len(inv.Targets))
	}
}

func TestNVMLCUDAVersion(t *testing.T) {
	for name, want := range map[string]string{"nocuda": "12.8", "compat": "13.0", "strange": "12.8"} {
		if inv := scenario(t, name); inv.Driver.CUDA.String() != want || inv.Driver.Branch != 570 {
			t.Errorf("%s: %+v, want CUDA %s", name, inv.Driver, want)
		}
	}
}

// A library that lacks what is asked of it must not end the process, which is
// what the dynamic linker does when such a function is called.
func TestNVMLOld(t *testing.T) {
	path := fakeNVML(t, t.TempDir(), "-DOLD")
	inv := detectIn(t, helperEnv+"="+path, "FAKENVML=ancient")
	if describe(inv) != twoGPUs || inv.Driver != (Driver{Version: "340.108", Branch: 340}) {
		t.Errorf("%s; %+v", describe(inv), inv)
	}
}

func TestNVMLAbsent(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	inv := detectIn(t, helperEnv+"="+missing)
	if len(inv.Targets) > 0 || !containsEach(inv.Problem, []string{"library not found", "in a container, the `utility` capability is missing"}) {
		t.Errorf("%+v", inv)
	}
	if len(inv.Tried) != 5 || !strings.Contains(inv.Tried[0].Reason, "No such file") || inv.Tried[1] != (Attempt{"nvidia-smi", "not found on PATH"}) || inv.Tried[4] != (Attempt{"/proc/device-tree/model", "not a Jetson"}) {
		t.Errorf("tried %+v", inv.Tried)
	}
	// The second path is for WSL, where the first name is not found.
	if inv := detectIn(t, helperEnv+"="+missing+":"+fake(t)); describe(inv) != twoGPUs || len(inv.Tried) != 2 {
		t.Errorf("%s; %+v", describe(inv), inv)
	}
}

func TestNotNVML(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "libnvidia-ml.so.1")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	stub := fakeNVML(t, filepath.Join(dir, "stubs"))
	other := fakeNVML(t, filepath.Join(dir, "other"), "-DnvmlInit_v2=somethingElse")
	for path, want := range map[string]string{text: "too short", stub: "stub", other: "not NVML"} {
		inv := detectIn(t, helperEnv+"="+path)
		if len(inv.Targets) > 0 || !strings.Contains(inv.Tried[0].Reason, want) {
			t.Errorf("%s: %+v, want %q", path, inv, want)
		}
	}
	if inv := detectIn(t, helperEnv+"=usual", "LD_LIBRARY_PATH="+filepath.Dir(stub)); len(inv.Targets) > 0 {
		t.Errorf("the stub was used: %+v", inv)
	}
}

func TestNVMLHangs(t *testing.T) {
	start := time.Now()
	inv := scenario(t, "hang", "FATVIEW_TEST_TIMEOUT=300ms")
	if len(inv.Targets) > 0 || !strings.Contains(inv.Problem, "did not answer within 300ms") {
		t.Errorf("%+v", inv)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	// The second attempt waits for the first one, and gives up too.
	if inv := scenario(t, "hang", "FATVIEW_TEST_TIMEOUT=300ms", "FATVIEW_TEST_TWICE=1"); !strings.Contains(inv.Problem, "did not answer") {
		t.Errorf("%+v", inv)
	}
}

func TestNVMLHidden(t *testing.T) {
	inv := scenario(t, "mig", "CUDA_VISIBLE_DEVICES=GPU-00000000")
	if inv.Targets[0].Hidden || !inv.Targets[1].Hidden || !inv.Targets[2].Hidden || !strings.Contains(inv.Note, "hides 1 of 2 GPUs") {
		t.Errorf("%s; %s", describe(inv), inv.Note)
	}
}
