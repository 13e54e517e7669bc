package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"fatview/internal/plain"
)

// The elements of a JUnit report, as Ant's JUnit task began them and Jenkins,
// GitLab and others read them. None of these has a standard; what is written
// here is what they have in common.
type (
	junitRoot struct {
		XMLName xml.Name     `xml:"testsuites"`
		Name    string       `xml:"name,attr"`
		Suites  []junitSuite `xml:"testsuite"`
		junitCounts
	}
	junitCounts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Properties *junitProperties `xml:"properties,omitempty"`
		Cases      []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		List []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Failure *junitResult `xml:"failure"`
		Error   *junitResult `xml:"error"`
		Skipped *junitResult `xml:"skipped"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a test suite for each GPU with a case for each file: failed
// where `fatview check` without options says no, skipped where there is no
// device code. What could not be read is a suite of errors, so that a package
// that did not open is not taken for one that passed.
func JUnit(w io.Writer, r *Report) error {
	root := junitRoot{Name: "fatview"}
	for g := range r.GPUs {
		root.add(r.junitGPU(g))
	}
	if len(r.GPUs) == 0 && len(r.Files) > 0 {
		s := junitSuite{Name: "no GPU"}
		for i := range r.Files {
			s.Cases = append(s.Cases, junitCase{Name: plain.Text(r.Files[i].Path), Class: "no GPU", Skipped: &junitResult{Message: "no GPU to judge for"}})
		}
		root.add(s)
	}
	if s := r.junitErrors(); len(s.Cases) > 0 {
		root.add(s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(root); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// add takes in a suite and counts its cases.
func (x *junitRoot) add(s junitSuite) {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	x.Tests += s.Tests
	x.Failures += s.Failures
	x.Errors += s.Errors
	x.Skipped += s.Skipped
	x.Suites = append(x.Suites, s)
}

func (r *Report) junitGPU(g int) junitSuite {
	gpu := r.GPUs[g]
	title := gpu.Title()
	s := junitSuite{Name: title, Properties: &junitProperties{}}
	for _, p := range []junitProperty{{"gpu", gpu.Name}, {"cc", gpu.CC}, {"driver", text(gpu.Driver)}, {"cuda", text(gpu.CUDA)}, {"source", gpu.Source}} {
		if p.Value != "" {
			s.Properties.List = append(s.Properties.List, junitProperty{p.Name, plain.Text(p.Value)})
		}
	}
	for i := range r.Files {
		f := &r.Files[i]
		c := junitCase{Name: plain.Text(f.Path), Class: title}
		on := f.on(g)
		switch {
		case len(f.Containers) == 0:
			c.Skipped = &junitResult{Message: f.noCode()}
		case on == nil:
			c.Failure = &junitResult{Message: plain.Text(gpu.Problem), Type: "impossible"}
		case !on.passes():
			c.Failure = &junitResult{Message: on.Verdict + ": " + plain.Text(on.Reason), Type: on.Verdict, Text: on.junitText()}
		default:
			c.Out = on.Verdict + "\n" + on.junitText()
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// junitText is what there is to say of a file on a GPU, in lines.
func (c *Coverage) junitText() string {
	lines := []string{plain.Text(c.Reason), c.Counts()}
	if c.MinDriver != nil {
		lines = append(lines, "least driver: "+c.Least())
	}
	return strings.Join(lines, "\n")
}

// passes is the rule of `fatview check` without options: something runs, or
// there is nothing to run, and nothing is missing or waits for a driver.
// Package check has the rule with its options, and a test that holds this one
// to it.
func (c *Coverage) passes() bool {
	n := c.Containers
	served := n.Native + n.JIT
	return n.Missing+n.Driver == 0 && (served > 0 || n.Specialised == 0)
}

// junitErrors holds what could not be read, whole or in part.
func (r *Report) junitErrors() junitSuite {
	s := junitSuite{Name: "reading"}
	add := func(path, message string) {
		s.Cases = append(s.Cases, junitCase{Name: plain.Text(path), Class: s.Name, Error: &junitResult{Message: plain.Text(message), Type: "unreadable"}})
	}
	for _, scan := range r.Scans {
		if scan.Error != "" {
			add(scan.Path, scan.Error)
		}
		for _, x := range scan.Findings {
			if x.Severity == "error" {
				add(x.Path, x.Message)
			}
		}
	}
	for i := range r.Files {
		for _, x := range r.Files[i].Findings {
			if x.Severity == "error" {
				add(r.Files[i].Path, x.text())
			}
		}
	}
	return s
}

// text is the message with its place.
func (x Finding) text() string {
	if x.Offset == nil {
		return x.Message
	}
	return fmt.Sprintf("%s (offset %#x)", x.Message, *x.Offset)
}
