package pack

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A member over the bound on memory goes to a file that has no name.
func TestTemporaryFiles(t *testing.T) {
	big, little := noise(300_000), noise(1000)
	data := gz(t, tarOfFiles(t, file{name: "big", body: big}, file{name: "little", body: little}, file{name: "same", body: big}))
	lim := Limits{Memory: 100_000, TempDir: t.TempDir()}
	var blobs []*Blob
	_, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", lim, func(m *Member) error {
		b, err := m.Open()
		must(t, err)
		blobs = append(blobs, b)
		_, isFile := b.keep.at.(*region)
		if isFile != (m.Size > lim.Memory) {
			t.Errorf("%s: in a file: %v", m.Path, isFile)
		}
		emptyDir(t, lim.TempDir)
		return nil
	})
	must(t, err)
	for i, want := range []string{big, little, big} {
		body, err := io.ReadAll(io.NewSectionReader(blobs[i], 0, blobs[i].Size()))
		if err != nil || string(body) != want {
			t.Errorf("blob %d: %d bytes, %v", i, len(body), err)
		}
		must(t, blobs[i].Close())
		if _, err := blobs[i].ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrClosed) {
			t.Errorf("read after close: %v", err)
		}
	}

	// Without a folder for them, only what fits into memory can be opened.
	lim.TempDir = filepath.Join(lim.TempDir, "absent")
	got, sum, err := walk(t, data, "", lim)
	must(t, err)
	if len(got) != 3 || got[1].body != little || !strings.Contains(got[0].body, "temporary file in "+lim.TempDir) {
		t.Errorf("got %s", listing(got))
	}
	if len(sum.Findings) != 2 || sum.Findings[0].Path != "big" || sum.Findings[0].Severity != SeverityError {
		t.Errorf("findings %v", sum.Findings)
	}
}

// MemoryAll is shared by the blobs that are open, and given back by Close.
func TestMemoryAll(t *testing.T) {
	body := noise(60_000)
	data := gz(t, tarOfFiles(t, file{name: "a", body: body}, file{name: "b", body: body}, file{name: "c", body: body}))
	lim := Limits{MemoryAll: 100_000, TempDir: t.TempDir()}
	var open []*Blob
	inFile := ""
	_, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", lim, func(m *Member) error {
		b, err := m.Open()
		must(t, err)
		if _, ok := b.keep.at.(*region); ok {
			inFile += m.Path
		}
		open = append(open, b)
		if m.Path == "b" {
			must(t, open[0].Close())
		}
		return nil
	})
	must(t, err)
	if inFile != "b" {
		t.Errorf("in files: %q", inFile)
	}
}

// A fullDisk takes some bytes.
type fullDisk struct {
	left   int
	closed *int
}

func (f *fullDisk) Truncate(int64) error { return nil }
func (f *fullDisk) WriteAt(p []byte, _ int64) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "fatview-1", Err: syscall.ENOSPC}
	}
	return len(p), nil
}
func (f *fullDisk) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }
func (f *fullDisk) Close() error                      { *f.closed++; return nil }

