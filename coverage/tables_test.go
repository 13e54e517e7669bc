package coverage

import (
	"slices"
	"strings"
	"testing"

	"fatview/arch"
	"fatview/fatbin"
	"fatview/gpu"
)

// oracleDriver is the driver of the CUDA version that a tool came with.
func oracleDriver(t *testing.T, oracle string) gpu.Driver {
	t.Helper()
	version := strings.Fields(oracle)[1]
	if p := strings.Split(version, "."); len(p) > 2 {
		version = p[0] + "." + p[1]
	}
	d, err := gpu.DriverForCUDA(version)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// capability turns a link target into the GPU it stands for: sm_101 is the
// older name of 11.0.
func capability(a arch.Arch) arch.CC {
	if a.CC == 101 {
		return 110
	}
	return a.CC
}

// targetsOf collects every link target that an oracle accepted for anything.
func targetsOf(rows [][]string, oracle string, column int) []arch.CC {
	var ccs []arch.CC
	for _, r := range rows {
		if r[0] != oracle {
			continue
		}
		for _, w := range strings.Fields(r[column]) {
			if a, err := arch.Parse(w); err == nil && !slices.Contains(ccs, capability(a)) {
				ccs = append(ccs, capability(a))
			}
		}
	}
	return ccs
}

func accepts(list string, c arch.CC) bool {
	for _, w := range strings.Fields(list) {
		if a, err := arch.Parse(w); err == nil && capability(a) == c {
			return true
		}
	}
	return false
}

// Answers of older linkers that every later one contradicts, by oracle, cubin
// and GPU; the rules follow the later ones.
var overruled = map[string]bool{
	"nvJitLink 12.9 sm_120a 12.1": true, // accepted: a is exact since 13.0
	"nvJitLink 13.0 sm_70 7.5":    true, // refused with cubins of 12.9 only
	"nvJitLink 13.0 sm_100 10.3":  true,
	"nvJitLink 13.0 sm_100f 10.3": true,
	"nvJitLink 13.0 sm_101 11.0":  true, // before the two names of Thor were joined
	"nvJitLink 13.0 sm_101a 11.0": true,
	"nvJitLink 13.0 sm_101f 11.0": true,
}

// Every cubin that a version of NVIDIA's linker takes or refuses, for every
// target that this version knows. The linker of a CUDA version stands for the
// driver of that version.
func TestCubinCompatTable(t *testing.T) {
	rows := table(t, "cubin_compat.tsv")
	checked, newest, odd := 0, 0, map[string]bool{}
	for _, row := range rows {
		driver := oracleDriver(t, row[0])
		a, err := arch.Parse(row[2])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range targetsOf(rows, row[0], 3) {
			checked++
			im := Image{Kind: fatbin.KindCubin, Arch: a, Kernels: 1}
			r := Judge(Container{Images: []Image{im}}, Target{CC: c, Driver: driver})
			// A linker knows targets before a driver drives them, so waiting
			// for the GPU's first driver is a yes.
			got := r.Verdict == Native || r.Verdict == Driver && r.Rule == RuleGPUDriver
			want := accepts(row[3], c)
			key := row[0] + " " + row[2] + " " + c.String()
			if got != want && overruled[key] {
				odd[key] = true
				continue
			}
			if row[0] == "nvJitLink 13.5" {
				newest++
			}
			if got != want {
				t.Errorf("%s, %s from CUDA %s on %s: %s, linker accepts: %v", row[0], row[2], row[1], c, r.Verdict, want)
			}
		}
	}
	if len(rows) != 402 || checked < 4000 || newest < 1000 {
		t.Errorf("only %d rows and %d pairs were checked, %d of the newest linker", len(rows), checked, newest)
	}
	if len(odd) != len(overruled) {
		t.Errorf("%d of %d overruled answers occur", len(odd), len(overruled))
	}
}

// Every PTX target that ptxas 13.5 takes or refuses for every GPU it knows.
func TestPTXTargetTable(t *testing.T) {
	rows := table(t, "ptx_target_compat.tsv")
	for _, row := range rows {
		driver := oracleDriver(t, row[0])
		a, err := arch.Parse(row[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range targetsOf(rows, row[0], 2) {
			im := Image{Kind: fatbin.KindPTX, Arch: a, ISA: arch.Version{Major: 7}, Kernels: 1}
			r := Judge(Container{Images: []Image{im}}, Target{CC: c, Driver: driver})
			if got, want := r.Verdict == JIT, accepts(row[2], c); got != want {
				t.Errorf("%s on %s: %s, ptxas accepts: %v", im.Name(), c, r.Verdict, want)
			}
		}
	}
	if len(rows) != 40 {
		t.Errorf("%d rows were checked, the table has 40", len(rows))
	}
}

// Which entry of a fat binary NVIDIA's linker takes. Two differences are known
// and written down here: rule choice (SASS of a lower minor before higher PTX,
// where the linker does the opposite), and SASS for 10.7, which the linker
// takes alone and refuses inside a fat binary (rule sass-rubin).
func TestFatbinSelectTable(t *testing.T) {
	rows := table(t, "fatbin_select.tsv")
	checked, choice, rubin := 0, 0, 0
	for _, row := range rows {
		var imgs []Image
		for _, w := range strings.Fields(row[1]) {
			kind, num, _ := strings.Cut(w, ":")
			im := Image{Kind: fatbin.KindCubin, Kernels: 1}
			if kind == "ptx" {
				im.Kind, im.ISA = fatbin.KindPTX, arch.Version{Major: 7}
			}
			a, err := arch.Parse(num)
			if err != nil {
				t.Fatal(err)
			}
			im.Arch = a
			imgs = append(imgs, im)
		}
		for c, want := range selections(t, row[2]) {
			checked++
			r := Judge(Container{Images: imgs}, Target{CC: c, Driver: oracleDriver(t, row[0])})
			got := "NONE"
			if r.Image >= 0 {
				got = strings.Replace(strings.Replace(imgs[r.Image].Name(), "sm_", "elf_", 1), "compute_", "ptx_", 1)
			}
			if got == want {
				continue
			}
			switch {
			case strings.HasPrefix(got, "elf_") && strings.HasPrefix(want, "ptx_") && r.differs(Container{Images: imgs}) != "":
				choice++
			case c == 107 && r.Rule == RuleRubin && want == "NONE":
				rubin++
			default:
				t.Errorf("%s on %s: %s, the linker takes %s", row[1], c, got, want)
			}
		}
	}
	if len(rows) != 41 || checked < 100 {
		t.Errorf("%d rows and %d choices were checked", len(rows), checked)
	}
	if choice == 0 || rubin == 0 {
		t.Errorf("the known differences have gone: %d by choice, %d on 10.7", choice, rubin)
	}
}

// selections reads "90->elf_90_0  90a->elf_90a_1": the entry per target. A GPU
// is its most specific target, so 90a replaces 90 where both are listed.
func selections(t *testing.T, s string) map[arch.CC]string {
	t.Helper()
	out, rank := map[arch.CC]string{}, map[arch.CC]int{}
	for _, w := range strings.Fields(s) {
		target, chosen, ok := strings.Cut(w, "->")
		if !ok {
			t.Fatalf("selection %q", w)
		}
		a, err := arch.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if i := strings.LastIndexByte(chosen, '_'); i > 0 {
			chosen = chosen[:i] // the entry's number in the list
		}
		chosen, _, _ = strings.Cut(chosen, "(")
		r := map[byte]int{0: 1, 'f': 2, 'a': 3}[a.Suffix]
		if r > rank[a.CC] {
			out[a.CC], rank[a.CC] = chosen, r
		}
	}
	return out
}
