package arch

import "testing"

func TestParse(t *testing.T) {
	good := map[string]string{
		"90": "sm_90", "sm_90a": "sm_90a", "compute_100f": "sm_100f", "9.0": "sm_90", "12.1": "sm_121",
		"9.0a": "sm_90a", " SM_86 ": "sm_86", "10.3": "sm_103", "50": "sm_50",
	}
	for in, want := range good {
		a, err := Parse(in)
		if err != nil || a.SASS() != want {
			t.Errorf("Parse(%q) = %s, %v; want %s", in, a.SASS(), err, want)
		}
	}
	for _, in := range []string{"", "sm_", "9", "9.", ".9", "9.00", "1234", "sm_9x", "90b", "-90", "9.-1", "+90", "٩٠"} {
		if a, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %s, want an error", in, a.SASS())
		}
	}
}

func TestCC(t *testing.T) {
	if CC(103).String() != "10.3" || CC(86).Major() != 8 || CC(86).Minor() != 6 {
		t.Error("103 is 10.3 and 86 is 8.6")
	}
	if !New(90, 0).Less(New(90, 'a')) || !New(90, 'f').Less(New(100, 0)) || New(90, 'f').Less(New(90, 'a')) {
		t.Error("order is by number, then plain, a, f")
	}
}

func TestVersion(t *testing.T) {
	for in, want := range map[string]Version{"12.4": {12, 4}, "12": {12, 0}, "9.1": {9, 1}} {
		if v, err := ParseVersion(in); err != nil || v != want {
			t.Errorf("ParseVersion(%q) = %v, %v; want %v", in, v, err, want)
		}
	}
	for _, in := range []string{"", "x", "1.", "1.2.3", "-1", "1.1000", "1. 2"} {
		if v, err := ParseVersion(in); err == nil {
			t.Errorf("ParseVersion(%q) = %v, want an error", in, v)
		}
	}
	if !(Version{9, 1}).Less(Version{12, 0}) || (Version{12, 4}).Less(Version{12, 4}) {
		t.Error("versions compare by number")
	}
}
