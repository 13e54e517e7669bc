package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"fatview/gpu"
)

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "no inventory",
		" \n\t\n":                   "no inventory",
		"hello world\n":             "no inventory",
		"\x7fELF\x02\x01":           "no inventory",
		"apiVersion: v1\nname: x\n": "no inventory",
		`{"kind":"Pod"}`:            `a "Pod" is neither`,
		`{"kind":"List","items":7}`: "items is no array",
		`{"kind":"List","items":[{"kind":"Node"}`: "unexpected EOF",
		`[{"kind":`:                                                    "unexpected EOF",
		"<html></html>":                                                `the root is "html"`,
		"<?xml version=\"1.0\" ?>":                                     "no element nvidia_smi_log",
		"<nvidia_smi_log><gpu></nvidia_smi_log>":                       "closed by",
		"<nvidia_smi_log>" + strings.Repeat("<a>", 70):                 "elements in each other",
		"[[gpu]]\nnmae = \"L4\"\n":                                     "unknown key gpu.nmae",
		"[[gpu]]\nname = 3\n":                                          "name",
		"[[gpu]]\nname = \"L4\"\ndriver = 535.10\n":                    "write driver in quotes",
		"[[gpu]]\nname = \"L4\"\ncc = true\n":                          "write cc in quotes",
		"[[gpu]]\nx = [" + strings.Repeat("[", 2000):                   "line 2: ",
		"[[gpu]]\nx.y = 1\n":                                           "line 2: ",
		"[[gpu]]\n[gpu.a]\n":                                           "line 2: ",
		"[[gpu]]\nname = \"\"\"\nL4\"\"\"\n":                           "line 2: ",
		"[[gpu]]\nname = '''L4'''\n":                                   "line 2: ",
		"[[gpu]]\nname = {}\n":                                         "line 2: ",
		"[[gpu]]\nname = \"L4\n":                                       "toml: line 2",
		"[[gpu]]\n# " + strings.Repeat("x", maxTOML):                   "too large",
		"name,count\n" + strings.Repeat("x", maxLine+1):                "line 2 is longer",
		`{"a":"` + strings.Repeat("x", 2*maxNode) + `","kind":"Node"}`: "one piece",
		"<nvidia_smi_log>" + strings.Repeat("x", 2*maxNode) + "</x>":   "one piece",
	} {
		inv, err := Read("some.file", strings.NewReader(text))
		if err == nil {
			t.Errorf("%.60q: no error, %d entries", text, len(inv.Entries))
			continue
		}
		if !strings.HasPrefix(err.Error(), "some.file: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	if _, err := Read("x", strings.NewReader("zzz")); !errors.Is(err, ErrFormat) {
		t.Errorf("%v is no ErrFormat", err)
	}
	if _, err := Read("x", failing{}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("%v hides what the reader said", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, os.ErrPermission }

// TestLarge reads inputs at the bounds and one above.
func TestLarge(t *testing.T) {
	const text = "host,name\na,L4\nb,L4\na,L4\n" // a comes again, which makes three entries
	for _, c := range []struct {
		bounds
		fits bool
	}{
		{bounds{int64(len(text)), 3}, true},
		{bounds{int64(len(text)) - 1, 3}, false},
		{bounds{int64(len(text)), 2}, false},
	} {
		inv, err := readWithin("x", strings.NewReader(text), c.bounds)
		if c.fits != (err == nil) || c.fits != (inv != nil) || !c.fits && !errors.Is(err, ErrLarge) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	metrics := `DCGM_FI_X{gpu="0",UUID="a",modelName="NVIDIA L4"} 1` + "\n" + `DCGM_FI_X{gpu="1",UUID="b",modelName="NVIDIA L4"} 1` + "\n"
	if _, err := readWithin("x", strings.NewReader(metrics), bounds{1000, 1}); !errors.Is(err, ErrLarge) {
		t.Errorf("metrics of two GPUs where one is allowed: %v", err)
	}
}

// TestEncodings reads one list in the encodings that Windows writes.
func TestEncodings(t *testing.T) {
	const text = "host,name,count\r\nknoten-ä-\U0001F600,RTX 3090,2\r\n"
	var le, be bytes.Buffer
	for _, u := range utf16.Encode([]rune("\uFEFF" + text)) {
		le.Write([]byte{byte(u), byte(u >> 8)})
		be.Write([]byte{byte(u >> 8), byte(u)})
	}
	for name, b := range map[string]string{"utf-8": text, "with mark": "\uFEFF" + text, "utf-16le": le.String(), "utf-16be": be.String()} {
		expect(t, read(t, b), CSV, []string{"8.6 GeForce RTX 3090 × 2, unknown driver, knoten-ä-\U0001F600"}, nil)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	// Half a pair and half a character do not end anything early.
	if got := lines(read(t, le.String()+"\x00\xD8A").Targets(gpu.Driver{})); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestHostileText(t *testing.T) {
	long := strings.Repeat("n", maxText+1)
	inv := read(t, "host,name,cc\n"+long+",L4,\nh,"+long+",8.9\nh\x1b[31m,My\x1b]0;x\x07GPU,8.9\n")
	if len(inv.Entries) != 1 || inv.Entries[0].Name != "My\x1b]0;x\x07GPU" || inv.Entries[0].Host != "h\x1b[31m" {
		t.Errorf("%+v", inv.Entries) // raw: who shows it makes it safe
	}
	if len(inv.Problems) != 1 || inv.Problems[0].More != 1 || !inv.Problems[0].Left {
		t.Errorf("%+v", inv.Problems)
	}
}

// TestNames is a bound on lookups: each takes long if nothing is found.
func TestNames(t *testing.T) {
	var b strings.Builder
	b.WriteString("name,cc\n")
	for i := range maxNames + 10 {
		fmt.Fprintf(&b, "zz%d,8.9\n", i)
	}
	b.WriteString("L4,\n")
	inv := read(t, b.String())
	if len(inv.Entries) != maxNames+10 || len(inv.Problems) != 1 || !strings.Contains(inv.Problems[0].Message, "no more are looked up") {
		t.Errorf("%d entries, problems %v", len(inv.Entries), toldOf(inv.Problems))
	}
}
