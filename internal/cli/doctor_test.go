package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fatview/doctor"
	"fatview/gpu"
)

// The doctor takes GPUs, variables and files from where all commands do.
func TestDoctor(t *testing.T) {
	w := newWorld(t, nil)
	w.Environ = func() []string { return []string{"CUDA_FORCE_PTX_JIT=1", "CUDA_DISABLE_PTX_JIT=1", "odd"} }
	code := w.run("doctor", "--json", fixtures+"mixed.so")
	var r doctor.Report
	if err := json.Unmarshal(w.out.Bytes(), &r); err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, w.err.String())
	}
	found := map[string]doctor.Step{}
	for _, s := range r.Steps {
		found[s.ID] = s
	}
	if s := found["gpus"]; !strings.HasPrefix(s.Seen, "NVIDIA H100 PCIe (9.0) and NVIDIA T4 (7.5); driver 580.65.06, CUDA 13.0") {
		t.Errorf("%+v", s)
	}
	if s := found["environment"]; s.Status != doctor.Fail || !strings.Contains(s.Seen, "no kernel loads") {
		t.Errorf("%+v", s)
	}
	if s := found["file"]; !strings.Contains(s.Title, "NVIDIA H100 PCIe") || strings.Contains(s.Title, "T4") {
		t.Errorf("%+v", s)
	}
	if code != ExitNo || r.OK {
		t.Errorf("exit %d", code)
	}
}

// Local GPUs are listed and judged in CUDA's order.
func TestCUDAOrder(t *testing.T) {
	inv := gpu.Inventory{Targets: []gpu.Target{
		{Name: "A", CC: 80}, {Name: "B", CC: 86, Index: 1}, {Name: "B MIG", CC: 86, Index: 1, MIG: true}, {Name: "C", CC: 90, Index: 2, Hidden: true},
	}, Visible: []int{2, 0}}
	names := func(ts []gpu.Target) string {
		var out []string
		for _, t := range ts {
			out = append(out, t.Name)
		}
		return strings.Join(out, ", ")
	}
	a := &app{env: newWorld(t, nil).Env}
	if got := names(a.visible(inv)); got != "B, B MIG, A" {
		t.Errorf("%s", got)
	}
	inv.Visible = nil // not known: the driver's order
	if got := names(a.visible(inv)); got != "A, B, B MIG" {
		t.Errorf("%s", got)
	}
	w := newWorld(t, nil)
	w.Detect = func(context.Context) gpu.Inventory {
		inv.Visible = []int{2, 0}
		return inv
	}
	w.run("gpus", "--json")
	var l gpuList
	if err := json.Unmarshal(w.out.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	if d := l.GPUs[2].Device; d == nil || *d != 0 || l.GPUs[1].Device != nil || *l.GPUs[0].Device != 1 {
		t.Errorf("%s", w.out.String())
	}
}
