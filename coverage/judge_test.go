package coverage

import (
	"strings"
	"testing"
)

func TestSASSWithinItsGroup(t *testing.T) { // rule 1
	for _, c := range []struct {
		imgs, gpu string
		want      Verdict
		taken     string
	}{
		{"sm_80", "8.0", Native, "sm_80"},
		{"sm_80", "8.6", Native, "sm_80"},
		{"sm_80", "8.9", Native, "sm_80"},
		{"sm_80 ptx_80", "9.0", JIT, "compute_80"},
		{"sm_86 ptx_80", "8.0", JIT, "compute_80"},
		{"sm_86 ptx_90", "8.0", Missing, ""},
		{"sm_70 ptx_90", "7.5", Native, "sm_70"},
		{"sm_100 ptx_120", "12.0", JIT, "compute_120"},
		{"sm_100 sm_80", "12.0", Missing, ""},
		{"sm_120 sm_80", "12.1", Native, "sm_120"},
		{"sm_50 sm_60", "5.2", Native, "sm_50"},
		{"sm_60 sm_50", "6.1", Native, "sm_60"},
	} {
		expectVerdict(t, c.imgs, c.gpu, c.want, c.taken)
	}
}

func TestIntegratedStandAlone(t *testing.T) { // rule 2
	expectVerdict(t, "sm_53 sm_60 ptx_86", "5.2", Missing, "")
	expectVerdict(t, "sm_50 sm_60", "5.3", Missing, "")
	expectVerdict(t, "sm_60 sm_70", "6.2", Missing, "")
	expectVerdict(t, "sm_62 sm_70", "6.2", Native, "sm_62")
	expectVerdict(t, "sm_70 sm_80", "7.2", Missing, "")
	expectVerdict(t, "sm_72 sm_80", "7.5", Missing, "")
}

func TestOrinDependsOnTheDriver(t *testing.T) { // rule 2
	for _, imgs := range []string{"sm_80 sm_90", "sm_86 sm_90"} {
		taken := strings.Fields(imgs)[0]
		expectVerdict(t, imgs, "8.7@590.44.01", Driver, taken)
		expectVerdict(t, imgs, "8.7@595.45.04", Native, taken)
		expectVerdict(t, imgs, "8.7", Native, taken)
	}
	expectVerdict(t, "sm_87 sm_90", "8.7@470.42.01", Native, "sm_87")
	expectVerdict(t, "sm_87 sm_90", "8.9@595.45.04", Native, "sm_87")
	expectVerdict(t, "sm_87 sm_90", "8.9@590.44.01", Driver, "sm_87")
	expectVerdict(t, "sm_88 sm_90", "8.7@595.45.04", Missing, "")
	// What works now comes before what waits for R595.
	expectVerdict(t, "sm_86 ptx_80", "8.7@590.44.01", JIT, "compute_80")
	expectVerdict(t, "sm_86 ptx_80", "8.7@595.45.04", Native, "sm_86")

	r, _ := judged(t, "sm_86 sm_90", "8.7")
	if linux, _ := LeastDriver(r.Needs); linux != "595.45.04" {
		t.Errorf("sm_86 on 8.7 needs driver %q, want the first of R595", linux)
	}
	if why := r.Reason(Container{Images: images(t, "sm_86 sm_90")}, on(t, "8.7")); !strings.Contains(why, "R595") {
		t.Errorf("the reason does not name R595: %s", why)
	}
}

func TestSuffixes(t *testing.T) { // rule 3
	expectVerdict(t, "sm_90a", "9.0", Native, "sm_90a")
	expectVerdict(t, "sm_100a ptx_80", "10.3", JIT, "compute_80")
	expectVerdict(t, "sm_100f", "10.3", Native, "sm_100f")
	expectVerdict(t, "sm_103f ptx_80", "10.0", JIT, "compute_80")
	expectVerdict(t, "sm_120f", "12.1", Native, "sm_120f")
	expectVerdict(t, "sm_121f sm_80", "12.0", Missing, "")
	expectVerdict(t, "sm_100f sm_80", "11.0", Missing, "")
}

