package check

import (
	"context"
	"path/filepath"
	"testing"

	"fatview/arch"
	"fatview/coverage"
	"fatview/gpu"
	"fatview/index"
	"fatview/report"
)

func open(t *testing.T, path string) []*index.File {
	t.Helper()
	files, err := index.Open(context.Background(), path)
	if err != nil {
		return nil
	}
	for _, f := range files {
		t.Cleanup(func() { f.Close() })
		if err := f.Search(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// A check reads less than a report and must say the same, for every fixture,
// every capability and drivers of several generations.
func TestSameVerdictAsFullDecoding(t *testing.T) {
	paths, err := filepath.Glob("../testdata/fixtures/*")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	var targets []gpu.Target
	for _, driver := range []string{"", "535.104.05", "551.61", "580.65.06", "595.45.04"} {
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
	compared := 0
	for _, p := range paths {
		lazy, full := open(t, p), open(t, p)
		index.DecodeAll(context.Background(), full, nil)
		for i, f := range lazy {
			r := &Result{OK: true}
			r.File(context.Background(), f, targets, 0, Limits{}, "")
			if len(f.Containers) == 0 {
				continue
			}
			cov := full[i].Coverage()
			for j, target := range targets {
				if coverage.Impossible(report.Target(target)) != "" {
					continue
				}
				compared++
				want := coverage.JudgeFile(cov, report.Target(target))
				if got := r.Lines[j].Verdict; got != want.Verdict.String() {
					t.Errorf("%s on %s with %s: check says %s, the report %s", f.Path, target.CC, target.Driver, got, want.Verdict)
				}
			}
			if f.Containers[0].Decoded() != nil {
				t.Errorf("%s: the check decoded everything", f.Path)
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d verdicts were compared", compared)
	}
}

func TestLimits(t *testing.T) {
	res := func(native, jit, driver, missing, specialised int) coverage.FileResult {
		return coverage.FileResult{Containers: coverage.Counts{Native: native, JIT: jit, Driver: driver, Missing: missing, Specialised: specialised}}
	}
	for _, c := range []struct {
		name   string
		limits Limits
		res    coverage.FileResult
		ok     bool
	}{
		{"all native", Limits{Native: true}, res(3, 0, 0, 0, 0), true},
		{"jit is enough", Limits{}, res(0, 3, 0, 0, 0), true},
		{"jit is not", Limits{Native: true}, res(2, 1, 0, 0, 0), false},
		{"one missing", Limits{}, res(2, 0, 0, 1, 0), false},
		{"one may be", Limits{MaxMissing: 1}, res(2, 0, 0, 1, 0), true},
		{"waiting is missing", Limits{}, res(2, 0, 1, 0, 0), false},
		{"specialised may be", Limits{}, res(2, 0, 0, 0, 5), true},
		{"but not strictly", Limits{Strict: true}, res(2, 0, 0, 0, 5), false},
		{"nothing served", Limits{MaxMissing: 9}, res(0, 0, 0, 3, 0), false},
		{"only specialised", Limits{}, res(0, 0, 0, 0, 3), false},
		{"no kernels at all", Limits{}, res(0, 0, 0, 0, 0), true},
	} {
		if ok, _ := c.limits.allow(c.res); ok != c.ok {
			t.Errorf("%s: %v, want %v", c.name, ok, c.ok)
		}
	}
}

func TestDeclared(t *testing.T) {
	// sass80 and PTX 90 are declared; mixed.so also holds 7.5, 8.6, 9.0, 9.0a.
	f := open(t, "../testdata/fixtures/mixed.so")[0]
	list := func(nums ...int) (out []arch.Arch) {
		for _, n := range nums {
			out = append(out, arch.New(n, 0))
		}
		return out
	}
	r := &Result{OK: true}
	r.Declared(f, append(list(75, 80, 86, 90), arch.New(90, 'a')), list(90), "")
	if !r.OK || len(r.Expect[0].Missing)+len(r.Expect[0].Extra) != 0 {
		t.Errorf("%+v", r.Expect[0])
	}
	r.Declared(f, list(75, 80, 86, 89), list(120), "")
	x := r.Expect[1]
	if r.OK || len(x.Missing) != 2 || x.Missing[0] != "sm_89" || x.Missing[1] != "compute_120" || len(x.Extra) != 3 {
		t.Errorf("%+v", x)
	}
}
