package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fatview/gpu"
	"fatview/report"
)

const fixtures = "../../testdata/fixtures/"

// world is an Env over buffers, with one local GPU and one that is hidden.
type world struct {
	Env
	out, err bytes.Buffer
	explored *ExploreOptions
}

func newWorld(t *testing.T, env map[string]string) *world {
	t.Helper()
	driver, err := gpu.ParseDriver("580.65.06")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	w.Env = Env{
		Stdout: &w.out, Stderr: &w.err, Demo: os.DirFS(fixtures), Version: "test",
		Getenv: func(k string) string { return env[k] },
		Detect: func(context.Context) gpu.Inventory {
			return gpu.Inventory{Source: gpu.SourceNVML, Driver: driver, Targets: []gpu.Target{
				{Name: "NVIDIA H100 PCIe", CC: 90, Driver: driver, Source: gpu.SourceNVML},
				{Name: "NVIDIA T4", CC: 75, Driver: driver, Source: gpu.SourceNVML, Hidden: true},
			}}
		},
		Explore: func(_ context.Context, o ExploreOptions) error { w.explored = &o; return nil },
	}
	return w
}

func (w *world) run(args ...string) int { return Main(context.Background(), w.Env, args) }

func TestLocalGPUs(t *testing.T) {
	w := newWorld(t, nil)
	if code := w.run("report", fixtures+"mixed.so"); code != ExitOK {
		t.Fatalf("exit %d: %s", code, w.err.String())
	}
	out := w.out.String()
	if !strings.Contains(out, "NVIDIA H100 PCIe (9.0), driver 580.65.06") || strings.Contains(out, "T4") {
		t.Errorf("the report is not for the one visible GPU:\n%s", out)
	}
}

// The environment counts where local GPUs are judged, and only there.
func TestEnvironmentVariables(t *testing.T) {
	for _, c := range []struct {
		name, value string
		args        []string
		verdict     string
	}{
		{"CUDA_FORCE_PTX_JIT", "1", nil, "jit"},
		{"CUDA_FORCE_PTX_JIT", "0", nil, "native"},
		{"CUDA_FORCE_PTX_JIT", "1", []string{"--gpu", "9.0"}, "native"},
		{"CUDA_DISABLE_PTX_JIT", "1", nil, "native"},
		{"", "", []string{"--force-jit"}, "jit"},
	} {
		w := newWorld(t, map[string]string{c.name: c.value})
		// Driver 620 knows the PTX of the fixture.
		w.run(append([]string{"report", "--json", "--driver", "620", fixtures + "object.o"}, c.args...)...)
		var r report.Report
		if err := json.Unmarshal(w.out.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s", err, w.err.String())
		}
		if got := r.Files[0].Coverage[0].Verdict; got != c.verdict {
			t.Errorf("%s=%s %v: %s, want %s", c.name, c.value, c.args, got, c.verdict)
		}
	}
	w := newWorld(t, map[string]string{"CUDA_DISABLE_PTX_JIT": "1"})
	w.run("explain", "--driver", "620", fixtures+"ptx80.so")
	if !strings.Contains(w.out.String(), "error 223") {
		t.Errorf("JIT switched off is not told:\n%s", w.out.String())
	}
}

func TestNoGPU(t *testing.T) {
	w := newWorld(t, nil)
	w.Detect = func(context.Context) gpu.Inventory { return gpu.Inventory{Problem: "The NVIDIA driver is not loaded."} }
	if code := w.run("report", fixtures+"mixed.so"); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	if got := w.err.String(); !strings.Contains(got, "driver is not loaded. Name GPUs with --gpu") {
		t.Errorf("no word on the missing GPU: %q", got)
	}
	if !strings.Contains(w.out.String(), "sm_90a") {
		t.Error("the contents are missing")
	}
}

func TestExplore(t *testing.T) {
	w := newWorld(t, nil)
	w.Terminal = true
	if code := w.run("a.so", "b.so", "--gpu", "h100", "--driver", "550"); code != ExitOK || w.explored == nil {
		t.Fatalf("exit %d, explored %v", code, w.explored)
	}
	o := w.explored
	if len(o.Paths) != 2 || len(o.Targets) != 1 || o.Targets[0].Driver.Branch != 550 || o.Detect != nil {
		t.Errorf("%+v", o)
	}
	w = newWorld(t, nil)
	w.Terminal = true
	w.run("--demo")
	if w.explored == nil || len(w.explored.Paths) != 3 || len(w.explored.Targets) != 4 {
		t.Errorf("the demo explores %+v", w.explored)
	}
	w = newWorld(t, nil)
	w.Terminal = true
	w.Explore = func(context.Context, ExploreOptions) error { return ErrInterrupted }
	if code := w.run("a.so"); code != ExitInterrupted {
		t.Errorf("exit %d after ctrl+c, want %d", code, ExitInterrupted)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "x.ndjson")
	for _, more := range [][]string{nil, {"--format", "ndjson"}, {"-o", out}} {
		w := newWorld(t, nil)
		if code := Main(ctx, w.Env, append([]string{"report", fixtures + "mixed.so", "--gpu", "9.0"}, more...)); code != ExitInterrupted {
			t.Errorf("%v: exit %d, want %d", more, code, ExitInterrupted)
		}
		if w.out.Len() != 0 {
			t.Errorf("%v: an interrupted report printed something", more)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an interrupted report left a file")
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	for _, args := range [][]string{
		{"report", fixtures + "mixed.so", "--gpu", "9.0"}, {"report", fixtures + "mixed.so", "--gpu", "9.0", "--format", "ndjson"}, {"list", fixtures + "mixed.so"},
		{"explain", fixtures + "mixed.so", "--gpu", "9.0"}, {"check", fixtures + "mixed.so", "--gpu", "9.0"},
		{"plan", "8.0", "--gpu", "8.0", "--syntax", "pytorch"}, {"version"}, {"gpus", "h100"},
	} {
		w := newWorld(t, nil)
		w.Stdout = fullDisk{}
		if code := w.run(args...); code != ExitError || !strings.Contains(w.err.String(), "no space left") {
			t.Errorf("%v on a full disk: exit %d, %q", args, code, w.err.String())
		}
	}
}
