package coverage

import (
	"strings"
	"testing"

	"fatview/arch"
)

func TestRuntimeOf(t *testing.T) { // rule 14
	for _, c := range []struct {
		needed string
		major  int
	}{
		{"libcudart.so.12 libc.so.6", 12},
		{"libcudart.so.11.0", 11},
		{"libcudart-1b2c3d4e.so.11.0", 11},
		{"libcublas.so.13 libcublasLt.so.13", 13},
		{"nvJitLink_130_0.dll", 13},
		{"cudart64_12.dll", 12},
		{"cudart64_110.dll", 11},
		{"CUDART64_101.DLL", 10},
		{"nvrtc64_120_0.dll", 12},
		{"libnvrtc.so.12", 12},
		{"libcufft.so.11 libcusolver.so.11 libcurand.so.10", 0}, // numbers of their own
		{"libcudart.so", 0},
		{"libcudartful.so.12", 0},
		{"kernel32.dll", 0},
		{"", 0},
	} {
		got, ok := RuntimeOf(strings.Fields(c.needed))
		if got.CUDA.Major != c.major || ok != (c.major != 0) {
			t.Errorf("%s: major %d, want %d", c.needed, got.CUDA.Major, c.major)
		}
	}
}

// Before 11 the minor counts: 10.2 needs the driver of 10.2.
func TestRuntimeMinor(t *testing.T) {
	for name, want := range map[string]string{"libcudart.so.10.2": "10.2", "cudart64_101.dll": "10.1", "cudart64_92.dll": "9.2", "libcudart.so.11.0": "11.0", "cudart64_118.dll": "11.0"} {
		if rt, _ := RuntimeOf([]string{name}); rt.CUDA.String() != want {
			t.Errorf("%s: %s, want %s", name, rt.CUDA, want)
		}
	}
}

func TestRuntimeFloor(t *testing.T) { // rules 14 and 16
	c := Container{Images: images(t, "sm_86/z"), Runtime: Runtime{arch.Version{Major: 13}, "libcudart.so.13"}}
	r := Judge(c, on(t, "8.6@537.13"))
	why := r.Reason(c, on(t, "8.6@537.13"))
	if r.Verdict != Driver || r.Rule != RuleRuntime || !strings.Contains(why, "R550") || !strings.Contains(why, "libcudart.so.13 needs a driver of R580") {
		t.Errorf("CUDA 13 library on driver 537: %s by %s: %s", r.Verdict, r.Rule, why)
	}
	if r = Judge(c, on(t, "8.6@580.65.06")); r.Verdict != Native {
		t.Errorf("on R580: %s", r.Verdict)
	}
	if linux, _ := LeastDriver(Judge(c, on(t, "8.6")).Needs); linux != "580.65.06" {
		t.Errorf("least driver %s, want the first of R580", linux)
	}
	c = Container{Images: images(t, "sm_86"), Runtime: Runtime{arch.Version{Major: 12}, "cudart64_12.dll"}}
	for driver, want := range map[string]Verdict{"520.61.05": Driver, "525.60.13": Native, "537.13": Native} {
		if r := Judge(c, on(t, "8.6@"+driver)); r.Verdict != want {
			t.Errorf("a CUDA 12 library with driver %s: %s, want %s", driver, r.Verdict, want)
		}
	}
}
