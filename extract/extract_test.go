package extract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fatview/fatbin"
	"fatview/index"
	"fatview/internal/fatbintest"
	"fatview/kernels"
)

func opened(t testing.TB, path string, data []byte) []*index.File {
	t.Helper()
	files, err := index.Read(context.Background(), path, bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../testdata/fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// extracted takes things into a new folder and returns what is in it.
func extracted(t testing.TB, files []*index.File, c Choice) (*Writer, map[string][]byte) {
	t.Helper()
	items, err := List(context.Background(), files, c)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := writer(t, dir)
	if err := w.Write(context.Background(), items); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = b
	}
	if len(out) != w.Manifest.Count || len(out) != len(w.Manifest.Files) {
		t.Errorf("%d files, the manifest says %d", len(out), w.Manifest.Count)
	}
	var sum int64
	for _, f := range w.Manifest.Files {
		b := out[f.File]
		sum += f.Bytes
		if int64(len(b)) != f.Bytes || fmt.Sprintf("%x", sha256.Sum256(b)) != f.SHA256 || !f.Verified {
			t.Errorf("%s: %d bytes, the manifest says %+v", f.File, len(b), f)
		}
	}
	if sum != w.Manifest.Bytes {
		t.Errorf("%d bytes, the manifest says %d", sum, w.Manifest.Bytes)
	}
	return w, out
}

func writer(t testing.TB, dir string) *Writer {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &Writer{Root: root, Verify: true, Manifest: NewManifest(dir)}
}

func names(m map[string][]byte) string {
	var out []string
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Every compression gives the bytes that stand in the file of the mode without
// one, at the offset that the manifest tells.
func TestImagesAsStored(t *testing.T) {
	plain := fixture(t, "mode-none.fatbin")
	w, want := extracted(t, opened(t, "mode-none.fatbin", plain), Choice{})
	const all = "c000-i0.sm_80.cubin c000-i1.sm_90a.cubin c000-i2.sm_100f.cubin c000-i3.sm_120.cubin c000-i4.compute_120.ptx"
	if got := names(want); got != all {
		t.Fatalf("got %s, want %s", got, all)
	}
	for _, f := range w.Manifest.Files {
		b, at := want[f.File], plain[f.Offset:f.Offset+f.Stored]
		if !bytes.HasPrefix(at, b) || len(at)-len(b) > 8 || len(bytes.Trim(at[len(b):], "\x00")) != 0 {
			t.Errorf("%s is not what stands at %#x", f.File, f.Offset)
		}
	}
	byArch := func(m map[string][]byte) map[string][]byte {
		out := map[string][]byte{}
		for n, b := range m {
			_, rest, _ := strings.Cut(n, ".")
			out[rest] = b
		}
		return out
	}
	for _, mode := range []string{"default", "size", "speed", "balance", "concat"} {
		name := "mode-" + mode + ".fatbin"
		_, got := extracted(t, opened(t, name, fixture(t, name)), Choice{})
		a, b := byArch(got), byArch(want)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s gives other bytes", name)
		}
	}
}

// Containers are the bytes of the file.
func TestContainers(t *testing.T) {
	data := fixture(t, "mixed.so")
	w, got := extracted(t, opened(t, "mixed.so", data), Choice{What: Containers})
	if names(got) != "c000.fatbin c001.fatbin c002.fatbin" {
		t.Errorf("%s", names(got))
	}
	for _, f := range w.Manifest.Files {
		if !bytes.Equal(got[f.File], data[f.Offset:f.Offset+f.Bytes]) || f.Image != nil {
			t.Errorf("%s is not what stands at %#x", f.File, f.Offset)
		}
	}
	raw := fixture(t, "raw-sm_80.cubin")
	if _, got := extracted(t, opened(t, "x", raw), Choice{What: Containers}); !bytes.Equal(got["c000.cubin"], raw) {
		t.Errorf("a cubin by itself: %s", names(got))
	}
}

// The code of a kernel is the section that debug/elf finds.
func TestKernels(t *testing.T) {
	raw := fixture(t, "raw-sm_80.cubin")
	want, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	w, got := extracted(t, opened(t, "x", raw), Choice{What: Kernels, Kernel: "block_sum<256"})
	if len(got) != 1 {
		t.Fatalf("%s", names(got))
	}
	f := w.Manifest.Files[0]
	sec := want.Section(".text." + *f.Kernel)
	code, err := sec.Data()
	if err != nil || !bytes.Equal(code, got[f.File]) || *f.InCubin != int64(sec.Offset) || f.File != "c000-i0-sm_80-_ZN5stats9block_sumILi256EEEvPKfPfi.text" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, got := extracted(t, opened(t, "x", raw), Choice{What: Kernels, Kernel: "stats"}); len(got) != 2 {
		t.Errorf("%s", names(got))
	}
}

func TestChoices(t *testing.T) {
	cubin := func(name string) []byte {
		return fatbintest.Cubin{Unit: "dir/../uni t.cu", Kernels: []fatbintest.Kernel{{Name: name}}}.Bytes()
	}
	ptx := ".version 8.4\n.target sm_90\n.entry a() {}\n"
	data := fatbintest.Join(
		fatbintest.NewContainer().SASS("80", cubin("a")).SASS("90a", cubin("A"), fatbintest.Zstd).PTX("90", "8.4", ptx, fatbintest.LZ4).Bytes(),
		fatbintest.NewContainer().SASS("90", cubin("b")).Other(fatbintest.KindNVVM, "90", []byte("scrambled"), fatbintest.Flags(0x10000)).Other(fatbintest.KindTileIR, "100", []byte("tile")).Bytes(),
	)
	image := func(s string) Choice {
		var c Choice
		if err := c.ParseImage(s); err != nil {
			t.Fatal(err)
		}
		return c
	}
	arch := func(s string) Choice {
		a, err := kernels.ParseArch(s)
		if err != nil {
			t.Fatal(err)
		}
		return Choice{Archs: []kernels.Arch{a}}
	}
	kind := func(s string) Choice {
		k, err := ParseKinds(s)
		if err != nil {
			t.Fatal(err)
		}
		return Choice{Kinds: k}
	}
	u := "-dir____uni_t.cu" // compilers write a file's name into symbols like this
	for _, tt := range []struct {
		c    Choice
		want string
	}{
		{image("0.1"), "c000-i1" + u + ".sm_90a.cubin"},
		{image("1"), "c001-i0" + u + ".sm_90.cubin c001-i1" + u + ".compute_90.ltoir c001-i2" + u + ".compute_100.tileir"},
		{image("7.0"), ""},
		{image("0.9"), ""},
		{arch("sm_90a"), "c000-i1" + u + ".sm_90a.cubin"},
		{arch("compute_90"), "c000-i2" + u + ".compute_90.ptx c001-i1" + u + ".compute_90.ltoir"},
		{arch("9.0"), "c000-i2" + u + ".compute_90.ptx c001-i0" + u + ".sm_90.cubin c001-i1" + u + ".compute_90.ltoir"},
		{kind("ptx"), "c000-i2" + u + ".compute_90.ptx"},
		{kind("lto"), "c001-i1" + u + ".compute_90.ltoir"},
		{kind("tileir"), "c001-i2" + u + ".compute_100.tileir"},
		{kind("sass"), "c000-i0" + u + ".sm_80.cubin c000-i1" + u + ".sm_90a.cubin c001-i0" + u + ".sm_90.cubin"},
		{Choice{What: Containers}, "c000" + u + ".fatbin c001" + u + ".fatbin"},
	} {
		w, got := extracted(t, opened(t, "x", data), tt.c)
		if names(got) != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.c, names(got), tt.want)
		}
		for _, f := range w.Manifest.Files {
			if f.Kind == "nvvm" && (!f.Obfuscated || string(bytes.TrimRight(got[f.File], "\x00")) != "scrambled") {
				t.Errorf("LTO IR: %+v %q", f, got[f.File])
			}
		}
	}
	for _, bad := range []string{"", ".", "3.", ".3", "-1", "a", "1.2.3", "99999999999"} {
		var c Choice
		if err := c.ParseImage(bad); err == nil {
			t.Errorf("%q passes for an image", bad)
		}
	}
}

