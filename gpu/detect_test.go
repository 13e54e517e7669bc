package gpu

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fatview/internal/sysroot"
)

// madeUp is a library in Go, for what does not need a real one.
type madeUp struct {
	devices []device
	panics  bool
}

func (l madeUp) start() int {
	if l.panics {
		panic("no such luck")
	}
	return nvmlSuccess
}
func (l madeUp) stop()                      {}
func (l madeUp) driver() (string, int)      { return "\x1b[2J535.104.05\n", nvmlSuccess }
func (l madeUp) cuda() (int, int)           { return 0, nvmlFunctionNotFound }
func (l madeUp) count() (int, int)          { return len(l.devices), nvmlSuccess }
func (l madeUp) device(i int) (device, int) { return l.devices[i], nvmlSuccess }

type madeUpGPU struct {
	title        string
	major, minor int
	code         int
}

func (d madeUpGPU) name() (string, int)         { return d.title, nvmlSuccess }
func (d madeUpGPU) uuid() (string, int)         { return "", nvmlNotSupported }
func (d madeUpGPU) capability() (int, int, int) { return d.major, d.minor, d.code }
func (d madeUpGPU) slices() []device            { return nil }

func TestWalk(t *testing.T) {
	long := "NVIDIA \x1b[31m" + strings.Repeat("é", 500) + "\u202e"
	inv, code := walk(madeUp{devices: []device{
		madeUpGPU{long, 9, 0, nvmlSuccess},
		madeUpGPU{"Tesla K80", 0, 0, nvmlFunctionNotFound}, // an old library: the catalogue knows
		madeUpGPU{"Orin (nvgpu)", 0, 0, nvmlNotSupported},
		madeUpGPU{"", 13, 0, nvmlSuccess}, // newer than the tables
		madeUpGPU{"Nothing Known", 0, 0, nvmlNotSupported},
		madeUpGPU{"NVIDIA H200", 9, 10, nvmlSuccess},
	}})
	if code != nvmlSuccess || len(inv.Targets) != 4 {
		t.Fatalf("%d, %+v", code, inv)
	}
	name := inv.Targets[0].Name
	if utf8.RuneCountInString(name) != maxName || strings.ContainsAny(name, "\x1b\u202e") || !strings.HasPrefix(name, "NVIDIA [31mé") {
		t.Errorf("name %q", name)
	}
	if inv.Targets[1].CC != 37 || inv.Targets[2].CC != 87 || inv.Targets[3].Name != "CC 13.0" || inv.Targets[3].Index != 3 {
		t.Errorf("%+v", inv.Targets)
	}
	if inv.Driver.Version != "[2J535.104.05" && inv.Driver.Branch != 0 {
		t.Errorf("%+v", inv.Driver)
	}
	if !containsAllOf(inv.Problem, "GPU 4 could not be asked", "GPU 5 could not be asked") {
		t.Errorf("problem %q", inv.Problem)
	}
}

