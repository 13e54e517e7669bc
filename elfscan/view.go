package elfscan

import (
	"errors"
	"io"
	"strings"
)

// A view is one object's part of the file. Offsets are relative to the object;
// everything that reads goes through it, so that nothing reads outside and no
// buffer is larger than the bytes that are there.
type view struct {
	r    io.ReaderAt
	base int64
	size int64
	fail *error // first error of the reader other than the end of the file
}

// clip returns how many of n bytes at off are inside.
func (v view) clip(off, n uint64) int64 {
	if off >= uint64(v.size) {
		return 0
	}
	return int64(min(n, uint64(v.size)-off))
}

// has tells whether all n bytes at off are inside.
func (v view) has(off, n uint64) bool {
	return off <= uint64(v.size) && n <= uint64(v.size)-off
}

// read fills as much of buf as the view has at off.
func (v view) read(buf []byte, off uint64) int {
	buf = buf[:v.clip(off, uint64(len(buf)))]
	if len(buf) == 0 {
		return 0
	}
	n, err := v.r.ReadAt(buf, v.base+int64(off))
	if n < len(buf) && err != nil && !errors.Is(err, io.EOF) && *v.fail == nil {
		*v.fail = err
	}
	return max(0, min(n, len(buf)))
}

// full fills buf, or tells that it cannot.
func (v view) full(buf []byte, off uint64) bool { return v.read(buf, off) == len(buf) }

// bytes reads n bytes at off, or as many as there are.
func (v view) bytes(off, n uint64) []byte {
	buf := make([]byte, v.clip(off, n))
	return buf[:v.read(buf, off)]
}

// cstring reads a name that ends with a NUL. Longer names are cut.
func (v view) cstring(off uint64) string {
	var buf [maxName]byte
	return cutName(string(buf[:v.read(buf[:], off)]))
}

// sub is a part of the view.
func (v view) sub(off, size int64) view {
	return view{v.r, v.base + off, size, v.fail}
}

// chunkSize bounds the memory that walking a table takes. Relocation tables
// reach tens of megabytes.
const chunkSize = 64 << 10

// each calls visit for the entries of a table until visit returns false, and
// returns how many whole entries the file has.
func (v view) each(off, count uint64, entry int, visit func(i uint64, b []byte) bool) uint64 {
	count = min(count, uint64(v.clip(off, ^uint64(0)))/uint64(entry))
	if count == 0 {
		return 0
	}
	buf := make([]byte, min(count, uint64(max(1, chunkSize/entry)))*uint64(entry))
	for i := uint64(0); i < count; {
		n := v.read(buf[:min(uint64(len(buf)), (count-i)*uint64(entry))], off+i*uint64(entry)) / entry
		if n == 0 {
			return i
		}
		for k := range n {
			if !visit(i, buf[k*entry:(k+1)*entry]) {
				return count
			}
			i++
		}
	}
	return count
}

// A strtab is a table of names that end with NUL, read at once. Names are parts
// of one string, so a table full of references to the same bytes stays small.
type strtab string

const maxStrtab = 32 << 20

func (v view) strtab(off, size uint64) strtab {
	return strtab(v.bytes(off, min(size, maxStrtab)))
}

func (t strtab) name(off uint64) string {
	if off >= uint64(len(t)) {
		return ""
	}
	return cutName(string(t[off:]))
}

// cutName ends a name at its NUL and bounds its length.
func cutName(s string) string {
	s = s[:min(len(s), maxName)]
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}
