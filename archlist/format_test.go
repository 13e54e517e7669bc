package archlist

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"fatview/arch"
	"fatview/gpu"
)

// plan builds a plan from "sm_80 compute_80 sm_21<compute_20".
func plan(t *testing.T, s string) Plan {
	t.Helper()
	var p Plan
	for _, w := range strings.Fields(s) {
		name, via, _ := strings.Cut(w, "<")
		kind, a, ok := codeName(name)
		if !ok {
			t.Fatalf("image %q", w)
		}
		im := Image{Kind: kind, Arch: a}
		if via != "" {
			im.Via, _ = prefixed(via, "compute_")
		}
		p.Images = append(p.Images, im)
	}
	sortImages(p.Images)
	return p
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		plan   string
		syntax Syntax
		want   string
		lost   string // part of what is lost, "" if nothing is
	}{
		{"sm_80 compute_80", NVCC, "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=compute_80", ""},
		{"sm_21<compute_20", NVCC, "-gencode arch=compute_20,code=sm_21", ""},
		{"sm_50 compute_50", Caffe, "CUDA_ARCH := -gencode arch=compute_50,code=sm_50 \\\n\t\t-gencode arch=compute_50,code=compute_50", ""},
		{"sm_75 sm_80 compute_80 compute_90", CMake, "75-real;80;90-virtual", ""},
		{"sm_120 compute_120", LlamaCpp, "120a", "sm_120 becomes sm_120a"},
		{"sm_75 sm_86 compute_86", PyTorch, "7.5;8.6+PTX", ""},
		{"sm_75 compute_80", PyTorch, "7.5;8.0+PTX", "sm_80 is added: PyTorch cannot say PTX without machine code"},
		{"sm_120f", PyTorch, "12.0", "sm_120f becomes sm_120: PyTorch refuses the suffix f"},
		{"sm_80 sm_88", PyTorch, "8.0", "sm_88 is left out"},
		{"sm_80 compute_90", TensorFlow, "sm_80,compute_90", "sm_90 is added"},
		{"sm_100f", TensorFlow, "sm_100", "refuses the suffix f"},
		{"sm_80 sm_90", ONNXRuntime, "80-real;90a-real", "sm_90 becomes sm_90a"},
		{"sm_90a compute_80", ONNXRuntime, "90a-real;80-virtual", ""},
		{"sm_80 compute_80 compute_90", ONNXRuntime, "80-real;80-virtual", "compute_90 is left out"},
		{"sm_103a", ONNXRuntime, "103-real", "sm_103a becomes sm_103"},
		{"sm_20 sm_21<compute_20", CMake, "20-real", "sm_21 is left out: nvcc has no compute_21"},
		{"sm_35<compute_30 sm_50", FindCUDA, "3.5(3.0);5.0", ""},
		{"sm_35<compute_30", CMake, "35-real", "compiled through compute_35, not through compute_30"},
		{"sm_80 lto_80", CMake, "80-real", "lto_80 is left out"},
		{"lto_80", PyTorch, "", "lto_80 is left out"},
		{"sm_80 lto_80", NVCC, "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=lto_80", ""},
	} {
		text, lost, ok := Format(plan(t, c.plan), c.syntax)
		if text != c.want || ok != (c.want != "") {
			t.Errorf("%s in %s: %q, want %q", c.plan, c.syntax, text, c.want)
		}
		if all := strings.Join(lost, "\n"); (c.lost == "") != (all == "") || !strings.Contains(all, c.lost) {
			t.Errorf("%s in %s: lost %q, want %q", c.plan, c.syntax, lost, c.lost)
		}
	}
}

// randomPlan is a plan of architectures that exist.
func randomPlan(r *rand.Rand) Plan {
	all := gpu.Archs()
	b := newBuilder(NVCC, Options{})
	for range 1 + r.Intn(8) {
		a := all[r.Intn(len(all))].Arch
		switch r.Intn(8) {
		case 0:
			b.add(LTO, a)
		case 1:
			via := all[r.Intn(len(all))].Arch
			if to, why := compatible(via, a, SASS); why == "" {
				b.addVia(SASS, to, via)
			}
		case 2, 3:
			b.both(a)
		case 4:
			b.add(PTX, a)
		default:
			b.add(SASS, a)
		}
	}
	return b.done()
}

// What Format writes, Parse reads; and where nothing is said to be lost, it
// reads the same images.
func TestFormatParseRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	kept := map[Syntax]int{}
	for range 3000 {
		p := randomPlan(r)
		for _, s := range Syntaxes() {
			text, lost, ok := Format(p, s)
			if !ok {
				continue
			}
			back, err := Parse(text, s, Options{})
			if err != nil {
				t.Fatalf("%s: %q from %s: %v", s, text, images(p), err)
			}
			if same := slices.Equal(back.Images, p.Images); same != (len(lost) == 0) {
				t.Fatalf("%s: %q\n from %s\n back %s\n lost %q", s, text, images(p), images(back), lost)
			}
			if len(lost) == 0 {
				kept[s]++
			}
		}
	}
	for _, s := range Syntaxes() {
		if kept[s] < 200 {
			t.Errorf("only %d plans went through %s unharmed: the test proves little", kept[s], s)
		}
	}
}