func TestDiskFull(t *testing.T) {
	for _, left := range []int{0, 300_000, 600_000} {
		closed := 0
		s := newStore(Limits{Memory: 300_000, TempDir: "/tmp-of-test"}.withDefaults())
		s.create = func(string) (tempFile, error) { return &fullDisk{left, &closed}, nil }
		_, err := s.put(strings.NewReader(noise(1<<20)), func(int64) error { return nil })
		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "temporary file in /tmp-of-test: ") {
			t.Errorf("error %v", err)
		}
		if s.file.done(); closed != 1 || s.inMemory.Load() != 0 {
			t.Errorf("closed %d times, %d bytes still counted", closed, s.inMemory.Load())
		}
	}
}

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 1, chunkSize, chunkSize + 1, 3*chunkSize + 5} {
		for _, memory := range []int64{1, chunkSize, 8 << 20} {
			want := noise(n)
			b, err := Spool(context.Background(), strings.NewReader(want), Limits{Memory: memory, TempDir: dir})
			must(t, err)
			got, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
			if err != nil || string(got) != want || b.Size() != int64(n) {
				t.Errorf("%d bytes with %d in memory: got %d, %v", n, memory, len(got), err)
			}
			if n > chunkSize { // across two pieces
				p := make([]byte, 10)
				if _, err := b.ReadAt(p[:6], chunkSize-5); err != nil || string(p[:6]) != want[chunkSize-5:chunkSize+1] {
					t.Errorf("across pieces: %v", err)
				}
			}
			if k, err := b.ReadAt(make([]byte, 2), int64(n)-1); n > 0 && (k != 1 || err != io.EOF) {
				t.Errorf("at the end: %d, %v", k, err)
			}
			must(t, b.Close())
			must(t, b.Close())
		}
	}
	if _, err := Spool(context.Background(), strings.NewReader(noise(100)), Limits{Total: 99}); err == nil || !strings.Contains(err.Error(), "bound of 99") {
		t.Errorf("error %v", err)
	}
	own := errors.New("own")
	if _, err := Spool(context.Background(), io.MultiReader(strings.NewReader("x"), failing{own}), Limits{}); !errors.Is(err, own) {
		t.Errorf("error %v", err)
	}
	emptyDir(t, dir)
}

// What is stored lies readable in the outer file and is not copied, also deep
// inside; what nobody opens is not kept.
func TestWindows(t *testing.T) {
	body := noise(50_000)
	data := tarOfFiles(t, file{name: "a.zip", body: string(zipOfFiles(t, file{name: "b.tar", body: string(tarOfFiles(t, file{name: "x", body: body}))}))})
	var b *Blob
	var kept *Member
	_, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", Limits{}, func(m *Member) error {
		kept = m
		var err error
		b, err = m.Open()
		must(t, err)
		if b.keep != nil {
			t.Error("the member was copied")
		}
		return nil
	})
	must(t, err)
	if _, err := kept.Open(); err == nil {
		t.Error("opened after the visit")
	}
	got := make([]byte, len(body))
	done := make(chan bool)
	for i := range 4 {
		go func() {
			p := make([]byte, len(body)/4)
			_, err := b.ReadAt(p, int64(i*len(p)))
			copy(got[i*len(p):], p)
			done <- err == nil
		}()
	}
	for range 4 {
		if !<-done {
			t.Error("a read failed")
		}
	}
	if string(got) != body {
		t.Error("content differs")
	}
}

// Two calls of Open on a stream give the same content, unpacked once.
func TestOpenTwice(t *testing.T) {
	data := gz(t, tarOfFiles(t, file{name: "a", body: noise(9000)}))
	sum, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", Limits{}, func(m *Member) error {
		a, err := m.Open()
		must(t, err)
		b, err := m.Open()
		must(t, err)
		must(t, a.Close())
		p := make([]byte, 9000)
		if _, err := b.ReadAt(p, 0); err != nil || string(p) != noise(9000) {
			t.Errorf("second blob: %v", err)
		}
		return b.Close()
	})
	must(t, err)
	if want := int64(512 + 9216 + 1024); sum.Bytes != want {
		t.Errorf("%d bytes unpacked, want those of the tar, %d", sum.Bytes, want)
	}
}

// The head of a compressed member is unpacked, and no more.
func TestHeadOnly(t *testing.T) {
	data := zipOfFiles(t, file{name: "a", body: strings.Repeat("x", zeros), method: zip.Deflate})
	sum, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", Limits{}, func(m *Member) error {
		if string(m.Head) != strings.Repeat("x", 4096) || m.Size != zeros {
			t.Errorf("head of %d bytes, size %d", len(m.Head), m.Size)
		}
		return nil
	})
	must(t, err)
	if sum.Bytes != 4096 {
		t.Errorf("%d bytes unpacked", sum.Bytes)
	}
}
