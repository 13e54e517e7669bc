package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
)

// element is any element of an XML document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e element) all(name string) (out []element) {
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			out = append(out, c)
		}
	}
	return out
}

func junit(t *testing.T, r *Report) element {
	t.Helper()
	var b bytes.Buffer
	if err := JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var root element
	if err := xml.Unmarshal(b.Bytes(), &root); err != nil {
		t.Fatal(err)
	}
	return root
}

// numbers are tests, failures, errors and skipped.
func (e element) numbers() string {
	return strings.Join([]string{e.attr("tests"), e.attr("failures"), e.attr("errors"), e.attr("skipped")}, " ")
}

func TestJUnit(t *testing.T) {
	// The PTX needs a newer driver than 580, so that 12.0 waits for one.
	r := built(t, "mixed.so", "h100,gtx1080,rtx5090", "580.65.06")
	r.Files = append(r.Files, built(t, "plain.so", "", "").Files[0])
	r.Files[1].Findings = append(r.Files[1].Findings, Finding{Severity: "error", Message: "cut short"})
	r.Scans = []Scan{{Path: "x.whl", Error: "no such file"}, {Path: "d", Findings: []ScanFinding{{"error", "d/y.zip", "damaged"}, {"info", "d/z", "well"}}}}
	root := junit(t, r)
	if got := root.numbers(); got != "9 2 3 3" { // 2 files on 3 GPUs, and what could not be read
		t.Errorf("all in all %s", got)
	}
	suites := root.all("testsuite")
	for i, want := range []string{"2 0 0 1", "2 1 0 1", "2 1 0 1", "3 0 3 0"} {
		if got := suites[i].numbers(); got != want {
			t.Errorf("suite %q has %s, want %s", suites[i].attr("name"), got, want)
		}
	}
	cases := suites[1].all("testcase")
	if len(cases) != 2 || cases[0].attr("name") != "mixed.so" || len(cases[0].all("failure")) != 1 || cases[0].all("failure")[0].attr("type") != "none" {
		t.Errorf("GTX 1080: %+v", cases)
	}
	if m := cases[0].all("failure")[0].attr("message"); !strings.HasPrefix(m, "none: no image for 6.1") {
		t.Errorf("message %q", m)
	}
	if len(cases[1].all("skipped")) != 1 || cases[1].all("skipped")[0].attr("message") != "no device code" {
		t.Errorf("a file without device code: %+v", cases[1])
	}
	if name := suites[3].all("testcase")[1].attr("name"); name != "d/y.zip" {
		t.Errorf("the second error is %q", name)
	}
}

func TestJUnitWithoutGPUs(t *testing.T) {
	root := junit(t, built(t, "mixed.so", "", ""))
	if root.numbers() != "1 0 0 1" {
		t.Errorf("%+v", root)
	}
}

// A GPU that the driver cannot drive fails, as in check.
func TestJUnitImpossible(t *testing.T) {
	root := junit(t, built(t, "mixed.so", "rtx5090", "535.104"))
	if root.numbers() != "1 1 0 0" || root.Children[0].all("testcase")[0].all("failure")[0].attr("type") != "impossible" {
		t.Errorf("%+v", root)
	}
}
