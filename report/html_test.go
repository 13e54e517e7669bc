package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"fatview/internal/plain"
)

// page is what a reader of markup finds in a page. encoding/xml stands in for a
// browser: the page is written so that it is well-formed but for elements that
// HTML leaves open.
type page struct {
	elements map[string]int // by name
	attrs    map[string]int // by element and name: "a.href"
	values   map[string][]string
	text     string // outside of style and script
	style    string
	script   string
	rows     map[string][][]string // by id of a table: its cells
}

func parseHTML(t *testing.T, out string) *page {
	t.Helper()
	p := &page{elements: map[string]int{}, attrs: map[string]int{}, values: map[string][]string{}, rows: map[string][][]string{}}
	// XML has no place for these two; a browser shows a box.
	out = strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd").Replace(out)
	body, ok := strings.CutPrefix(out, "<!DOCTYPE html>\n")
	if !ok {
		t.Fatal("no doctype")
	}
	d := xml.NewDecoder(strings.NewReader(body))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var open []string
	table := ""
	var text strings.Builder
	for {
		tok, err := d.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			name := x.Name.Local
			p.elements[name]++
			if name == "table" {
				table = ""
			}
			for _, a := range x.Attr {
				key := name + "." + a.Name.Local
				p.attrs[key]++
				p.values[key] = append(p.values[key], a.Value)
				if key == "table.id" {
					table = a.Value
				}
			}
			switch name {
			case "tr":
				p.rows[table] = append(p.rows[table], nil)
			case "td", "th":
				n := len(p.rows[table]) - 1
				p.rows[table][n] = append(p.rows[table][n], "")
			}
			if name != "meta" && name != "input" {
				open = append(open, name)
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != x.Name.Local {
				t.Fatalf("</%s> closes %v", x.Name.Local, open)
			}
			open = open[:len(open)-1]
			if x.Name.Local == "table" {
				table = ""
			}
		case xml.CharData:
			in := ""
			if len(open) > 0 {
				in = open[len(open)-1]
			}
			switch in {
			case "style":
				p.style += string(x)
				continue
			case "script":
				p.script += string(x)
				continue
			}
			text.Write(x)
			if rows := p.rows[table]; len(rows) > 0 && len(rows[len(rows)-1]) > 0 {
				row := rows[len(rows)-1]
				row[len(row)-1] += string(x)
			}
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Errorf("%T in the page", tok)
		}
	}
	p.text = text.String()
	for _, rows := range p.rows {
		for _, row := range rows {
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("left open: %v", open)
	}
	return p
}

// The elements and attributes that the templates have; a string of a stranger
// must not make another.
const (
	htmlElements = " html head meta title style body header h1 p label input button span main section h2 div table thead tbody tr th td ul li b a details summary svg rect footer script "
	htmlAttrs    = " html.lang meta.charset meta.http-equiv meta.content meta.name p.id p.hidden p.class input.id input.type input.placeholder input.autocomplete button.id button.type span.id span.role span.class span.aria-hidden section.id div.class table.class table.id th.scope td.data-n tr.data-find a.href details.id details.class details.data-find svg.class svg.viewBox svg.preserveAspectRatio svg.aria-hidden rect.width rect.height "
)

// holds checks what is true of every page.
func (p *page) holds(t *testing.T, about string) {
	t.Helper()
	for e := range p.elements {
		if !strings.Contains(htmlElements, " "+e+" ") {
			t.Errorf("%q makes an element %s", about, e)
		}
	}
	for a := range p.attrs {
		if !strings.Contains(htmlAttrs, " "+a+" ") {
			t.Errorf("%q makes an attribute %s", about, a)
		}
	}
	for _, href := range p.values["a.href"] {
		var n int
		if _, err := fmt.Sscanf(href, "#file-%d", &n); err != nil {
			t.Errorf("%q makes a link to %s", about, href)
		}
	}
	if p.elements["script"] != 1 || p.elements["style"] != 1 || p.elements["html"] != 1 {
		t.Errorf("%q: %d scripts, %d styles", about, p.elements["script"], p.elements["style"])
	}
	sum := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
	}
	want := "default-src 'none'; style-src " + sum(p.style) + "; script-src " + sum(p.script) + "; base-uri 'none'; form-action 'none'"
	if got := p.values["meta.content"][0]; got != want {
		t.Errorf("policy %q, want %q", got, want)
	}
}

func htmlOf(t *testing.T, r *Report) (*page, string) {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return parseHTML(t, b.String()), b.String()
}

