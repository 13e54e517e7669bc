package collect

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"fatview/index"
	"fatview/pack"
)

// stream collects arguments below the world's folder as a stream, writes down
// what is emitted, and closes the files.
func (w *world) stream(o Options, args ...string) (res *Result, log []string) {
	w.t.Helper()
	for i, a := range args {
		args[i] = w.path(a)
	}
	o.Stream = true
	o.Limits.TempDir = w.t.TempDir()
	type waits struct{ path, rel string }
	var packed []waits
	res = Run(w.t.Context(), args, o, func(b Batch) {
		for i, f := range b.Files {
			if b.Packed {
				packed = append(packed, waits{w.rel(f.Path), b.Rel[i]})
			} else {
				log = append(log, w.rel(f.Path)+" "+owner(b, b.Rel[i]))
			}
			f.Close()
		}
		switch {
		case b.LinkOf != "":
			log = append(log, w.rel(b.Place)+" -> "+w.rel(b.LinkOf))
		case b.Ended:
			for _, x := range packed {
				log = append(log, x.path+" "+owner(b, x.rel))
			}
			packed = nil
			log = append(log, "ended "+w.rel(b.Place))
		case b.Done != nil:
			log = append(log, fmt.Sprintf("done %s %d", w.rel(filepath.ToSlash(b.Done.Path)), b.Done.Files))
		}
	})
	if len(packed) > 0 {
		w.t.Errorf("%v wait for ever", packed)
	}
	if len(res.Files)+len(res.Others) > 0 {
		w.t.Errorf("a stream keeps %d files and %d others", len(res.Files), len(res.Others))
	}
	return res, log
}

func owner(b Batch, rel string) string {
	d := b.Owner(rel)
	if d == nil {
		return "-"
	}
	return d.Name + " " + d.Version
}

func wantLog(t *testing.T, log []string, want ...string) {
	t.Helper()
	if !slices.Equal(log, want) {
		t.Errorf("emitted\n  %s\nnot\n  %s", strings.Join(log, "\n  "), strings.Join(want, "\n  "))
	}
}

func metadata(name, version string) []byte {
	return []byte("Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n")
}

// A manifest names files that come before it: in a folder because it is read
// ahead, in a package once that has ended. Copies come one by one.
func TestStreamNamesDistributions(t *testing.T) {
	so := fixture(t, "sass86.so")
	wheel := zipOf(t, "b/x.so", so, "b/y.so", so, "b-2.0.dist-info/METADATA", metadata("b", "2.0"), "b-2.0.dist-info/RECORD", []byte("b/x.so,,\nb/y.so,,\n"))
	w := newWorld(t).
		put("site/a/x.so", so).put("site/copy.so", so).
		put("site/z-1.0.dist-info/METADATA", metadata("zed", "1.0")).
		put("site/z-1.0.dist-info/RECORD", []byte("a/x.so,,\n")).
		put("site/m/b-2.0-py3-none-any.whl", wheel).
		put("box.zip", zipOf(t, "in/b-2.0-py3-none-any.whl", wheel, "in/free.so", so)).
		put("b-2.0-py3-none-any.whl", wheel)

	_, log := w.stream(Options{}, "site", "box.zip", "b-2.0-py3-none-any.whl", "site/copy.so")
	wantLog(t, log,
		"site/a/x.so zed 1.0",
		"site/copy.so -",
		"site/m/b-2.0-py3-none-any.whl!b/x.so b 2.0", "site/m/b-2.0-py3-none-any.whl!b/y.so b 2.0",
		"ended site/m/b-2.0-py3-none-any.whl",
		"done site 4",
		"box.zip!in/b-2.0-py3-none-any.whl!b/x.so b 2.0", "box.zip!in/b-2.0-py3-none-any.whl!b/y.so b 2.0", "box.zip!in/free.so -",
		"ended box.zip",
		"done box.zip 3",
		"b-2.0-py3-none-any.whl!b/x.so b 2.0", "b-2.0-py3-none-any.whl!b/y.so b 2.0",
		"ended b-2.0-py3-none-any.whl",
		"done b-2.0-py3-none-any.whl 2",
		"site/copy.so -",
		"done site/copy.so 1",
	)
}

// What is in the folder beside a package says who brought it, where the package
// itself does not.
func TestStreamAsksAroundAPackage(t *testing.T) {
	so := fixture(t, "sass86.so")
	w := newWorld(t).put("site/p/data.zip", zipOf(t, "x.so", so)).
		put("site/p-3.dist-info/METADATA", metadata("p", "3")).
		put("site/p-3.dist-info/RECORD", []byte("p/data.zip,,\n"))
	_, log := w.stream(Options{}, "site")
	wantLog(t, log, "site/p/data.zip!x.so p 3", "ended site/p/data.zip", "done site 1")
}

// A program with a zip behind it is a file and a package.
func TestStreamOfAProgramWithAZip(t *testing.T) {
	box := zipOf(t, "in.so", fixture(t, "sass86.so"), "p-1.dist-info/METADATA", metadata("p", "1"), "p-1.dist-info/RECORD", []byte("in.so,,\n"))
	w := newWorld(t).put("d/prog", append(fixture(t, "mixed.so"), box...))
	_, log := w.stream(Options{}, "d")
	wantLog(t, log, "d/prog -", "d/prog!in.so p 1", "ended d/prog", "done d 2")
}

