package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fatview/gpu"
)

// inventory writes a file for --gpus-from.
func inventory(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fleet.csv")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Where a fleet is given, nobody asks for the GPUs of this machine.
func TestFleetInPlaceOfLocalGPUs(t *testing.T) {
	name := inventory(t, "name,count\nL4,3\n")
	for _, args := range [][]string{{"report", fixtures + "mixed.so"}, {"check", fixtures + "mixed.so"}, {"explain", fixtures + "mixed.so"}, {"gpus"}, {fixtures + "mixed.so"}} {
		w := newWorld(t, map[string]string{"CUDA_FORCE_PTX_JIT": "1"})
		w.Detect = func(context.Context) gpu.Inventory { t.Errorf("%v detects", args); return gpu.Inventory{} }
		if code := w.run(append(args, "--gpus-from", name)...); code != ExitOK {
			t.Errorf("%v: exit %d, %s", args, code, w.err.String())
		}
		if out := w.out.String(); !strings.Contains(out, "× 3") || strings.Contains(out, "CUDA_FORCE_PTX_JIT") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
}

// The explorer gets the fleet, with how many there are of each, and does not
// detect either.
func TestExploreFleet(t *testing.T) {
	w := newWorld(t, nil)
	w.Terminal = true
	if code := w.run(fixtures+"mixed.so", "--gpus-from", inventory(t, "name,count,driver\nL4,3,535.104.05\nL4,2,550.54.15\n"), "--disable-jit"); code != ExitOK {
		t.Fatalf("exit %d: %s", code, w.err.String())
	}
	o := w.explored
	if o == nil || o.Detect != nil || len(o.Targets) != 2 || o.Targets[0].Count != 3 || o.Targets[1].Count != 2 || !o.Targets[1].DisableJIT {
		t.Errorf("%+v", o)
	}
}

// A fleet of which a part is left out has no answer, neither yes nor no.
func TestIncompleteFleet(t *testing.T) {
	whole, part := inventory(t, "name\nL4\nH100\n"), inventory(t, "name\nL4\nNope 7\n")
	for _, c := range []struct {
		file, name string
		want       int
	}{
		{"mixed.so", whole, ExitOK}, {"mixed.so", part, ExitError},
		{"raw-sm_80.cubin", part, ExitError}, {"raw-sm_35.cubin", part, ExitError}, {"raw-sm_35.cubin", whole, ExitNo},
	} {
		w := newWorld(t, nil)
		if code := w.run("check", fixtures+c.file, "--gpus-from", c.name); code != c.want {
			t.Errorf("%s: exit %d, want %d: %s%s", c.file, code, c.want, w.out.String(), w.err.String())
		}
	}
}

// Twenty problems are told one by one, and the rest counted.
func TestManyFleetProblems(t *testing.T) {
	text := "name\nL4\n"
	for i := range 25 {
		text += fmt.Sprintf("Nope %d\n", i)
	}
	w := newWorld(t, nil)
	w.run("gpus", "--gpus-from", inventory(t, text))
	err := w.err.String()
	if strings.Count(err, "is no GPU in the catalogue") != 20 || !strings.Contains(err, "and 5 more problems") {
		t.Error(err)
	}
}
