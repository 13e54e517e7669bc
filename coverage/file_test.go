package coverage

import (
	"strings"
	"testing"

	"fatview/arch"
)

// file reads containers with ";" between them; a leading "L:" marks a linked
// one and "I:" an input of a device link. Every image with kernels holds the
// same one.
func file(t *testing.T, s string) []FileContainer {
	t.Helper()
	var out []FileContainer
	for _, w := range strings.Split(s, ";") {
		w = strings.TrimSpace(w)
		linked, input := strings.HasPrefix(w, "L:"), strings.HasPrefix(w, "I:")
		if linked || input {
			w = w[2:]
		}
		c := FileContainer{Container: Container{Images: images(t, w), Linked: linked, Input: input}}
		set := &KernelSet{In: make([]int, len(c.Images))}
		for i, im := range c.Images {
			if im.Kernels > 0 {
				set.Total, set.In[i] = 1, 1
			}
		}
		c.Kernels = set
		out = append(out, c)
	}
	return out
}

func TestFileVerdict(t *testing.T) {
	for _, c := range []struct {
		name, file, gpu string
		want            Verdict
		counts          Counts
	}{
		{"all native", "sm_80; sm_80", "8.0", Native, Counts{Native: 2}},
		{"all jit", "ptx_80; ptx_75", "9.0", JIT, Counts{JIT: 2}},
		{"both", "sm_90; ptx_80", "9.0", Mixed, Counts{Native: 1, JIT: 1}},
		{"one left out", "sm_90; sm_75 sm_80", "9.0", Partial, Counts{Native: 1, Missing: 1}},
		{"one waits", "sm_90; ptx_80:8.7", "9.0@551.61", Partial, Counts{Native: 1, Driver: 1}},
		{"specialised changes nothing", "sm_80; sm_90a", "8.0", Native, Counts{Native: 1, Specialised: 1}},
		{"only specialised", "sm_90a; sm_90a", "8.0", None, Counts{Specialised: 2}},
		{"nothing", "sm_75 sm_80; sm_75 sm_80", "9.0", None, Counts{Missing: 2}},
		{"a newer driver would do", "sm_75 sm_80; ptx_80:8.7", "9.0@551.61", Driver, Counts{Missing: 1, Driver: 1}},
		{"empty changes nothing", "sm_80; sm_80=0", "8.0", Native, Counts{Native: 1, Empty: 1}},
	} {
		f := JudgeFile(file(t, c.file), on(t, c.gpu))
		if f.Verdict != c.want || f.Containers != c.counts {
			t.Errorf("%s: %s %+v, want %s %+v", c.name, f.Verdict, f.Containers, c.want, c.counts)
		}
	}
}

func TestKernelsOfAFile(t *testing.T) {
	cs := file(t, "sm_80 sm_90; sm_80 sm_75")
	cs[0].Kernels = &KernelSet{Total: 10, In: []int{10, 8}}
	cs[1].Kernels = &KernelSet{Total: 5, In: []int{5, 5}}
	f := JudgeFile(cs, on(t, "9.0"))
	if want := (Counts{Native: 8, Missing: 2 + 5}); f.Kernels != want {
		t.Errorf("kernels %+v, want %+v: two are not in the chosen image, five have no image", f.Kernels, want)
	}
	cs[1].Kernels = nil
	if f := JudgeFile(cs, on(t, "9.0")); f.KernelsKnown {
		t.Error("kernels count as known while one container is not decoded")
	}
}