// PTX without .version gets that of the header, in front and with a comment; the
// rest of it is as it was, and whatever reads PTX finds the version.
func TestRestoredVersion(t *testing.T) {
	text := "// Generated\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n"
	data := fatbintest.NewContainer().PTX("90a", "8.4", text, fatbintest.Zstd).PTX("90", "8.4", ".version 8.3\n"+text).Bytes()
	items, err := List(context.Background(), opened(t, "x", data), Choice{})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	dir := t.TempDir()
	w := writer(t, dir)
	w.Tell = func(s string) { told = append(told, s) }
	if err := w.Write(context.Background(), items); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "c000-i0.compute_90a.ptx"))
	want := "// The next line was restored by fatview from the entry header.\n.version 8.4\n" + text
	if err != nil || string(b) != want {
		t.Errorf("%q, %v", b, err)
	}
	if p, err := fatbin.ParsePTX(b); err != nil || p.Version.String() != "8.4" || len(p.Entries) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "c000-i1.compute_90.ptx")); string(b) != ".version 8.3\n"+text {
		t.Errorf("changed without need: %q", b)
	}
	if len(told) != 1 || told[0] != "image 0.0: .version 8.4 was restored from the entry header" {
		t.Errorf("told %q", told)
	}
	if r := w.Manifest.Files[0].Restored; r == nil || *r != "8.4" || w.Manifest.Files[1].Restored != nil {
		t.Errorf("%+v", w.Manifest.Files)
	}
}

