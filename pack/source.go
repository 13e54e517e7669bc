package pack

import (
	"bufio"
	"bytes"
	"fmt"
	"hash"
	"io"
)

// headSize is how much of a member a visitor sees without opening it.
const headSize = 4096

// A source is the content of one member before anyone asked for it: a window
// of something that can be read at random, or else a stream that can be read
// once.
type source struct {
	at   io.ReaderAt
	off  int64
	keep *backing // what at belongs to; nil is the caller's reader
	have int64    // bytes of the window that are there; fewer than size if it is cut

	r      io.Reader
	packed func() int64 // packed bytes read so far, of the whole stream; nil if it is not packed

	size int64 // -1 if the format does not say
}

// window is a part of s, which must be a window itself. It is clipped to what
// is there.
func (s source) window(off, size int64) source {
	have := max(0, min(size, s.have-off))
	return source{at: s.at, off: s.off + off, keep: s.keep, have: have, size: size}
}

func (b *backing) source() source {
	return source{at: b.at, keep: b, have: b.size, size: b.size}
}

func (s source) section() *io.SectionReader {
	return io.NewSectionReader(s.at, s.off, s.have)
}

func (s source) reader() io.Reader {
	if s.at != nil {
		return s.section()
	}
	return s.r
}

func (s source) cutError() error {
	return fmt.Errorf("content is cut: %d of %d bytes are there", s.have, s.size)
}

// peek returns the first bytes, up to headSize, and leaves the source as it
// was. The error is that of reading, not of there being fewer bytes.
func (s *source) peek() ([]byte, error) {
	if s.at != nil {
		head := make([]byte, min(headSize, s.have))
		n, err := fill(s.section(), head)
		return head[:n], err
	}
	head := make([]byte, headSize)
	n, err := fill(s.r, head)
	head = head[:n:n]
	switch {
	case err == io.EOF:
		s.size = int64(n)
		s.r, err = bytes.NewReader(head), nil
	case err != nil:
		s.r = io.MultiReader(bytes.NewReader(head), failing{err})
	default:
		s.r = io.MultiReader(bytes.NewReader(head), s.r)
	}
	return head, err
}

// failing repeats an error that a stream gave once.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// noEOF is for places where a file must not end.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A countingReader knows where it is, and sums up what it reads if told to.
type countingReader struct {
	br  *bufio.Reader
	n   int64
	sum hash.Hash32
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.br.Read(p)
	c.n += int64(n)
	if c.sum != nil {
		c.sum.Write(p[:n])
	}
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.br.ReadByte()
	if err == nil {
		c.n++
		if c.sum != nil {
			c.sum.Write([]byte{b})
		}
	}
	return b, err
}