func TestThorHasTwoNames(t *testing.T) { // rule 4
	expectVerdict(t, "sm_101", "11.0", Native, "sm_101")
	expectVerdict(t, "sm_101a", "11.0", Native, "sm_101a")
	expectVerdict(t, "sm_101f", "11.0", Native, "sm_101f")
	expectVerdict(t, "sm_101 sm_80", "10.3", Missing, "")
	expectVerdict(t, "sm_110", "11.0", Native, "sm_110")
}

func TestNotLoadableByItself(t *testing.T) { // rule 5
	expectVerdict(t, "lto_90 sm_80", "9.0", Specialised, "")
	expectVerdict(t, "tile_90 sm_80 sm_70", "9.0", Missing, "")
	expectVerdict(t, "sm_90/r sm_80", "9.0", Missing, "")
	expectVerdict(t, "lto_90", "9.0", Missing, "")
}

func TestPTX(t *testing.T) { // rules 6 and 8
	expectVerdict(t, "ptx_50", "12.1", JIT, "compute_50")
	expectVerdict(t, "ptx_80", "8.7", JIT, "compute_80")
	expectVerdict(t, "ptx_90a", "9.0", JIT, "compute_90a")
	expectVerdict(t, "ptx_90a ptx_80", "10.0", JIT, "compute_80")
	expectVerdict(t, "ptx_90a", "10.0", Specialised, "")
	expectVerdict(t, "ptx_100f", "10.3", JIT, "compute_100f")
	expectVerdict(t, "ptx_101 sm_80", "10.3", JIT, "compute_101")
	expectVerdict(t, "ptx_101f", "11.0", JIT, "compute_101f")
	expectVerdict(t, "ptx_101f sm_80", "10.3", Missing, "")
	expectVerdict(t, "ptx_80/32", "8.0", Missing, "")
	expectVerdict(t, "ptx_80/m", "8.0", Missing, "")
}

func TestPTXVersion(t *testing.T) { // rule 7
	expectVerdict(t, "ptx_80:8.7", "9.0@551.61", Driver, "compute_80")
	expectVerdict(t, "ptx_80:8.7", "9.0@570.26", JIT, "compute_80")
	expectVerdict(t, "ptx_50:4.0", "9.0@580.65.06", JIT, "compute_50")
	expectVerdict(t, "ptx_80:9.1", "8.0@580.65.06", Driver, "compute_80")
	expectVerdict(t, "ptx_80:12.0", "8.0@615", Driver, "compute_80")

	imgs := "ptx_86:8.7"
	r, _ := judged(t, imgs, "9.0@551.61")
	got := r.Reason(Container{Images: images(t, imgs)}, on(t, "9.0@551.61"))
	for _, part := range []string{"needs a driver of R570 or newer", "PTX ISA 8.7 is CUDA 12.8", "551.61 knows 8.4"} {
		if !strings.Contains(got, part) {
			t.Errorf("reason %q lacks %q", got, part)
		}
	}
}

func TestChoice(t *testing.T) { // rule 11
	expectVerdict(t, "ptx_90 sm_90", "9.0", Native, "sm_90")
	expectVerdict(t, "sm_80 sm_86", "8.9", Native, "sm_86")
	expectVerdict(t, "sm_90 sm_90a", "9.0", Native, "sm_90a")
	expectVerdict(t, "sm_100f sm_100 sm_100a", "10.0", Native, "sm_100a")
	expectVerdict(t, "ptx_75 ptx_80 ptx_90", "8.6", JIT, "compute_80")
	expectVerdict(t, "sm_80 ptx_86", "8.6", Native, "sm_80")
	c := Container{Images: images(t, "sm_80 ptx_86")}
	if why := Judge(c, on(t, "8.6")).Reason(c, on(t, "8.6")); !strings.Contains(why, "linker would prefer compute_86") {
		t.Errorf("the difference between guide and linker is not said: %s", why)
	}
}

