package kernels

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fatview/index"
	"fatview/internal/fatbintest"
)

func opened(t testing.TB, path string, data []byte) []*index.File {
	t.Helper()
	files, err := index.Read(context.Background(), path, bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func fixture(t testing.TB, name string) []*index.File {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../testdata/fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return opened(t, name, b)
}

func written(t testing.TB, format string, files []*index.File, o Options, s Style) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(context.Background(), &b, format, files, o, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// usage is what cuobjdump -res-usage prints of kernels: those lines that have a
// constant bank. Device functions have none, and are not listed here.
func usage(t *testing.T, path string) (want []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	arch, function := "", ""
	for line := range strings.Lines(strings.ReplaceAll(string(b), "\r", "")) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "arch = "):
			arch = line[len("arch = "):]
		case strings.HasPrefix(line, "Function "):
			function = strings.TrimSuffix(line[len("Function "):], ":")
		case strings.HasPrefix(line, "REG:") && strings.Contains(line, "CONSTANT["):
			want = append(want, arch+" "+function+" "+line)
		}
	}
	return want
}

// TestResourceUsage compares every number of every kernel of every fixture
// with NVIDIA's listing, by way of the JSON.
func TestResourceUsage(t *testing.T) {
	paths, err := filepath.Glob("../testdata/expected/*.res")
	if err != nil || len(paths) < 20 {
		t.Fatal("listings are missing", err)
	}
	compared := 0
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".res")
		var got []string
		for line := range strings.Lines(written(t, "ndjson", fixture(t, name), Options{}, Style{})) {
			var r JSONRow
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if r.Kind != "sass" {
				continue
			}
			arch := r.Arch
			if filepath.Ext(name) == ".cubin" {
				arch = "" // a loose cubin is listed without a header
			}
			s := fmt.Sprintf("%s %s REG:%d STACK:%d SHARED:%d LOCAL:%d", arch, r.Name, *r.Registers, *r.Stack, *r.Shared, *r.Local)
			for _, b := range r.Constant {
				s += fmt.Sprintf(" CONSTANT[%d]:%d", b.Number, b.Bytes)
			}
			got = append(got, s+fmt.Sprintf(" TEXTURE:%d SURFACE:%d SAMPLER:%d", *r.Textures, *r.Surfaces, *r.Samplers))
		}
		want := usage(t, p)
		slices.Sort(want) // -all lists the inputs of a device link in its own order
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		compared += len(want)
	}
	if compared != 290 { // lines with a constant bank in all listings together
		t.Errorf("%d kernels compared", compared)
	}
}

// made is a container with everything that a kernel can have.
func made() []byte {
	cubin := fatbintest.Cubin{Arch: "sm_90a", Unit: "made.cu", Kernels: []fatbintest.Kernel{
		{Name: "big", Code: 512, Registers: 255, Stack: 16, Shared: 4096, Const: 560, OtherConst: map[int]int{2: 8, 4: 16}, Params: 32, ParamCount: 4, ReqThreads: [3]uint32{64, 2, 1}, Cluster: [3]uint32{2, 1, 1}, Barriers: 3},
		{Name: "_Z5saxpyIfEviT_PKS0_PS0_", Code: 128, Registers: 10, Const: 552, MaxThreads: [3]uint32{256, 1, 1}},
		{Name: "=cmd|' /C calc'!A0", Registers: 1},
	}}
	return fatbintest.NewContainer().SASS("sm_90a", cubin.Bytes()).PTX("90", "8.4", ".version 8.4\n.target sm_90\n.visible .entry big() .maxntid 32, 4 { ret; }\n").Bytes()
}

