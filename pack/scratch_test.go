package pack

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// namedTemp keeps its name, so that a test can ask for its size.
func namedTemp(t *testing.T, made *int) (*scratch, string) {
	path := filepath.Join(t.TempDir(), "scratch")
	return &scratch{create: func() (tempFile, error) {
		*made++
		return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}}, path
}

func TestScratchUsesItsEndAgain(t *testing.T) {
	made := 0
	s, path := namedTemp(t, &made)
	write := func(c byte, n int) *region {
		r, err := s.begin()
		must(t, err)
		_, err = r.Write(bytes.Repeat([]byte{c}, n/2))
		must(t, err)
		_, err = r.Write(bytes.Repeat([]byte{c}, n-n/2))
		must(t, err)
		return r
	}
	size := func(want int64) {
		t.Helper()
		st, err := os.Stat(path)
		must(t, err)
		if st.Size() != want {
			t.Errorf("the file has %d bytes, not %d", st.Size(), want)
		}
	}
	holds := func(r *region, c byte, n int) {
		t.Helper()
		b := make([]byte, n+1)
		if k, err := r.ReadAt(b, 0); k != n || err != io.EOF || !bytes.Equal(b[:n], bytes.Repeat([]byte{c}, n)) {
			t.Errorf("%c: %d bytes, %v", c, k, err)
		}
	}
	a, b, c := write('a', 100), write('b', 200), write('c', 300)
	size(600)
	must(t, b.release()) // in the middle: waits
	size(600)
	must(t, c.release()) // the end, and b below it
	size(100)
	d := write('d', 50)
	size(150)
	holds(a, 'a', 100)
	holds(d, 'd', 50)
	if _, err := b.ReadAt(make([]byte, 1), 0); err != os.ErrClosed {
		t.Errorf("a released region: %v", err)
	}
	s.done()
	must(t, a.release())
	holds(d, 'd', 50)
	must(t, d.release())
	if s.file != nil || made != 1 {
		t.Errorf("the file is open, or there were %d", made)
	}
	s = &scratch{}
	s.done() // nothing was written
}

// All members of a package that are kept share one file, and walks that share
// their memory are bounded together.
func TestOneFileAndOneMemory(t *testing.T) {
	body := noise(100_000)
	data := gz(t, tarOfFiles(t, file{name: "a", body: body}, file{name: "b", body: body}, file{name: "c", body: body}))
	lim := Limits{MemoryAll: 150_000, TempDir: t.TempDir(), Together: &Memory{}}
	files, inMemory := map[*scratch]bool{}, 0
	var open []*Blob
	for range 2 {
		_, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", lim, func(m *Member) error {
			b, err := m.Open()
			must(t, err)
			if r, ok := b.keep.at.(*region); ok {
				files[r.s] = true
			} else {
				inMemory++
			}
			open = append(open, b)
			return nil
		})
		must(t, err)
	}
	if len(files) != 2 || inMemory != 1 {
		t.Errorf("%d files and %d in memory, not 2 and 1", len(files), inMemory)
	}
	for _, b := range open {
		got, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
		if err != nil || string(got) != body {
			t.Errorf("content: %d bytes, %v", len(got), err)
		}
		must(t, b.Close())
	}
	for f := range files {
		if f.file != nil {
			t.Error("a file stays open")
		}
	}
}