func TestToolkits(t *testing.T) {
	for _, c := range []struct{ plan, first, last, problem string }{
		{"sm_75 sm_80 sm_90", "11.8", "", ""},
		{"sm_50 sm_90", "11.8", "12.9", ""},
		{"sm_50 sm_110", "13.0", "12.9", "no CUDA toolkit builds both sm_50 and sm_110: 12.9 is the last with sm_50, and sm_110 takes 13.0"},
		{"sm_35<compute_30 sm_80", "11.0", "10.2", "compute_30 and sm_80"},
		{"sm_120f", "12.9", "", ""},
		{"sm_101", "12.8", "12.9", ""},
		{"sm_130", "", "", "newer than the tables"},
	} {
		first, last, problem := Toolkits(plan(t, c.plan))
		if first != version(t, c.first) || last != version(t, c.last) || !strings.Contains(problem, c.problem) || (c.problem == "") != (problem == "") {
			t.Errorf("%s: %s to %s, %q", c.plan, first, last, problem)
		}
	}
	refused := Refused(plan(t, "sm_50 sm_101 sm_107"), arch.Version{Major: 13})
	if want := []string{
		"CUDA 13.0 no longer builds sm_50: the last that does is 12.9",
		"CUDA 13.0 no longer builds sm_101: the last that does is 12.9, from 13.0 it is called sm_110",
		"CUDA 13.0 does not build sm_107 yet: it takes 13.4",
	}; !slices.Equal(refused, want) {
		t.Errorf("%q", refused)
	}
	for cuda, isa := range map[string]string{"12.6": "8.5", "12.8": "8.7", "11.8": "7.8", "13.5": "9.5"} {
		if got := PTXVersion(version(t, cuda)); got != version(t, isa) {
			t.Errorf("CUDA %s writes PTX ISA %s, want %s", cuda, got, isa)
		}
	}
}

func TestWarnings(t *testing.T) {
	for plans, says := range map[string]string{
		"sm_90a compute_90a":            "compute_90a is a dead end",
		"sm_120f compute_120f":          "compute_120f is a dead end",
		"sm_80 sm_90":                   "no PTX",
		"sm_80 sm_90a sm_120a":          "gap: nothing in the list serves 10.0, 10.3, 10.7 and 11.0",
		"sm_80 compute_80 sm_90a":       "",
		"sm_75 sm_90a":                  "only code with a suffix serves 9.0",
		"lto_80":                        "LTO IR alone",
		"sm_90a compute_90 compute_90a": "",
	} {
		got := strings.Join(Warnings(plan(t, plans)), "\n")
		if !strings.Contains(got, says) || says == "" && got != "" {
			t.Errorf("%s: %q, want %q", plans, got, says)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, list := range []string{"8.0;8.6+PTX", "75-real;80", "sm_80,compute_90", "3.5(3.0)", "Auto", "all", caffe,
		`-gencode=arch=compute_80,code=\"sm_80,compute_80\"`, "-arch=compute_80 -code=sm_80", "set(CMAKE_CUDA_ARCHITECTURES 75 80)", "Volta+Tegra", "120f"} {
		f.Add(list, uint8(12), uint8(8))
	}
	f.Fuzz(func(t *testing.T, list string, major, minor uint8) {
		o := Options{Toolkit: arch.Version{Major: int(major % 16), Minor: int(minor % 10)}, Native: []arch.CC{75, 121}}
		Recognise(list)
		for _, s := range Syntaxes() {
			p, err := Parse(list, s, o)
			if err != nil {
				if len(err.Error()) > 2000 {
					t.Fatalf("%s: an error of %d bytes", s, len(err.Error()))
				}
				continue
			}
			if len(p.Notes) > maxNotes || len(p.Images) > 10000 {
				t.Fatalf("%s: %d notes, %d images", s, len(p.Notes), len(p.Images))
			}
			Toolkits(p)
			Warnings(p)
			for _, to := range Syntaxes() {
				text, lost, ok := Format(p, to)
				if !ok || len(lost) > 0 {
					continue
				}
				back, err := Parse(text, to, Options{})
				if err != nil || !slices.Equal(back.Images, p.Images) {
					t.Fatalf("%s %q to %s %q: %v, %s, want %s", s, list, to, text, err, images(back), images(p))
				}
			}
		}
	})
}
