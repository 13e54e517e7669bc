package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"fatview/gpu"
	"fatview/index"
)

var update = flag.Bool("update", false, "write the golden files; read them before committing")

// built returns the report of a fixture under a path that is the same on every
// machine.
func built(t *testing.T, name, gpus, driver string) *Report {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../testdata/fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	files, err := index.Read(context.Background(), name, bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := f.Search(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	index.DecodeAll(context.Background(), files, nil)
	var targets []gpu.Target
	if gpus != "" {
		if targets, err = gpu.Parse(gpus); err != nil {
			t.Fatal(err)
		}
	}
	if driver != "" {
		d, err := gpu.ParseDriver(driver)
		if err != nil {
			t.Fatal(err)
		}
		for i := range targets {
			targets[i].Driver = d
		}
	}
	return Build(files, targets)
}

func TestGolden(t *testing.T) {
	for _, c := range []struct{ golden, fixture, gpus, driver string }{
		{"mixed", "mixed.so", "a100,h100,rtx5090,gtx1080", ""},
		{"linked-old-driver", "rdc-linked.so", "9.0,8.0", "550.54.14"},
		{"pe", "pe.dll", "rtx3090", ""},
		{"archive", "archive.a", "9.0", ""},
		{"plain", "plain.so", "9.0", ""},
		{"nogpu", "mode-concat.fatbin", "", ""},
	} {
		r := built(t, c.fixture, c.gpus, c.driver)
		for _, format := range Formats() {
			if format == "html" && c.golden != "mixed" {
				continue // most of a page is the same in all
			}
			var b bytes.Buffer
			if err := Write(&b, format, r); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", c.golden+Ending(format)+".golden")
			if *update {
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s differs from what was read and kept:\n%s", path, b.String())
			}
		}
	}
}

// The keys of the contract, written down here from the design: a renamed or
// dropped field breaks other programs.
func TestJSONContract(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, built(t, "mixed.so", "a100", "580.65.06")); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	first := func(v any, key string) map[string]any {
		return v.(map[string]any)[key].([]any)[0].(map[string]any)
	}
	file := first(v, "files")
	container := first(file, "containers")
	coverage := first(file, "coverage")
	for _, c := range []struct {
		what string
		in   map[string]any
		keys string
	}{
		{"report", v, "schema gpus files"},
		{"gpu", first(v, "gpus"), "name cc driver cuda source"},
		{"file", file, "path format machine size containers coverage findings"},
		{"container", container, "id section offset size linkage label images verdicts"},
		{"image", first(container, "images"), "id kind arch ptx_isa compression stored_bytes bytes kernels"},
		{"verdict", first(container, "verdicts"), "gpu verdict image reason"},
		{"coverage", coverage, "gpu verdict containers kernels min_driver reason"},
		{"containers", coverage["containers"].(map[string]any), "native jit driver missing specialised empty"},
		{"kernels", coverage["kernels"].(map[string]any), "native jit driver missing specialised"},
	} {
		for _, k := range strings.Fields(c.keys) {
			if _, ok := c.in[k]; !ok {
				t.Errorf("%s lacks %q", c.what, k)
			}
		}
	}
	if v["schema"] != "fatview/report/1" || coverage["verdict"] != "native" {
		t.Errorf("schema %v, verdict %v", v["schema"], coverage["verdict"])
	}
}

// No array of the contract may ever be null.
func TestArraysAreNeverNull(t *testing.T) {
	for _, r := range []*Report{Build(nil, nil), built(t, "plain.so", "9.0", ""), built(t, "rdc-linked.so", "9.0", "")} {
		var b bytes.Buffer
		if err := JSON(&b, r); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"gpus", "files", "containers", "images", "verdicts", "coverage", "findings"} {
			if strings.Contains(b.String(), `"`+key+`": null`) {
				t.Errorf("%q is null", key)
			}
		}
	}
}

