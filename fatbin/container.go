package fatbin

import (
	"bytes"
	"encoding/binary"
	"io"
)

var le = binary.LittleEndian

// A Container is one fat binary: the images of one translation unit, or of
// one device link. CUDA calls the loaded form a module.
type Container struct {
	Offset   int64 // of the header in the file
	Size     int64 // header and entries, as declared
	Images   []*Image
	Problems []Problem // what was wrong inside; the intact part is in Images
}

// A Problem is damage that did not prevent reading on.
type Problem struct {
	Off int64
	Msg string
}

// ReadContainer reads the container whose header stands at off. limit is the
// offset at which the readable bytes end. It reads entry headers, never
// payloads. An error means that there is no container at off; damage further
// in is reported in Problems.
func ReadContainer(r io.ReaderAt, off, limit int64) (*Container, error) {
	var h [containerHeaderSize]byte
	if off < 0 || limit-off < containerHeaderSize {
		return nil, formatErr(off, "container header is cut off")
	}
	if err := readFull(r, h[:], off); err != nil {
		return nil, err
	}
	switch magic := le.Uint32(h[:]); magic {
	case magicContainer:
	case magicOld:
		return nil, ErrOldContainer
	default:
		return nil, formatErr(off, "no container magic")
	}
	version, headerSize, size := le.Uint16(h[4:]), int64(le.Uint16(h[6:])), le.Uint64(h[8:])
	if version != 1 {
		return nil, formatErr(off+4, "container version %d is not 1", version)
	}
	if headerSize < containerHeaderSize || headerSize > 4096 || headerSize%8 != 0 {
		return nil, formatErr(off+6, "container header size %d", headerSize)
	}
	if size > 1<<62 {
		return nil, formatErr(off+8, "container size %s is beyond any file", hex(size))
	}
	c := &Container{Offset: off, Size: headerSize + int64(size)}
	end := off + c.Size
	if end > limit || end < off {
		c.problem(off+8, "container declares "+hex(uint64(c.Size))+" bytes, "+hex(uint64(limit-off))+" are there")
		end = limit
	}
	c.readEntries(r, off+headerSize, end)
	return c, nil
}

func (c *Container) problem(off int64, msg string) {
	if len(c.Problems) < maxProblems {
		c.Problems = append(c.Problems, Problem{Off: off, Msg: msg})
	}
}

// readEntries walks the entry headers from p to end.
func (c *Container) readEntries(r io.ReaderAt, p, end int64) {
	// Most headers are 64 to 312 bytes: one read of this size gets the whole
	// header and its options text.
	buf := make([]byte, 320)
	for p < end {
		if len(c.Images) >= maxEntries {
			c.problem(p, tooManyEntries)
			return
		}
		if end-p < entryHeaderSize {
			if !zeros(r, p, end) {
				c.problem(p, "entry header is cut off")
			}
			return
		}
		n, err := r.ReadAt(buf[:min(int64(len(buf)), end-p)], p)
		if n < entryHeaderSize {
			c.problem(p, "entry header: "+shortRead(err).Error())
			return
		}
		e, err := parseEntry(buf[:n], p, end)
		if err != nil {
			c.problem(p, err.Error())
			return
		}
		header := buf[:min(int64(n), e.headerSize)]
		if e.headerSize > int64(n) {
			header = make([]byte, e.headerSize)
			if err := readFull(r, header, p); err != nil {
				c.problem(p, err.Error())
				return
			}
		}
		c.addEntry(r, e, header)
		p = e.end
	}
}

// addEntry turns an entry and its whole header into images.
func (c *Container) addEntry(r io.ReaderAt, e entry, header []byte) {
	if e.truncated {
		c.problem(e.off+8, "entry payload of "+hex(uint64(e.payload))+" bytes ends outside the container")
	}
	if e.kind == KindConcat {
		c.addConcat(r, e, header)
		return
	}
	im := newImage(r, e)
	im.PayloadOffset, im.Compression = e.off+e.headerSize, compressionOf(e)
	im.StoredBytes, im.Bytes, im.cut = e.stored()
	if !e.truncated && e.compressed > e.payload {
		c.problem(e.off+16, "compressed size "+hex(uint64(e.compressed))+" is beyond the payload of "+hex(uint64(e.payload)))
	}
	im.setOptions(header, e)
	if id, ok := slice(header, e.idOff, e.idLen); ok && e.idLen > 0 {
		im.Identifier = cString(id)
	}
	c.Images = append(c.Images, im)
}

// CheckHeader tells whether b, taken at off from a file of limit bytes,
// begins with a container that can be believed: header and first entry agree
// with each other and with the space there is. It keeps magic numbers that
// occur by chance from being reported. It needs the first 80 bytes: fewer do
// not begin a container that has an entry.
func CheckHeader(b []byte, off, limit int64) bool {
	if len(b) < containerHeaderSize+entryHeaderSize || le.Uint32(b) != magicContainer {
		return false
	}
	headerSize, size := int64(le.Uint16(b[6:])), le.Uint64(b[8:])
	if le.Uint16(b[4:]) != 1 || headerSize != containerHeaderSize || size < entryHeaderSize || size > uint64(max(0, limit-off-headerSize)) {
		return false
	}
	e, err := parseEntry(b[headerSize:], off+headerSize, off+headerSize+int64(size))
	if err != nil || e.truncated {
		return false
	}
	return e.arch < 10000 && e.compressed <= e.payload
}

func readFull(r io.ReaderAt, b []byte, off int64) error {
	if n, err := r.ReadAt(b, off); n < len(b) {
		return shortRead(err)
	}
	return nil
}

// shortRead turns the error of a ReadAt that returned too little into one that
// says so.
func shortRead(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// zeros reports whether the few bytes from p to end are padding.
func zeros(r io.ReaderAt, p, end int64) bool {
	var b [entryHeaderSize]byte
	n := end - p
	if n > int64(len(b)) || readFull(r, b[:n], p) != nil {
		return false
	}
	return len(bytes.TrimLeft(b[:n], "\x00")) == 0
}

// slice returns b[off:off+n] if it lies inside b.
func slice(b []byte, off, n int64) ([]byte, bool) {
	if off < 0 || n < 0 || off > int64(len(b)) || n > int64(len(b))-off {
		return nil, false
	}
	return b[off : off+n], true
}

// cString drops everything from the first NUL.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
