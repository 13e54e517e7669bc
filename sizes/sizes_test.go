package sizes

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	for _, f := range files {
		if err := f.Search(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func built(t testing.TB, path string, data []byte) *Report {
	t.Helper()
	r, err := Build(context.Background(), opened(t, path, data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// balance checks that the parts of a file add up to the whole.
func balance(t testing.TB, f *File) {
	t.Helper()
	equal := func(what string, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s: %d, want %d", f.Path, what, got, want)
		}
	}
	var inside, outside, stored, decompressed int64
	for _, c := range f.Containers {
		equal(fmt.Sprintf("container %d", c.ID), c.Stored+c.Headers+c.Padding, c.Size)
		in := false
		for _, s := range f.Sections {
			in = in || c.Offset >= s.Offset && c.Offset < s.Offset+s.Size
		}
		if in {
			inside += c.Size
		} else {
			outside += c.Size
		}
		stored += c.Stored
		decompressed += c.Bytes
	}
	var sections, between, within int64
	for _, s := range f.Sections {
		equal("section "+s.Name, s.Inside+s.Padding, s.Size)
		sections += s.Size
		between += s.Padding
		within += s.Inside
	}
	equal("containers in sections", within, inside)
	equal("device bytes", f.Device, sections+outside)
	equal("payloads, headers and padding", f.Stored+f.Headers+f.Padding, f.Device)
	equal("stored", f.Stored, stored)
	equal("decompressed", f.Bytes, decompressed)
	for what, list := range map[string][]Group{"kinds": f.Kinds, "compressions": f.Stores} {
		var a, b int64
		for _, g := range list {
			a += g.Stored
			b += g.Bytes
		}
		equal(what+" stored", a, stored)
		equal(what+" decompressed", b, decompressed)
	}
	var a, b, mercury int64
	for i := range f.Archs {
		a += f.Archs[i].Stored
		b += f.Archs[i].Bytes
		mercury += f.Archs[i].Mercury
	}
	equal("architectures stored", a, stored)
	equal("architectures decompressed", b, decompressed)
	equal("Mercury", mercury, f.Mercury)
	var families, kernels, shares, parts int64
	for _, x := range f.Families {
		families += x.Code
		shares += x.Share
	}
	for _, x := range f.Kernels {
		kernels += x.Code
		parts += x.Share
	}
	equal("families", families, kernels)
	equal("shares", shares, parts)
	if kernels > f.Code || shares > f.Stored {
		t.Errorf("%s: kernels have %d of %d bytes of code, %d of %d stored", f.Path, kernels, f.Code, shares, f.Stored)
	}
}

// Every byte of every section of every fixture is accounted for, and sections
// are as large as debug/elf says.
func TestSums(t *testing.T) {
	paths, err := filepath.Glob("../testdata/fixtures/*")
	if err != nil || len(paths) < 30 {
		t.Fatal("fixtures are missing", err)
	}
	sections := 0
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files, err := index.Read(context.Background(), filepath.Base(p), bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			continue // the ones that are no libraries
		}
		for _, f := range files {
			if err := f.Search(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Build(context.Background(), files)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Files {
			balance(t, &r.Files[i])
		}
		host, err := elf.NewFile(bytes.NewReader(data))
		if err != nil || host.Machine == 190 {
			continue
		}
		for _, s := range r.Files[0].Sections {
			sec := host.Section(s.Name)
			if sec == nil || int64(sec.Size) != s.Size || int64(sec.Offset) != s.Offset {
				t.Errorf("%s: section %+v, debug/elf says %+v", p, s, sec)
			}
			sections++
		}
	}
	if sections < 15 {
		t.Errorf("only %d sections compared", sections)
	}
}

// kernel is a kernel with code of its own: fatbintest fills code with one byte,
// so its size tells codes apart.
func kernel(name string, size int) fatbintest.Kernel {
	return fatbintest.Kernel{Name: name, Code: size}
}

func cubin(arch string, ks ...fatbintest.Kernel) []byte {
	return fatbintest.Cubin{Arch: arch, Kernels: ks}.Bytes()
}

func TestKernelsAndTwins(t *testing.T) {
	const float, double = "_Z5saxpyIfEviT_PKS0_PS0_", "_Z5saxpyIdEviT_PKS0_PS0_"
	data := fatbintest.Join(
		fatbintest.NewContainer().SASS("80", cubin("80", kernel(float, 128), kernel(double, 256))).SASS("90", cubin("90", kernel(float, 512))).Bytes(),
		fatbintest.NewContainer().SASS("80", cubin("80", kernel(float, 128), kernel("fill", 1024)), fatbintest.Zstd).Bytes(),
		fatbintest.NewContainer().SASS("80", cubin("80", kernel(float, 128), kernel("again", 1024), kernel("own", 2048))).Bytes(),
	)
	f := &built(t, "x", data).Files[0]
	balance(t, f)
	if len(f.Findings) != 0 || f.Code != 128+256+512+128+1024+128+1024+2048 {
		t.Errorf("%d bytes of code, %v", f.Code, f.Findings)
	}
	var got []string
	for _, k := range f.Kernels {
		got = append(got, fmt.Sprintf("%s %s %d %d", k.Short, k.Family, k.Copies, k.Code))
	}
	if s := strings.Join(got, ", "); s != "own own 1 2048, again again 1 1024, fill fill 1 1024, saxpy<float> saxpy 4 896, saxpy<double> saxpy 1 256" {
		t.Errorf("kernels %s", s)
	}
	got = nil
	for _, k := range f.Families {
		got = append(got, fmt.Sprintf("%s %d %d %d", k.Name, k.Names, k.Copies, k.Code))
	}
	if s := strings.Join(got, ", "); s != "own 1 1 2048, saxpy 2 5 1152, again 1 1 1024, fill 1 1 1024" {
		t.Errorf("families %s", s)
	}
	got = nil
	for _, k := range f.Twins.Costlies {
		got = append(got, fmt.Sprintf("%s %s %d in %d: %d", k.Short, k.Arch, k.Size, k.Containers, k.Wasted))
	}
	// again and fill have the same code under two names.
	if s := strings.Join(got, ", "); s != "fill sm_80 1024 in 2: 1024, saxpy<float> sm_80 128 in 3: 256" {
		t.Errorf("twins %s", s)
	}
	if f.Twins.Codes != 2 || f.Twins.Copies != 3 || f.Twins.Code != 1280 {
		t.Errorf("twins %+v", f.Twins)
	}
	// Raw, the share of code in what is stored is its size.
	for _, k := range f.Kernels {
		if k.Name == "own" && k.Share != 2048 {
			t.Errorf("own takes %d of the stored bytes", k.Share)
		}
	}
}

// sentences are what is told of each architecture.
func sentences(t *testing.T, data []byte) string {
	t.Helper()
	f := &built(t, "x", data).Files[0]
	var out []string
	for i := range f.Archs {
		out = append(out, f.Archs[i].Name+": "+Sentence(f.Archs[i].Without))
	}
	return strings.Join(out, "\n")
}

// The expected answers follow from CUDA's rules: machine code runs on its major
// capability from its minor on, PTX compiles for anything at or above it, a
// suffix a is for one capability alone.
func TestWithout(t *testing.T) {
	k := kernel("k", 128)
	ptx := func(arch string) string {
		return ".version 8.4\n.target sm_" + arch + "\n.visible .entry k() { ret; }\n"
	}
	one := fatbintest.NewContainer().SASS("80", cubin("80", k)).SASS("86", cubin("86", k)).SASS("90a", cubin("90a", k)).PTX("80", "8.4", ptx("80"))
	got := sentences(t, one.Bytes())
	for _, want := range []string{
		"sm_80: 8.0 runs compute_80 by JIT",
		"sm_86: 8.6, 8.7, 8.8, 8.9 run sm_80 natively",
		"sm_90a: 9.0 runs compute_80 by JIT",
		"compute_80: 10.0, 10.3, 10.7, 11.0, 12.0, 12.1 run nothing",
	} {
		if !strings.Contains("\n"+got+"\n", "\n"+want+"\n") {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
	two := fatbintest.Join(
		fatbintest.NewContainer().SASS("80", cubin("80", k)).SASS("86", cubin("86", k)).Bytes(),
		fatbintest.NewContainer().SASS("86", cubin("86", k)).PTX("90", "8.4", ptx("90")).Bytes(),
		fatbintest.NewContainer().SASS("75", cubin("75")).SASS("86", cubin("86")).Bytes(),
	)
	got = sentences(t, two)
	for _, want := range []string{
		"sm_75: nothing changes, for no GPU runs it",
		"sm_80: 8.0 runs nothing",
		"sm_86: 8.6, 8.7, 8.8, 8.9 run sm_80 natively in 1 of 2 containers, nothing in 1 of 2 containers",
	} {
		if !strings.Contains("\n"+got+"\n", "\n"+want+"\n") {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
	f := &built(t, "x", two).Files[0]
	for i := range f.Archs {
		for _, e := range f.Archs[i].Without {
			if f.Archs[i].Name == "sm_86" && e.CC == "8.6" && (e.Before != "native" || e.After != "partial" || e.Containers != 2) {
				t.Errorf("8.6 without sm_86: %+v", e)
			}
		}
	}
}

// What is not zstd is compressed and measured; what is stays out of it.
func TestZstd(t *testing.T) {
	big := cubin("80", kernel("k", 100_000))
	data := fatbintest.NewContainer().SASS("80", big).SASS("86", big, fatbintest.LZ4).SASS("90", big, fatbintest.Zstd).Bytes()
	z := built(t, "x", data).Files[0].Zstd
	pad := int64(len(big)+7) &^ 7
	if z.SampledImages != 2 || z.Bytes != z.SampledBytes || z.Bytes < 2*int64(len(big)) || z.Bytes > 2*pad {
		t.Errorf("%+v of %d", z, len(big))
	}
	if z.Estimate != z.SampledZstd || z.Saving != z.Stored-z.Estimate || z.Saving < int64(len(big))*9/10 {
		t.Errorf("%+v", z) // code of one byte compresses to almost nothing
	}
	files := opened(t, "x", data)
	f := layout(files[0])
	if s := f.sample(files[0], pad+10); len(s[0]) != 1 {
		t.Errorf("a sample of one image takes %v", s)
	}
	if s := f.sample(files[0], 10); len(s[0]) != 0 {
		t.Errorf("a sample of ten bytes takes %v", s)
	}
	all := built(t, "x", fatbintest.NewContainer().SASS("80", big, fatbintest.Zstd).Bytes()).Files[0].Zstd
	if all != (Zstd{}) {
		t.Errorf("all is zstd, and %+v", all)
	}
}

func TestMercury(t *testing.T) {
	c := fatbintest.Cubin{Arch: "100", Kernels: []fatbintest.Kernel{kernel("a", 128), kernel("b", 128)}, Mercury: 96}
	f := built(t, "x", fatbintest.NewContainer().SASS("100", c.Bytes()).Bytes()).Files[0]
	if f.Mercury != 2*96 || f.Archs[0].Mercury != 2*96 {
		t.Errorf("%d bytes of Mercury", f.Mercury)
	}
}

func TestFormats(t *testing.T) {
	data, err := os.ReadFile("../testdata/fixtures/mixed.so")
	if err != nil {
		t.Fatal(err)
	}
	r := built(t, "=mixed.so", data)
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var again Report
	if err := json.Unmarshal(b.Bytes(), &again); err != nil || again.Schema != "fatview/sizes/1" || strings.Contains(b.String(), "null") {
		t.Errorf("%v: %s", err, b.String())
	}
	empty := built(t, "x", fatbintest.ELF{Sections: []fatbintest.HostSection{{Name: ".data", Data: []byte("x")}}}.Bytes())
	b.Reset()
	if err := JSON(&b, empty); err != nil || strings.Contains(b.String(), "null") {
		t.Errorf("%v: %s", err, b.String())
	}
	b.Reset()
	if err := Text(&b, empty, Options{Top: 3}); err != nil || !strings.Contains(b.String(), "no device code") {
		t.Errorf("%v: %s", err, b.String())
	}
	b.Reset()
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var archs int64
	for _, row := range rows[1:] {
		if row[0] != "'=mixed.so" {
			t.Fatalf("path %q", row[0])
		}
		if row[1] == "arch" {
			var n int64
			fmt.Sscan(row[4], &n)
			archs += n
		}
	}
	if archs != r.Files[0].Stored {
		t.Errorf("architectures of the CSV store %d, not %d", archs, r.Files[0].Stored)
	}
	b.Reset()
	if err := Text(&b, r, Options{Top: 2, Width: 60}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		part, all int64
		want      string
	}{{0, 10, "0 %"}, {1, 1000, "<1 %"}, {5, 10, "50 %"}, {10, 10, "100 %"}, {5, 0, "0 %"}} {
		if got := percent(tt.part, tt.all); got != tt.want {
			t.Errorf("%d of %d: %s", tt.part, tt.all, got)
		}
	}
	for _, tt := range []struct {
		n, most int64
		want    int
	}{{0, 9, 0}, {1, 1000, 1}, {500, 1000, 10}, {1000, 1000, 20}, {5, 0, 0}} {
		if got := len([]rune(bar(tt.n, tt.most))); got != tt.want {
			t.Errorf("a bar of %d in %d is %d long", tt.n, tt.most, got)
		}
	}
}

// FuzzBuild: whatever the bytes, no panic, and nothing is negative.
func FuzzBuild(f *testing.F) {
	f.Add(fatbintest.NewContainer().SASS("80", cubin("80", kernel("a", 128)), fatbintest.LZ4).PTX("80", "8.4", ".version 8.4\n.target sm_80\n.entry a() {}\n").Bytes())
	f.Add(fatbintest.NewContainer().Concat([]fatbintest.Entry{fatbintest.SASSEntry("80", cubin("80", kernel("a", 128))), fatbintest.SASSEntry("90", cubin("90"))}, fatbintest.Zstd).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := index.Read(context.Background(), "x", bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			t.Skip()
		}
		r, err := Build(context.Background(), files)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Files {
			if x.Headers < 0 || x.Padding < 0 || x.Stored < 0 || x.Device < 0 || x.Device > int64(len(data)) {
				t.Fatalf("%+v", x)
			}
			for _, c := range x.Containers {
				if c.Headers < 0 || c.Padding < 0 || c.Size < 0 {
					t.Fatalf("%+v", c)
				}
			}
		}
		if err := Text(&bytes.Buffer{}, r, Options{Top: 5}); err != nil {
			t.Fatal(err)
		}
	})
}