// Every format shows the numbers of the JSON.
func TestFormatsAgree(t *testing.T) {
	r := built(t, "mixed.so", "a100,h100,rtx5090,gtx1080", "")
	for _, format := range []string{"text", "md"} {
		var b bytes.Buffer
		if err := Write(&b, format, r); err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Files[0].Coverage {
			counts, kernels, _ := strings.Cut(strings.TrimPrefix(c.Counts(), "containers: "), "; kernels: ")
			for _, part := range []string{c.Verdict, counts, kernels} {
				if !strings.Contains(b.String(), part) {
					t.Errorf("%s lacks %q", format, part)
				}
			}
		}
	}
}

// Text from files is data in every format.
func TestHostileText(t *testing.T) {
	evil := "x\x1b]0;owned\a\u202e<script>|[a](b)\n`\xff"
	r := &Report{Schema: Schema, GPUs: []GPU{{Name: evil, CC: "9.0", Source: "nvml"}}, Files: []File{{
		Path: evil, Format: "elf", Machine: evil,
		Containers: []Container{{Section: evil, Label: evil, Images: []Image{{Kind: "sass", Arch: "sm_90"}}, Verdicts: []Verdict{{Verdict: "missing", Reason: evil}}},
			{Label: "ok", Images: []Image{}, Verdicts: []Verdict{{Verdict: "native"}}}},
		Coverage: []Coverage{{Verdict: "partial", Reason: evil, Containers: ContainerCounts{Native: 1, Missing: 1}}},
		Findings: []Finding{{Severity: "error", Message: evil}},
	}}}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return Text(b, r) },
		"md":   func(b *bytes.Buffer) error { return Markdown(b, r) },
		"list": func(b *bytes.Buffer) error { return List(b, r) },
		"json": func(b *bytes.Buffer) error { return JSON(b, r) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if strings.ContainsAny(out, "\x1b\a") || (name != "json" && strings.Contains(out, "\u202e")) {
			t.Errorf("%s passes control characters on: %q", name, out)
		}
		if name == "md" && (strings.Contains(out, "<script>") || strings.Contains(out, "[a](b)")) {
			t.Errorf("md passes markup on: %s", out)
		}
	}
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Files[0].Path != strings.ToValidUTF8(evil, "\ufffd") {
		t.Errorf("JSON loses text: %v, %q", err, back.Files[0].Path)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.json")
	r := built(t, "mixed.so", "a100", "")
	if err := Save(path, "json", r, false); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Save(path, "md", r, false); !errors.Is(err, ErrExists) {
		t.Errorf("a second save without overwrite: %v", err)
	}
	if again, _ := os.ReadFile(path); !bytes.Equal(first, again) {
		t.Error("the file was touched although it exists")
	}
	if err := Save(path, "md", r, true); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(path); bytes.Equal(first, again) {
		t.Error("the file was not overwritten although asked")
	}
	if err := Save(filepath.Join(dir, "absent", "r.md"), "md", r, false); err == nil {
		t.Error("saving into a folder that is not there succeeded")
	}
	if err := Save(dir, "md", r, true); err == nil {
		t.Error("saving over a folder succeeded")
	}
	if err := Save(filepath.Join(dir, "x"), "nonsense", r, false); !errors.Is(err, ErrFormat) {
		t.Errorf("unknown format: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("something is left behind: %v", entries)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 174478688: "166.4 MiB", 1 << 40: "1.0 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]string{"a.md": "md", "a.MARKDOWN": "md", "a.json": "json", "a.txt": "text", "a.ndjson": "ndjson", "a.jsonl": "ndjson", "a.csv": "csv", "a.HTM": "html", "a.sarif": "sarif", "a.sarif.json": "sarif", "a.cdx.json": "cyclonedx", "d.cdx.json/a": "", "acdx.json": "json", "TEST-a.xml": "junit", "a": "", "md": ""} {
		if got, ok := FormatOf(path); got != want || ok != (want != "") {
			t.Errorf("FormatOf(%q) = %q, %v", path, got, ok)
		}
	}
	if !reflect.DeepEqual(Formats(), []string{"text", "json", "md", "ndjson", "csv", "html", "sarif", "junit", "cyclonedx"}) {
		t.Errorf("formats %v", Formats())
	}
}
