package fatbin

import (
	"bytes"
	"debug/elf"
)

const (
	elfHeaderSize  = 64
	elfSegmentSize = 56
	elfSectionSize = 64

	// maxBriefSection bounds what is read of a note or an attribute section
	// to learn a suffix; they have a few hundred bytes.
	maxBriefSection = 64 << 10
)

// Cubin looks at the magic number of an ELF file at off. The size of a cubin
// follows from its tables, which must end before limit; they and the notes are
// all that is read. The error is ErrNotCubin for other ELF files, and for what
// only begins like one.
func (p *Prober) Cubin(off, limit int64) (*Container, error) {
	h := bytes.Clone(p.read(off, min(elfHeaderSize, limit-off)))
	if !isCubin(h) || h[elf.EI_VERSION] != 1 || le.Uint16(h[16:]) == 0 || le.Uint16(h[52:]) != elfHeaderSize {
		return nil, ErrNotCubin
	}
	c := cubinProbe{Prober: p, h: h, off: off, room: limit - off, end: elfHeaderSize}
	if err := c.readTables(); err != nil {
		return nil, err
	}
	cubin, err := c.brief()
	if err != nil {
		return nil, err
	}
	p.left += c.spent // it was not for nothing
	im := bareImage(p.r, KindCubin, off, c.end)
	im.setCubin(cubin)
	return &Container{Offset: off, Size: c.end, Images: []*Image{im}}, nil
}

// A cubinProbe is one look at what may be a cubin.
type cubinProbe struct {
	*Prober
	h         []byte
	off, room int64 // where it begins, and the most that it can have
	end       int64 // bytes from off, so far
	table     []byte
	spent     int64
}

// take reads bytes that may turn out to have been read for nothing.
func (c *cubinProbe) take(at, n uint64) ([]byte, error) {
	if at > uint64(c.room) || n > uint64(c.room)-at {
		return nil, ErrNotCubin
	}
	if !c.charge(int64(n)) {
		return nil, ErrEffort
	}
	c.spent += int64(n)
	b := make([]byte, n)
	if readFull(c.r, b, c.off+int64(at)) != nil {
		return nil, ErrNotCubin
	}
	return b, nil
}

// extend moves the end behind a table or section, if that can be there.
func (c *cubinProbe) extend(at, count, entry uint64) bool {
	if at > uint64(c.room) || count > (uint64(c.room)-at)/entry {
		return false
	}
	c.end = max(c.end, int64(at+count*entry))
	return true
}

// readTables reads the section table, and finds where the last table or
// section ends: nothing else tells a cubin's size.
func (c *cubinProbe) readTables() error {
	h := c.h
	if n := uint64(le.Uint16(h[56:])); n > 0 && (le.Uint16(h[54:]) != elfSegmentSize || !c.extend(le.Uint64(h[32:]), n, elfSegmentSize)) {
		return ErrNotCubin
	}
	at, count := le.Uint64(h[40:]), uint64(le.Uint16(h[60:]))
	if le.Uint16(h[58:]) != elfSectionSize || at < elfHeaderSize {
		return ErrNotCubin
	}
	first, err := c.take(at, elfSectionSize)
	if err != nil {
		return err
	}
	if elf.SectionType(le.Uint32(first[4:])) != elf.SHT_NULL {
		return ErrNotCubin
	}
	if count == 0 { // does not fit 16 bits
		count = le.Uint64(first[32:])
	}
	if count < 2 || count > maxSections || !c.extend(at, count, elfSectionSize) {
		return ErrNotCubin
	}
	if c.table, err = c.take(at, count*elfSectionSize); err != nil {
		return err
	}
	for s := c.table; len(s) > 0; s = s[elfSectionSize:] {
		switch typ := le.Uint32(s[4:]); typ {
		case uint32(elf.SHT_NULL), uint32(elf.SHT_NOBITS), shtCudaGlobal, shtCudaDebugShared:
		default:
			// One that is not there is for ParseCubin to tell.
			c.extend(le.Uint64(s[24:]), le.Uint64(s[32:]), 1)
		}
	}
	return nil
}

// brief reads as much of the cubin as its architecture needs: the header, and
// the sections that tell the suffix.
func (c *cubinProbe) brief() (*Cubin, error) {
	names := uint64(le.Uint16(c.h[62:]))
	if names == uint64(elf.SHN_XINDEX) {
		names = uint64(le.Uint32(c.table[40:]))
	}
	if names >= uint64(len(c.table)/elfSectionSize) {
		return nil, ErrNotCubin
	}
	s := c.table[names*elfSectionSize:]
	b, err := c.take(le.Uint64(s[24:]), le.Uint64(s[32:]))
	if err != nil {
		return nil, err
	}
	strings := newStringTable(b)
	cubin := cubinHeader(c.h)
	if cubin.Arch.CC < 10 { // the first GPU that CUDA knew
		return nil, ErrNotCubin
	}
	r := &cubinReader{cubin: cubin}
	for s := c.table; len(s) > 0; s = s[elfSectionSize:] {
		sec := section{name: strings.at(le.Uint32(s)), typ: le.Uint32(s[4:]), off: le.Uint64(s[24:]), size: le.Uint64(s[32:])}
		if !bytes.HasPrefix(sec.name, []byte(".note.nv.")) && string(sec.name) != ".nv.compat" || sec.size > maxBriefSection {
			continue
		}
		if sec.data, err = c.take(sec.off, sec.size); err == ErrEffort {
			return nil, err
		}
		r.unread += len(sec.data)
		r.sections = append(r.sections, sec)
	}
	r.readNotes()
	return cubin, nil
}
