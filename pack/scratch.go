package pack

import (
	"io"
	"os"
	"sync"
)

// A tempFile is what content is written to and read back from.
type tempFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
}

// A scratch is the one temporary file of a walk. Contents follow one another in
// it, so that a package of a thousand big members costs one descriptor. Room at
// its end is used again when what lies there is given back, which is soon for
// members without anything to keep; a hole in the middle waits for its
// neighbours above.
type scratch struct {
	create func() (tempFile, error)

	mu      sync.Mutex
	file    tempFile
	regions []*region // in the order of offsets
	over    bool      // nothing more will be written
}

// A region is a content's place. One that is being written is the last.
type region struct {
	s    *scratch
	at   int64
	size int64
	free bool
}

// begin opens a region at the end of the file, which it makes if need be.
func (s *scratch) begin() (*region, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return nil, err
		}
		s.file = f
	}
	r := &region{s: s}
	if n := len(s.regions); n > 0 {
		r.at = s.regions[n-1].at + s.regions[n-1].size
	}
	s.regions = append(s.regions, r)
	return r, nil
}

// Write adds to the region, which must be the last one.
func (r *region) Write(p []byte) (int, error) {
	n, err := r.s.file.WriteAt(p, r.at+r.size)
	r.s.mu.Lock()
	r.size += int64(n)
	r.s.mu.Unlock()
	return n, err
}

// ReadAt reads within the region.
func (r *region) ReadAt(p []byte, off int64) (int, error) {
	r.s.mu.Lock()
	f := r.s.file
	if r.free || f == nil {
		r.s.mu.Unlock()
		return 0, os.ErrClosed
	}
	r.s.mu.Unlock()
	return io.NewSectionReader(f, r.at, r.size).ReadAt(p, off)
}

// release gives the region's room back.
func (r *region) release() error {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	r.free = true
	n := len(s.regions)
	for n > 0 && s.regions[n-1].free {
		n--
	}
	if n == len(s.regions) {
		return nil
	}
	end := s.regions[n].at
	s.regions = s.regions[:n]
	if n == 0 && s.over {
		return s.close()
	}
	return s.file.Truncate(end)
}

// done says that nothing more will be written: the file is closed when its last
// region is released.
func (s *scratch) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if len(s.regions) == 0 {
		s.close()
	}
}

func (s *scratch) close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