// A stream names the same files and owners as a run that keeps them, whatever
// was found wrong with manifests included.
func TestStreamAgreesWithKeeping(t *testing.T) {
	w := newWorld(t).fixture("d/mixed.so", "mixed.so").fixture("d/archive.a", "archive.a").fixture("d/plain.so", "plain.so").
		put("d/q-1.dist-info/METADATA", metadata("q", "1")).
		put("d/q-1.dist-info/RECORD", []byte("mixed.so,,\narchive.a,,\n\"damaged\n")).
		put("d/skip/r-1.dist-info/METADATA", metadata("r", "1")).
		put("d/w.whl", zipOf(t, "s.so", fixture(t, "sass86.so"), "plain.so", fixture(t, "plain.so")))
	o := Options{EachCopy: true, Exclude: []string{"skip"}}
	kept := w.run(o, "d")
	streamed, log := w.stream(o, "d")
	var want []string
	for _, f := range kept.Files {
		line := w.rel(f.Path) + " -"
		for _, d := range kept.Dists(f) {
			line = w.rel(f.Path) + " " + d.Name + " " + d.Version
		}
		want = append(want, line)
	}
	want = append(want, "ended d/w.whl", "done d 5")
	wantLog(t, log, want...)
	if len(want) != 7 || !strings.HasSuffix(want[0], "archive.a!v.o q 1") {
		t.Errorf("the test shows nothing: %q", want)
	}
	a, b := kept.Args[0], streamed.Args[0]
	if a.Counts != b.Counts || !reflect.DeepEqual(a.Findings, b.Findings) || len(b.Findings) == 0 {
		t.Errorf("%+v %v\nand\n%+v %v", a.Counts, a.Findings, b.Counts, b.Findings)
	}
}

// Hard links are told as such: their content is not there a second time.
func TestStreamTellsLinks(t *testing.T) {
	var b bytes.Buffer
	z := tar.NewWriter(&b)
	so := fixture(t, "sass86.so")
	z.WriteHeader(&tar.Header{Name: "a.so", Size: int64(len(so)), Mode: 0o644})
	z.Write(so)
	z.WriteHeader(&tar.Header{Name: "b.so", Typeflag: tar.TypeLink, Linkname: "a.so"})
	z.Close()
	_, log := newWorld(t).put("x.tar", b.Bytes()).stream(Options{}, "x.tar")
	wantLog(t, log, "x.tar!b.so -> x.tar!a.so", "x.tar!a.so -", "ended x.tar", "done x.tar 1")
}

// Nothing that was handed out is held: the files are gone while the result of
// the run is still there.
func TestStreamKeepsNoFile(t *testing.T) {
	so := fixture(t, "sass86.so")
	w := newWorld(t)
	for i := range 20 {
		w.put(fmt.Sprintf("d/%02d.so", i), so)
		w.put(fmt.Sprintf("d/%02d.zip", i), zipOf(t, "x.so", so))
	}
	var gone []weak.Pointer[index.File]
	res := Run(t.Context(), []string{w.path("d")}, Options{Stream: true, Limits: pack.Limits{TempDir: t.TempDir()}}, func(b Batch) {
		for _, f := range b.Files {
			gone = append(gone, weak.Make(f))
			f.Close()
		}
	})
	if len(gone) != 40 {
		t.Fatalf("%d files", len(gone))
	}
	left := 0
	for range 50 { // goroutines that ended a moment ago may still hold one
		runtime.GC()
		left = 0
		for _, p := range gone {
			if p.Value() != nil {
				left++
			}
		}
		if left == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if left > 0 {
		t.Errorf("%d of 40 files are still held", left)
	}
	runtime.KeepAlive(res)
}

// While nobody takes them only so many places are looked at, in packages of
// packages too, and everything comes in the end.
func TestStreamWaitsForItsTaker(t *testing.T) {
	so := fixture(t, "sass86.so")
	w := newWorld(t)
	total := 0
	for i := range 25 {
		var inner []any
		for k := range 5 {
			inner = append(inner, fmt.Sprintf("%d.so=", k), so)
		}
		box := zipOf(t, inner...)
		w.put(fmt.Sprintf("d/%02d.zip", i), zipOf(t, "1.zip=", box, "2.zip=", box, "x.so=", so))
		w.put(fmt.Sprintf("d/%02d.so", i), so)
		total += 12
	}
	p := &Progress{}
	taken, most := int64(0), int64(0)
	Run(t.Context(), []string{w.path("d")}, Options{Stream: true, Progress: p, Limits: pack.Limits{TempDir: t.TempDir()}}, func(b Batch) {
		if taken == 7 {
			time.Sleep(300 * time.Millisecond) // the workers fill what room there is
		}
		most = max(most, p.Found.Load()-taken)
		for _, f := range b.Files {
			taken++
			f.Close()
		}
	})
	if taken != int64(total) {
		t.Errorf("%d of %d files came", taken, total)
	}
	// 32 places, four more on each of three levels, and what is at work.
	if bound := int64(32 + 3*4 + 2*runtime.GOMAXPROCS(0)); most > bound || most < 8 {
		t.Errorf("%d files waited, bound %d", most, bound)
	}
}

// A stream that is broken off ends, wherever its workers wait.
func TestStreamEndsWithItsContext(t *testing.T) {
	so := fixture(t, "sass86.so")
	w := newWorld(t)
	for i := range 20 {
		var in []any
		for k := range 20 {
			in = append(in, fmt.Sprintf("%d.so=", k), so)
		}
		w.put(fmt.Sprintf("d/%02d.zip", i), zipOf(t, in...))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	res := Run(ctx, []string{w.path("d")}, Options{Stream: true, Limits: pack.Limits{TempDir: t.TempDir()}}, func(b Batch) {
		if n += len(b.Files); n == 30 {
			time.Sleep(20 * time.Millisecond)
			cancel()
		}
		for _, f := range b.Files {
			f.Close()
		}
	})
	if res.Args[0].Err == nil || n >= 400 {
		t.Errorf("%v after %d files", res.Args[0].Err, n)
	}
}
