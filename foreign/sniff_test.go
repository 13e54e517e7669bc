package foreign

import "testing"

func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		"__CLANG_OFFLOAD_BUNDLE__\x00": true,
		"CCOB\x02\x00":                 true,
		"\x10\xff\x10\xad\x01":         true,
		"\x03\x02\x23\x07\x00":         true,
		"\x07\x23\x02\x03\x00":         true,
		"MTLB":                         true,
		"DXBC":                         true,
		"\x7fELF\x02\x01":              false, // read by elfscan
		"!<arch>\n":                    false,
		"__CLANG_OFFLOAD":              false,
		"\x03\x02\x23":                 false,
		"":                             false,
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("Sniff(%q) = %v", head, got)
		}
	}
}
