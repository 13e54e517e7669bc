package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// sarif writes a log within bounds and reads it back with other types than it
// was written with.
func sarif(t *testing.T, r *Report, results, size int) (run struct {
	Tool struct {
		Driver struct {
			Name  string
			Rules []struct{ ID string }
		}
	}
	Invocations []struct {
		ExecutionSuccessful        bool
		ToolExecutionNotifications []struct {
			Level   string
			Message struct{ Text string }
		}
	}
	Results []struct {
		RuleID    string
		RuleIndex int
		Level     string
		Message   struct{ Text string }
		Locations []struct {
			PhysicalLocation struct {
				ArtifactLocation struct{ URI string }
				Region           struct{ StartLine int }
			}
		}
		PartialFingerprints map[string]string
		Properties          map[string]any
	}
}) {
	t.Helper()
	var b bytes.Buffer
	if err := sarifWithin(&b, r, results, size); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []json.RawMessage
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 {
		t.Fatalf("%+v", log)
	}
	if err := json.Unmarshal(log.Runs[0], &run); err != nil {
		t.Fatal(err)
	}
	if run.Tool.Driver.Name != "fatview" || len(run.Invocations) != 1 {
		t.Errorf("%+v", run.Tool)
	}
	used, prints := map[string]bool{}, map[string]bool{}
	for _, x := range run.Results {
		used[x.RuleID] = true
		if run.Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID {
			t.Errorf("rule %d is not %s", x.RuleIndex, x.RuleID)
		}
		if !strings.Contains(" error warning note ", " "+x.Level+" ") || x.Message.Text == "" || len(x.Locations) != 1 || x.Locations[0].PhysicalLocation.Region.StartLine != 1 {
			t.Errorf("%+v", x)
		}
		p := x.PartialFingerprints["fatview/v1"]
		if len(p) != 32 || prints[p] {
			t.Errorf("fingerprint %q of %+v is there twice or none", p, x)
		}
		prints[p] = true
	}
	if len(used) != len(run.Tool.Driver.Rules) {
		t.Errorf("%d rules occur, and %d are told", len(used), len(run.Tool.Driver.Rules))
	}
	return run
}

func TestSARIF(t *testing.T) {
	r := built(t, "mixed.so", "h100,gtx1080,rtx5090", "580.65.06")
	r.Files = append(r.Files, fileOn("lib dir/libdep.so", "none"))
	r.Dependencies = []Dependency{{File: 0, To: 1, Name: "libdep.so", Unserved: []Unserved{{GPU: 0, Verdict: "none", Message: "it needs libdep.so"}}}}
	r.Files[0].Findings = []Finding{{Severity: "warning", Offset: new(int64), Message: "odd"}}
	r.Scans = []Scan{{Path: "x", Error: "cannot open x"}, {Path: "d", Findings: []ScanFinding{{"error", "d/y.zip", "damaged"}}}}
	run := sarif(t, r, 100, 1<<20)
	var got []string
	for _, x := range run.Results {
		got = append(got, x.Locations[0].PhysicalLocation.ArtifactLocation.URI+" "+x.RuleID+" "+x.Level)
	}
	// On H100 one of three containers is for 8.0 and 8.6 only; on GTX 1080 one
	// is missing and two are made for others; on RTX 5090 the PTX waits for a
	// driver, and two are made for others.
	want := []string{
		"mixed.so coverage/specialised note",
		"mixed.so coverage/missing error", "mixed.so coverage/specialised note",
		"mixed.so coverage/driver warning", "mixed.so coverage/specialised note",
		"mixed.so coverage/dependency warning",
		"mixed.so finding/warning warning",
		"lib%20dir/libdep.so coverage/missing error",
		"d/y.zip finding/error error",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("results\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	missing := run.Results[1]
	if p := missing.Properties; p["gpu"] != "GeForce GTX 1080" || p["cc"] != "6.1" || p["containers"].(map[string]any)["missing"] != 1.0 || p["min_driver"] != nil {
		t.Errorf("%v", p)
	}
	if p := run.Results[3].Properties; p["min_driver"] != *r.Files[0].Coverage[2].MinDriver || p["rules"].([]any)[0] != "ptx-version" {
		t.Errorf("%v", p)
	}
	if in := run.Invocations[0]; in.ExecutionSuccessful || len(in.ToolExecutionNotifications) != 1 || in.ToolExecutionNotifications[0].Message.Text != "cannot open x" {
		t.Errorf("%+v", in)
	}
}

// What is too much is left out, notes before errors, and it is said.
func TestSARIFIsCut(t *testing.T) {
	r := &Report{GPUs: []GPU{{Name: "X", CC: "9.0"}}}
	for i := range 30 {
		severity := []string{"info", "warning", "error"}[i%3]
		r.Files = append(r.Files, File{Path: fmt.Sprint("f", i), Findings: []Finding{{Severity: severity, Message: "m"}}})
	}
	run := sarif(t, r, 15, 1<<20)
	levels := map[string]int{}
	for _, x := range run.Results {
		levels[x.Level]++
	}
	if levels["error"] != 10 || levels["warning"] != 5 || levels["note"] != 0 {
		t.Errorf("%v", levels)
	}
	if n := run.Invocations[0].ToolExecutionNotifications; len(n) != 1 || !strings.HasPrefix(n[0].Message.Text, "15 of 30 results are left out") {
		t.Errorf("%+v", n)
	}
	var whole bytes.Buffer
	if err := SARIF(&whole, r); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1000, 4000, whole.Len()} {
		var b bytes.Buffer
		if err := sarifWithin(&b, r, 1000, size); err != nil {
			t.Fatal(err)
		}
		// Rules and what stands around the results are not counted.
		if kept := b.Len() - 5000; kept > size {
			t.Errorf("%d bytes of results where %d were asked for", kept, size)
		}
	}
	if n := len(sarif(t, r, 1000, 4000).Results); n == 0 || n > 10 {
		t.Errorf("4,000 bytes hold %d results", n)
	}
}

// The real bounds, on more results than they allow.
func TestSARIFWithinGitHubsBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 30 MB")
	}
	r := &Report{}
	for i := range 30000 {
		r.Files = append(r.Files, File{Path: fmt.Sprint("f", i), Findings: []Finding{{Severity: "info", Message: strings.Repeat("x", 800)}}})
	}
	var b bytes.Buffer
	if err := SARIF(&b, r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), `"ruleId"`); b.Len() > 25e6 || b.Len() < 20e6 || n > 25000 {
		t.Errorf("%d bytes, %d results", b.Len(), n)
	}
}

func TestSARIFURI(t *testing.T) {
	for in, want := range map[string]string{
		"a/b.so":         "a/b.so",
		"x.whl!lib/y.so": "x.whl!lib/y.so",
		"a b#c?d%e.so":   "a%20b%23c%3Fd%25e.so",
		"demo:mixed.so":  "demo%3Amixed.so",
		"../x":           "../x",
		"/abs/x":         "file:///abs/x",
		"ä\xff":          "%C3%A4%FF",
		"[x]<y>\"z\"":    "%5Bx%5D%3Cy%3E%22z%22",
	} {
		if got := sarifURI(in); got != want {
			t.Errorf("sarifURI(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSARIFText(t *testing.T) {
	for in, want := range map[string]string{
		"a {0} b":      "a {{0}} b",
		"[x](y)":       `[x\](y)`,
		"a[1] (b)":     "a[1] (b)",
		"esc\x1b[0m":   `esc\x1b[0m`,
		"sm_80 on 8.0": "sm_80 on 8.0",
	} {
		if got := sarifText(in).Text; got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