func containsAllOf(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// none are options under which nothing is found.
func none(t *testing.T, env map[string]string) Options {
	return Options{
		LibraryPaths: []string{filepath.Join(t.TempDir(), "none")}, Root: sysroot.Root{Dir: t.TempDir()},
		Getenv: func(k string) (string, bool) { v, ok := env[k]; return v, ok },
	}
}

func TestNothingFound(t *testing.T) {
	inv := DetectWith(context.Background(), none(t, nil))
	if len(inv.Targets) > 0 || inv.Problem != nothingFound(runtime.GOOS) || len(inv.Tried) == 0 {
		t.Errorf("%+v", inv)
	}
	for goos, want := range map[string]string{"darwin": "macOS has no NVIDIA driver", "windows": "nvml.dll", "linux": "nvidia-smi", "freebsd": "freebsd"} {
		if s := nothingFound(goos); !containsAllOf(s, want, "name") {
			t.Errorf("%s: %s", goos, s)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if inv := DetectWith(ctx, none(t, nil)); !strings.Contains(inv.Problem, "interrupted") {
		t.Errorf("%+v", inv)
	}
}

// Detect itself must come back wherever the tests run, with or without a GPU.
func TestDetect(t *testing.T) {
	start := time.Now()
	inv := Detect(context.Background())
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(inv.Targets) == 0 && inv.Problem == "" {
		t.Errorf("nothing found, and no reason: %+v", inv)
	}
	t.Logf("%+v", inv)
}

// Every code has its sentence: one line, and never empty.
func TestSentences(t *testing.T) {
	for code := -1; code < 40; code++ {
		for _, s := range []string{codeSentence(code), deviceSentence(3, code), smiSentence(code)} {
			if s == "" || strings.Contains(s, "\n") || strings.HasSuffix(s, ".") {
				t.Errorf("%d: %q", code, s)
			}
		}
	}
}

// smi writes a program that stands in for nvidia-smi and returns its folder.
func smi(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for nvidia-smi is a shell script")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func detectSMI(t *testing.T, script string) Inventory {
	t.Helper()
	dir := smi(t, script)
	return DetectWith(context.Background(), none(t, map[string]string{"PATH": dir}))
}

func TestSMI(t *testing.T) {
	inv := detectSMI(t, `[ "$*" = "--query-gpu=name,compute_cap,driver_version,uuid --format=csv,noheader" ] || exit 99
echo 'NVIDIA GeForce RTX 5090, 12.0, 570.86.10, GPU-5090'
echo 'Odd, with a comma, 8.0, 570.86.10, GPU-a100'
echo 'Tesla K80, [N/A], 570.86.10, GPU-k80'
echo 'No Such Thing, [N/A], 570.86.10, GPU-x'`)
	if brief(inv.Targets) != "NVIDIA GeForce RTX 5090 12.0; Odd, with a comma 8.0; Tesla K80 3.7" || inv.Source != "nvidia-smi" {
		t.Errorf("%+v", inv)
	}
	if inv.Driver != detected("570.86.10", version(t, "12.8")) || inv.Targets[1].UUID != "GPU-a100" || inv.Targets[1].Index != 1 {
		t.Errorf("%+v", inv)
	}
	if !strings.Contains(inv.Problem, "GPU 3 (No Such Thing)") {
		t.Errorf("problem %q", inv.Problem)
	}
}

// Drivers before R510 refuse compute_cap, and the catalogue has to know.
func TestSMIOld(t *testing.T) {
	inv := detectSMI(t, `case "$1" in *compute_cap*) echo 'Field "compute_cap" is not a valid field to query.'; exit 2;; esac
echo 'Tesla T4, 470.82.01, GPU-t4'`)
	if brief(inv.Targets) != "Tesla T4 7.5" || inv.Problem != "" || inv.Driver.CUDA != version(t, "11.4") {
		t.Errorf("%+v", inv)
	}
}

func TestSMIErrors(t *testing.T) {
	for script, want := range map[string]string{
		"echo 'NVIDIA-SMI has failed because'; exit 9": "not loaded",
		"exit 18":                      "error 18",
		"exit 4":                       "no permission",
		"exit 6":                       "sees no GPU",
		"exit 15":                      "error 15",
		"exit 127":                     "exit code 127",
		"exit 255":                     "exit code 255",
		"echo 'No devices were found'": "sees no GPU",
		"":                             "sees no GPU",
		"kill -9 $$":                   "could not be run",
	} {
		if inv := detectSMI(t, script); len(inv.Targets) > 0 || !strings.Contains(inv.Problem, want) {
			t.Errorf("%q: %+v, want %q", script, inv, want)
		}
	}
}

func TestSMIHostile(t *testing.T) {
	inv := detectSMI(t, `printf '\033[31m\377%0500d, 9.0, 5\0337, \007\n' 1
i=0; while [ $i -lt 2000 ]; do echo "name $i, 9.0, 535.1, GPU-$i"; i=$((i+1)); done`)
	if len(inv.Targets) != maxDevices {
		t.Errorf("%d targets", len(inv.Targets))
	}
	first := inv.Targets[0]
	if strings.ContainsAny(first.Name+first.Driver.Version+first.UUID, "\x1b\x07") || !utf8.ValidString(first.Name) || utf8.RuneCountInString(first.Name) != maxName {
		t.Errorf("%+v", first)
	}
	var b limitedBuffer
	for range 10 {
		b.Write(make([]byte, 100_000))
	}
	if b.Len() != maxSMIOutput {
		t.Errorf("%d bytes kept", b.Len())
	}
}

func TestSMIHangs(t *testing.T) {
	dir := smi(t, "sleep 20 & sleep 20")
	opts := none(t, map[string]string{"PATH": dir + string(filepath.ListSeparator) + os.Getenv("PATH")})
	opts.Timeout = 200 * time.Millisecond
	start := time.Now()
	inv := DetectWith(context.Background(), opts)
	if took := time.Since(start); took > 4*time.Second || !strings.Contains(inv.Problem, "did not answer within 200ms") {
		t.Errorf("after %s: %+v", took, inv)
	}
}

// Only absolute folders of PATH count, and only programs.
func TestFindSMI(t *testing.T) {
	dir := smi(t, "exit 0")
	t.Chdir(dir)
	env := func(path string) func(string) (string, bool) {
		return func(string) (string, bool) { return path, true }
	}
	for _, path := range []string{"", ".", ":", ".:" + filepath.Base(dir), "./"} {
		if got := findSMI(env(path)); strings.HasPrefix(got, dir) || got != "" && !filepath.IsAbs(got) {
			t.Errorf("PATH=%q: %s", path, got)
		}
	}
	plain := t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, "nvidia-smi"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := findSMI(env(plain + ":" + dir)); got != filepath.Join(dir, "nvidia-smi") {
		t.Errorf("found %q", got)
	}
}

// A library that panics, and one that only half works, lead on to nvidia-smi.
func TestNVMLOnTheWay(t *testing.T) {
	dir := smi(t, "echo 'NVIDIA H200, 9.0, 570.86.10, GPU-1'")
	opts := none(t, map[string]string{"PATH": dir})
	opts.LibraryPaths = []string{"made up"}
	opts.open = func(string) (library, error) { return madeUp{panics: true}, nil }
	inv := DetectWith(context.Background(), opts)
	if brief(inv.Targets) != "NVIDIA H200 9.0" || len(inv.Tried) != 2 || !strings.Contains(inv.Tried[0].Reason, "no such luck") {
		t.Errorf("%+v", inv)
	}
	opts.open = func(string) (library, error) {
		return madeUp{devices: []device{madeUpGPU{"Tesla T4", 7, 5, nvmlSuccess}}}, nil
	}
	inv = DetectWith(context.Background(), opts)
	if brief(inv.Targets) != "Tesla T4 7.5" || len(inv.Tried) != 1 || inv.Source != SourceNVML {
		t.Errorf("%+v", inv)
	}
}
