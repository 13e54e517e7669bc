package foreign

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

var le = binary.LittleEndian

// A view is a stretch of the file, or of unpacked bytes. Offsets are relative
// to it, nothing outside is read, and no buffer is larger than what is there.
type view struct {
	r    io.ReaderAt
	base int64
	size int64
	fail *error // first error of the reader other than the end of the file
}

// read fills as much of buf as the view has at off.
func (v view) read(buf []byte, off int64) int {
	if off < 0 || off >= v.size {
		return 0
	}
	buf = buf[:min(int64(len(buf)), v.size-off)]
	n, err := v.r.ReadAt(buf, v.base+off)
	if n < len(buf) && err != nil && !errors.Is(err, io.EOF) && *v.fail == nil {
		*v.fail = err
	}
	return max(0, min(n, len(buf)))
}

// full fills buf, or tells that it cannot.
func (v view) full(buf []byte, off int64) bool { return v.read(buf, off) == len(buf) }

// has tells whether n bytes at off are inside; both are as a file declares
// them.
func (v view) has(off, n uint64) bool {
	return off <= uint64(v.size) && n <= uint64(v.size)-off
}

// from is the rest of the view.
func (v view) from(off int64) view {
	off = max(0, min(off, v.size))
	return view{v.r, v.base + off, v.size - off, v.fail}
}

// cut is the beginning of the view.
func (v view) cut(size int64) view {
	v.size = max(0, min(size, v.size))
	return v
}

// begins tells whether the bytes at off are those of magic.
func (v view) begins(off int64, magic string) bool {
	var buf [32]byte
	b := buf[:len(magic)]
	return v.full(b, off) && string(b) == magic
}

// maxName bounds names and targets, in bytes.
const maxName = 256

// cstring reads a text that ends with a NUL. Longer ones are cut.
func (v view) cstring(off int64) string {
	var buf [maxName]byte
	s, _, _ := strings.Cut(string(buf[:v.read(buf[:], off)]), "\x00")
	return s
}

// skipZeros returns the offset of the next byte that is not zero, looking at
// limit bytes at most.
func (v view) skipZeros(off, limit int64) int64 {
	var buf [4096]byte
	for end := min(v.size, off+limit); off < end; {
		b := buf[:min(int64(len(buf)), end-off)]
		n := v.read(b, off)
		for i, c := range b[:n] {
			if c != 0 {
				return off + int64(i)
			}
		}
		if off += int64(n); n < len(b) {
			break
		}
	}
	return off
}