func readsHTML(t *testing.T, s, out string) {
	p := parseHTML(t, out)
	p.holds(t, s)
	want := strings.TrimSpace(strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd").Replace(plain.Text(s)))
	if got := p.rows["matrix"][1][0]; got != want {
		t.Errorf("the path reads %q, want %q", got, want)
	}
}

func TestHTMLIsSelfContained(t *testing.T) {
	p, out := htmlOf(t, everything(t))
	p.holds(t, "everything")
	for _, sum := range strings.Split(p.values["meta.content"][0], "'") {
		if strings.HasPrefix(sum, "sha256-") { // base64 may hold anything, as entities
			out = strings.ReplaceAll(out, strings.ReplaceAll(sum, "+", "&#43;"), "")
		}
	}
	for _, bad := range []string{"http:", "https:", "//", "url(", "@import", "src=", "unsafe-inline", "<link", "<iframe", "style=\""} {
		if bad == "//" {
			// Comments of the script begin so, and nothing else may.
			if n := strings.Count(out, "//") - strings.Count(p.script, "//"); n != 0 {
				t.Errorf("%d times //", n)
			}
			continue
		}
		if strings.Contains(out, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	for _, bad := range []string{"fetch", "XMLHttpRequest", "import", "eval", "innerHTML", "WebSocket", "document.write"} {
		if strings.Contains(p.script, bad) {
			t.Errorf("the script has %s", bad)
		}
	}
	if strings.Contains(p.script, "<") || strings.Contains(p.script, "&") {
		t.Error("the script holds characters that a strict reader takes for markup")
	}
}

// The matrix says what the JSON says, in words.
func TestHTMLMatrix(t *testing.T) {
	r := everything(t)
	p, _ := htmlOf(t, r)
	rows := p.rows["matrix"]
	if len(rows) != len(r.Files)+1 {
		t.Fatalf("%d rows for %d files", len(rows), len(r.Files))
	}
	words := map[string]string{}
	for i, f := range r.Files {
		row := rows[i+1]
		if row[0] != f.Path || len(row) != len(r.GPUs)+1 {
			t.Errorf("row %v of %s", row, f.Path)
		}
		for g := range r.GPUs {
			want := "! no verdict"
			if len(f.Containers) == 0 {
				want = "– no CUDA device code"
			} else if c := f.on(g); c != nil {
				want = map[string]string{"native": "● native", "jit": "◐ jit", "none": "✗ none", "partial": "◒ partial", "driver": "▲ driver", "mixed": "◐ mixed"}[c.Verdict]
			}
			if row[g+1] != want {
				t.Errorf("%s on %s: %q, want %q", f.Path, r.GPUs[g].Title(), row[g+1], want)
			}
			words[want] = f.Path
		}
	}
	if len(words) < 4 {
		t.Errorf("only %v are in the matrix", words)
	}
	for _, c := range r.Files[0].Coverage {
		if !strings.Contains(p.text, c.Reason) || c.MinDriver != nil && !strings.Contains(p.text, *c.MinDriver) {
			t.Errorf("the page does not say %q", c.Reason)
		}
	}
	for _, want := range []string{"foo 1.2", "which has no code for this GPU", "bare cubin", "HIP", "no such file", "× 3"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if got := p.rows["distributions"]; len(got) < 2 || got[1][0] != "foo 1.2" {
		t.Errorf("distributions %v", got)
	}
}

// A page stays of a size that a browser shows; what fares worst is kept.
func TestHTMLIsBounded(t *testing.T) {
	r := &Report{GPUs: []GPU{{Name: "X", CC: "9.0"}}, Files: []File{{Path: "a.so"}, {Path: "b.so"}}}
	for i := range 60000 {
		verdict := "native"
		if i == 59999 {
			verdict = "missing"
		}
		r.Files[0].Containers = append(r.Files[0].Containers, Container{ID: i, Label: fmt.Sprint("unit", i), Verdicts: []Verdict{{Verdict: verdict}}})
	}
	r.Files[1].Containers = []Container{{Label: "late", Verdicts: []Verdict{{Verdict: "native"}}}}
	p, out := htmlOf(t, r)
	if len(out) > 20<<20 {
		t.Errorf("%d bytes", len(out))
	}
	if n := p.elements["tr"]; n < 30000 || n > 200000/6+20 {
		t.Errorf("%d rows", n)
	}
	for _, want := range []string{"unit59999", "26,667 containers that fare no worse are left out here"} { // 60,000 - 200,000/6
		if !strings.Contains(p.text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestHTMLSizes(t *testing.T) {
	n := 2
	image := func(kind, arch string, stored int64) Image {
		return Image{Kind: kind, Arch: arch, StoredBytes: stored, Bytes: 2 * stored, Kernels: &n}
	}
	r := &Report{Files: []File{
		{Path: "a", Containers: []Container{{Images: []Image{image("sass", "sm_90", 300), image("ptx", "compute_90", 50)}}}},
		{Path: "b", Containers: []Container{{Images: []Image{image("sass", "sm_80", 50), image("sass", "sm_90", 100)}}}},
	}}
	got := htmlSizes(append(r.Files[0].ArchRows(), r.Files[1].ArchRows()...))
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	// 500 bytes in all, of which sm_90 has most: its bar is full.
	for i, want := range []string{"sm_80 sass 50 12.50 10.0", "sm_90 sass 400 100.00 80.0", "compute_90 ptx 50 12.50 10.0"} {
		x := got[i]
		if s := fmt.Sprint(x.Arch, " ", x.Kind, " ", x.Stored, " ", x.Width, " ", x.Share); s != want {
			t.Errorf("%s, want %s", s, want)
		}
	}
	if got[1].Images != 2 || got[1].Kernels != 4 || got[1].Bytes != 800 {
		t.Errorf("%+v", got[1])
	}
}
