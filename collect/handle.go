package collect

import (
	"container/list"
	"errors"
	"io/fs"
	"os"
	"sync"
)

// maxOpen is how many files of folders are open at a time.
const maxOpen = 128

// A pool keeps the files that were opened last open.
type pool struct {
	mu   sync.Mutex
	used list.List // of *handle, the one opened last in front
}

// A handle is a file of a folder that is opened when it is read. It refuses to
// read another file than the one that was looked at first.
type handle struct {
	pool *pool
	path string
	st   fs.FileInfo

	mu     sync.RWMutex // held for reading while f is in use
	f      *os.File
	elem   *list.Element // in pool.used while open; pool.mu guards it
	closed bool
}

var errChanged = errors.New("the file changed while it was being read")

// ReadAt opens the file again if it was closed to make room.
func (h *handle) ReadAt(b []byte, off int64) (int, error) {
	for {
		h.mu.RLock()
		if h.f != nil {
			n, err := h.f.ReadAt(b, off)
			h.mu.RUnlock()
			return n, err
		}
		closed := h.closed
		h.mu.RUnlock()
		if closed {
			return 0, fs.ErrClosed
		}
		if err := h.open(); err != nil {
			return 0, err
		}
	}
}

func (h *handle) open() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return fs.ErrClosed
	}
	if h.f == nil {
		f, err := openRegular(h.path, h.st)
		if err != nil {
			h.mu.Unlock()
			return err
		}
		h.f = f
	}
	h.mu.Unlock()
	h.pool.touch(h)
	return nil
}

// openRegular opens the file that st describes, and no other: what lies at the
// path may have been replaced, by a link or a pipe for instance.
func openRegular(path string, st fs.FileInfo) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && (!os.SameFile(st, now) || now.Size() != st.Size() || !now.ModTime().Equal(st.ModTime())) {
		err = errChanged
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// touch makes h the one opened last, and closes those opened longest ago.
func (p *pool) touch(h *handle) {
	var old []*handle
	p.mu.Lock()
	if h.elem != nil {
		p.used.MoveToFront(h.elem)
	} else {
		h.elem = p.used.PushFront(h)
	}
	for p.used.Len() > maxOpen {
		last := p.used.Back()
		o := p.used.Remove(last).(*handle)
		o.elem = nil
		old = append(old, o)
	}
	p.mu.Unlock()
	for _, o := range old {
		o.rest()
	}
}

// rest closes the file until it is read again.
func (h *handle) rest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f != nil {
		h.f.Close()
		h.f = nil
	}
}

// Close ends the use of the file.
func (h *handle) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.pool.mu.Lock()
	if h.elem != nil {
		h.pool.used.Remove(h.elem)
		h.elem = nil
	}
	h.pool.mu.Unlock()
	h.rest()
	return nil
}
