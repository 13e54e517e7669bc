package plain

import "testing"

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "fill": "fill", "a=b": "a=b", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": `'\x09=1`, "\r=1": `'\x0d=1`, "\x1b[31m": `\x1b[31m`, "a,\"b\"": "a,\"b\"",
		"-": "'-", "＝1": "'＝1", "a\x1bb\x00": `a\x1bb\x00`, "\u202egnp.so": `\u202egnp.so`,
	} {
		if got := Cell(in); got != want {
			t.Errorf("Cell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		in      string
		columns int
		want    string
	}{
		{"saxpy", 5, "saxpy"}, {"saxpy", 4, "sax…"}, {"saxpy", 1, "…"}, {"saxpy", 0, ""}, {"核核核", 6, "核核核"}, {"核核核", 5, "核核…"}, {"f<…>", 4, "f<…>"},
	} {
		if got := Fit(tt.in, tt.columns); got != tt.want || Width(got) > max(0, tt.columns) {
			t.Errorf("Fit(%q, %d) = %q of %d columns, want %q", tt.in, tt.columns, got, Width(got), tt.want)
		}
	}
}
