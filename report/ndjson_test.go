package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The keys of the contract, in order, written down from the design. Every line
// has all of them, so that columns keep their types.
const lineKeys = "schema path scan error format machine size distribution version kind gpu cc driver cuda count " +
	"verdict containers kernels min_driver min_driver_windows reason archs needs copies"

func ndjson(t *testing.T, r *Report) (lines []map[string]any, text string) {
	t.Helper()
	var b bytes.Buffer
	if err := NDJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	text = b.String()
	for _, one := range strings.SplitAfter(text, "\n") {
		if one == "" {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(one), &m); err != nil || !strings.HasSuffix(one, "\n") {
			t.Fatalf("not a line of JSON: %q: %v", one, err)
		}
		lines = append(lines, m)
	}
	return lines, text
}

func TestLineContract(t *testing.T) {
	r := built(t, "mixed.so", "a100", "580.65.06")
	none := built(t, "plain.so", "", "")
	r.Files = append(r.Files, none.Files...)
	r.Scans = []Scan{{Path: "x", Files: 2, Error: "x: gone"}}
	lines, text := ndjson(t, r)
	if len(lines) != 3 {
		t.Fatalf("%d lines:\n%s", len(lines), text)
	}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var got []string
		d := json.NewDecoder(strings.NewReader(line))
		for depth := 0; ; {
			tok, err := d.Token()
			if err != nil {
				break
			}
			switch v := tok.(type) {
			case json.Delim:
				if v == '{' || v == '[' {
					depth++
				} else {
					depth--
				}
			case string:
				if depth == 1 {
					got = append(got, v)
					var skip any
					if err := d.Decode(&skip); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if strings.Join(got, " ") != lineKeys {
			t.Errorf("line %d has keys %s", i, strings.Join(got, " "))
		}
	}
	// mixed.so holds two containers that serve 8.0 and one for 9.0a alone.
	want := map[string]any{
		"schema": "fatview/line/1", "path": "mixed.so", "scan": "x", "error": nil, "verdict": "native", "gpu": "A100", "cc": "8.0",
		"driver": "580.65.06", "cuda": "13.0", "count": 1.0, "size": 76192.0, "distribution": "", "copies": []any{},
		"archs":      []any{"sm_75", "sm_80", "sm_86", "sm_90", "sm_90a", "compute_90"},
		"containers": map[string]any{"native": 2.0, "jit": 0.0, "driver": 0.0, "missing": 0.0, "specialised": 1.0, "empty": 0.0},
	}
	for k, v := range want {
		if !reflect.DeepEqual(lines[0][k], v) {
			t.Errorf("%s is %v, not %v", k, lines[0][k], v)
		}
	}
	// No CUDA code: the GPU is there, the verdict is not.
	if l := lines[1]; l["verdict"] != nil || l["containers"] != nil || l["cc"] != "8.0" || l["reason"] != "no device code" {
		t.Errorf("%v", l)
	}
	if l := lines[2]; l["error"] != "x: gone" || l["path"] != "x" || l["format"] != "" || l["gpu"] != nil {
		t.Errorf("%v", l)
	}
}

// Without GPUs there is one line; with a pair that cannot be, the reason is why.
func TestLinesWithoutVerdict(t *testing.T) {
	lines, _ := ndjson(t, built(t, "mixed.so", "", ""))
	if len(lines) != 1 || lines[0]["gpu"] != nil || lines[0]["verdict"] != nil || lines[0]["count"] != nil || len(lines[0]["archs"].([]any)) != 6 {
		t.Errorf("%v", lines)
	}
	lines, _ = ndjson(t, built(t, "mixed.so", "rtx5090,a100", "535.104"))
	if len(lines) != 2 || lines[0]["verdict"] != nil || !strings.Contains(lines[0]["reason"].(string), "535.104") || lines[1]["verdict"] == nil {
		t.Errorf("%v", lines)
	}
}

// Files know their argument by its count, and their distribution by its list.
func TestLinesOfScansAndDistributions(t *testing.T) {
	r := &Report{
		Files: []File{fileOn("a.so", "native"), fileOn("b/x.so", "none"), fileOn("late.so", "jit")},
		GPUs:  []GPU{{Name: "X", CC: "9.0", Count: 7}},
		Scans: []Scan{
			{Path: "a.so", Files: 1}, {Path: "no", Error: "no: no such file"},
			{Path: "b", Files: 1, Findings: []ScanFinding{{"warning", "b/w", "small"}, {"info", "b/i", "fine"}, {"error", "b/e", "bad"}}},
		},
		Distributions: []Distribution{{Kind: "python", Name: "b", Version: "2", Files: []int{1}}},
	}
	r.Files[1].Copies = []string{"c.so"}
	r.Files[2].Findings = []Finding{{Severity: "warning", Message: "odd"}, {Severity: "error", Message: "cut"}}
	lines, text := ndjson(t, r)
	var got []string
	for _, l := range lines {
		s := ""
		for _, k := range []string{"path", "scan", "error", "distribution", "version", "kind", "verdict", "count"} {
			if v, ok := l[k].(string); ok {
				s += v
			}
			s += "|"
		}
		got = append(got, s)
	}
	want := []string{
		"a.so|a.so|||||native||", "no|no|no: no such file||||||", "b/x.so|b||b|2|python|none||", "b/w|b|small||||||", "b/e|b|bad||||||", "late.so||cut||||jit||",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if lines[0]["count"] != 7.0 || !strings.Contains(text, `"copies":["c.so"]`) {
		t.Error(text)
	}
}

// A name may hold what a reader of lines takes for their end.
func TestLinesAreLines(t *testing.T) {
	f := fileOn("a\nb\r\u0085\u2028\x1b[31m\xff.so", "native")
	_, text := ndjson(t, &Report{Files: []File{f}, GPUs: []GPU{{Name: "X\n"}}})
	if strings.Count(text, "\n") != 1 || strings.ContainsAny(text, "\r\u0085\u2028\x1b") {
		t.Errorf("%q", text)
	}
	if !strings.Contains(text, `"path":"a\nb\r\u0085\u2028\u001b[31m`) {
		t.Errorf("%q", text)
	}
}
