package archlist

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fatview/arch"
	"fatview/gpu"
)

func TestSplitArgs(t *testing.T) {
	for _, c := range []struct{ args, list, rest string }{
		{"-gencode|arch=compute_80,code=sm_80|--gpu|h100", "-gencode|arch=compute_80,code=sm_80", "--gpu|h100"},
		{"--json|-arch=sm_80|-rdc=true", "-arch=sm_80|-rdc=true", "--json"},
		{"-O3 -arch=sm_80|--syntax|nvcc", "-O3 -arch=sm_80", "--syntax|nvcc"},
		{"-DCMAKE_CUDA_ARCHITECTURES=80", "-DCMAKE_CUDA_ARCHITECTURES=80", ""},
		{"7.5;8.0|--gpu|9.0", "", "7.5;8.0|--gpu|9.0"},
		{"-|-h", "", "-|-h"},
		{"--|-arch=sm_80", "", "--|-arch=sm_80"},
		{"-arch", "-arch", ""},
	} {
		list, rest := SplitArgs(strings.Split(c.args, "|"))
		if strings.Join(list, "|") != c.list || strings.Join(rest, "|") != c.rest {
			t.Errorf("%s: list %q, rest %q", c.args, list, rest)
		}
	}
}

// A verdict is for what the list builds and the toolkit that builds it.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		plan, toolkit, cc, driver string
		verdict                   string
		served                    bool
	}{
		{"sm_80", "", "8.6", "", "native", true},
		{"sm_80", "", "9.0", "", "none", false},
		{"compute_80", "12.8", "9.0", "550.54.14", "driver", false}, // PTX ISA 8.7
		{"compute_80", "12.4", "9.0", "550.54.14", "jit", true},     // PTX ISA 8.4
		{"compute_80", "", "9.0", "535.54.03", "jit", true},         // the first toolkit with it: 11.0
		{"sm_90", "13.0", "9.0", "550.54.14", "driver", false},      // cubin of a newer major toolkit
		{"sm_90a", "12.8", "10.0", "", "none", false},
		{"sm_120f", "12.9", "12.1", "", "native", true},
		{"sm_101", "12.8", "11.0", "", "native", true}, // Thor's old number
		{"sm_120", "12.8", "12.0", "535.54.03", "none", false},
		{"lto_80", "", "8.0", "", "none", false},
		{"", "", "8.0", "", "none", false},
	} {
		p := plan(t, c.plan)
		p.Toolkit = version(t, c.toolkit)
		ts, err := gpu.Parse(c.cc)
		if err != nil {
			t.Fatal(err)
		}
		if c.driver != "" {
			if ts[0].Driver, err = gpu.ParseDriver(c.driver); err != nil {
				t.Fatal(err)
			}
		}
		a := Ask(p, ts, gpu.Target{})
		if g := a.GPUs[0]; g.Verdict != c.verdict || g.Served != c.served || g.Reason == "" {
			t.Errorf("%s with CUDA %q on %s@%s: %s, served %v, %q; want %s", c.plan, c.toolkit, c.cc, c.driver, g.Verdict, g.Served, g.Reason, c.verdict)
		}
		if a.Served() != c.served {
			t.Errorf("%s: served %v", c.plan, a.Served())
		}
	}
}

// Without GPUs every capability is judged, and only a list that cannot be built
// is answered no.
func TestAskEvery(t *testing.T) {
	a := Ask(plan(t, "sm_90"), nil, gpu.Target{})
	if a.Asked || len(a.GPUs) != len(gpu.Capabilities()) || !a.Served() {
		t.Errorf("asked %v, %d GPUs, served %v", a.Asked, len(a.GPUs), a.Served())
	}
	if a = Ask(plan(t, "sm_50 sm_110"), nil, gpu.Target{}); a.Served() {
		t.Error("no toolkit builds it")
	}
	p := plan(t, "sm_121")
	p.Toolkit = arch.Version{Major: 12, Minor: 8}
	if a = Ask(p, nil, gpu.Target{}); a.Served() || len(a.Toolkits.Refused) != 1 {
		t.Errorf("CUDA 12.8 refuses sm_121: %q", a.Toolkits.Refused)
	}
}

func TestAnswerJSON(t *testing.T) {
	for _, p := range []Plan{{}, plan(t, "sm_80 compute_80"), plan(t, "lto_80")} {
		a := Ask(p, nil, gpu.Target{})
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(b, &fields); err != nil {
			t.Fatal(err)
		}
		for name, v := range fields {
			if v == nil && name != "toolkit" {
				t.Errorf("%s is null", name)
			}
		}
		for _, tr := range a.Translations {
			if tr.Lost == nil || tr.Syntax == a.Syntax {
				t.Errorf("translation %+v", tr)
			}
		}
	}
}

func TestAlso(t *testing.T) {
	const list = "80;90"
	p, err := Parse(list, CMake, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := Ask(p, nil, gpu.Target{})
	a.Also(list, Recognise(list), Options{})
	if len(a.Others) != 2 || a.Others[0].Syntax != ONNXRuntime || a.Others[0].Same || !slices.Equal(a.Others[0].Builds, []string{"sm_80", "sm_90a"}) ||
		a.Others[1].Syntax != LlamaCpp || !a.Others[1].Same {
		t.Errorf("%+v", a.Others)
	}
}