func TestCompression(t *testing.T) { // rule 13
	expectVerdict(t, "sm_86/z", "8.6@537.13", Driver, "sm_86")
	expectVerdict(t, "sm_86/z", "8.6@550.54.14", Native, "sm_86")
	expectVerdict(t, "sm_86 ptx_86/z", "8.6@535.54.03", Native, "sm_86")
	expectVerdict(t, "sm_86/c", "8.6@580.65.06", Driver, "sm_86")
	expectVerdict(t, "sm_86/c", "8.6@615", Native, "sm_86")
	expectVerdict(t, "sm_75/z", "9.0@535.54.03", Specialised, "")
}

func TestNewerToolkit(t *testing.T) { // rule 15
	expectVerdict(t, "sm_86/t13", "8.6@570.26", Driver, "sm_86")
	expectVerdict(t, "sm_86/t13", "8.6@580.65.06", Native, "sm_86")
	expectVerdict(t, "sm_86/t12", "8.6@525.60.13", Native, "sm_86")
}

func TestLeastDriver(t *testing.T) { // rule 16
	for _, c := range []struct{ imgs, gpu, linux string }{
		{"sm_86", "8.6", "455.23"},            // first branch of 8.6: CUDA 11.1
		{"sm_90", "9.0", "520.61.05"},         // CUDA 11.8
		{"sm_86/z", "8.6", "550.54.14"},       // zstd
		{"ptx_80:8.4", "9.0", "550.54.14"},    // PTX ISA 8.4 is CUDA 12.4
		{"sm_80/t13", "8.0", "580.65.06"},     // CUDA 13
		{"sm_120", "12.0", "570.26"},          // CUDA 12.8
		{"ptx_80:7.0", "12.0", "570.26"},      // the GPU's first branch is later than the PTX's
		{"sm_80", "8.7", "595.45.04"},         // rule 2
		{"sm_80/z sm_90", "9.0", "520.61.05"}, // only what is taken counts
	} {
		r, _ := judged(t, c.imgs, c.gpu)
		if linux, _ := LeastDriver(r.Needs); linux != c.linux {
			t.Errorf("%s on %s: least driver %q, want %q", c.imgs, c.gpu, linux, c.linux)
		}
	}
}

func TestImpossiblePairs(t *testing.T) { // rule 12
	for _, c := range []struct{ gpu, says string }{
		{"12.0@535.54.03", "R570"}, {"9.0@470.42.01", "R520"}, {"6.1@590.44.01", "R580"},
		{"3.5@510.39.01", "R470"}, {"2.0@396.26", "R390"},
		{"6.1@580.65.06", ""}, {"9.0@535.54.03", ""}, {"9.0", ""},
	} {
		got := Impossible(on(t, c.gpu))
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want it to name %q", c.gpu, got, c.says)
		}
	}
}

func TestEmptyImages(t *testing.T) {
	expectVerdict(t, "sm_80 sm_90a=0", "9.0", Specialised, "sm_90a") // of what holds kernels: one group
	expectVerdict(t, "sm_75 sm_80 sm_90a=0", "9.0", Missing, "sm_90a")
	expectVerdict(t, "sm_80=0 sm_90a=0", "9.0", Empty, "sm_90a")
	expectVerdict(t, "sm_80=0 sm_90=0", "12.0", Empty, "")
	expectVerdict(t, "sm_80=0 ptx_80", "9.0", JIT, "compute_80")
	expectVerdict(t, "sm_80=0 ptx_80", "8.0", Missing, "sm_80") // an empty image takes part in the choice
	expectVerdict(t, "sm_80=? sm_90", "8.0", Native, "sm_80")   // unknown counts as full
}

