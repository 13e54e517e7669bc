package collect

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fatview/index"
	"fatview/internal/fatbintest"
	"fatview/pack"
)

const fixtures = "../testdata/fixtures/"

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(fixtures + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// world is a folder made for a test.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) *world { return &world{t, t.TempDir()} }

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) put(name string, content []byte) *world {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), content, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return w
}

func (w *world) fixture(name, from string) *world {
	w.t.Helper()
	return w.put(name, fixture(w.t, from))
}

// run collects arguments, named below the world's folder.
func (w *world) run(o Options, args ...string) *Result {
	w.t.Helper()
	for i, a := range args {
		if a != stdinPath {
			args[i] = w.path(a)
		}
	}
	temp := w.t.TempDir()
	if o.Limits.TempDir == "" {
		o.Limits.TempDir = temp
	}
	var emitted []string
	res := Run(w.t.Context(), args, o, func(b Batch) {
		for _, f := range b.Files {
			emitted = append(emitted, f.Path)
		}
	})
	w.t.Cleanup(res.Close)
	left, err := os.ReadDir(o.Limits.TempDir)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(left) > 0 {
		w.t.Errorf("%d temporary files have names", len(left))
	}
	all := w.paths(res)
	for i := range emitted {
		emitted[i] = w.rel(emitted[i])
	}
	slices.Sort(emitted)
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	if !reflect.DeepEqual(emitted, sorted) {
		w.t.Errorf("emitted %q, not %q", emitted, sorted)
	}
	return res
}

func (w *world) rel(path string) string {
	return strings.TrimPrefix(path, filepath.ToSlash(w.dir)+"/")
}

func (w *world) paths(res *Result) []string {
	var out []string
	for _, f := range res.Files {
		out = append(out, w.rel(f.Path))
	}
	return out
}

