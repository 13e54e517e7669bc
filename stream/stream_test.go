package stream

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"fatview/collect"
	"fatview/gpu"
	"fatview/index"
	"fatview/pack"
	"fatview/report"
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

func put(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipOf(t *testing.T, members ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		f, err := z.CreateHeader(&zip.FileHeader{Name: members[i].(string)})
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

func targets(t *testing.T, gpus string) []gpu.Target {
	t.Helper()
	ts, err := gpu.Parse(gpus)
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

type object = map[string]any

func decode(t *testing.T, text string) []object {
	t.Helper()
	var out []object
	for _, line := range strings.SplitAfter(text, "\n") {
		if line == "" {
			continue
		}
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("%q is no line: %v", line, err)
		}
		out = append(out, o)
	}
	return out
}

func lines(t *testing.T, o Options) []object {
	t.Helper()
	var b bytes.Buffer
	temp := t.TempDir()
	o.Collect.Limits.TempDir = temp
	if _, _, err := Run(t.Context(), &b, o); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files have names: %v %v", left, err)
	}
	return decode(t, b.String())
}

// Every fixture, in a folder and in a wheel, on every GPU of the catalogue's
// capabilities: the lines hold what the JSON report holds, read from its text.
func TestLinesAreTheReport(t *testing.T) {
	dir := t.TempDir()
	entries, err := os.ReadDir(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	var members []any
	for _, e := range entries {
		put(t, dir, "folder/"+e.Name(), fixture(t, e.Name()))
		members = append(members, "pkg/"+e.Name(), fixture(t, e.Name()))
	}
	put(t, dir, "folder/f-1.dist-info/METADATA", []byte("Name: f\nVersion: 1\n"))
	put(t, dir, "folder/f-1.dist-info/RECORD", []byte("mixed.so,,\n"))
	members = append(members, "pkg-7.dist-info/METADATA", []byte("Name: pkg\nVersion: 7\n"), "pkg-7.dist-info/RECORD", []byte("pkg/mixed.so,,\n"))
	wheel := put(t, dir, "pkg-7-py3-none-any.whl", zipOf(t, members...))
	for _, driver := range []string{"", "550.54.14"} {
		ts := targets(t, "all")
		if driver != "" {
			d, err := gpu.ParseDriver(driver)
			if err != nil {
				t.Fatal(err)
			}
			for i := range ts {
				ts[i].Driver = d
			}
		}
		ts = append(ts, gpu.Target{Name: "many", CC: ts[0].CC, Source: "toml", Count: 3})
		paths := []string{filepath.Join(dir, "folder"), wheel, fixtures + "plain.so", fixtures + "text.txt"}
		res := collect.Run(t.Context(), append([]string(nil), paths...), collect.Options{EachCopy: true}, nil)
		defer res.Close()
		index.DecodeAll(t.Context(), res.Files, nil)
		var b bytes.Buffer
		if err := report.JSON(&b, report.BuildAll(res, ts)); err != nil {
			t.Fatal(err)
		}
		var r object
		if err := json.Unmarshal(b.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		got := map[string]object{}
		all := lines(t, Options{Paths: paths, Targets: ts})
		for _, l := range all {
			key := fmt.Sprintf("%s %v", l["path"], l["gpu"])
			if got[key] != nil {
				t.Fatalf("%s has two lines", key)
			}
			got[key] = l
		}
		n := holdAgainst(t, r, got)
		if n != len(all)-1 { // less the text file, which is no file of the report
			t.Errorf("%d lines, %d in the report", len(all), n)
		}
		if l := got[fixtures+"text.txt <nil>"]; l == nil || l["error"] == nil {
			t.Errorf("the text file: %v", l)
		}
		if l := got[wheel+"!pkg/mixed.so many"]; l == nil || l["distribution"] != "pkg" || l["count"] != 3.0 {
			t.Errorf("the wheel's: %v", l)
		}
	}
}

// holdAgainst compares lines with a report and returns how many there must be.
func holdAgainst(t *testing.T, r object, got map[string]object) (n int) {
	t.Helper()
	owner := map[int]object{}
	for _, d := range r["distributions"].([]any) {
		for _, i := range d.(object)["files"].([]any) {
			owner[int(i.(float64))] = d.(object)
		}
	}
	for i, f := range r["files"].([]any) {
		file := f.(object)
		coverage := map[int]object{}
		for _, c := range file["coverage"].([]any) {
			coverage[int(c.(object)["gpu"].(float64))] = c.(object)
		}
		archs, needs := map[string]bool{}, []any{}
		for _, c := range file["containers"].([]any) {
			for _, im := range c.(object)["images"].([]any) {
				if k := im.(object)["kind"]; k == "sass" || k == "ptx" {
					archs[im.(object)["arch"].(string)] = true
				}
			}
		}
		for _, x := range file["needs"].([]any) {
			needs = append(needs, x.(object)["name"])
		}
		for g, x := range r["gpus"].([]any) {
			n++
			on := x.(object)
			key := fmt.Sprintf("%s %v", file["path"], on["name"])
			l := got[key]
			if l == nil {
				t.Errorf("%s has no line", key)
				continue
			}
			want := object{"verdict": nil, "containers": nil, "kernels": nil, "min_driver": nil, "min_driver_windows": nil,
				"path": file["path"], "format": file["format"], "machine": file["machine"], "size": file["size"],
				"cc": on["cc"], "driver": on["driver"], "cuda": on["cuda"], "needs": needs, "distribution": "", "version": "", "kind": ""}
			if c := coverage[g]; c != nil {
				for _, k := range []string{"verdict", "containers", "kernels", "min_driver", "min_driver_windows", "reason"} {
					want[k] = c[k]
				}
			} else if p := on["problem"]; p != nil {
				want["reason"] = p
			}
			if d := owner[i]; d != nil {
				want["distribution"], want["version"], want["kind"] = d["name"], d["version"], d["kind"]
			}
			for k, v := range want {
				if !reflect.DeepEqual(l[k], v) {
					t.Errorf("%s: %s is %v, not %v", key, k, l[k], v)
				}
			}
			if len(l["archs"].([]any)) != len(archs) {
				t.Errorf("%s: %v, not %v", key, l["archs"], archs)
			}
			for _, a := range l["archs"].([]any) {
				if !archs[a.(string)] {
					t.Errorf("%s: %v is not in it", key, a)
				}
			}
		}
	}
	return n
}

// Lines of a hard link's content name it; so do those of a static library's
// members.
func TestLinksAreCopies(t *testing.T) {
	var b bytes.Buffer
	z := tar.NewWriter(&b)
	for _, name := range []string{"a.so", "lib.a"} {
		content := fixture(t, map[string]string{"a.so": "sass86.so", "lib.a": "archive.a"}[name])
		z.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644})
		z.Write(content)
		z.WriteHeader(&tar.Header{Name: "x/" + name, Typeflag: tar.TypeLink, Linkname: name})
	}
	z.Close()
	dir := t.TempDir()
	t.Chdir(dir)
	put(t, dir, "x.tar", b.Bytes())
	got := map[string]any{}
	for _, l := range lines(t, Options{Paths: []string{"x.tar"}}) {
		got[l["path"].(string)] = l["copies"]
	}
	want := map[string]any{
		"x.tar!a.so":      []any{"x.tar!x/a.so"},
		"x.tar!lib.a!v.o": []any{"x.tar!x/lib.a!v.o"}, "x.tar!lib.a!r.o": []any{"x.tar!x/lib.a!r.o"}, "x.tar!lib.a!t.o": []any{"x.tar!x/lib.a!t.o"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// A program with a zip behind it has lines, and so has what is in the zip.
func TestProgramWithAZip(t *testing.T) {
	program := append(fixture(t, "mixed.so"), zipOf(t, "in.so", fixture(t, "sass86.so"))...)
	t.Chdir(t.TempDir())
	put(t, ".", "prog", program)
	var got []any
	for _, l := range lines(t, Options{Paths: []string{"prog", "prog!in.so"}}) {
		got = append(got, l["path"], l["scan"])
	}
	if want := []any{"prog", "prog", "prog!in.so", "prog", "prog!in.so", "prog!in.so"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// More lines than are kept in memory wait in a file; what they say does not
// change, names of packages that are no text included.
func TestManyLinesWait(t *testing.T) {
	dir := t.TempDir()
	var members []any
	so := fixture(t, "sass86.so")
	for i := range 80 {
		members = append(members, fmt.Sprintf("p/%02d.so", i), so)
	}
	name, shown := "p.zip", "p.zip"
	if runtime.GOOS == "linux" {
		name, shown = "p\xff.zip", "p\ufffd.zip"
	}
	members = append(members, "p-1.dist-info/METADATA", []byte("Name: p\nVersion: 1\n"), "p-1.dist-info/RECORD", []byte("p/07.so,,\n"))
	put(t, dir, name, zipOf(t, members...)) // not a wheel: only what is listed is the distribution's
	ts := targets(t, "all")
	all := lines(t, Options{Paths: []string{dir}, Targets: ts})
	if len(all) != 80*len(ts) {
		t.Fatalf("%d lines", len(all))
	}
	size := 0
	for i, l := range all {
		b, _ := json.Marshal(l)
		size += len(b)
		file, want := i/len(ts), ""
		if file == 7 {
			want = "p"
		}
		if l["path"] != fmt.Sprintf("%s/%s!p/%02d.so", filepath.ToSlash(dir), shown, file) || l["distribution"] != want {
			t.Fatalf("line %d: %v of %v", i, l["path"], l["distribution"])
		}
	}
	if size < maxWaiting*4/3 {
		t.Errorf("only %d bytes waited: the test shows nothing", size)
	}
}

// failing takes some bytes and then no more.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func many(t *testing.T, n int) string {
	dir := t.TempDir()
	for i := range n {
		put(t, dir, fmt.Sprintf("%03d.so", i), fixture(t, "sass86.so"))
		put(t, dir, fmt.Sprintf("%03d.zip", i), zipOf(t, "x.so", fixture(t, "mixed.so"), "y.so", fixture(t, "sass86.so")))
	}
	return dir
}

// A full disk ends the run at once, and leaves nothing running.
func TestWriterFails(t *testing.T) {
	dir := many(t, 40)
	before := runtime.NumGoroutine()
	for _, room := range []int{0, 3000, 20_000} {
		res, _, err := Run(t.Context(), &failing{room}, Options{Paths: []string{dir}, Targets: targets(t, "9.0")})
		if !errors.Is(err, errFull) {
			t.Errorf("room %d: %v", room, err)
		}
		if res == nil || res.Args[0].Files >= 120 {
			t.Errorf("room %d: it read on for nothing", room)
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// after cancels when so many bytes were written.
type after struct {
	bytes.Buffer
	n      int
	cancel func()
}

func (a *after) Write(b []byte) (int, error) {
	n, err := a.Buffer.Write(b)
	if a.Len() >= a.n {
		a.cancel()
	}
	return n, err
}

// What was written when the run is broken off is whole lines, and right ones.
func TestInterrupt(t *testing.T) {
	dir := many(t, 40)
	want := map[string]bool{}
	full := &after{n: 1 << 30}
	if _, _, err := Run(t.Context(), full, Options{Paths: []string{dir}, Targets: targets(t, "9.0,12.0")}); err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.SplitAfter(full.String(), "\n") {
		want[l] = true
	}
	for _, n := range []int{1, 5000, 30_000} {
		ctx, cancel := context.WithCancel(t.Context())
		w := &after{n: n, cancel: cancel}
		_, _, err := Run(ctx, w, Options{Paths: []string{dir}, Targets: targets(t, "9.0,12.0")})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d: %v", n, err)
		}
		if w.Len() < n || w.Len() >= full.Len() || !strings.HasSuffix(w.String(), "\n") {
			t.Errorf("%d: %d of %d bytes", n, w.Len(), full.Len())
		}
		for _, l := range strings.SplitAfter(w.String(), "\n") {
			if !want[l] {
				t.Errorf("%d: %q is not what a whole run writes", n, l)
			}
		}
	}
}

// Parts that cannot be read are said in the lines and in the result.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "cut.so", fixture(t, "multi13.so")[:60_000])
	put(t, dir, "good.so", fixture(t, "mixed.so"))
	var b bytes.Buffer
	res, unreadable, err := Run(t.Context(), &b, Options{Paths: []string{filepath.Join(dir, "good.so")}})
	if err != nil || unreadable || res.Args[0].Err != nil {
		t.Errorf("%v %v", unreadable, err)
	}
	b.Reset()
	if _, unreadable, err = Run(t.Context(), &b, Options{Paths: []string{dir}, NoKernels: true}); err != nil || !unreadable {
		t.Errorf("%v %v", unreadable, err)
	}
	ls := decode(t, b.String())
	if len(ls) != 2 || ls[0]["error"] == nil || ls[1]["error"] != nil {
		t.Errorf("%v", ls)
	}
}

// At most so much is decoded at a time; one that is larger goes alone.
func TestQueueIsBounded(t *testing.T) {
	q := newQueue(3, 100)
	order := make(chan int, 100)
	busy := make(chan struct{}, 100)
	go func() {
		for j := range q.jobs {
			<-j.done
			order <- j.Arg
			q.finish(j)
		}
		close(order)
	}()
	for i := range 50 {
		b := collect.Batch{Arg: i, Files: []*index.File{{Size: int64(i % 3 * 60)}}} // two of 60 are too much
		q.start(b, func(j *job) {
			busy <- struct{}{}
			if n := len(busy); n > 3 {
				t.Errorf("%d at a time", n)
			}
			q.mu.Lock()
			if q.bytes > 100 && q.n > 1 {
				t.Errorf("%d bytes of %d files at a time", q.bytes, q.n)
			}
			q.mu.Unlock()
			time.Sleep(time.Duration(50-i) * 20 * time.Microsecond) // later ones are faster
			<-busy
			close(j.done)
		})
	}
	close(q.jobs)
	i := 0
	for got := range order {
		if got != i {
			t.Fatalf("%d came as number %d", got, i)
		}
		i++
	}
	if i != 50 {
		t.Errorf("%d of 50", i)
	}
}

// Beyond so many hard links no more are kept, and that is said.
func TestLinksAreBounded(t *testing.T) {
	var b bytes.Buffer
	s := &sink{ctx: t.Context(), w: &b, paths: []string{"x.tar"}, temp: pack.Limits{TempDir: t.TempDir()}}
	for i := range maxLinks + 10 {
		j := &job{Batch: collect.Batch{LinkOf: "a", Place: fmt.Sprint(i)}}
		if err := s.take(j); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.links["a"]); n != 100_000 {
		t.Errorf("%d are kept", n)
	}
	if err := s.take(&job{Batch: collect.Batch{Place: "x.tar", Ended: true}}); err != nil {
		t.Fatal(err)
	}
	if ls := decode(t, b.String()); len(ls) != 1 || ls[0]["path"] != "x.tar" || !strings.Contains(ls[0]["error"].(string), "100000 hard links") || !s.unreadable {
		t.Errorf("%v", ls)
	}
	if len(s.links) > 0 {
		t.Error("they outlive the package")
	}
}
