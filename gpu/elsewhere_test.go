package gpu

import (
	"errors"
	"testing"

	"fatview/arch"
)

func TestLookup(t *testing.T) {
	for name, want := range map[string]struct {
		product string
		cc      arch.CC
		exact   bool
	}{
		"NVIDIA H100 80GB HBM3": {"H100 80GB HBM3", 90, true},
		"rtx-3090":              {"GeForce RTX 3090", 86, true}, // the brand aside
		"a100":                  {"A100", 80, false},            // one of many boards
	} {
		p, exact, err := Lookup(name)
		if err != nil || p.Name != want.product || p.CC != want.cc || exact != want.exact {
			t.Errorf("%q: %+v, %v, %v", name, p, exact, err)
		}
	}
	var several *AmbiguousError
	if _, exact, err := Lookup("GeForce GT 730"); !exact || !errors.As(err, &several) || len(several.Candidates) != 3 {
		t.Errorf("GT 730, three chips of one name: %v, %v", exact, err)
	}
	var unknown *UnknownError
	if _, exact, err := Lookup("no such thing"); exact || !errors.As(err, &unknown) {
		t.Errorf("%v, %v", exact, err)
	}
}

func TestReported(t *testing.T) {
	if d := Reported("535.104.05", arch.Version{}); d.Branch != 535 || d.CUDA != (arch.Version{Major: 12, Minor: 2}) {
		t.Errorf("%+v", d)
	}
	if d := Reported("535.104.05", arch.Version{Major: 12, Minor: 4}); d.Branch != 535 || d.CUDA != (arch.Version{Major: 12, Minor: 4}) {
		t.Errorf("%+v", d)
	}
	if d := Reported("", arch.Version{Major: 12, Minor: 4}); d.Branch != 550 || d.Version != "" {
		t.Errorf("%+v", d)
	}
	if d := Reported("new", arch.Version{}); d.Known() {
		t.Errorf("%+v", d)
	}
}

func TestTitle(t *testing.T) {
	for want, in := range map[string]Target{"RTX 3090 × 48": {Name: "RTX 3090", Count: 48}, "L4": {Name: "L4", Count: 1}, "T4": {Name: "T4"}} {
		if got := in.Title(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