func (w *world) wantPaths(res *Result, want ...string) {
	w.t.Helper()
	if got := w.paths(res); !reflect.DeepEqual(got, want) {
		w.t.Errorf("files are\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func wantFinding(t *testing.T, a *Arg, s Severity, path, msg string) {
	t.Helper()
	for _, f := range a.Findings {
		if f.Severity == s && strings.HasSuffix(f.Path, path) && strings.Contains(f.Message, msg) {
			return
		}
	}
	t.Errorf("no finding %s %q %q among %v", s, path, msg, a.Findings)
}

// zipOf makes a zip; a name that ends with "=" is stored.
func zipOf(t *testing.T, members ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		name, stored := strings.CutSuffix(members[i].(string), "=")
		method := zip.Deflate
		if stored {
			method = zip.Store
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		f.Write(members[i+1].([]byte))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarGz(t *testing.T, members ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for i := 0; i < len(members); i += 2 {
		body := members[i+1].([]byte)
		if err := w.WriteHeader(&tar.Header{Name: members[i].(string), Mode: 0o644, Size: int64(len(body)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		w.Write(body)
	}
	w.Close()
	g.Close()
	return b.Bytes()
}

func TestFolderInOrderOfPaths(t *testing.T) {
	w := newWorld(t).
		fixture("lib/b.so", "mixed.so").fixture("lib/a.so", "sass86.so").fixture("lib-x/c.so", "ptx80.so").
		fixture("lib.so", "multi13.so").fixture("plain.so", "plain.so").put("notes.txt", []byte("nothing")).put("empty", nil)
	res := w.run(Options{}, "")
	// "lib-x/" < "lib.so" < "lib/": the order of whole paths.
	w.wantPaths(res, "lib-x/c.so", "lib.so", "lib/a.so", "lib/b.so")
	a := res.Args[0]
	if want := (Counts{Entries: 7, Binaries: 5, Codeless: 1}); a.Counts != want || a.Kind != "folder" || a.Files != 4 {
		t.Errorf("counts %+v of a %s with %d files", a.Counts, a.Kind, a.Files)
	}
	if len(res.Others) != 1 || !strings.HasSuffix(res.Others[0].Path, "plain.so") {
		t.Errorf("others: %v", res.Others)
	}
	if len(a.Findings) > 0 {
		t.Errorf("findings %v", a.Findings)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	w := newWorld(t).fixture("in/a.so", "mixed.so").fixture("out/b.so", "mixed.so")
	for name, to := range map[string]string{"in/loop": "..", "in/out": "../out", "in/a.so.1": "a.so", "in/gone": "nowhere"} {
		if err := os.Symlink(to, w.path(name)); err != nil {
			t.Skip(err)
		}
	}
	res := w.run(Options{}, "in")
	w.wantPaths(res, "in/a.so")
	if n := res.Args[0].Counts.Links; n != 4 {
		t.Errorf("%d links counted, not 4", n)
	}
	// A link that is named is followed.
	res = w.run(Options{}, "in/a.so.1", "in/out")
	w.wantPaths(res, "in/a.so.1", "in/out/b.so")
}

func TestCopiesAreShownOnce(t *testing.T) {
	w := newWorld(t).fixture("a.so", "mixed.so").fixture("d/copy.so", "mixed.so").fixture("other.so", "multi13.so")
	same := fixture(t, "mixed.so")
	same[len(same)-1] ^= 1 // as long, and different in its last byte
	w.put("e/near.so", same)
	if err := os.Link(w.path("a.so"), w.path("hard.so")); err != nil {
		t.Fatal(err)
	}
	w.put("p.zip", zipOf(t, "x.so", fixture(t, "mixed.so"), "y.so=", fixture(t, "sass86.so")))
	res := w.run(Options{}, "")
	w.wantPaths(res, "a.so", "e/near.so", "other.so", "p.zip!y.so")
	var copies []string
	for _, c := range res.Files[0].Copies() {
		copies = append(copies, w.rel(c))
	}
	if want := []string{"d/copy.so", "hard.so", "p.zip!x.so"}; !reflect.DeepEqual(copies, want) {
		t.Errorf("copies %q, not %q", copies, want)
	}
	if n := res.Args[0].Counts.Copies; n != 3 {
		t.Errorf("%d copies", n)
	}
	// Named one by one, each is shown.
	res = w.run(Options{}, "a.so", "d/copy.so")
	w.wantPaths(res, "a.so", "d/copy.so")
	res = w.run(Options{EachCopy: true}, "")
	if len(res.Files) != 7 {
		t.Errorf("%d files with EachCopy, not 7", len(res.Files))
	}
}

func TestIncludeExclude(t *testing.T) {
	w := newWorld(t).
		fixture("lib/a.so", "mixed.so").fixture("lib/deep/b.dll", "pe.dll").fixture("test/c.so", "ptx80.so").
		put("p.zip", zipOf(t, "lib/d.so", fixture(t, "sass86.so"), "bin/e.dll", fixture(t, "pe.dll"), "in.whl", zipOf(t, "f.bin", fixture(t, "aarch64.so"))))
	for _, c := range []struct {
		include, exclude, want string
	}{
		{"*.so", "", "lib/a.so p.zip!lib/d.so test/c.so"},
		{"", "*.so", "lib/deep/b.dll p.zip!bin/e.dll p.zip!in.whl!f.bin"},
		{"*.so", "test", "lib/a.so p.zip!lib/d.so"},
		{"lib/**", "", "lib/a.so lib/deep/b.dll"},
		{"lib", "", "lib/a.so lib/deep/b.dll p.zip!lib/d.so"},
		{"", "*.zip", "lib/a.so lib/deep/b.dll test/c.so"},
		{"", "p.zip/lib/*", "lib/a.so lib/deep/b.dll p.zip!bin/e.dll p.zip!in.whl!f.bin test/c.so"},
		{"", "lib", "p.zip!bin/e.dll p.zip!in.whl!f.bin test/c.so"}, // a folder in a package as one on disk
		{"", "in.whl", "lib/a.so lib/deep/b.dll p.zip!bin/e.dll p.zip!lib/d.so test/c.so"},
		{"nothing", "", ""},
	} {
		o := Options{EachCopy: true}
		if c.include != "" {
			o.Include = []string{c.include}
		}
		if c.exclude != "" {
			o.Exclude = []string{c.exclude}
		}
		if got := strings.Join(w.paths(w.run(o, "")), " "); got != c.want {
			t.Errorf("include %q exclude %q: %s, not %s", c.include, c.exclude, got, c.want)
		}
	}
	for _, bad := range []string{"[", "a[", ""} {
		if CheckPatterns(Options{Include: []string{bad}}) == nil {
			t.Errorf("pattern %q is taken", bad)
		}
	}
}

// facts are what must be equal of the same library wherever it lies.
func facts(f *index.File) string {
	var b strings.Builder
	fmt.Fprint(&b, f.Format, f.Machine, f.Size, f.Needed, f.Findings())
	for _, c := range f.Containers {
		fmt.Fprint(&b, "\n", c.ID, c.Section, c.Linkage, c.Offset, c.Size)
		for _, im := range c.Images {
			fmt.Fprint(&b, " ", im.Kind, im.ArchName(), im.Offset, im.StoredBytes, im.Bytes, im.Compression)
		}
	}
	return b.String()
}

func TestPackagesGiveWhatTheirFilesGive(t *testing.T) {
	names := []string{"mixed.so", "pe.dll", "archive.a", "raw-sm_80.cubin", "raw-compute_80.ptx", "mode-concat.fatbin", "rdc-object.o"}
	w := newWorld(t)
	var members []any
	for i, n := range names {
		stored := ""
		if i%2 == 0 {
			stored = "="
		}
		members = append(members, "lib/"+n+stored, fixture(t, n))
		w.fixture("plain/"+n, n)
	}
	w.put("p.whl", zipOf(t, members...))
	for i := range members {
		if s, ok := members[i].(string); ok {
			members[i] = strings.TrimSuffix(s, "=")
		}
	}
	w.put("p.tgz", tarGz(t, members...))
	w.put("nested.zip", zipOf(t, "deep/p.whl", fixtureOf(t, w, "p.whl")))
	plain := w.run(Options{}, "plain")
	for _, p := range []string{"p.whl!lib/", "p.tgz!lib/", "nested.zip!deep/p.whl!lib/"} {
		for _, memory := range []int64{1, 1 << 30} { // a temporary file, memory
			arg, _, _ := strings.Cut(p, "!")
			res := w.run(Options{Limits: pack.Limits{Memory: memory}}, arg)
			if len(res.Files) != len(plain.Files) {
				t.Errorf("%s: %d files, not %d: %v", p, len(res.Files), len(plain.Files), w.paths(res))
				continue
			}
			for i, f := range res.Files {
				if got, want := w.rel(f.Path), p+strings.TrimPrefix(w.rel(plain.Files[i].Path), "plain/"); got != want {
					t.Errorf("path %s, not %s", got, want)
				}
				if facts(f) != facts(plain.Files[i]) {
					t.Errorf("%s: %s\nnot\n%s", f.Path, facts(f), facts(plain.Files[i]))
				}
			}
		}
	}
}

func fixtureOf(t *testing.T, w *world, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMembersAreAddressed(t *testing.T) {
	w := newWorld(t).fixture("archive.a", "archive.a").fixture("odd!name.so", "mixed.so").
		put("p.zip", zipOf(t, "lib/a.so", fixture(t, "mixed.so"), "lib/b.a", fixture(t, "archive.a"), "lib/plain.so", fixture(t, "plain.so")))
	all := w.paths(w.run(Options{}, "archive.a"))
	if len(all) == 0 || !strings.HasPrefix(all[0], "archive.a!") {
		t.Fatalf("members: %q", all)
	}
	member := strings.TrimPrefix(all[0], "archive.a!")
	for _, c := range []struct {
		arg  string
		want []string
	}{
		{all[0], all[:1]},
		{"odd!name.so", []string{"odd!name.so"}},
		{"p.zip!lib/a.so", []string{"p.zip!lib/a.so"}},
		{"p.zip!lib/plain.so", []string{"p.zip!lib/plain.so"}},
		{"p.zip!lib/b.a!" + member, []string{"p.zip!lib/b.a!" + member}},
	} {
		w.wantPaths(w.run(Options{}, c.arg), c.want...)
	}
	if got := w.paths(w.run(Options{}, "p.zip!lib")); len(got) != 1+len(all) {
		t.Errorf("folder in a package: %q", got)
	}
	for _, missing := range []string{"p.zip!lib/c.so", "archive.a!nosuch.o", "nosuch.zip!a"} {
		res := w.run(Options{}, missing)
		if err := res.Args[0].Err; err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%s: error %v", missing, err)
		}
	}
}

func TestStandardInput(t *testing.T) {
	w := newWorld(t)
	for _, memory := range []int64{1, 1 << 30} {
		res := w.run(Options{Stdin: bytes.NewReader(fixture(t, "mixed.so")), Limits: pack.Limits{Memory: memory}}, "-")
		w.wantPaths(res, "-")
		if n := len(res.Files[0].Containers); n == 0 {
			t.Error("no containers in standard input")
		}
	}
	res := w.run(Options{Stdin: bytes.NewReader(zipOf(t, "a.so", fixture(t, "mixed.so")))}, "-")
	w.wantPaths(res, "-!a.so")
	res = w.run(Options{Stdin: strings.NewReader("some text")}, "-")
	if err := res.Args[0].Err; err == nil || !strings.Contains(err.Error(), "not a format") {
		t.Errorf("text: %v", err)
	}
	res = w.run(Options{Stdin: io.MultiReader(bytes.NewReader(fixture(t, "mixed.so")), badReader{})}, "-")
	if err := res.Args[0].Err; err == nil || !strings.Contains(err.Error(), "the cable") {
		t.Errorf("a reader that fails: %v", err)
	}
	res = w.run(Options{Stdin: bytes.NewReader(fixture(t, "mixed.so"))}, "-", "-")
	if res.Args[0].Err != nil || res.Args[1].Err == nil {
		t.Errorf("twice: %v, %v", res.Args[0].Err, res.Args[1].Err)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, fmt.Errorf("someone pulled the cable") }

func TestOneFailureDoesNotStopTheRest(t *testing.T) {
	w := newWorld(t).fixture("a.so", "mixed.so").put("text", []byte("words")).fixture("z.so", "ptx80.so").put("empty", nil)
	res := w.run(Options{}, "z.so", "missing", "text", "empty", "a.so")
	w.wantPaths(res, "z.so", "a.so")
	for i, want := range []string{"", "no such file", "not a format", "is empty", ""} {
		err := res.Args[i].Err
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("argument %d: %v, not %q", i, err, want)
		}
	}
}

func TestArchiveOf600Members(t *testing.T) {
	var members []fatbintest.ArMember
	code := fixture(t, "rdc-object.o")
	for i := range 600 {
		m := fatbintest.ArMember{Name: fmt.Sprintf("unit%03d.o", i)}
		switch i % 4 {
		case 0:
			m.Data = code
		case 1:
			m.Data = fixture(t, "plain.so")
		case 2:
			m.Data = code[:len(code)/3] // cut: the section headers are gone
		case 3:
			m.Data = []byte("text, not an object")
		}
		members = append(members, m)
	}
	for format, ar := range map[string][]byte{"gnu": fatbintest.ArGNU(members...), "bsd": fatbintest.ArBSD(members...), "ms": fatbintest.ArMS(members...)} {
		w := newWorld(t).put("big.a", ar)
		res := w.run(Options{}, "big.a")
		n := 0
		for _, f := range res.Files {
			if len(f.Containers) > 0 {
				n++
			}
		}
		if n != 150 {
			t.Errorf("%s: %d members with device code, not 150", format, n)
		}
		w.wantPaths(w.run(Options{}, "big.a!unit004.o"), "big.a!unit004.o")
		if bad := slices.DeleteFunc(slices.Clone(res.Files), func(f *index.File) bool { return len(f.Containers) > 0 || !damaged(f) }); len(bad) != 150 {
			t.Errorf("%s: %d damaged members are shown, not 150", format, len(bad))
		}
	}
}

func TestDistributions(t *testing.T) {
	w := newWorld(t).
		fixture("site/foo/_C.so", "mixed.so").put("site/foo-1.2.dist-info/METADATA", []byte("Metadata-Version: 2.1\nName: foo\nVersion: 1.2\n\n")).
		put("site/foo-1.2.dist-info/RECORD", []byte("foo/_C.so,,\nfoo-1.2.dist-info/METADATA,,\n")).
		fixture("site/loner.so", "ptx80.so").
		put("bar-3.whl", zipOf(t, "bar/lib.so", fixture(t, "sass86.so"), "bar-3.dist-info/METADATA", []byte("Name: bar\nVersion: 3\n"), "bar-3.dist-info/RECORD", []byte("bar/lib.so,,\n")))
	res := w.run(Options{}, "site", "bar-3.whl")
	want := map[string]string{"site/foo/_C.so": "foo 1.2", "site/loner.so": "", "bar-3.whl!bar/lib.so": "bar 3"}
	if len(res.Files) != len(want) {
		t.Fatalf("files: %v", w.paths(res))
	}
	for _, f := range res.Files {
		got := ""
		for _, d := range res.Dists(f) {
			got += d.Name + " " + d.Version
		}
		if got != want[w.rel(f.Path)] {
			t.Errorf("%s belongs to %q, not %q", w.rel(f.Path), got, want[w.rel(f.Path)])
		}
	}
}

// What could not be read is shown, wherever it lies: a check must not pass for
// it.
func TestDamagedLibraries(t *testing.T) {
	bad := fixture(t, "sass86.so")
	at := bytes.Index(bad, []byte("\x50\xed\x55\xba"))
	if at < 0 {
		t.Fatal("no container")
	}
	copy(bad[at+8:], bytes.Repeat([]byte{0xff}, 8)) // its size
	cut := fixture(t, "multi12.so")[:40]            // not even a whole header
	w := newWorld(t).put("d/bad.so", bad).put("d/cut.so", cut).put("w.whl", zipOf(t, "bad.so", bad, "cut.so", cut))
	for _, arg := range []string{"d", "w.whl"} {
		res := w.run(Options{}, arg)
		if len(res.Files) != 1 || !strings.HasSuffix(res.Files[0].Path, "bad.so") || !damaged(res.Files[0]) {
			t.Errorf("%s: files %v", arg, w.paths(res))
		}
		wantFinding(t, res.Args[0], index.Error, "cut.so", "")
	}
}

// A program with a zip behind it is both; what only looks like a zip is a
// program.
func TestZipBehindProgram(t *testing.T) {
	program, z := fixture(t, "mixed.so"), zipOf(t, "in.so", fixture(t, "sass86.so"))
	end := append(make([]byte, 0), "PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00\x2e\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
	w := newWorld(t).put("d/both.so", append(bytes.Clone(program), z...)).put("d/odd.so", append(bytes.Clone(fixture(t, "ptx80.so")), end...))
	w.wantPaths(w.run(Options{}, "d"), "d/both.so", "d/both.so!in.so", "d/odd.so")
	w.wantPaths(w.run(Options{}, "d/both.so"), "d/both.so", "d/both.so!in.so")
	w.wantPaths(w.run(Options{}, "d/odd.so"), "d/odd.so")
}

func TestLayoutInFolder(t *testing.T) {
	w := newWorld(t).put("junk/oci-layout", []byte("x")).put("junk/index.json", []byte("x")).fixture("junk/lib/a.so", "mixed.so").
		put("lay/oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)).put("lay/index.json", []byte(`{"schemaVersion":2,"manifests":[]}`)).fixture("lay/lib/a.so", "mixed.so")
	w.wantPaths(w.run(Options{}, "junk"), "junk/lib/a.so")
	w.wantPaths(w.run(Options{}, "lay"), "lay/lib/a.so")
}

func TestHardLinkOfWhatIsLeftOut(t *testing.T) {
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	body := fixture(t, "mixed.so")
	tw.WriteHeader(&tar.Header{Name: "a.bin", Mode: 0o644, Size: int64(len(body)), Typeflag: tar.TypeReg})
	tw.Write(body)
	tw.WriteHeader(&tar.Header{Name: "b.so", Linkname: "a.bin", Typeflag: tar.TypeLink})
	tw.Close()
	w := newWorld(t).put("h.tar", b.Bytes())
	res := w.run(Options{}, "h.tar")
	w.wantPaths(res, "h.tar!a.bin")
	if c := res.Files[0].Copies(); len(c) != 1 || w.rel(c[0]) != "h.tar!b.so" {
		t.Errorf("copies %q", c)
	}
	res = w.run(Options{Include: []string{"*.so"}}, "h.tar")
	wantFinding(t, res.Args[0], index.Warning, "h.tar!b.so", "hard link of a.bin")
}

// Copies count for what they belong to and for those that need them.
func TestCopiesOfOtherDistributions(t *testing.T) {
	w := newWorld(t)
	for _, v := range []string{"1", "2"} {
		w.fixture("env"+v+"/foo/_C.so", "mixed.so").
			put("env"+v+"/foo-"+v+".dist-info/METADATA", []byte("Name: foo\nVersion: "+v+"\n")).
			put("env"+v+"/foo-"+v+".dist-info/RECORD", []byte("foo/_C.so,,\n"))
	}
	res := w.run(Options{}, "")
	w.wantPaths(res, "env1/foo/_C.so")
	ds := res.Dists(res.Files[0])
	if len(ds) != 2 || ds[0].Version != "1" || ds[1].Version != "2" {
		t.Errorf("distributions %v", ds)
	}
}

func TestEagerMember(t *testing.T) {
	w := newWorld(t).fixture("archive.a", "archive.a")
	w.wantPaths(w.run(Options{Eager: true}, "archive.a!v.o"), "archive.a!v.o")
}

// Many files of one size cost no more than as many of different sizes.
func TestManyOfOneSize(t *testing.T) {
	w := newWorld(t)
	body := fixture(t, "raw-sm_80.cubin")
	for i := range 600 {
		w.put(fmt.Sprintf("%03d.cubin", i), append(bytes.Clone(body), byte(i), byte(i>>8)))
	}
	if res := w.run(Options{}, ""); len(res.Files) != 600 || res.Args[0].Counts.Copies != 0 {
		t.Errorf("%d files, %+v", len(res.Files), res.Args[0].Counts)
	}
}

func TestNotesAreNoErrors(t *testing.T) {
	a := &Arg{Path: "x"}
	for i := range maxFindings + 5 {
		a.Note(fmt.Sprint(i), "no device code")
	}
	if n := len(a.Findings); n != maxFindings+1 || a.Findings[maxFindings].Severity != index.Info {
		t.Errorf("%d findings, the last %+v", n, a.Findings[n-1])
	}
	a.find(index.Error, "y", "worse")
	if a.Findings[maxFindings].Severity != index.Error {
		t.Error("an error that is left out does not show")
	}
}

// A read that never ends does not keep ctrl+c from ending the run.
func TestCancelledWhileReadingStandardInput(t *testing.T) {
	r, wr := io.Pipe()
	defer wr.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		wr.Write([]byte("\x7fELF"))
		cancel()
	}()
	res := Run(ctx, []string{"-"}, Options{Stdin: r}, nil)
	if res.Args[0].Err == nil {
		t.Error("no error")
	}
}

// What a package yields leaves before the package has been read to its end.
func TestMembersLeaveAsTheyCome(t *testing.T) {
	seq := newSequence()
	pkg := newSlot()
	pkg.sub = newSequence()
	seq.add(pkg)
	member := newSlot()
	member.out.place = "member"
	pkg.sub.add(member)
	close(member.ready)
	got := make(chan string)
	go func() {
		seq.each(nil, func(o outcome) { got <- o.place })
		close(got)
	}()
	if p := <-got; p != "member" { // and the package is not ready
		t.Errorf("first %q", p)
	}
	pkg.out.place = "package"
	pkg.sub.end()
	close(pkg.ready)
	seq.end()
	if p := <-got; p != "package" {
		t.Errorf("then %q", p)
	}
	if _, more := <-got; more {
		t.Error("it goes on")
	}
}

func TestThinArchiveStaysInFolder(t *testing.T) {
	obj := fixture(t, "rdc-object.o")
	m := fatbintest.ThinMember{Name: "../outside/o.o", Size: len(obj)}
	w := newWorld(t).put("in/t.a", fatbintest.ArThinMembers(m)).put("outside/o.o", obj)
	res := w.run(Options{}, "in")
	wantFinding(t, res.Args[0], index.Error, "t.a!../outside/o.o", "lies outside of the folder")
	w.wantPaths(w.run(Options{}, "in/t.a"), "in/t.a!../outside/o.o")
}

func TestBadPackages(t *testing.T) {
	mixed := fixture(t, "mixed.so")
	gz := tarGz(t, "a.so", mixed, "b.so", fixture(t, "multi13.so"))
	zeros := make([]byte, 80<<20)
	w := newWorld(t).
		put("cut/cut.tgz", gz[:len(gz)-2000]).
		put("bomb/bomb.zip", zipOf(t, "a.so", mixed, "zeros.so", append(bytes.Clone(mixed), zeros...))).
		put("dots/dots.zip", zipOf(t, "../../escape.so", mixed)).
		put("thin/lib/thin.a", fatbintest.ArThinMembers(
			fatbintest.ThinMember{Name: "../obj/there.o", Size: len(fixture(t, "rdc-object.o"))}, fatbintest.ThinMember{Name: "missing.o", Size: 9},
			fatbintest.ThinMember{Name: "../dir", Size: 9}, fatbintest.ThinMember{Name: "../obj/there.o", Size: 9})).fixture("thin/obj/there.o", "rdc-object.o").put("thin/dir/x", nil)
	res := w.run(Options{}, "cut")
	w.wantPaths(res, "cut/cut.tgz!a.so")
	wantFinding(t, res.Args[0], index.Error, "cut.tgz", "cut")

	res = w.run(Options{Limits: pack.Limits{Ratio: 20}}, "bomb")
	w.wantPaths(res, "bomb/bomb.zip!a.so")
	wantFinding(t, res.Args[0], index.Error, "bomb.zip!zeros.so", "left out")
	if len(res.Args[0].Findings) != 1 {
		t.Errorf("a bound is told more than once: %v", res.Args[0].Findings)
	}

	res = w.run(Options{}, "thin")
	w.wantPaths(res, "thin/lib/thin.a!../obj/there.o", "thin/obj/there.o")
	wantFinding(t, res.Args[0], index.Error, "thin.a!../obj/there.o", "member of a thin archive changed")
	wantFinding(t, res.Args[0], index.Error, "thin.a!missing.o", "member of a thin archive is missing")
	wantFinding(t, res.Args[0], index.Error, "thin.a!../dir", "is not a regular file")

	res = w.run(Options{}, "dots")
	w.wantPaths(res, "dots/dots.zip!escape.so")
	wantFinding(t, res.Args[0], index.Warning, "dots.zip!escape.so", "")
}

func TestCancelled(t *testing.T) {
	w := newWorld(t).fixture("a.so", "mixed.so").put("p.zip", zipOf(t, "b.so", fixture(t, "mixed.so")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res := Run(ctx, []string{w.path(""), w.path("p.zip"), w.path("a.so")}, Options{}, nil)
	defer res.Close()
	for i, a := range res.Args {
		if a.Err == nil {
			t.Errorf("argument %d ends without an error", i)
		}
	}
}

func TestFileThatChangesIsRefused(t *testing.T) {
	w := newWorld(t).fixture("d/a.so", "mixed.so")
	res := w.run(Options{}, "d")
	h := &handle{pool: &pool{}, path: w.path("d/a.so")}
	st, err := os.Lstat(h.path)
	if err != nil {
		t.Fatal(err)
	}
	h.st = st
	b := make([]byte, 4)
	if _, err := h.ReadAt(b, 0); err != nil || string(b) != "\x7fELF" {
		t.Fatalf("%q, %v", b, err)
	}
	h.rest() // as when many others were opened
	if err := os.WriteFile(h.path, []byte("something else"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ReadAt(b, 0); err != errChanged {
		t.Errorf("a changed file: %v", err)
	}
	h.Close()
	if _, err := h.ReadAt(b, 0); err == nil {
		t.Error("a closed handle reads")
	}
	_ = res
}

func TestPoolKeepsFewFilesOpen(t *testing.T) {
	w := newWorld(t)
	p := &pool{}
	var hs []*handle
	for i := range maxOpen + 40 {
		name := fmt.Sprintf("f%03d", i)
		w.put(name, fmt.Appendf(nil, "%03d", i))
		st, err := os.Lstat(w.path(name))
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, &handle{pool: p, path: w.path(name), st: st})
	}
	for range 2 {
		for i, h := range hs {
			b := make([]byte, 3)
			if _, err := h.ReadAt(b, 0); err != nil || string(b) != fmt.Sprintf("%03d", i) {
				t.Fatalf("file %d: %q, %v", i, b, err)
			}
		}
	}
	open := 0
	for _, h := range hs {
		if h.f != nil {
			open++
		}
	}
	if open != maxOpen || p.used.Len() != maxOpen {
		t.Errorf("%d files are open, %d listed, not %d", open, p.used.Len(), maxOpen)
	}
	for _, h := range hs {
		h.Close()
	}
	if p.used.Len() != 0 {
		t.Errorf("%d handles are left", p.used.Len())
	}
}
