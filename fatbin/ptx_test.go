package fatbin

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"fatview/arch"
)

const ptxHead = ".version 8.4\n.target sm_80\n.address_size 64\n"

// ptxCases name the kernels that a text has, with the number of other
// functions where there are any.
var ptxCases = []struct{ name, text, want string }{
	{"plain", ptxHead + ".visible .entry a()\n{\n ret;\n}\n.entry b(){ret;}", "a b"},
	{"one line", ".version 8.4 .target sm_80 .address_size 64 .entry a(){ret;} .entry b(){ret;}", "a b"},
	{"no version", ".target sm_80\n.address_size 64\n.entry a(){ret;}", "a"},
	{"CRLF", strings.ReplaceAll(ptxHead+".entry a()\n{\nret; // }\n}\n.entry b\n()\n{}", "\n", "\r\n"), "a b"},
	{"NUL padding", ptxHead + ".entry a(){ret;}\x00\x00\x00", "a"},
	{"line comment", ptxHead + "// .entry x(){\n.entry a(){ // }}}\n}\n.entry b(){}", "a b"},
	{"block comment", ptxHead + "/* .entry x(){ */ .entry /* y */ a() { /* } .entry z() { */ } .entry b(){}", "a b"},
	{"block comment, many lines", ptxHead + "/*\n{\n{\n.entry x\n*/\n.entry a(){}", "a"},
	{"comment in a directive", ".version /* x */ 8.4\n.target // y\n sm_80\n.address_size 64\n.entry // a\n b(){}", "b"},
	{"string", ptxHead + ".file 1 \"{ .entry x(){\"\n.entry a(){ .loc \"}\" }\n.entry b(){}", "a b"},
	{"string with escapes", ptxHead + ".file 1 \"\\\"{\"\n.entry a(){}", "a"},
	{"nested scopes", ptxHead + ".entry a(){ { {} } {} } .entry b(){}", "a b"},
	{"functions", ptxHead + ".func (.reg .b32 r) f(.param .b32 p){ret;}\n.extern .func g;\n.entry a(){}", "a +2"},
	{"modifiers are no directives", ptxHead + ".entry a(){ ld.entry r, [x.func]; }\n.global .align 4 .b8 entry[4];", "a"},
	{"name beyond ASCII", ptxHead + ".entry $a_%9é(){}", "$a_%9é"},
	{"never closed", ptxHead + ".entry a(){ { \n .entry b(){", "a b"},
	{"without a name", ptxHead + ".entry .entry (){} .entry a(){}", "a"},
	{"empty body at the end", ptxHead + ".entry a{", "a"},
}

func TestPTX(t *testing.T) {
	for _, c := range ptxCases {
		p, err := ParsePTX([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, e := range p.Entries {
			got = append(got, e.Name)
			if !strings.HasPrefix(c.text[e.Offset:], ".entry") {
				t.Errorf("%s: no .entry at offset %d", c.name, e.Offset)
			}
		}
		if p.Functions > 0 {
			got = append(got, fmt.Sprintf("+%d", p.Functions))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
		version := arch.Version{Major: 8, Minor: 4}
		if c.name == "no version" {
			version = arch.Version{}
		}
		if p.Version != version || p.Target.PTX() != "compute_80" || p.AddressSize != 64 {
			t.Errorf("%s: header %+v", c.name, p)
		}
	}
}

func TestPTXDirectives(t *testing.T) {
	p, err := ParsePTX([]byte(".version 7.8\n.target sm_90a, texmode_independent,debug // x\n.address_size 32\n" +
		".entry a() .maxntid 256, 2 .minnctapersm 2 {}\n.entry b() .reqntid 32,\n 4, 0x2\n{}\n.entry c() .maxntid 1,2,3,4 .reqntid x {}"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %s %v %d", p.Version, p.Target.PTX(), p.Modifiers, p.AddressSize)
	for _, e := range p.Entries {
		got += fmt.Sprintf(" %s%v%v", e.Name, e.MaxThreads, e.ReqThreads)
	}
	want := "7.8 compute_90a [texmode_independent debug] 32 a[256 2 1][0 0 0] b[0 0 0][32 4 2] c[0 0 0][0 0 0]"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for _, text := range []string{"", "hello", ".version 8.0\n", ".target", ".target x86", "// .target sm_80", `".target sm_80"`} {
		if p, err := ParsePTX([]byte(text)); err == nil {
			t.Errorf("%q is PTX: %+v", text, p)
		}
	}
}

// TestPTXFixture compares with lines that a regular expression finds; the
// fixture has no comment or string with directives in it.
func TestPTXFixture(t *testing.T) {
	b := fixture(t, "raw-compute_80.ptx")
	p, err := ParsePTX(b)
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^.*\.entry (\w+)\(`).FindAllSubmatchIndex(b, -1)
	if len(p.Entries) != len(want) || len(want) == 0 {
		t.Fatalf("%d kernels, want %d", len(p.Entries), len(want))
	}
	for i, m := range want {
		if e := p.Entries[i]; e.Name != string(b[m[2]:m[3]]) || e.Offset != m[2]-len(".entry ") {
			t.Errorf("kernel %d is %q at %d, want %q before %d", i, e.Name, e.Offset, b[m[2]:m[3]], m[2])
		}
		if threads := p.Entries[i].MaxThreads; !bytes.Contains(b, fmt.Appendf(nil, ".maxntid %d, %d, %d", threads[0], threads[1], threads[2])) {
			t.Errorf("kernel %d: .maxntid %v is not in the text", i, threads)
		}
	}
	if funcs := len(regexp.MustCompile(`(?m)^(\.\w+ )*\.func`).FindAll(b, -1)); p.Functions != funcs {
		t.Errorf("%d functions, want %d", p.Functions, funcs)
	}
}

// TestPTXIsLinear reads texts that made some loop look at all that follows,
// again and again.
func TestPTXIsLinear(t *testing.T) {
	const n = 1 << 18
	for name, s := range map[string]string{
		"open braces": "{", "open and closed": "{{}", "strings": "{\"}", "comments": "{/*}", "line comments": "{//}",
		"targets": ".target ", "lists": ".target a,", "entries": ".entry ", "slashes": "/", "quotes": "\"", "nested": "{ \"\" ",
		"dots": ".", "closed": "}", "broken comments": "/*/",
	} {
		text := []byte(ptxHead + strings.Repeat(s, n))
		start := time.Now()
		ParsePTX(text)
		ParsePTX(append(text, bytes.Repeat([]byte("}"), n)...))
		if d := time.Since(start); d > patience {
			t.Errorf("%s: %s for %d bytes", name, d, len(text))
		}
	}
}