// Rule 9: inputs of a device link count nowhere beside the linked container;
// where no linked image fits, the driver may link again from their PTX.
func TestDeviceLinked(t *testing.T) {
	lib := "L:sm_70 sm_80; I:sm_70 sm_80 ptx_80:7.8; I:sm_70 sm_80 ptx_80:7.8"
	f := JudgeFile(file(t, lib), on(t, "8.0"))
	if f.Verdict != Native || f.Containers != (Counts{Native: 1}) || f.Inputs != 2 {
		t.Errorf("on 8.0: %s %+v with %d inputs", f.Verdict, f.Containers, f.Inputs)
	}
	f = JudgeFile(file(t, lib), on(t, "9.0"))
	if f.Verdict != JIT || f.Containers != (Counts{JIT: 1}) || !f.Results[0].Relink {
		t.Errorf("on 9.0: %s %+v, want jit by linking again", f.Verdict, f.Containers)
	}
	if why := f.Reason(file(t, lib), on(t, "9.0")); !strings.Contains(why, "not proven") {
		t.Errorf("the caveat is missing: %s", why)
	}
	if f = JudgeFile(file(t, lib), on(t, "7.5")); f.Verdict != Native {
		t.Errorf("on 7.5: %s, sm_70 runs there", f.Verdict)
	}
	if f = JudgeFile(file(t, strings.Replace(lib, " ptx_80:7.8", "", 1)), on(t, "9.0")); f.Verdict != None {
		t.Errorf("one object without PTX: %s, want none", f.Verdict)
	}
	if f = JudgeFile(file(t, strings.ReplaceAll(lib, "7.8", "8.7")), on(t, "9.0@551.61")); f.Verdict != Driver {
		t.Errorf("PTX ISA 8.7 with 551: %s, want driver", f.Verdict)
	}
	// The linked container's runtime has a floor of its own.
	old := file(t, lib)
	old[0].Runtime = Runtime{arch.Version{Major: 13}, "libcudart.so.13"}
	if f = JudgeFile(old, on(t, "9.0@525.60.13")); f.Verdict != Driver || f.Results[0].Rule != RuleRuntime {
		t.Errorf("a CUDA 13 library with 525: %s by %s, want driver by the runtime", f.Verdict, f.Results[0].Rule)
	}
	// Inputs count nowhere beside a linked container only.
	if f = JudgeFile(file(t, "sm_80; I:sm_90/r"), on(t, "9.0")); f.Inputs != 0 || f.Containers.Native != 1 {
		t.Errorf("an input without a device link: %+v, %d inputs", f.Containers, f.Inputs)
	}
	// Nothing linked: judged as if it were.
	f = JudgeFile(file(t, "I:sm_80/r ptx_80; I:sm_80/r ptx_80"), on(t, "8.0"))
	if f.Verdict != Native || !f.AsIfLinked || f.Containers.Native != 2 {
		t.Errorf("an object: %s %+v, as if linked: %v", f.Verdict, f.Containers, f.AsIfLinked)
	}
}

func TestReasons(t *testing.T) {
	for _, c := range []struct{ file, gpu, want string }{
		{"sm_75 sm_80 sm_86 sm_89; sm_90a=0 sm_80=0", "9.0", "no image for 9.0: sm_75, sm_80, sm_86 and sm_89 are other architectures, sm_90a holds no kernels, and there is no PTX"},
		{"sm_53 sm_60 ptx_86:8.7", "5.2", "no image for 5.2: sm_60 is another architecture, sm_53 is higher and stands alone, and compute_86 is PTX for higher capabilities"},
		{"sm_80 sm_86; sm_80 sm_86 sm_75; sm_90", "9.0", "sm_90 runs on 9.0; 1 of 3 containers has no code for 9.0 (1 of 3 kernels): sm_75, sm_80 and sm_86 are other architectures, and there is no PTX; 1 of 3 containers is specialised for other hardware"},
		{"ptx_80:8.4", "9.0", "compute_80 is compiled for 9.0 at first use"},
		{"sm_86/z", "8.6@537.13", "sm_86 fits, but it is compressed with zstd, which needs a driver of R550 (CUDA 12.4) or newer, not driver 537.13 (error 200)"},
		{"sm_90a", "8.0", "no image for 8.0: sm_90a runs on 9.0 only, and there is no PTX; specialised for other hardware"},
		{"lto_90", "9.0", "no image for 9.0: LTO IR cannot be loaded by itself, and there is no PTX"},
	} {
		cs, target := file(t, c.file), on(t, c.gpu)
		f := JudgeFile(cs, target)
		if got := f.Reason(cs, target); got != c.want {
			t.Errorf("%s on %s:\n got %s\nwant %s", c.file, c.gpu, got, c.want)
		}
	}
}
