package ui

import (
	"testing"

	"fatview/gpu"
)

// GPUs of a fleet that differ by their drivers alone are all there, with their
// counts, and none passes for one of this machine.
func TestFleet(t *testing.T) {
	old, err := gpu.ParseDriver("535.104.05")
	if err != nil {
		t.Fatal(err)
	}
	young, err := gpu.ParseDriver("580.65.06")
	if err != nil {
		t.Fatal(err)
	}
	h100 := gpu.Target{Name: "H100 PCIe", CC: 90, Driver: old, Source: "slurm", Count: 3}
	newer := h100
	newer.Driver, newer.Count = young, 1
	d := newDriver(t, 120, 24, "mixed.so", func(o *Options, _ *model) { o.Targets = []gpu.Target{h100, newer, h100} })
	if len(d.m.gpus) != 2 {
		t.Fatalf("%d GPUs, want 2", len(d.m.gpus))
	}
	d.WantScreen("H100 PCIe 9.0 × 3 535.104.05", "H100 PCIe 9.0 580.65.06")
	if d.m.gpus[0].local() || d.m.gpus[1].local() {
		t.Error("a GPU of a fleet is not here")
	}
}
