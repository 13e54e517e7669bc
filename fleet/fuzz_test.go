package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fatview/gpu"
)

// fuzzRead feeds a format's reader and holds what must be true of every
// inventory.
func fuzzRead(f *testing.F, seeds ...string) {
	for _, s := range seeds {
		if b, err := os.ReadFile(filepath.Join("testdata", s)); err == nil {
			f.Add(string(b))
		} else {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		inv, err := Read("in", strings.NewReader(text))
		if err != nil {
			if inv != nil || !strings.HasPrefix(err.Error(), "in: ") || strings.Contains(err.Error(), "reading failed") {
				t.Fatalf("inventory %v, error %v", inv, err)
			}
			return
		}
		sum := 0
		for _, e := range inv.Entries {
			if e.CC < 10 || e.Count < 1 || e.Count > maxCount || e.Product == "" || len(e.Name) > maxText || len(e.Host) > maxText || len(e.Driver) > maxText || len(e.MIG) > maxText {
				t.Fatalf("entry %+v", e)
			}
			sum += e.Count
		}
		folded := 0
		for _, x := range inv.Targets(gpu.Driver{}) {
			folded += x.Count
			if x.Count > 1 && !strings.HasSuffix(x.Title(), fmt.Sprintf(" × %d", x.Count)) {
				t.Fatalf("title %q", x.Title())
			}
		}
		if sum != folded {
			t.Fatalf("%d GPUs in entries and %d in targets", sum, folded)
		}
		if len(inv.Problems) > maxTold+2 {
			t.Fatalf("%d problems", len(inv.Problems))
		}
		for _, p := range inv.Problems {
			if len(p.String()) > 4096 || p.Message == "" {
				t.Fatalf("problem %q", p)
			}
		}
	})
}

func FuzzKubernetes(f *testing.F) {
	fuzzRead(f, "nodes.json", `[{"metadata":{"labels":{"nvidia.com/gpu.product":"NVIDIA-L4"}}}]`)
}
func FuzzTable(f *testing.F) {
	fuzzRead(f, "smi.csv", "smi-pdsh.csv", "smi-ansible.txt", "fleet.csv")
}
func FuzzXML(f *testing.F) {
	fuzzRead(f, "smi.xml", "<nvidia_smi_log><gpu><product_name>L4</product_name></gpu></nvidia_smi_log>")
}
func FuzzDCGM(f *testing.F)  { fuzzRead(f, "dcgm.prom") }
func FuzzSlurm(f *testing.F) { fuzzRead(f, "slurm.txt", "NodeName=a Gres=gpu:a100:4(S:0-1)") }
func FuzzTOML(f *testing.F)  { fuzzRead(f, "fleet.toml", "[[gpu]]\nname = 'L4'\ncc = 8.9\n") }

// FuzzText holds the reading of UTF-16 against what comes out as UTF-8.
func FuzzText(f *testing.F) {
	f.Add("\xff\xfeN\x00a\x00m\x00e\x00")
	f.Add("\xfe\xff\xd8\x3d\xde\x00")
	fuzzRead(f, "\xff\xfen\x00a\x00m\x00e\x00\n\x00L\x004\x00")
}
