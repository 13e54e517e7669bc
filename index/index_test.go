package index

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fatview/fatbin"
	"fatview/gpu"

	"fatview/coverage"
)

const fixtures = "../testdata/fixtures"

// opened opens a fixture whole: named sections, the rest, and payloads.
func opened(t *testing.T, name string) []*File {
	t.Helper()
	files, err := Open(context.Background(), filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Cleanup(func() { f.Close() })
		if err := f.Search(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	DecodeAll(context.Background(), files, nil)
	return files
}

// shape writes containers as "section linkage[label]: sm_80×3 compute_90×1"
// with the number of kernels behind each image.
func shape(f *File) string {
	var b strings.Builder
	for _, c := range f.Containers {
		b.WriteString(c.Section + " " + string(c.Linkage) + ":")
		d := c.Decoded()
		for i, im := range c.Images {
			b.WriteString(" " + im.ArchName())
			if d != nil {
				b.WriteString("×" + string(rune('0'+len(d.Images[i].Kernels))))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// What each fixture holds is known from how it was built: vec.cu has three
// kernels, reduce.cu two, tma.cu one, each half of the rdc pair one.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string // one per object
	}{
		{"mixed.so", []string{".nv_fatbin registered: sm_75×3 sm_80×3 sm_86×3 compute_90×3 sm_90×3\n.nv_fatbin registered: sm_80×2 sm_86×2\n.nv_fatbin registered: sm_90a×1\n"}},
		{"rdc-linked.so", []string{"__nv_relfatbin relocatable: sm_75×1 sm_80×1 sm_86×1 compute_90×1 sm_90×1\n__nv_relfatbin relocatable: sm_75×1 sm_80×1 sm_86×1 compute_90×1 sm_90×1\n.nv_fatbin linked: sm_75×1 sm_80×1 sm_86×1 sm_90×1\n"}},
		{"embedded.so", []string{".rodata embedded: sm_80×2 sm_90a×2 sm_100f×2 sm_120×2 compute_120×2\n"}},
		{"raw-sm_35.cubin", []string{" loose: sm_35×2\n"}},
		{"raw-compute_80.ptx", []string{" loose: compute_80×2\n"}},
		{"pe.obj", []string{".nv_fatb registered: sm_80×2 sm_90a×2 sm_100f×2 sm_120×2 compute_120×2\n.nv_fatb registered: sm_80×2 sm_90a×2 sm_100f×2 sm_120×2 compute_120×2\n"}},
		{"plain.so", []string{""}},
		{"archive.a", []string{
			".nv_fatbin registered: sm_75×3 sm_80×3 sm_86×3 compute_90×3 sm_90×3\n",
			".nv_fatbin registered: sm_80×2 sm_86×2\n", ".nv_fatbin registered: sm_90a×1\n",
		}},
	} {
		files := opened(t, c.name)
		if len(files) != len(c.want) {
			t.Errorf("%s: %d objects, want %d", c.name, len(files), len(c.want))
			continue
		}
		for i, f := range files {
			if got := shape(f); got != c.want[i] {
				t.Errorf("%s:\n got %s\nwant %s", f.Path, got, c.want[i])
			}
			if fs := f.Findings(); len(fs) != 0 {
				t.Errorf("%s: findings %+v", f.Path, fs)
			}
		}
	}
}

func TestMemberPaths(t *testing.T) {
	files := opened(t, "archive.a")
	if got := files[1].Path; !strings.HasSuffix(got, "archive.a!r.o") {
		t.Errorf("second member is %q, want …archive.a!r.o", got)
	}
}

func TestSearchFindsNothingTwice(t *testing.T) {
	f := opened(t, "embedded.so")[0]
	n := len(f.Containers)
	if err := f.Search(context.Background()); err != nil || len(f.Containers) != n {
		t.Errorf("a second search: %v, %d containers instead of %d", err, len(f.Containers), n)
	}
}

// A truncated library still shows what is intact, and never panics.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"multi13.so", "mode-concat.fatbin", "rdc-object.o", "pe.dll", "archive.a", "raw-sm_80.cubin"} {
		whole, err := os.ReadFile(filepath.Join(fixtures, name))
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(whole)/400)
		last := 0
		for n := 0; n <= len(whole); n += step {
			b := whole[:n]
			files, err := Read(context.Background(), name, bytes.NewReader(b), int64(n), nil)
			if err != nil {
				continue // said as an error: nothing could be told
			}
			containers := 0
			for _, f := range files {
				if err := f.Search(context.Background()); err != nil {
					t.Fatalf("%s cut to %d: %v", name, n, err)
				}
				containers += len(f.Containers)
			}
			DecodeAll(context.Background(), files, nil)
			for _, f := range files {
				coverage.JudgeFile(f.Coverage(), coverage.Target{CC: 90})
				for _, x := range f.Findings() {
					if x.Offset > int64(n) {
						t.Errorf("%s cut to %d: finding at %d lies outside", name, n, x.Offset)
					}
				}
			}
			last = containers
		}
		if last == 0 {
			t.Errorf("%s: no container at nearly full length", name)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ path, says string }{
		{filepath.Join(dir, "absent"), "no such file"},
		{dir, "is a folder"},
		{filepath.Join(fixtures, "empty.bin"), "is empty"},
		{filepath.Join(fixtures, "text.txt"), "not a format that fatview reads"},
		{os.DevNull, "is not a regular file"},
	} {
		_, err := Open(context.Background(), c.path)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", c.path, err, c.says)
		}
	}
	if err := PathError("x", &os.PathError{Op: "open", Path: "x", Err: os.ErrPermission}); !strings.Contains(err.Error(), "no permission") {
		t.Error(err)
	}
}

// The file vanishing or shrinking after it was opened is a finding.
type brokenReader struct{ *bytes.Reader }

var errGone = errors.New("device gone")

func (r brokenReader) ReadAt(b []byte, off int64) (int, error) {
	if off > 8000 {
		return 0, errGone
	}
	return r.Reader.ReadAt(b, off)
}

func TestReaderFails(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(fixtures, "mode-none.fatbin"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := Read(context.Background(), "x", brokenReader{bytes.NewReader(b)}, int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	DecodeAll(context.Background(), files, nil)
	all := ""
	for _, f := range files[0].Findings() {
		all += f.Message + "\n"
	}
	if !strings.Contains(all, errGone.Error()) {
		t.Errorf("findings do not name the reader's error: %s", all)
	}
}

func TestDecodeStopsWhenAsked(t *testing.T) {
	files, err := Open(context.Background(), filepath.Join(fixtures, "multi13.so"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var p Progress
	DecodeAll(ctx, files, &p)
	if p.Done.Load() != 0 || files[0].Containers[0].Decoded() != nil {
		t.Error("decoding went on after the context ended")
	}
}

// Kernels of the union: what one image lacks is counted as missing there.
func TestKernelSet(t *testing.T) {
	f := opened(t, "rdc-linked.so")[0]
	for _, c := range f.Containers {
		set := c.Coverage().Kernels
		if set.Total != 1 {
			t.Errorf("container %d: %d kernels in the union, each half defines one", c.ID, set.Total)
		}
	}
}

func TestBits32(t *testing.T) {
	text := ".version 7.0\n.target sm_80\n.address_size 32\n.visible .entry k()\n{\nret;\n}\n"
	files, err := Read(context.Background(), "x.ptx", strings.NewReader(text), int64(len(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	DecodeAll(context.Background(), files, nil)
	d, err := gpu.ParseDriver("580")
	if err != nil {
		t.Fatal(err)
	}
	r := coverage.JudgeFile(files[0].Coverage(), coverage.Target{CC: 80, Driver: d})
	if r.Verdict != coverage.None {
		t.Errorf("32-bit PTX on 8.0: %s, want none", r.Verdict)
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		files, err := Open(context.Background(), filepath.Join(fixtures, "multi13.so"))
		if err != nil {
			b.Fatal(err)
		}
		files[0].Close()
	}
}

func BenchmarkDecode(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(fixtures, "mode-size.fatbin"))
	if err != nil {
		b.Fatal(err)
	}
	var dec fatbin.Decoder
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		files, err := Read(context.Background(), "x", bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			b.Fatal(err)
		}
		files[0].Decode(context.Background(), files[0].Containers[0], &dec)
	}
}
