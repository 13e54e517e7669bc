package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fatview/arch"
	"fatview/gpu"
)

// lines writes targets one a line: capability, title, driver, hosts.
func lines(ts []gpu.Target) []string {
	var out []string
	for _, t := range ts {
		out = append(out, strings.TrimRight(fmt.Sprintf("%s %s, %s, %s", t.CC, t.Title(), t.Driver, strings.Join(t.Hosts, " ")), " ,"))
	}
	return out
}

func toldOf(ps []Problem) []string {
	var out []string
	for _, p := range ps {
		s := p.String()
		if p.Left {
			s = "left out: " + s
		}
		out = append(out, s)
	}
	return out
}

func read(t *testing.T, text string) *Inventory {
	t.Helper()
	inv, err := Read("in", strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return inv
}

func expect(t *testing.T, inv *Inventory, format string, targets, problems []string) {
	t.Helper()
	if inv.Format != format {
		t.Errorf("format %q, want %q", inv.Format, format)
	}
	if got := lines(inv.Targets(gpu.Driver{})); !slices.Equal(got, targets) {
		t.Errorf("targets\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(targets, "\n"))
	}
	got := toldOf(inv.Problems)
	if len(got) != len(problems) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(problems, "\n"))
		return
	}
	for i := range got {
		if !strings.Contains(got[i], problems[i]) {
			t.Errorf("problem %q, want %q in it", got[i], problems[i])
		}
	}
}

// TestRecorded reads the inputs in testdata. The targets are counted from them
// by hand.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		file, format      string
		targets, problems []string
	}{
		{"nodes.json", Kubernetes, []string{
			"10.0 GB200 × 4, 570.86.15, gb200-1",
			"9.0 H100 80GB HBM3 × 16, 550.54.15, h100-1 h100-2", // h100-2 is not ready
			"9.0 H100 80GB HBM3 MIG 1g.10gb × 14, 550.54.15, h100-mig",
			"8.9 L4 × 2, 535.104.05, l4-1",                       // only the old labels
			"8.0 A100-SXM4-80GB × 14, 535.104.05, a100-1 a100-2", // 8, and 6 that are whole
			"8.0 A100-SXM4-80GB MIG 1g.10gb × 7, 535.104.05, a100-2",
			"8.0 A100-SXM4-80GB MIG 3g.40gb × 2, 535.104.05, a100-2",
			"7.5 Tesla T4 × 4, 535.104.05, t4-1", // 16 by time slicing
		}, nil},
		{"smi.csv", SMICSV, []string{
			"9.0 H100 80GB HBM3 × 2, 550.54.15",
			"8.0 A100-SXM4-80GB × 2, 535.104.05",
			"8.0 A100-SXM4-80GB MIG, 535.104.05",
			"7.5 Tesla T4, 470.223.02",
		}, nil},
		{"smi-pdsh.csv", SMICSV, []string{
			"8.9 L4 × 3, 535.104.05, n1 n2",
			"8.6 GeForce RTX 3090, 535.104.05, n2",
		}, []string{`left out: line 6: "NVIDIA-SMI has failed because it couldn't communicate`}},
		{"smi-ansible.txt", SMICSV, []string{
			"8.9 GeForce RTX 4090, 550.54.15, n3",
			"8.6 GeForce RTX 3090 × 2, 535.104.05, n1",
		}, []string{"left out: host n2: ansible could not ask it"}},
		{"smi.xml", SMIXML, []string{
			"9.0 H100 80GB HBM3 × 2, 550.54.15",
			"8.0 A100-SXM4-80GB, 535.104.05",
			"8.0 A100-SXM4-80GB MIG × 3, 535.104.05",
		}, nil},
		{"dcgm.prom", DCGM, []string{
			"8.9 L4, 550.54.15, n2",
			"8.0 A100-SXM4-80GB × 2, 535.104.05, n1",
			"8.0 A100-SXM4-80GB MIG 1g.10gb × 2, 535.104.05, n1",
			"8.0 A100-SXM4-80GB MIG 3g.40gb, 535.104.05, n1",
		}, nil},
		{"slurm.txt", Slurm, []string{
			"9.0 H100 × 2, unknown driver, gpu02",
			"9.0 H100 MIG 1g.10gb × 7, unknown driver, gpu02",
			"8.0 A100 × 8, unknown driver, gpu01 gpu05",
			"7.5 Tesla T4 × 8, unknown driver, gpu03",
		}, []string{"left out: node gpu04: it has GPUs without a type"}},
		{"fleet.toml", TOML, []string{
			"10.0 Prototype Z MIG 1g.24gb, unknown driver",
			"8.6 GeForce RTX 3090 × 48, 535.104.05, render farm",
			"8.0 A100-SXM4-80GB × 2, 550",
		}, []string{`left out: [[gpu]] 4: "Prototype Y" is no GPU in the catalogue`}},
		{"fleet.csv", CSV, []string{
			"8.6 GeForce RTX 3090 × 48, 535.104.05, lab",
			"8.6 RTX 3090, watercooled × 2, 535.104.05, lab",
			"8.0 A100 × 4, R535, desk",
			"8.0 RTX A6000, unknown driver, desk",
		}, []string{`line 4: csv says compute capability 8.0 of "RTX A6000" and the catalogue says 8.6: 8.0 counts`}},
	} {
		t.Run(c.file, func(t *testing.T) {
			f, err := os.Open(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			inv, err := Read(c.file, f)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, inv, c.format, c.targets, c.problems)
			if left := len(c.problems) > 0 && strings.HasPrefix(c.problems[0], "left out"); inv.Incomplete() != left {
				t.Errorf("incomplete: %v", inv.Incomplete())
			}
			for i, x := range inv.Targets(gpu.Driver{}) {
				if x.Source != c.format || x.MIG != strings.Contains(x.Name, " MIG") {
					t.Errorf("target %d: source %q, MIG %v", i, x.Source, x.MIG)
				}
			}
		})
	}
}

