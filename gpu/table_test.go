package gpu

import (
	"os"
	"slices"
	"strings"
	"testing"

	"fatview/arch"
)

func version(t *testing.T, s string) arch.Version {
	t.Helper()
	if s == "" {
		return arch.Version{}
	}
	v, err := arch.ParseVersion(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// table reads a table from disk on its own, by its headings, so that it checks
// both what is embedded and how it is read.
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	data, err := os.ReadFile("data/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	head := strings.Split(lines[0], "\t")
	var out []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, c := range strings.Split(line, "\t") {
			if i >= len(head) {
				t.Fatalf("%s: %q has too many cells", name, line)
			}
			row[head[i]] = c
		}
		out = append(out, row)
	}
	return out
}

func TestSMTable(t *testing.T) {
	want := table(t, "sm.tsv")
	if len(Archs()) != len(want) {
		t.Errorf("%d of %d rows were read", len(Archs()), len(want))
	}
	for _, row := range want {
		a, err := arch.Parse(row["sm"])
		if err != nil {
			t.Fatal(err)
		}
		info, ok := ArchFor(a)
		if !ok || info.Arch != a || info.Family != row["architecture"] ||
			info.FirstToolkit != version(t, row["first_toolkit"]) || info.LastToolkit != version(t, row["last_toolkit"]) ||
			info.FirstPTX != version(t, row["first_ptx_isa"]) || info.Integrated != (row["integrated"] == "yes") {
			t.Errorf("%s: %+v, %v", row["sm"], info, ok)
		}
		if a.Suffix == 0 && (FamilyOf(a.CC) != row["architecture"] || LastBranch(a.CC) != info.LastBranch) {
			t.Errorf("%s: family %s, last branch %d", row["sm"], FamilyOf(a.CC), LastBranch(a.CC))
		}
	}
	if !slices.IsSortedFunc(Archs(), func(a, b ArchInfo) int {
		if b.Arch.Less(a.Arch) {
			return 1
		}
		return -1
	}) {
		t.Error("not in order")
	}
	caps := Capabilities()
	if slices.Contains(caps, 101) || !slices.Contains(caps, 110) || !slices.IsSorted(caps) || caps[0] != 10 || caps[len(caps)-1] != 121 {
		t.Errorf("capabilities: %v", caps)
	}
	if LastBranch(35) != 470 || LastBranch(70) != 580 || LastBranch(90) != 0 || LastBranch(95) != 0 || FamilyOf(95) != "" {
		t.Error("last branch or family")
	}
}

func TestPTXTable(t *testing.T) {
	want := table(t, "ptx.tsv")
	if len(PTXTable()) != len(want) {
		t.Errorf("%d of %d rows were read", len(PTXTable()), len(want))
	}
	for _, row := range want {
		info, ok := PTXFor(version(t, row["ptx_isa"]))
		var targets []string
		for _, a := range info.NewTargets {
			targets = append(targets, a.SASS())
		}
		if !ok || info.CUDA != version(t, row["cuda"]) || info.MinLinux != row["min_driver_linux"] ||
			info.MinWindows != row["min_driver_windows"] || strings.Join(targets, " ") != row["new_targets"] {
			t.Errorf("%v: %+v, %v", row, info, ok)
		}
		// Every release since the first row of drivers.tsv has a driver, and the
		// driver that the release notes name belongs to the branch that is told.
		linux, windows, branch, ok := MinDriverForCUDA(info.CUDA)
		if info.CUDA.Less(arch.Version{Major: 7}) {
			if ok {
				t.Errorf("CUDA %s has driver %s", info.CUDA, linux)
			}
			continue
		}
		if !ok || linux == "" || windows == "" || (info.MinLinux != "" && linux != info.MinLinux) || (info.MinWindows != "" && windows != info.MinWindows) {
			t.Errorf("CUDA %s: %q %q %d %v", info.CUDA, linux, windows, branch, ok)
		}
		d, err := ParseDriver(linux)
		if err != nil || d.Branch != branch || d.CUDA != info.CUDA || d.PTX != info.ISA {
			t.Errorf("CUDA %s: driver %s is %+v, %v; want branch %d", info.CUDA, linux, d, err, branch)
		}
		if d, err := DriverForCUDA(info.CUDA.String()); err != nil || d.CUDA != info.CUDA || d.PTX != info.ISA {
			t.Errorf("DriverForCUDA(%s) = %+v, %v", info.CUDA, d, err)
		}
	}
	if _, ok := PTXFor(arch.Version{Major: 5, Minor: 1}); ok {
		t.Error("there is no PTX ISA 5.1")
	}
	if got := ptxOfCUDA(arch.Version{Major: 12, Minor: 6}); got != (arch.Version{Major: 8, Minor: 5}) {
		t.Errorf("CUDA 12.6 knows PTX %s, want 8.5", got)
	}
}

func TestBranchTable(t *testing.T) {
	want := table(t, "drivers.tsv")
	if len(Branches()) != len(want) {
		t.Errorf("%d of %d rows were read", len(Branches()), len(want))
	}
	for _, row := range want {
		d, err := ParseDriver("R" + row["driver_branch"])
		if err != nil || d.Version != row["driver_branch"] || d.CUDA != version(t, row["cuda"]) || d.PTX != version(t, row["ptx_isa"]) || d.Certain != (row["certain"] == "yes") {
			t.Errorf("%v: %+v, %v", row, d, err)
		}
		if ptxOfCUDA(d.CUDA) != d.PTX {
			t.Errorf("R%d: the two tables disagree on the PTX ISA of CUDA %s", d.Branch, d.CUDA)
		}
	}
	for n, want := range map[int]int{346: 346, 345: 0, 551: 550, 537: 535, 572: 570, 581: 580, 621: 620, 999: 620, -1: 0} {
		if b, ok := BranchFor(n); b.Number != want || ok != (want != 0) {
			t.Errorf("BranchFor(%d) = %d, %v; want %d", n, b.Number, ok, want)
		}
	}
}

func TestFirstBranch(t *testing.T) {
	for cc, want := range map[arch.CC]string{
		20: "346 346.46 uncertain", 35: "346 346.46 uncertain", 53: "346 346.46", 60: "367 367.48", 61: "367 367.48",
		70: "384 384.81", 75: "410 410.48", 80: "450 450.51.05", 86: "455 455.23", 87: "470 470.42.01",
		89: "520 520.61.05", 90: "520 520.61.05", 100: "570 570.26", 120: "570 570.26", 103: "575 575.51.03",
		121: "575 575.51.03", 110: "580 580.65.06", 88: "580 580.65.06", 107: "615 615",
		10: "none", 13: "none", 95: "none",
	} {
		b, linux, ok := FirstBranch(cc)
		got := "none"
		if ok {
			got = strings.TrimPrefix(Driver{Branch: b.Number}.String(), "R") + " " + linux
			if !b.Certain {
				got += " uncertain"
			}
		}
		if got != want {
			t.Errorf("FirstBranch(%s) = %s, want %s", cc, got, want)
		}
	}
	for _, cc := range Capabilities() {
		b, _, ok := FirstBranch(cc)
		if last := LastBranch(cc); ok && last != 0 && last < b.Number {
			t.Errorf("%s: first branch %d comes after its last, %d", cc, b.Number, last)
		}
		if !ok && cc >= 20 {
			t.Errorf("%s has no first branch", cc)
		}
	}
}

// A malformed row is dropped, whatever is wrong with it, and never a panic.
func TestMalformedRows(t *testing.T) {
	if got := rows("a\tb\n1\t2\n\n1\n1\t2\t3\nx\ty\r\n", 2); len(got) != 2 || got[1][1] != "y" {
		t.Errorf("rows: %q", got)
	}
	for _, f := range []func(*cell){
		func(c *cell) { c.version("") }, func(c *cell) { c.version("x") }, func(c *cell) { c.optVersion("1.2.3") },
		func(c *cell) { c.optInt("-1") }, func(c *cell) { c.optInt("x") }, func(c *cell) { c.arch("sm_x") },
		func(c *cell) { c.yes("") }, func(c *cell) { c.text("") }, func(c *cell) { c.text(" x") },
	} {
		var c cell
		if f(&c); !c.bad {
			t.Error("a malformed cell passed")
		}
	}
}

// The tables are not the caller's to change.
func TestTablesAreCopies(t *testing.T) {
	Archs()[0].Family = "x"
	Capabilities()[0] = 0
	PTXTable()[0].MinLinux = "x"
	Branches()[0].Number = 0
	Catalogue()[0].Name = "x"
	if Archs()[0].Family == "x" || Capabilities()[0] == 0 || PTXTable()[0].MinLinux == "x" || Branches()[0].Number == 0 || Catalogue()[0].Name == "x" {
		t.Error("a caller changed a table")
	}
}
