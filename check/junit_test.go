package check

import (
	"bytes"
	"context"
	"encoding/xml"
	"path/filepath"
	"testing"

	"fatview/gpu"
	"fatview/index"
	"fatview/report"
)

// The report's JUnit form fails exactly where a check without options does, for
// every fixture, every capability and drivers of two generations.
func TestJUnitFailsWhereCheckDoes(t *testing.T) {
	paths, err := filepath.Glob("../testdata/fixtures/*")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	var targets []gpu.Target
	for _, driver := range []string{"", "535.104.05", "580.65.06"} {
		ts, err := gpu.Parse("all")
		if err != nil {
			t.Fatal(err)
		}
		for i := range ts {
			if driver != "" {
				if ts[i].Driver, err = gpu.ParseDriver(driver); err != nil {
					t.Fatal(err)
				}
			}
		}
		targets = append(targets, ts...)
	}
	failed, passed := 0, 0
	for _, p := range paths {
		files := open(t, p)
		index.DecodeAll(context.Background(), files, nil)
		for _, f := range files {
			r := &Result{OK: true}
			r.File(context.Background(), f, targets, 0, Limits{}, "")
			if len(f.Containers) == 0 {
				continue
			}
			var b bytes.Buffer
			if err := report.Write(&b, "junit", report.Build([]*index.File{f}, targets)); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Suites []struct {
					Name  string `xml:"name,attr"`
					Cases []struct {
						Failure *struct{} `xml:"failure"`
					} `xml:"testcase"`
				} `xml:"testsuite"`
			}
			if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			for i, l := range r.Lines {
				if ok := got.Suites[i].Cases[0].Failure == nil; ok != l.OK {
					t.Errorf("%s on %s: JUnit says %v, the check %v (%s)", f.Path, got.Suites[i].Name, ok, l.OK, l.Verdict)
				}
				if l.OK {
					passed++
				} else {
					failed++
				}
			}
		}
	}
	if failed < 100 || passed < 100 {
		t.Errorf("%d failed and %d passed: too few to tell", failed, passed)
	}
}