// Names that differ by case only get different files, and so do those that are
// cut to the same.
func TestNamesApart(t *testing.T) {
	long := strings.Repeat("x", 300)
	ks := []fatbintest.Kernel{{Name: "Fill"}, {Name: "fill"}, {Name: "FILL"}, {Name: "a/b"}, {Name: "a\\b"}, {Name: "a\x00b"}, {Name: long + "1"}, {Name: long + "2"}, {Name: "CON"}, {Name: "../../etc/passwd"}}
	data := fatbintest.NewContainer().SASS("80", fatbintest.Cubin{Kernels: ks}.Bytes()).Bytes()
	_, got := extracted(t, opened(t, "x", data), Choice{What: Kernels})
	if len(got) != len(ks) {
		t.Errorf("%d files: %s", len(got), names(got))
	}
	lower := map[string]bool{}
	for n := range got {
		if lower[strings.ToLower(n)] || len(n) > 255 || strings.ContainsAny(n, "/\\:*?\"<>|\x00") {
			t.Errorf("name %q", n)
		}
		lower[strings.ToLower(n)] = true
	}
}

func TestNothingHalfWritten(t *testing.T) {
	files := opened(t, "mixed.so", fixture(t, "mixed.so"))
	items, err := List(context.Background(), files, Choice{})
	if err != nil || len(items) != 8 {
		t.Fatal(len(items), err)
	}
	// There is one already: nothing is written, unless asked.
	dir := t.TempDir()
	at := filepath.Join(dir, items[3].Name)
	if err := os.WriteFile(at, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := writer(t, dir)
	if err := w.Check(items); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), items[3].Name) {
		t.Errorf("check: %v", err)
	}
	if err := w.Write(context.Background(), items); !errors.Is(err, ErrExists) {
		t.Errorf("write: %v", err)
	}
	if b, _ := os.ReadFile(at); string(b) != "mine" {
		t.Error("overwritten without being asked")
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 4 || w.Manifest.Count != 3 {
		t.Errorf("%d files, %d in the manifest", len(entries), w.Manifest.Count)
	}
	w.Overwrite = true
	w.Manifest = NewManifest(dir)
	if err := w.Write(context.Background(), items); err != nil || w.Manifest.Count != 8 {
		t.Errorf("overwriting: %d, %v", w.Manifest.Count, err)
	}
	// Interrupted: nothing at all.
	dir = t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w = writer(t, dir)
	if err := w.Write(ctx, items); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := (until{ctx, &bytes.Buffer{}}).write(); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted while writing: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func (u until) write() error { _, err := u.Write([]byte("x")); return err }

// What was changed after it was written is found.
func TestVerify(t *testing.T) {
	files := opened(t, "mixed.so", fixture(t, "mixed.so"))
	items, err := List(context.Background(), files, Choice{Containers: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := writer(t, dir)
	if err := w.Write(context.Background(), items); err != nil {
		t.Fatal(err)
	}
	rec := &w.Manifest.Files[0]
	if err := w.verify(&items[0], rec); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, rec.File)
	b, _ := os.ReadFile(at)
	for what, change := range map[string]func([]byte) []byte{
		"a bit":  func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"a byte": func(b []byte) []byte { return b[:len(b)-1] },
	} {
		if err := os.WriteFile(at, change(bytes.Clone(b)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := w.verify(&items[0], rec); err == nil {
			t.Errorf("%s is gone and not missed", what)
		}
	}
	if err := sameKernels(b, []string{"other"}); err == nil {
		t.Error("other kernels pass")
	}
	if err := sameContainer(b, items[0].Container); err == nil {
		t.Error("a cubin passes for a container")
	}
}

// What cannot be read is skipped and told, and the rest is written. Kernels that
// share a section, by which a small file could fill a disk, are not.
func TestDamage(t *testing.T) {
	good := fatbintest.Cubin{Kernels: []fatbintest.Kernel{{Name: "k"}}}.Bytes()
	data := fatbintest.NewContainer().SASS("80", good, fatbintest.Zstd, fatbintest.Packed([]byte("no frame"))).SASS("90", good).Bytes()
	w, got := extracted(t, opened(t, "x", data), Choice{})
	if names(got) != "c000-i1.sm_90.cubin" || len(w.Manifest.Skipped) != 1 || *w.Manifest.Skipped[0].Image != 0 || w.Manifest.Skipped[0].Reason == "" {
		t.Errorf("%s, %+v", names(got), w.Manifest.Skipped)
	}
	whole := fatbintest.NewContainer().SASS("80", good).Bytes()
	w, got = extracted(t, opened(t, "x", whole[:len(whole)-8]), Choice{What: Containers})
	if len(got) != 0 || len(w.Manifest.Skipped) != 1 {
		t.Errorf("a container that is cut off: %s, %+v", names(got), w.Manifest.Skipped)
	}
	_, codes, err := fatbin.ParseCode(good)
	if err != nil || len(codes) != 1 {
		t.Fatal(err)
	}
	s := source{im: &fatbin.Image{}, names: []string{"k", "l"}, code: []fatbin.Code{codes[0], codes[0]}, users: map[int]int{codes[0].Section: 2}}
	if _, err := s.kernel(&Item{Kernel: 1, Symbol: "l"}); err == nil || !strings.Contains(err.Error(), "shares") {
		t.Errorf("shared code: %v", err)
	}
}

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{
		"activations_impl.cu": "activations_impl.cu", "a b/c\\d:e": "a_b_c_d_e", "../../etc/passwd": "_.._etc_passwd", "": "_", ".": "_", "..": "_",
		"-rf": "rf", ".hidden": "hidden", "end.": "end", "con": "_con", "NUL.txt": "_NUL.txt", "Com1.cu": "_Com1.cu", "lpt9": "_lpt9", "com10": "com10", "console": "console",
		"größe": "gr__e", "a\x00b\x1b[m": "a_b__m", "x\u202ey": "x_y", "\xff": "_",
	} {
		if got := CleanName(in, 90); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", in, got, want)
		}
	}
	a, b := CleanName(strings.Repeat("a", 300)+"1.cu", 90), CleanName(strings.Repeat("a", 300)+"2.cu", 90)
	if len(a) != 90 || len(b) != 90 || a == b || !strings.HasSuffix(a, "aaaa1.cu") {
		t.Errorf("%q and %q", a, b)
	}
}

// FuzzCleanName: whatever the text, the name is one that every system takes.
func FuzzCleanName(f *testing.F) {
	for _, s := range []string{"con.", "NUL", "../x", "a\\..\\b", strings.Repeat("é.", 200), "-", "~", "com1", "lpt0.x.y", " . "} {
		f.Add(s, 40)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = min(max(limit, 20), 200)
		n := CleanName(s, limit)
		if n == "" || len(n) > limit || n == "." || n == ".." || strings.HasSuffix(n, ".") || n[0] == '.' || n[0] == '-' {
			t.Fatalf("%q gives %q", s, n)
		}
		for i := range len(n) {
			if c := n[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._+-=~", c) >= 0) {
				t.Fatalf("%q gives %q", s, n)
			}
		}
		if !filepath.IsLocal(n) || CleanName(n, limit) != n {
			t.Fatalf("%q gives %q, and that %q", s, n, CleanName(n, limit))
		}
		stem := strings.ToUpper(strings.Split(n, ".")[0])
		for _, device := range []string{"CON", "PRN", "AUX", "NUL", "COM0", "COM9", "LPT1"} {
			if stem == device {
				t.Fatalf("%q gives %q, a device", s, n)
			}
		}
	})
}