func TestTable(t *testing.T) {
	want := strings.Join([]string{
		"# made.fatbin",
		" cont  img arch            regs  stack  shared      const  bar  params   threads  cluster     code kernel",
		"    0    0 sm_90a           255     16    4096 [4]16,[2]8,[0]560    3      32     =64x2        2      512 big",
		"    0    0 sm_90a            10      0       0        552    0       0       256        -      128 saxpy<float>",
		"    0    0 sm_90a             1      0       0          0    0       0         -        -      128 =cmd|' /C calc'!A0",
		"    0    1 compute_90         -      -       -          -    -       -      32x4        -        - big", "",
	}, "\n")
	if got := written(t, "text", opened(t, "made.fatbin", made()), Options{}, Style{}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	raw := written(t, "text", opened(t, "made.fatbin", made()), Options{}, Style{Raw: true, Width: 118})
	if !strings.Contains(raw, " 128 _Z5saxpyIfEviT_PKS…\n") {
		t.Errorf("the name is not cut to the terminal:\n%s", raw)
	}
	for line := range strings.Lines(raw) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 118 && !strings.Contains(line, "[0]") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestCSV(t *testing.T) {
	text := written(t, "csv", opened(t, "@made.fatbin", made()), Options{}, Style{})
	if strings.Count(text, "\r\n") != strings.Count(text, "\n") || !strings.HasSuffix(text, "\r\n") {
		t.Errorf("lines do not end in CR LF: %q", text)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		strings.Split("path,container,image,kind,arch,unit,registers,stack,max_stack,shared,local,constant0,constant_other,textures,surfaces,samplers,barriers,code,parameter_bytes,parameters,max_threads,required_threads,cluster,kernel,demangled", ","),
		strings.Split("'@made.fatbin,0,0,sass,sm_90a,made.cu,255,16,0,4096,0,560,4:16 2:8,0,0,0,3,512,32,4,,64x2,2,big,big", ","),
		strings.Split("'@made.fatbin,0,0,sass,sm_90a,made.cu,10,0,0,0,0,552,,0,0,0,0,128,0,0,256,,,_Z5saxpyIfEviT_PKS0_PS0_,saxpy<float>", ","),
		strings.Split("'@made.fatbin,0,0,sass,sm_90a,made.cu,1,0,0,0,0,0,,0,0,0,0,128,0,0,,,,'=cmd|' /C calc'!A0,'=cmd|' /C calc'!A0", ","),
		strings.Split("'@made.fatbin,0,1,ptx,compute_90,made.cu,,,,,,,,,,,,,,,32x4,,,big,big", ","),
	}
	if fmt.Sprintf("%q", rows) != fmt.Sprintf("%q", want) {
		t.Errorf("got  %q\nwant %q", rows, want)
	}
}

// The JSON is one value with the same rows as the NDJSON, no array in it is
// null, and damage is in its findings.
func TestJSON(t *testing.T) {
	bad := fatbintest.NewContainer().SASS("80", []byte("no cubin"), fatbintest.Zstd, fatbintest.Packed([]byte("no frame"))).Bytes()
	files := opened(t, "made.fatbin", fatbintest.Join(made(), bad))
	text := written(t, "json", files, Options{}, Style{})
	var doc struct {
		Schema   string        `json:"schema"`
		Files    []JSONFile    `json:"files"`
		Kernels  []JSONRow     `json:"kernels"`
		Findings []JSONFinding `json:"findings"`
		Count    int           `json:"count"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if doc.Schema != "fatview/kernels/1" || len(doc.Files) != 1 || doc.Files[0].Containers != 2 || doc.Count != 4 || len(doc.Kernels) != 4 {
		t.Errorf("%+v", doc)
	}
	if len(doc.Findings) != 1 || doc.Findings[0].Severity != "error" || doc.Findings[0].Offset == nil {
		t.Errorf("findings %+v", doc.Findings)
	}
	ptx := doc.Kernels[3]
	if ptx.Registers != nil || ptx.Code != nil || ptx.Constant == nil || fmt.Sprint(ptx.MaxThreads) != "[32 4 1]" {
		t.Errorf("PTX row %+v", ptx)
	}
	for _, key := range []string{"constant", "max_threads", "required_threads", "cluster", "findings", "kernels", "files"} {
		if strings.Contains(text, `"`+key+`":null`) {
			t.Errorf("%s is null", key)
		}
	}
	lines := strings.Split(strings.TrimSpace(written(t, "ndjson", files, Options{}, Style{})), "\n")
	for i, line := range lines {
		var r JSONRow
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Path != "made.fatbin" {
			t.Fatalf("%v, path %q", err, r.Path)
		}
		zero := 0
		r.Path, r.File = "", &zero
		a, _ := json.Marshal(r)
		b, _ := json.Marshal(doc.Kernels[i])
		if !bytes.Equal(a, b) {
			t.Errorf("line %d\n got %s\nwant %s", i, a, b)
		}
	}
	empty := written(t, "json", nil, Options{}, Style{})
	if !json.Valid([]byte(empty)) || strings.Contains(empty, "null") {
		t.Errorf("without files: %s", empty)
	}
}

// names are the kernels that a filter lets through.
func names(t *testing.T, data []byte, o Options) string {
	t.Helper()
	var out []string
	err := Each(context.Background(), opened(t, "x", data), o, func(r *Row) error {
		out = append(out, fmt.Sprintf("%d/%s/%s", r.Container, r.Arch, r.Short))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func archs(t *testing.T, words ...string) (list []Arch) {
	for _, w := range words {
		a, err := ParseArch(w)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

func TestFilters(t *testing.T) {
	cubin := func(kernels ...fatbintest.Kernel) []byte { return fatbintest.Cubin{Kernels: kernels}.Bytes() }
	a := fatbintest.Kernel{Name: "a", Registers: 128, Code: 64, Shared: 5}
	b := fatbintest.Kernel{Name: "_Z1bIfEvT_", Registers: 129, Code: 640}
	data := fatbintest.Join(
		fatbintest.NewContainer().SASS("80", cubin(a, b)).SASS("90a", cubin(b)).PTX("90", "8.4", ".version 8.4\n.target sm_90\n.entry a() {}\n").Bytes(),
		fatbintest.NewContainer().SASS("90", cubin(a)).Bytes(),
	)
	bounds := func(s string) Bounds {
		n, err := ParseBounds(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	all := "0/sm_80/a 0/sm_80/b<float> 0/sm_90a/b<float> 0/compute_90/a 1/sm_90/a"
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, all},
		{Options{Filter: Filter{Archs: archs(t, "sm_90")}}, "1/sm_90/a"},
		{Options{Filter: Filter{Archs: archs(t, "sm_90a", "compute_90")}}, "0/sm_90a/b<float> 0/compute_90/a"},
		{Options{Filter: Filter{Archs: archs(t, "9.0")}}, "0/compute_90/a 1/sm_90/a"},
		{Options{Filter: Filter{Archs: archs(t, "sm_70")}}, ""},
		{Options{Filter: Filter{Name: "B<FLOAT"}}, "0/sm_80/b<float> 0/sm_90a/b<float>"},
		{Options{Filter: Filter{Name: "_Z1b"}}, "0/sm_80/b<float> 0/sm_90a/b<float>"},
		{Options{Filter: Filter{Registers: bounds(">128")}}, "0/sm_80/b<float> 0/sm_90a/b<float>"},
		{Options{Filter: Filter{Registers: bounds(">=1, <129")}}, "0/sm_80/a 1/sm_90/a"},
		{Options{Filter: Filter{Registers: bounds("128")}}, "0/sm_80/a 1/sm_90/a"},
		{Options{Filter: Filter{Containers: []int{1}}}, "1/sm_90/a"},
		{Options{Filter: Filter{Containers: []int{7}}}, ""},
		{Options{Sort: "regs"}, "0/sm_80/b<float> 0/sm_90a/b<float> 0/sm_80/a 1/sm_90/a 0/compute_90/a"},
		{Options{Sort: "code"}, "0/sm_80/b<float> 0/sm_90a/b<float> 0/sm_80/a 1/sm_90/a 0/compute_90/a"},
		{Options{Sort: "shared"}, "0/sm_80/a 1/sm_90/a 0/sm_80/b<float> 0/sm_90a/b<float> 0/compute_90/a"},
		{Options{Sort: "stack"}, all},
		{Options{Sort: "name"}, "0/sm_80/a 0/compute_90/a 1/sm_90/a 0/sm_80/b<float> 0/sm_90a/b<float>"},
	} {
		if got := names(t, data, tt.o); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.o, got, tt.want)
		}
	}
	for _, bad := range []string{"", ">", "128x", ">-1", "=>3", ">1,,<3", "99999999999999999999"} {
		if _, err := ParseBounds(bad); err == nil {
			t.Errorf("%q passes for a condition", bad)
		}
	}
	for _, n := range []uint64{0, 127, 128, 129} {
		for s, want := range map[string]bool{">128": n > 128, ">=128": n >= 128, "<128": n < 128, "<=128": n <= 128, "!=128": n != 128, "= 128": n == 128} {
			if got := bounds(s).Hold(n); got != want {
				t.Errorf("%d %s: %v", n, s, got)
			}
		}
	}
	if err := Each(context.Background(), nil, Options{Sort: "colour"}, nil); err == nil {
		t.Error("sorts by colour")
	}
}

// A cubin of CUDA 11 keeps the number of barriers in the flags of the text
// section, a newer one in an attribute: the same source gives the same.
func TestBarriers(t *testing.T) {
	for _, name := range []string{"raw-sm_35.cubin", "raw-sm_80.cubin", "raw-sm_120a.cubin"} {
		n := 0
		err := Each(context.Background(), fixture(t, name), Options{}, func(r *Row) error {
			if n++; r.Barriers != 1 { // block_sum has __syncthreads and no other
				t.Errorf("%s: %s has %d barriers", name, r.Short, r.Barriers)
			}
			return nil
		})
		if err != nil || n != 2 {
			t.Errorf("%s: %d kernels, %v", name, n, err)
		}
	}
}

// What Each hands on does not stay: a listing of many containers takes the
// memory of few, and an error of the writer ends it.
func TestBounded(t *testing.T) {
	one := made()
	var many [][]byte
	for range 500 {
		many = append(many, one)
	}
	files := opened(t, "x", fatbintest.Join(many...))
	if n, err := Write(context.Background(), io.Discard, "csv", files, Options{}, Style{}); err != nil || n != 2000 {
		t.Errorf("%d rows, %v", n, err)
	}
	for _, c := range files[0].Containers {
		if c.Decoded() != nil {
			t.Fatal("what was listed is kept")
		}
	}
	if n, err := Write(context.Background(), fullDisk{}, "json", files, Options{}, Style{}); err == nil || n > 200 {
		t.Errorf("a full disk: %d rows, %v", n, err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// FuzzParseBounds: no panic, and no condition is lost.
func FuzzParseBounds(f *testing.F) {
	f.Add(">128,<=3")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBounds(s)
		if err == nil && len(b) != strings.Count(s, ",")+1 {
			t.Fatalf("%q has %d conditions", s, len(b))
		}
	})
}
