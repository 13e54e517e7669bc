package fatbin

import (
	"bytes"
	"debug/elf"
)

// A section is what is used of an ELF section header.
type section struct {
	name       []byte
	typ        uint32
	off, size  uint64
	link, info uint32
	data       []byte // nil for NOBITS or when outside the file
	kernel     int32  // index into Kernels of a text section, or -1
	barriers   uint8  // of a text section: see barrierShift
}

// barrierShift is where the flags of a text section hold the number of barriers
// (nvdisasm prints them as SHF_BARRIERS), seven bits of it. Newer cubins have
// an attribute instead.
const barrierShift = 20

// readSections reads the section table and the names.
func (r *cubinReader) readSections() error {
	b := r.b
	off, count, names := le.Uint64(b[40:]), uint64(le.Uint16(b[60:])), uint32(le.Uint16(b[62:]))
	if off == 0 {
		return nil // a cubin without sections: nothing to tell but the header
	}
	if size := le.Uint16(b[58:]); size != 64 {
		return formatErr(58, "cubin section header size %d is not 64", size)
	}
	if off > uint64(len(b)) || len(b)-int(off) < 64 {
		return formatErr(40, "cubin section table at %s lies outside its %d bytes", hex(off), len(b))
	}
	first := b[off:]
	if count == 0 {
		count = le.Uint64(first[32:])
	}
	if names == uint32(elf.SHN_XINDEX) {
		names = le.Uint32(first[40:])
	}
	if most := uint64(len(first) / 64); count > most || count > maxSections {
		r.cubin.problem(off, "cubin section table is cut off")
		count = min(most, maxSections)
	}
	r.sections = make([]section, count)
	for i := range r.sections {
		h := first[i*64:]
		s := &r.sections[i]
		*s = section{
			typ: le.Uint32(h[4:]), off: le.Uint64(h[24:]), size: le.Uint64(h[32:]),
			link: le.Uint32(h[40:]), info: le.Uint32(h[44:]), kernel: -1,
			barriers: uint8(le.Uint64(h[8:]) >> barrierShift & 0x7F),
		}
		switch s.typ {
		case uint32(elf.SHT_NOBITS), uint32(elf.SHT_NULL), shtCudaGlobal, shtCudaDebugShared: // no bytes in the file
			continue
		}
		if s.off > uint64(len(b)) || s.size > uint64(len(b))-s.off {
			r.cubin.problem(s.off, "cubin section lies outside the file")
			continue
		}
		s.data = b[s.off : s.off+s.size]
	}
	if uint64(names) >= count {
		return formatErr(62, "cubin has no section names")
	}
	table := newStringTable(r.sections[names].data)
	for i := range r.sections {
		h := first[i*64:]
		r.sections[i].name = table.at(le.Uint32(h))
	}
	if table.left == 0 {
		r.cubin.problem(off, "section names overlap too much")
	}
	return nil
}

// A stringTable holds NUL-terminated strings. Strings may share their ends,
// but in a table that a tool wrote they do not add up to much more than the
// table: left bounds what a hostile one can cost.
type stringTable struct {
	b    []byte
	left int
}

func newStringTable(b []byte) stringTable { return stringTable{b, 8*len(b) + 1} }

// at returns the string at off, or nil.
func (t *stringTable) at(off uint32) []byte {
	if uint64(off) >= uint64(len(t.b)) {
		return nil
	}
	s := t.b[off:]
	if i := bytes.IndexByte(s[:min(len(s), t.left)], 0); i >= 0 {
		s = s[:i]
	}
	if len(s) >= t.left {
		t.left = 0
		return nil
	}
	t.left -= len(s) + 1
	return s
}

// content returns a section's bytes for reading through. Sections of a sound
// cubin do not overlap; where they do, reading ends after twice the file.
func (r *cubinReader) content(s *section) []byte {
	if len(s.data) > r.unread {
		if r.unread > 0 {
			r.cubin.problem(s.off, "cubin sections overlap too much")
		}
		r.unread = 0
		return nil
	}
	r.unread -= len(s.data)
	return s.data
}