// TestEntries holds the fields of entries against what the source says.
func TestEntries(t *testing.T) {
	inv := read(t, "name,driver_version,compute_cap,cuda_version\nNVIDIA A100-SXM4-80GB,535.104.05,8.0,12.4\nNVIDIA A100-SXM4-80GB,535.104.05,8.0,12.4\n")
	want := Entry{Name: "NVIDIA A100-SXM4-80GB", Product: "A100-SXM4-80GB", CC: 80, Driver: "535.104.05", CUDA: arch.Version{Major: 12, Minor: 4}, Count: 2}
	if len(inv.Entries) != 1 || inv.Entries[0] != want {
		t.Errorf("%+v, want %+v", inv.Entries, want)
	}
	// A compatibility package raises the CUDA version above the driver's 12.2.
	if d := inv.Targets(gpu.Driver{})[0].Driver; d.CUDA != want.CUDA || d.Branch != 535 {
		t.Errorf("%+v", d)
	}
}

// TestOverride gives all GPUs one driver, so that they fold across drivers and
// across inputs of one format.
func TestOverride(t *testing.T) {
	a := read(t, "name,driver_version\nNVIDIA L4,535.104.05\nNVIDIA L4,550.54.15\n")
	b := read(t, "name,driver_version\nNVIDIA L4,470.223.02\n")
	c := read(t, "[[gpu]]\nname = \"L4\"\n")
	if got := lines(Targets(gpu.Driver{}, a, b)); !slices.Equal(got, []string{"8.9 L4, 470.223.02", "8.9 L4, 535.104.05", "8.9 L4, 550.54.15"}) {
		t.Errorf("%q", got)
	}
	driver, err := gpu.ParseDriver("570.86.10")
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(Targets(driver, a, b, c)); !slices.Equal(got, []string{"8.9 L4 × 3, 570.86.10", "8.9 L4, 570.86.10"}) {
		t.Errorf("%q", got)
	}
	if got := Targets(gpu.Driver{}); len(got) != 0 {
		t.Errorf("%v of no inventory", got)
	}
}

func TestSameProblemOnce(t *testing.T) {
	inv := read(t, "name,driver_version\nFooBar 9,535.104.05\nL4,R535x\nFooBar 9,535.104.05\nFooBar 9,535.104.05\n")
	expect(t, inv, SMICSV, []string{"8.9 L4, unknown driver"}, []string{
		`left out: line 2: "FooBar 9" is no GPU in the catalogue`, `line 3: "R535x" is no driver version`})
	if p := inv.Problems[0]; p.More != 2 || !strings.HasSuffix(p.String(), "(and 2 more like it)") {
		t.Errorf("%+v", p)
	}
}

func TestManyProblems(t *testing.T) {
	text := "name,count\n"
	for i := range maxTold + 50 {
		text += fmt.Sprintf("nope%d,1\n", i)
	}
	inv := read(t, text)
	last := inv.Problems[len(inv.Problems)-1]
	if len(inv.Problems) != maxTold+1 || last.More != 49 || !last.Left {
		t.Errorf("%d problems, the last %+v", len(inv.Problems), last)
	}
}
