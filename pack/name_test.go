package pack

import (
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanName(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		changed   bool
	}{
		{"lib/x.so", "lib/x.so", false},
		{"./lib//x.so", "lib/x.so", false},
		{"dir/", "dir", false},
		{"..x/y..z/...", "..x/y..z/...", false},
		{"/etc/passwd", "etc/passwd", true},
		{"../../etc/passwd", "etc/passwd", true},
		{"a/../../b", "b", true},
		{"a/..", "unnamed", true},
		{`lib\x.dll`, "lib/x.dll", true},
		{`..\..\x.dll`, "x.dll", true},
		{`C:\Windows\x.dll`, "C/Windows/x.dll", true},
		{"c:x", "c/x", true},
		{`\\host\share\x`, "host/share/x", true},
		{"a\x00b", "a\uFFFDb", true},
		{"a\xffb", "a\uFFFDb", true},
		{"", "unnamed", true},
		{".", "unnamed", true},
		{"//", "unnamed", true},
		{strings.Repeat("a", 5000), strings.Repeat("a", 4096), true},
		{"ü\n\x1b[0m", "ü\n\x1b[0m", false}, // escaping is the caller's
	} {
		got, changed := cleanName(c.raw)
		if got != c.want || changed != c.changed {
			t.Errorf("%.40q: got %.40q %v", c.raw, got, changed)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	for _, s := range []string{"a/b", "../a", `C:\..\a`, "a\x00\xff", "", strings.Repeat("ü", 3000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		name, _ := cleanName(raw)
		checkPath(t, name)
		if again, changed := cleanName(name); again != name || changed {
			t.Errorf("%q is cleaned to %q and that to %q", raw, name, again)
		}
	})
}

func checkPath(t *testing.T, name string) {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\x00\\") || !utf8.ValidString(name) {
		t.Errorf("path %q is not clean", name)
	}
}

func TestChangedNames(t *testing.T) {
	files := []file{{name: "/abs", body: "1"}, {name: "../up", body: "2"}, {name: `w\in.dll`, body: "3"}, {name: "fine", body: "4"}}
	for _, data := range [][]byte{tarOfFiles(t, files...), zipOfFiles(t, files...)} {
		got, sum, err := walk(t, data, "", Limits{})
		must(t, err)
		if listing(got) != "abs=1\nup=2\nw/in.dll=3\nfine=4" || len(sum.Findings) != 3 {
			t.Errorf("got %s, %v", listing(got), sum.Findings)
		}
		if f := finding(t, sum, `from "../up"`); f.Path != "up" || f.Severity != SeverityWarning {
			t.Errorf("%v", f)
		}
	}
}

func TestSameNames(t *testing.T) {
	expect(t, tarOfFiles(t, file{name: "a", body: "1"}, file{name: "a#2", body: "2"}, file{name: "./a", body: "3"}, file{name: "a", body: "4"}), "",
		"a=1", "a#2=2", "a#3=3", "a#4=4")
	w := zipOfFiles(t, file{name: "x", body: "1"})
	expect(t, tarOfFiles(t, file{name: "a.whl", body: string(w)}, file{name: "a.whl", body: string(w)}), "", "a.whl!x=1", "a.whl#2!x=1")
}