func TestSpecialised(t *testing.T) {
	expectVerdict(t, "sm_90a", "8.0", Specialised, "")
	expectVerdict(t, "sm_90a sm_100f ptx_120a", "8.0", Specialised, "")
	expectVerdict(t, "sm_100 sm_103", "8.0", Specialised, "")
	expectVerdict(t, "sm_80 sm_86 sm_89", "9.0", Specialised, "")
	expectVerdict(t, "sm_80 sm_90", "12.0", Missing, "")
	expectVerdict(t, "sm_80 ptx_80", "7.5", Missing, "")
	expectVerdict(t, "sm_80 sm_90=0", "12.0", Specialised, "")
}

func TestEnvironment(t *testing.T) { // rule 18
	c := Container{Images: images(t, "sm_90 ptx_80")}
	target := on(t, "9.0")
	target.ForceJIT = true
	if r := Judge(c, target); r.Verdict != JIT {
		t.Errorf("CUDA_FORCE_PTX_JIT: %s", r.Verdict)
	}
	target = on(t, "9.0")
	target.DisableJIT = true
	r := Judge(Container{Images: images(t, "ptx_80 sm_70")}, target)
	if e, _ := r.Error(); r.Verdict != Missing || e.Code != 223 {
		t.Errorf("CUDA_DISABLE_PTX_JIT: %s, error %d", r.Verdict, e.Code)
	}
}

func TestEveryRuleIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range Rules() {
		if i.ID == "" || i.Title == "" || i.Sources == "" || seen[i.ID] || i.Rule.String() != i.ID {
			t.Errorf("rule %d is not described once: %+v", i.Rule, i)
		}
		if !i.Confirmed && i.Note == "" {
			t.Errorf("rule %s is unconfirmed and does not say why", i.ID)
		}
		seen[i.ID] = true
	}
	if len(seen) != int(RuleUnknownArch) {
		t.Errorf("%d rules are described, there are %d", len(seen), RuleUnknownArch)
	}
}

// The error that a program sees, by what decided.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		imgs, gpu string
		code      int
	}{
		{"sm_80 sm_75", "9.0", 209},
		{"sm_90a", "8.0", 209},
		{"sm_75 sm_80 sm_90a=0", "9.0", 98},
		{"ptx_80:8.7", "9.0@551.61", 222},
		{"sm_86/z", "8.6@537.13", 200},
		{"sm_86/t13", "8.6@570.26", 200},
		{"sm_86/c", "8.6@580.65.06", 200},
		{"sm_86 sm_90", "8.7@590.44.01", 209},
		{"sm_90", "9.0", 0},
		{"ptx_80", "9.0", 0},
		{"sm_80=0", "9.0", 0},
	} {
		r, _ := judged(t, c.imgs, c.gpu)
		if e, ok := r.Error(); e.Code != c.code || ok != (c.code != 0) {
			t.Errorf("%s on %s: error %d, want %d", c.imgs, c.gpu, e.Code, c.code)
		}
	}
}

// A damaged image takes part in the choice and cannot be loaded; one that is
// not chosen does no harm.
func TestDamaged(t *testing.T) {
	expectVerdict(t, "sm_80/d ptx_75", "8.0", Missing, "sm_80")
	expectVerdict(t, "sm_80/d ptx_75", "9.0", JIT, "compute_75")
	r, _ := judged(t, "sm_80/d", "8.0")
	if e, _ := r.Error(); e.Code != 200 {
		t.Errorf("a damaged image: error %d, want 200", e.Code)
	}
	c := Container{Images: images(t, "sm_80/d ptx_75")}
	if why := Judge(c, on(t, "8.0")).Reason(c, on(t, "8.0")); !strings.Contains(why, "sm_80 is damaged and cannot be loaded") {
		t.Error(why)
	}
}

