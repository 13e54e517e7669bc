package fatbin

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Some libraries, such as FFmpeg's libavfilter, keep PTX as gzip streams (RFC
// 1952) among their data, and unpack it themselves before they load it.

// GzipMagic returns the bytes that begin a gzip stream: two of magic number and
// the only method there is.
func GzipMagic() []byte { return []byte{0x1F, 0x8B, 8} }

const (
	gzipHeaderSize = 10
	gzipLook       = 512     // bytes of a stream that are inflated to tell what it holds
	gzipText       = 2 << 10 // bytes of text that are looked at then
	// gzipCharge is the effort that this counts as: inflating costs a
	// multiple of reading.
	gzipCharge = 4 << 10
)

// gunzip keeps what inflating many streams needs.
type gunzip struct {
	inflate io.ReadCloser
	gz      *gzip.Reader
	text    []byte
}

// Gzip looks at the magic number of a gzip stream at off, which must end before
// limit. The error is ErrNotPTX if it holds anything else, which takes a few
// hundred bytes to tell; a FormatError means PTX that is damaged, or grows
// beyond what fatview decompresses.
func (p *Prober) Gzip(off, limit int64) (*Container, error) {
	head := p.read(off, min(gzipLook, limit-off))
	body, ok := gzipBody(head)
	if !ok {
		return nil, ErrNotPTX
	}
	if !p.charge(gzipCharge) {
		return nil, ErrEffort
	}
	if !p.beginsPTX(head[body:]) {
		return nil, ErrNotPTX
	}
	// Count what the inflater takes: nothing else tells where a stream ends.
	in := &countingReader{r: bufio.NewReader(io.NewSectionReader(p.r, off, limit-off))}
	text, size, err := p.inflateAll(in)
	ptx := textHead(text, int64(len(text)) == size)
	switch {
	case errors.Is(err, ErrEffort):
		return nil, err
	case ptx == nil:
		return nil, ErrNotPTX
	case err != nil:
		return nil, formatErr(off, "gzip stream of PTX: %v", err)
	}
	p.left += min(size, 64*in.n) // it was not for nothing
	im := bareImage(p.r, KindPTX, off, in.n)
	im.Bytes, im.Compression = size, CompressionGzip
	im.setPTX(ptx)
	return &Container{Offset: off, Size: in.n, Images: []*Image{im}}, nil
}

// gzipBody returns where the deflated bytes begin, if b begins a gzip stream
// that can be believed.
func gzipBody(b []byte) (int, bool) {
	if len(b) < gzipHeaderSize+8 || !bytes.HasPrefix(b, GzipMagic()) {
		return 0, false
	}
	flags, system := b[3], b[9]
	if flags&0xE0 != 0 || system > 13 && system != 255 {
		return 0, false
	}
	at := gzipHeaderSize
	if flags&4 != 0 {
		at += 2 + int(le.Uint16(b[at:]))
	}
	for _, bit := range []byte{8, 16} { // name and comment
		if flags&bit == 0 {
			continue
		}
		if at >= len(b) {
			return 0, false
		}
		n := bytes.IndexByte(b[at:], 0)
		if n < 0 {
			return 0, false
		}
		at += n + 1
	}
	if flags&2 != 0 {
		at += 2
	}
	// The two bits of a block's type are never both set.
	return at, at < len(b) && b[at]>>1&3 != 3
}

// beginsPTX tells whether deflated bytes, of which more may follow, begin with
// what PTX begins with.
func (p *Prober) beginsPTX(b []byte) bool {
	in := bytes.NewReader(b)
	if p.inflate == nil {
		p.inflate = flate.NewReader(in)
	} else if err := p.inflate.(flate.Resetter).Reset(in, nil); err != nil {
		return false
	}
	out := grow(&p.text, gzipText)
	n, _ := io.ReadFull(p.inflate, out)
	s := scanner{b: out[:n]}
	if s.skipSpace(); s.p == n {
		return n > 0 // comments so far
	}
	return bytes.HasPrefix(s.b[s.p:], []byte(".version"))
}

// textHead reads the directives at the beginning of a text, behind comments. It
// returns nil if there are none.
func textHead(b []byte, whole bool) *PTX {
	s := scanner{b: b}
	s.skipSpace()
	ptx, _ := moduleHead(b[s.p:], whole)
	return ptx
}

// inflateAll inflates a whole stream and returns the beginning of its text and
// the size of all of it.
func (p *Prober) inflateAll(in *countingReader) (text []byte, size int64, err error) {
	if p.gz == nil {
		p.gz = new(gzip.Reader)
	}
	if err := p.gz.Reset(in); err != nil {
		return nil, 0, err
	}
	p.gz.Multistream(false)
	var begin bytes.Buffer
	chunk := grow(&p.text, 32<<10)
	for {
		n, err := p.gz.Read(chunk)
		size += int64(n)
		if room := maxPreamble + maxPTXHead - begin.Len(); room > 0 {
			begin.Write(chunk[:min(n, room)])
		}
		switch {
		case errors.Is(err, io.EOF):
			return begin.Bytes(), size, nil
		case err != nil:
			return begin.Bytes(), size, err
		case !p.charge(int64(n)):
			return nil, 0, ErrEffort
		case !plausible(in.n, size, CompressionGzip):
			return begin.Bytes(), size, fmt.Errorf("%w: more than %d bytes from %d", ErrTooLarge, size, in.n)
		}
	}
}

// A countingReader counts what is taken from it. The inflater takes single
// bytes from a reader that can give them, so that the count is exact.
type countingReader struct {
	r *bufio.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// ungzip decompresses one gzip stream of exactly size bytes of text.
func (d *Decoder) ungzip(in []byte, size, off int64) ([]byte, error) {
	damaged := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("gzip stream is damaged: %w", &FormatError{Off: off, Msg: shortRead(err).Error()})
	}
	z, err := gzip.NewReader(bytes.NewReader(in))
	if err != nil {
		return damaged(err)
	}
	z.Multistream(false)
	out := grow(&d.out, size)
	if _, err := io.ReadFull(z, out); err != nil {
		return damaged(err)
	}
	var more [1]byte
	switch n, err := io.ReadFull(z, more[:]); {
	case n > 0:
		return nil, formatErr(off, "gzip stream holds more than the %d bytes that were found in it", size)
	case err != io.EOF:
		return damaged(err)
	}
	return out, nil
}
