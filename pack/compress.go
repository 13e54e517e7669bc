package pack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the most that a stream may ask a decompressor to remember.
// zstd's own limit for files that need no special flag is 128 MiB, xz's
// strongest preset asks for 64.
const maxWindow = 128 << 20

const (
	gzipMagic  = "\x1f\x8b\x08"
	xzMagic    = "\xfd7zXZ\x00"
	zstdMagic  = "\x28\xb5\x2f\xfd"
	bzip2Magic = "BZh"
)

// compression tells by which format a file is packed, "" if by none.
func compression(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)) && len(head) >= 10 && head[3]&0xE0 == 0: // reserved flags
		return FormatGzip
	case bytes.HasPrefix(head, []byte(xzMagic)):
		return FormatXz
	case isZstd(head):
		return FormatZstd
	case bytes.HasPrefix(head, []byte(bzip2Magic)) && len(head) >= 10 && head[3] >= '1' && head[3] <= '9':
		// Then comes a block, or in an empty file its end.
		if m := string(head[4:10]); m == "1AY&SY" || m == "\x17\x72\x45\x38\x50\x90" {
			return FormatBzip2
		}
	}
	return ""
}

// isZstd also takes a frame behind a skippable one, which parallel compressors
// write first.
func isZstd(head []byte) bool {
	if len(head) >= 8 && head[0]&0xF0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" {
		if n := binary.LittleEndian.Uint32(head[4:]); int64(n) < int64(len(head)-8) {
			head = head[8+n:]
		}
	}
	return bytes.HasPrefix(head, []byte(zstdMagic))
}

// decompressor starts reading a packed file. The function it returns gives the
// memory back.
func decompressor(f Format, r io.Reader) (io.Reader, func(), error) {
	none := func() {}
	switch f {
	case FormatGzip:
		g, err := newGunzip(r)
		return g, none, err
	case FormatXz:
		return newXz(r), none, nil
	case FormatBzip2:
		return bzip2.NewReader(bufio.NewReaderSize(r, 64<<10)), none, nil
	case FormatZstd:
		// One decoder at a time starts no goroutine.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
			zstd.WithDecoderMaxMemory(1<<62), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, none, err
		}
		return z, z.Close, nil
	}
	return nil, none, fmt.Errorf("no decompressor for %s", f)
}

// A gunzip reads the members of a gzip file. Unlike gzip.Reader alone it takes
// padding and other bytes behind the last member for the end.
type gunzip struct {
	br *bufio.Reader
	z  *gzip.Reader
}

func newGunzip(r io.Reader) (*gunzip, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gunzip{br, z}, nil
}

func (g *gunzip) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if n > 0 && err == io.EOF {
			err = nil // said again by the next call
		}
		if n > 0 || err != io.EOF {
			return n, err
		}
		next, err := g.br.Peek(len(gzipMagic))
		if err != nil && err != io.EOF {
			return 0, err
		}
		if string(next) != gzipMagic {
			return 0, io.EOF
		}
		if err := g.z.Reset(g.br); err != nil {
			return 0, err
		}
		g.z.Multistream(false)
	}
}

// A packedReader counts what a decompressor reads and looks whether ctx ended.
type packedReader struct {
	w *walker
	r io.Reader
	n int64
}

func (p *packedReader) Read(b []byte) (int, error) {
	if err := p.w.alive(); err != nil {
		return 0, err
	}
	n, err := p.r.Read(b)
	p.n += int64(n)
	return n, err
}

// A meter counts what comes out of a decompressor toward Limits.Total and turns
// its panics into errors.
type meter struct {
	w *walker
	r io.Reader
}

func (m *meter) Read(p []byte) (n int, err error) {
	if err := m.w.alive(); err != nil {
		return 0, err
	}
	defer func() {
		if e := recover(); e != nil {
			n, err = 0, fmt.Errorf("decompressor failed: %v", e)
		}
	}()
	// One byte more than is left shows that there is more.
	left := m.w.lim.Total - m.w.sum.Bytes
	p = p[:min(int64(len(p)), left+1)]
	n, err = m.r.Read(p)
	if int64(n) > left {
		m.w.sum.Bytes += left
		return int(left), m.w.stopTotal()
	}
	m.w.sum.Bytes += int64(n)
	return n, err
}

// unpackStream starts to decompress src. done gives memory back.
func (w *walker) unpackStream(f Format, src source) (stream source, done func(), err error) {
	defer func() {
		if e := recover(); e != nil {
			done, err = func() {}, fmt.Errorf("decompressor failed: %v", e)
		}
	}()
	in := &packedReader{w: w, r: src.reader()}
	r, done, err := decompressor(f, in)
	if err != nil {
		return source{}, done, err
	}
	return source{r: &meter{w, r}, packed: func() int64 { return in.n }, size: -1}, done, nil
}