// No verdict may ask for a driver that has dropped the GPU (rules 12 and 16).
func TestNoDriverLeft(t *testing.T) {
	expectVerdict(t, "ptx_35:7.8", "3.5", Missing, "")
	expectVerdict(t, "ptx_35:7.4", "3.5", JIT, "compute_35")
	expectVerdict(t, "ptx_61:9.1", "6.1", Missing, "")
	expectVerdict(t, "ptx_61:9.0", "6.1", JIT, "compute_61")
	expectVerdict(t, "sm_37/z", "3.7", Specialised, "")
	c := Container{Images: images(t, "ptx_35:7.8")}
	why := Judge(c, on(t, "3.5")).Reason(c, on(t, "3.5"))
	if !strings.Contains(why, "compute_35 needs a newer driver than the last for 3.5, R470") {
		t.Error(why)
	}
}

// Sentences name PTX as PTX, and are the same every time.
func TestNamesInReasons(t *testing.T) {
	for _, c := range [][3]string{
		{"ptx_90a", "10.0", "compute_90a runs on 9.0 only"},
		{"ptx_103f sm_80 sm_75", "10.0", "compute_103f is higher"},
		{"ptx_100f sm_80", "12.0", "compute_100f runs on its own family only"},
		{"sm_70 sm_80 sm_90=0 ptx_90=0", "9.0", "sm_90 and compute_90 hold no kernels"},
		{"sm_80=0 ptx_80", "8.0", "sm_80 holds no kernels, and compute_80 fits too and is never chosen"},
		{"ptx_80:9.9", "9.0", "by a driver newer than any that fatview knows"},
	} {
		k := Container{Images: images(t, c[0])}
		for range 20 {
			if why := Judge(k, on(t, c[1])).Reason(k, on(t, c[1])); !strings.Contains(why, c[2]) {
				t.Fatalf("%s on %s: %q lacks %q", c[0], c[1], why, c[2])
			}
		}
	}
}

// The note on the linker's choice must be true.
func TestNoteOnTheLinker(t *testing.T) {
	for _, c := range []struct {
		imgs, gpu string
		said      bool
	}{{"sm_80 ptx_86", "8.6", true}, {"sm_80 ptx_86=0", "8.6", false}, {"sm_80 ptx_86:8.7", "8.6@551.61", false}} {
		k := Container{Images: images(t, c.imgs)}
		if why := Judge(k, on(t, c.gpu)).Reason(k, on(t, c.gpu)); strings.Contains(why, "either way") != c.said {
			t.Errorf("%s on %s: %s", c.imgs, c.gpu, why)
		}
	}
}

// Every rule that can decide about an image or a container is reached.
func TestEveryRuleIsReached(t *testing.T) {
	reached := map[Rule]bool{
		// These describe how the others work together.
		RulePerContainer: true, RuleChoice: true, RuleLeastDriver: true, RuleBranch: true,
		RuleGPUDriver: true,                   // TestImpossiblePairs
		RuleRuntime:   true,                   // TestRuntimeFloor
		RuleRelink:    true,                   // TestDeviceLinked
		RuleForceJIT:  true, RuleJITOff: true, // TestEnvironment
	}
	for _, c := range [][2]string{
		{"sm_80", "8.6"}, {"sm_53", "5.2"}, {"sm_86", "8.7"}, {"sm_100", "10.7"}, {"sm_90a", "9.0"}, {"sm_100f", "10.3"},
		{"sm_101", "11.0"}, {"lto_90", "9.0"}, {"ptx_80", "9.0"}, {"ptx_80:9.1", "9.0@550"}, {"ptx_80/32", "9.0"},
		{"sm_80/z", "8.0@535"}, {"sm_80/c", "8.0@580"}, {"sm_80/t13", "8.0@550"}, {"sm_75 sm_80=0", "8.0"}, {"sm_130", "13.1"}, {"sm_80/d", "8.0"},
	} {
		r, _ := judged(t, c[0], c[1])
		reached[r.Rule] = true
		for _, s := range r.Steps {
			reached[s.Rule] = true
		}
	}
	for _, i := range Rules() {
		if !reached[i.Rule] {
			t.Errorf("no case reaches %s", i.ID)
		}
	}
}
