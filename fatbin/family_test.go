package fatbin

import "testing"

func TestFamilyName(t *testing.T) {
	for mangled, want := range map[string]string{
		"fill": "fill", "": "", "a<b>": "a<b>",
		"_Z5saxpyIfEviT_PKS0_PS0_":            "saxpy",
		"_ZN5stats9block_sumILi256EEEvPKfPfi": "stats::block_sum",
		"_ZN12_GLOBAL__N_16kernelEv":          "(anonymous namespace)::kernel",
		"_ZN1AlsIiEEvT_":                      "A::operator<<",
		"_ZN1AclIiEEvT_":                      "A::operator()",
		"_Z1fILb1EEN1AIiE1BET_":               "f",
		"_ZN1XI1YIZ1gvEUlvE_EE1fIiEEvv":       "X::f",
		"_Z1fI1gI8operatorIiEEEvv":            "f",
	} {
		if got := FamilyName(mangled); got != want {
			t.Errorf("FamilyName(%q) = %q, want %q", mangled, got, want)
		}
	}
}
