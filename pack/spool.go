package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// chunkSize is the piece in which content is unpacked.
const chunkSize = 256 << 10

// errTemp marks failures of temporary files, which say nothing of the package.
var errTemp = errors.New("temporary file")

// errDense marks a member that the bound on the ratio leaves out.
var errDense = errors.New("unpacks to too much")

// A Memory counts what several walks keep in memory together.
type Memory struct{ bytes atomic.Int64 }

// A store keeps unpacked content. It outlives a walk, since blobs do.
type store struct {
	lim      Limits
	inMemory *atomic.Int64
	piece    []byte
	file     scratch
	create   func(dir string) (tempFile, error) // replaced by tests
}

func newStore(lim Limits) *store {
	m := lim.Together
	if m == nil {
		m = &Memory{}
	}
	s := &store{lim: lim, inMemory: &m.bytes, create: createTemp}
	s.file.create = func() (tempFile, error) { return s.create(s.lim.TempDir) }
	return s
}

// put reads r to its end. check is asked after every piece with the bytes so
// far; its error ends the reading. What was kept is given back on failure.
func (s *store) put(r io.Reader, check func(n int64) error) (*backing, error) {
	if s.piece == nil {
		s.piece = make([]byte, chunkSize)
	}
	var mem chunks
	var file *region
	n := int64(0)
	fail := func(err error) (*backing, error) {
		if file != nil {
			file.release()
		} else {
			s.inMemory.Add(-n)
		}
		return nil, err
	}
	for {
		k, err := fill(r, s.piece)
		end := err == io.EOF
		if err != nil && !end {
			return fail(err)
		}
		piece := s.piece[:k]
		if file == nil && !s.fits(n, int64(k)) {
			if file, err = s.spill(mem); err != nil {
				return fail(err)
			}
			s.inMemory.Add(-n)
			mem = nil
		}
		if file != nil {
			if _, err := file.Write(piece); err != nil {
				return fail(s.tempError(err))
			}
		} else if k > 0 {
			mem = append(mem, bytes.Clone(piece))
			s.inMemory.Add(int64(k))
		}
		n += int64(k)
		if err := check(n); err != nil {
			return fail(err)
		}
		if end {
			break
		}
	}
	if file != nil {
		return newBacking(file, n, file.release), nil
	}
	return newBacking(mem, n, func() error { s.inMemory.Add(-n); return nil }), nil
}

// fill reads until p is full. Unlike io.ReadFull it returns the reader's own
// error, so that an end is told from a cut.
func fill(r io.Reader, p []byte) (n int, err error) {
	for idle := 0; n < len(p) && err == nil; {
		var k int
		k, err = r.Read(p[n:])
		n += k
		if k > 0 {
			idle = 0
		} else if idle++; err == nil && idle == 100 {
			err = io.ErrNoProgress
		}
	}
	if n == len(p) {
		return n, nil
	}
	return n, err
}

func (s *store) fits(n, more int64) bool {
	return n+more <= s.lim.Memory && s.inMemory.Load()+more <= s.lim.MemoryAll
}

// spill moves what is in memory to a temporary file.
func (s *store) spill(mem chunks) (*region, error) {
	f, err := s.file.begin()
	if err != nil {
		return nil, s.tempError(err)
	}
	for _, c := range mem {
		if _, err := f.Write(c); err != nil {
			f.release()
			return nil, s.tempError(err)
		}
	}
	return f, nil
}

// tempError names the folder: the file has no name that would help anyone.
func (s *store) tempError(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	dir := s.lim.TempDir
	if dir == "" {
		dir = os.TempDir()
	}
	return fmt.Errorf("%w in %s: %w", errTemp, dir, err)
}

// Spool reads r to its end and keeps what came, in memory up to Limits.Memory
// and in a temporary file beyond. It fails when r does, when there is more than
// Limits.Total, when the temporary file cannot be written, and when ctx ended;
// ctx is looked at between reads, so one that blocks is not interrupted.
func Spool(ctx context.Context, r io.Reader, lim Limits) (*Blob, error) {
	lim = lim.withDefaults()
	s := newStore(lim)
	defer s.file.done()
	b, err := s.put(ctxReader{ctx, r}, func(n int64) error {
		if n > lim.Total {
			return fmt.Errorf("input is larger than the bound of %d bytes", lim.Total)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer b.release()
	return b.blob(), nil
}

// A ctxReader reads until ctx ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
