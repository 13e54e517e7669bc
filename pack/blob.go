package pack

import (
	"io"
	"os"
	"sync/atomic"
)

// A Blob is content that can be read at random: a window of the reader that
// the walk was given, memory, or a temporary file. Any number of goroutines
// may read it at once. It lives until it is closed, and so long as the reader
// of the walk does if it is a window of that.
type Blob struct {
	sec    *io.SectionReader
	keep   *backing // nil for a window of the caller's reader
	closed atomic.Bool
}

// ReadAt implements io.ReaderAt. After Close the error is os.ErrClosed.
func (b *Blob) ReadAt(p []byte, off int64) (int, error) {
	if b.closed.Load() {
		return 0, os.ErrClosed
	}
	return b.sec.ReadAt(p, off)
}

// Size is the number of bytes.
func (b *Blob) Size() int64 { return b.sec.Size() }

// Close gives memory and temporary files back. A second Close does nothing.
func (b *Blob) Close() error {
	if b.closed.Swap(true) || b.keep == nil {
		return nil
	}
	return b.keep.release()
}

// A backing is unpacked content that one or more windows lie in. The last one
// to be released frees it.
type backing struct {
	at   io.ReaderAt
	size int64
	refs atomic.Int64
	free func() error
}

func newBacking(at io.ReaderAt, size int64, free func() error) *backing {
	b := &backing{at: at, size: size, free: free}
	b.refs.Store(1)
	return b
}

func (b *backing) retain() *backing {
	if b != nil {
		b.refs.Add(1)
	}
	return b
}

func (b *backing) release() error {
	if b == nil || b.refs.Add(-1) != 0 {
		return nil
	}
	return b.free()
}

// blob is a handle on the whole content with a reference of its own.
func (b *backing) blob() *Blob {
	return &Blob{sec: io.NewSectionReader(b.at, 0, b.size), keep: b.retain()}
}

// chunks is content in memory, in pieces of one size but for the last. Pieces
// need no copy when the content grows.
type chunks [][]byte

func (c chunks) ReadAt(p []byte, off int64) (n int, err error) {
	for i := off / chunkSize; n < len(p) && i < int64(len(c)); i++ {
		from := off + int64(n) - i*chunkSize
		if from >= int64(len(c[i])) {
			break
		}
		n += copy(p[n:], c[i][from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
