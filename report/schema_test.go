package report

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"fatview/collect"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
	"fatview/index"
	"fatview/internal/fatbintest"
)

// schema compiles the published schema.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open("../docs/schema/report-1.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report-1.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report-1.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// document is a report's JSON as the validator wants it.
func document(t *testing.T, r *Report) any {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// everything is a folder with what a report can tell of: a wheel with
// variants, a library that needs an unserved one, copies, bare cubins, code of
// another vendor, damage, and a thing that cannot be opened.
func everything(t *testing.T) *Report {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, b []byte) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fixture := func(name string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("../testdata/fixtures", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	cubin := func(a string) []byte {
		return fatbintest.Cubin{Arch: a, Kernels: []fatbintest.Kernel{{Name: "k"}}}.Bytes()
	}
	library := func(soname string, needed []string, cc, arch string) []byte {
		return fatbintest.ELF{Soname: soname, Needed: needed, Sections: []fatbintest.HostSection{
			{Name: ".nv_fatbin", Data: fatbintest.NewContainer().SASS(cc, cubin(arch)).Bytes(), Align: 8},
		}}.Bytes()
	}
	put("d/libapp.so", library("libapp.so", []string{"libdep.so", "libcudart.so.12"}, "90", "sm_90"))
	put("d/libdep.so", library("libdep.so", nil, "86", "sm_86"))
	put("d/copy.so", fixture("mixed.so"))
	put("d/copy2.so", fixture("mixed.so"))
	put("d/bare.so", fatbintest.ELF{Sections: []fatbintest.HostSection{
		{Name: ".nv_fatbin", Data: fatbintest.NewContainer().SASS("80", cubin("sm_80")).Bytes(), Align: 8},
		{Name: ".rodata", Data: bytes.Join([][]byte{cubin("sm_80"), cubin("sm_90a")}, make([]byte, 8))},
	}}.Bytes())
	put("d/hip.so", fatbintest.ELF{Sections: []fatbintest.HostSection{{Name: ".hip_fatbin", Data: append([]byte("__CLANG_OFFLOAD_BUNDLE__"), make([]byte, 64)...)}}}.Bytes())
	damaged := fixture("mode-concat.fatbin")
	put("d/damaged.fatbin", damaged[:len(damaged)/2])
	put("d/bad.zip", []byte("PK\x03\x04 and no more"))
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	for _, m := range []struct {
		name string
		data []byte
	}{{"foo/lib_cuda118.so", fixture("sass86.so")}, {"foo/lib_cuda126.so", fixture("multi12.so")}, {"foo-1.2.dist-info/METADATA", []byte("Metadata-Version: 2.1\nName: foo\nVersion: 1.2\n")}, {"foo-1.2.dist-info/RECORD", []byte("foo/lib_cuda118.so,,\nfoo/lib_cuda126.so,,\n")}} {
		w, err := z.Create(m.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	put("foo-1.2-py3-none-any.whl", wheel.Bytes())
	targets, err := gpu.Parse("9.0,8.6,12.0")
	if err != nil {
		t.Fatal(err)
	}
	targets[0].Count = 3
	if targets[2].Driver, err = gpu.ParseDriver("535.104"); err != nil { // too old for 12.0
		t.Fatal(err)
	}
	res := collect.Run(context.Background(), []string{filepath.Join(dir, "d"), filepath.Join(dir, "foo-1.2-py3-none-any.whl"), filepath.Join(dir, "absent.so")}, collect.Options{}, nil)
	t.Cleanup(res.Close)
	for _, f := range res.Files {
		if err := f.Search(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	index.DecodeAll(context.Background(), res.Files, nil)
	return BuildAll(res, targets)
}

// The parts of the schema that only folders and packages fill are filled.
func TestEverythingIsThere(t *testing.T) {
	r := everything(t)
	has := map[string]bool{
		"problem": r.GPUs[2].Problem != "", "count": r.GPUs[0].Count == 3, "variants": len(r.Distributions) == 1 && len(r.Distributions[0].Variants) == 1,
		"unserved": len(r.Dependencies) == 1 && len(r.Dependencies[0].Unserved) == 1, "error": r.Scans[2].Error != "",
	}
	for _, f := range r.Files {
		has["copies"] = has["copies"] || len(f.Copies) > 0
		has["needs"] = has["needs"] || len(f.Needs) > 0
		has["foreign"] = has["foreign"] || len(f.Foreign) > 0
		has["bare"] = has["bare"] || len(f.BareCubins) > 0
		has["finding"] = has["finding"] || len(f.Findings) > 0
	}
	for _, s := range r.Scans {
		has["scan finding"] = has["scan finding"] || len(s.Findings) > 0
	}
	for _, what := range []string{"problem", "count", "variants", "unserved", "error", "copies", "needs", "foreign", "bare", "finding", "scan finding"} {
		if !has[what] {
			t.Errorf("no %s in the report", what)
		}
	}
}

func TestReportsKeepTheSchema(t *testing.T) {
	s := schema(t)
	if err := s.Validate(document(t, everything(t))); err != nil {
		t.Error(err)
	}
	if err := s.Validate(document(t, Build(nil, nil))); err != nil {
		t.Error(err)
	}
	paths, err := filepath.Glob("../testdata/fixtures/*")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	all, err := gpu.Parse("all")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		res := collect.Run(context.Background(), []string{p}, collect.Options{}, nil)
		for _, decoded := range []bool{false, true} {
			if decoded {
				index.DecodeAll(context.Background(), res.Files, nil)
			}
			if err := s.Validate(document(t, BuildAll(res, all))); err != nil {
				t.Errorf("%s, decoded %v: %v", p, decoded, err)
			}
		}
		res.Close()
	}
	for _, x := range nasty {
		if err := s.Validate(document(t, nastyReport(x))); err != nil && x != "" { // an empty problem is left out
			t.Errorf("%q: %v", x, err)
		}
	}
}

// Every field that the writer knows is in the schema, required unless it may
// be left out.
func TestSchemaIsComplete(t *testing.T) {
	b, err := os.ReadFile("../docs/schema/report-1.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Required   []string
		Properties map[string]json.RawMessage
		More       *bool `json:"additionalProperties"`
	}
	var doc struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{
		"": Report{}, "gpu": GPU{}, "file": File{}, "container": Container{}, "image": Image{}, "verdict": Verdict{}, "coverage": Coverage{},
		"container_counts": ContainerCounts{}, "kernel_counts": KernelCounts{}, "finding": Finding{}, "need": Need{}, "foreign": Foreign{}, "bare_cubins": BareCubins{},
		"scan": Scan{}, "scan_finding": ScanFinding{}, "distribution": Distribution{}, "distribution_coverage": DistributionCoverage{}, "dependency": Dependency{}, "unserved": Unserved{},
	} {
		o := doc.object
		if name != "" {
			o = doc.Defs[name]
		}
		if o.More == nil || !*o.More {
			t.Errorf("%q does not let fields be added", name)
		}
		required := map[string]bool{}
		for _, k := range o.Required {
			required[k] = true
		}
		typ, known := reflect.TypeOf(v), 0
		for i := range typ.NumField() {
			key, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if key == "" || key == "-" {
				continue
			}
			known++
			if o.Properties[key] == nil {
				t.Errorf("%q lacks the field %s", name, key)
			}
			if required[key] == (options == "omitempty") {
				t.Errorf("%q: field %s is required: %v", name, key, required[key])
			}
		}
		if known != len(o.Properties) {
			t.Errorf("%q has %d fields, the writer %d", name, len(o.Properties), known)
		}
	}
}

// mutate sets, or with nil removes, what a path of keys and places leads to.
func mutate(doc any, path string, value any, remove bool) error {
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		switch x := doc.(type) {
		case map[string]any:
			doc = x[k]
		case []any:
			var i int
			if _, err := fmt.Sscan(k, &i); err != nil || i >= len(x) {
				return fmt.Errorf("%s: no place %s", path, k)
			}
			doc = x[i]
		}
	}
	m, ok := doc.(map[string]any)
	last := keys[len(keys)-1]
	if _, there := m[last]; !ok || remove && !there {
		return fmt.Errorf("%s leads nowhere", path)
	}
	if remove {
		delete(m, last)
	} else {
		m[last] = value
	}
	return nil
}

func TestSchemaRefusesMutations(t *testing.T) {
	s := schema(t)
	r := everything(t)
	// Places in the report, found rather than assumed.
	with := func(is func(*File) bool) string {
		for i := range r.Files {
			if is(&r.Files[i]) {
				return fmt.Sprintf("files.%d.", i)
			}
		}
		t.Fatal("no such file")
		return ""
	}
	code := with(func(f *File) bool { return len(f.Coverage) > 0 && len(f.Containers[0].Verdicts) > 0 })
	found := with(func(f *File) bool { return len(f.Findings) > 0 })
	bare := with(func(f *File) bool { return len(f.BareCubins) > 0 })
	hip := with(func(f *File) bool { return len(f.Foreign) > 0 })
	needs := with(func(f *File) bool { return len(f.Needs) > 0 })
	const drop = "drop"
	for _, c := range []struct {
		path  string
		value any
	}{
		{"schema", "fatview/report/2"}, {"schema", drop}, {"gpus", nil}, {"files", drop}, {"scans", map[string]any{}}, {"dependencies", nil}, {"distributions", drop},
		{"gpus.0.cc", "9"}, {"gpus.0.cc", drop}, {"gpus.0.driver", drop}, {"gpus.0.driver", 535}, {"gpus.0.count", 1}, {"gpus.2.problem", ""}, {"gpus.0.force_jit", "yes"},
		{code + "path", nil}, {code + "size", -1}, {code + "size", "1"}, {code + "containers", nil}, {code + "copies", nil}, {code + "needs", drop}, {code + "bare_cubins", drop},
		{code + "containers.0.linkage", "loosely"}, {code + "containers.0.offset", -1}, {code + "containers.0.label", nil}, {code + "containers.0.verdicts", nil},
		{code + "containers.0.images.0.kind", "cubin"}, {code + "containers.0.images.0.arch", "90"}, {code + "containers.0.images.0.kernels", -1},
		{code + "containers.0.images.0.ptx_isa", "nine"}, {code + "containers.0.images.0.ptx_isa", drop}, {code + "containers.0.images.0.compression", "brotli"},
		{code + "containers.0.images.0.kind_code", "12"},
		{code + "containers.0.verdicts.0.verdict", "partial"}, {code + "containers.0.verdicts.0.image", "0"}, {code + "containers.0.verdicts.0.rule", drop}, {code + "containers.0.verdicts.0.gpu", -1},
		{code + "coverage.0.verdict", "missing"}, {code + "coverage.0.min_driver", drop}, {code + "coverage.0.min_driver_confirmed", nil}, {code + "coverage.0.containers.empty", drop}, {code + "coverage.0.kernels.native", 1.5},
		{found + "findings.0.severity", "fatal"}, {found + "findings.0.offset", -1}, {found + "findings.0.message", drop},
		{bare + "bare_cubins.0.count", 0}, {bare + "bare_cubins.0.arch", "compute_80"}, {hip + "foreign.0.targets", nil}, {hip + "foreign.0.vendor", drop}, {needs + "needs.0.product", drop},
		{"scans.0.entries", -1}, {"scans.0.findings", nil}, {"scans.2.error", nil}, {"scans.0.kind", drop},
		{"distributions.0.files", nil}, {"distributions.0.variants.0", drop}, {"distributions.0.coverage.0.verdict", "empty"}, {"distributions.0.name", drop},
		{"dependencies.0.through", nil}, {"dependencies.0.unserved.0.verdict", "native"}, {"dependencies.0.to", drop},
	} {
		doc := document(t, r)
		if c.path == "distributions.0.variants.0" { // a group of one
			doc.(map[string]any)["distributions"].([]any)[0].(map[string]any)["variants"] = []any{[]any{json.Number("0")}}
		} else {
			value := c.value
			if n, ok := value.(float64); ok {
				value = json.Number(fmt.Sprint(n))
			} else if n, ok := value.(int); ok {
				value = json.Number(fmt.Sprint(n))
			}
			if err := mutate(doc, c.path, value, value == drop); err != nil {
				t.Error(err)
				continue
			}
		}
		if s.Validate(doc) == nil {
			t.Errorf("the schema takes %s = %v", c.path, c.value)
		}
	}
	// What a later version adds does not break a reader.
	doc := document(t, r)
	for _, path := range []string{"new", code + "new", code + "containers.0.new", code + "coverage.0.containers.new"} {
		if err := mutate(doc, path, "x", false); err != nil {
			t.Error(err)
		}
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("added fields are refused: %v", err)
	}
}

// Every word that the packages below have is one that the schema knows.
func TestSchemaKnowsEveryWord(t *testing.T) {
	b, err := os.ReadFile("../docs/schema/report-1.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct{ Enum []string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	check := func(def, field string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !slices.Contains(doc.Defs[def].Properties[field].Enum, w) {
				t.Errorf("%s of %s may not be %q", field, def, w)
			}
		}
	}
	for k := range fatbin.Kind(300) {
		check("image", "kind", k.String())
	}
	for c := range fatbin.Compression(100) {
		check("image", "compression", c.String())
	}
	for _, l := range []index.Linkage{index.Registered, index.Linked, index.Relocatable, index.Embedded, index.Loose} {
		check("container", "linkage", string(l))
	}
	for v := range coverage.Verdict(20) {
		if w := v.String(); w != "unknown" {
			of := "coverage"
			if w == "missing" || w == "specialised" || w == "empty" {
				of = "verdict"
			}
			check(of, "verdict", w)
		}
	}
}
