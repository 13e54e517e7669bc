package gpu

import (
	"strings"
	"testing"
)

// env makes a getenv of a map.
func env(m map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

// Expected values: the CUDA programming guide's own example (0,2,-1,1), the MIG
// user guide, and for what they do not say the behaviour that PyTorch's
// torch/cuda records: kinds are not mixed, digits at the beginning count, a GPU
// named twice leaves none.
func TestVisible(t *testing.T) {
	newer, older := Driver{Branch: 580}, Driver{Branch: 535}
	two := []Target{{Name: "A", CC: 90, UUID: "GPU-a1"}, {Name: "A", CC: 90, UUID: "GPU-a2", Index: 1}}
	three := append(two[:2:2], Target{Name: "A", CC: 90, UUID: "GPU-b3", Index: 2})
	mixed := []Target{{Name: "A", CC: 90, UUID: "GPU-a1", Driver: newer}, {Name: "B", CC: 80, UUID: "GPU-b1", Index: 1, Driver: newer},
		{Name: "B MIG", CC: 80, UUID: "MIG-b1", MIG: true, Index: 1, Driver: newer}, {Name: "B MIG", CC: 80, UUID: "MIG-b2", MIG: true, Index: 1, Driver: newer}}
	before := append([]Target(nil), mixed...)
	for i := range before {
		before[i].Driver = older
	}
	pci := "PCI_BUS_ID"
	for _, c := range []struct {
		targets     []Target
		value, sort string
		want        string // v or h for each target
		order       string // places in targets; ? unknown
		note        string
	}{
		{two, "unset", "", "vv", "01", ""},
		{two, "0,1", "", "vv", "01", ""},
		{two, "1,0", "", "vv", "10", ""},
		{two, "0", "", "vh", "0", "hides 1 of 2"},
		{two, " 1 ", "", "hv", "1", "hides 1 of 2"},
		{two, "", "", "hh", "", "hides 2 of 2"},
		{two, "-1", "", "hh", "", "hides 2 of 2"},
		{two, "NoDevFiles", "", "hh", "", "hides 2 of 2"},
		{two, "0,7,1", "", "vh", "0", "there is no GPU 7"},
		{three, "0,2,-1,1", "", "vhv", "02", `the list ends at "-1"`},
		{two, "1gpu,0x", "", "vv", "10", ""},
		{two, "+1", "", "hv", "1", "hides 1 of 2"},
		{two, "0,0", "", "hh", "", "names a GPU twice"},
		{two, "0,5,0", "", "hh", "", "names a GPU twice"},
		{two, "0,,1", "", "vh", "0", `the list ends at ""`},
		{two, "99999999999999999999", "", "hh", "", "there is no GPU 1048576"},
		{two, "GPU-a2", "", "hv", "1", "hides 1 of 2"},
		{two, "GPU-a2,GPU-a1", "", "vv", "10", ""},
		{two, "GPU-a", "", "hh", "", "the beginning of several UUIDs"},
		{three, "GPU-b,GPU-a1", "", "vhv", "20", "hides 1 of 3"},
		{two, "GPU-a1,GPU-a1", "", "hh", "", "names a GPU twice"},
		{three, "GPU-b3,GPU-b", "", "hhh", "", "names a GPU twice"},
		{two, "GPU-a1,1", "", "vh", "0", `the list ends at "1"`},
		{two, "0,GPU-a2", "", "vh", "0", `the list ends at "GPU-a2"`},
		{two, "GPU-zz,GPU-a2", "", "hh", "", "no GPU has a UUID that begins with GPU-zz"},
		{two, "MIG-x", "", "vv", "?", "only NVML lists"},
		{[]Target{{Name: "A", CC: 90}}, "GPU-a", "", "v", "?", "not known here"},
		{mixed, "unset", "", "vvvv", "?", ""},
		{mixed, "unset", pci, "vvvv", "023", ""},
		{mixed, "0", "", "vvvv", "?", "which ones is unknown"},
		{mixed, "0", pci, "vhhh", "0", "hides 1 of 2"},
		{mixed, "1", pci, "hvvv", "23", "hides 1 of 2"},
		{mixed, "GPU-b", "", "hvvv", "23", "hides 1 of 2"},
		{mixed, "MIG-b2", "", "hvhv", "3", "hides 1 of 2"},
		{mixed, "MIG-b2,MIG-b1", "", "hvvv", "32", "hides 1 of 2"},
		{mixed, "MIG-b", "", "hhhh", "", "the beginning of several UUIDs"},
		{mixed, "GPU-a1,MIG-b1", "", "vhhh", "0", `the list ends at "MIG-b1"`},
		{mixed, "-1", "", "hhhh", "", "hides 2 of 2"},
		{before, "unset", pci, "hvvh", "2", "drivers before R570 show a program one slice"},
		{before, "MIG-b2,MIG-b1", "", "hvhv", "3", "drivers before R570"},
		{before, "MIG-b2", "", "hvhv", "3", "hides 1 of 2"},
		{nil, "0", "", "", "?", ""},
	} {
		targets := append([]Target(nil), c.targets...)
		vars := map[string]string{}
		if c.value != "unset" {
			vars["CUDA_VISIBLE_DEVICES"] = c.value
		}
		if c.sort != "" {
			vars["CUDA_DEVICE_ORDER"] = c.sort
		}
		order, note := markHidden(targets, env(vars))
		got, places := "", ""
		for _, t := range targets {
			got += map[bool]string{false: "v", true: "h"}[t.Hidden]
		}
		for _, i := range order {
			places += string(rune('0' + i))
		}
		if order == nil && strings.Contains(got, "v") || len(targets) == 0 {
			places = "?"
		}
		if got != c.want || places != c.order || !strings.Contains(note, c.note) || (c.note == "") != (note == "") {
			t.Errorf("CUDA_VISIBLE_DEVICES=%s %s: %s %s %q, want %s %s %q", c.value, c.sort, got, places, note, c.want, c.order, c.note)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "0", "1,0", "GPU-a,GPU-b", "MIG-1,MIG-1", "0,2,-1,1", "+,\x00", "9999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		targets := []Target{{Name: "A", UUID: "GPU-a"}, {Name: "A", UUID: "GPU-b", Index: 1}, {Name: "M", UUID: "MIG-b", MIG: true, Index: 1}}
		order, note := markHidden(targets, env(map[string]string{"CUDA_VISIBLE_DEVICES": value, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}))
		seen := map[int]bool{}
		for _, i := range order {
			if i < 0 || i >= len(targets) || seen[i] || targets[i].Hidden {
				t.Fatalf("%q: order %v, %+v", value, order, targets)
			}
			seen[i] = true
		}
		if strings.ContainsAny(note, "\x1b\n") || len(note) > 1000 {
			t.Fatalf("%q: note %q", value, note)
		}
	})
}
