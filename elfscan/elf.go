package elfscan

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// maxSections bounds memory. Objects made with a section for each function
// have tens of thousands.
const maxSections = 1 << 20

// maxSegments bounds what each look-up of an address costs; loaders see ten.
const maxSegments = 4096

func scanELF(v view, head []byte) (*Object, error) {
	f, err := elfHeader(v, head)
	if err != nil {
		return nil, err
	}
	f.obj = &Object{
		Offset: v.base, Size: v.size, Format: FormatELF,
		Machine:     elfMachine(f.machine, f.ptr*8, f.order),
		Bits:        f.ptr * 8,
		Relocatable: f.typ == elf.ET_REL,
	}
	if f.machine == emCUDA {
		f.obj.Format = FormatCubin
		f.obj.Ranges = []Range{{Kind: KindLoose, Offset: v.base, Size: v.size}}
		return f.obj, nil
	}
	f.readSections(head)
	f.readSegments(head)

	sections := make([]section, 0, len(f.sections))
	for i := range f.sections {
		s := &f.sections[i]
		if s.loaded() {
			sections = append(sections, s.section)
		} else if s.typ == elf.SHT_NOBITS && kindOf(s.name) != KindOther {
			f.obj.find(-1, fmt.Sprintf("section %q has no bytes here: this is a file of debug information", s.name))
		}
	}
	f.obj.setRanges(v, sections)
	dyn := f.dynamic()
	if !f.named() {
		f.obj.setRecords(v, f.loadedRecords(dyn))
	} else {
		f.obj.setRecords(v, f.readRecords())
	}
	f.obj.Needed, f.obj.Soname = f.needed(dyn)
	return f.obj, nil
}

func elfHeader(v view, head []byte) (*elfFile, error) {
	bad := func(off int64, msg string, val any) (*elfFile, error) {
		return nil, &FormatError{v.base + off, msg, val}
	}
	if len(head) < elf.EI_NIDENT {
		return bad(0, "elf identification is cut off", nil)
	}
	f := &elfFile{view: v}
	switch c := elf.Class(head[elf.EI_CLASS]); c {
	case elf.ELFCLASS64:
		f.elfLayout = elf64
	case elf.ELFCLASS32:
		f.elfLayout = elf32
	default:
		return bad(elf.EI_CLASS, "elf class is neither 32 nor 64 bit", head[elf.EI_CLASS])
	}
	switch d := elf.Data(head[elf.EI_DATA]); d {
	case elf.ELFDATA2LSB:
		f.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		f.order = binary.BigEndian
	default:
		return bad(elf.EI_DATA, "elf byte order is unknown", head[elf.EI_DATA])
	}
	if len(head) < f.header {
		return bad(0, "elf header is cut off", nil)
	}
	f.typ = elf.Type(f.order.Uint16(head[16:]))
	f.machine = elf.Machine(f.order.Uint16(head[18:]))
	return f, nil
}

// readSections reads the section headers and names. Where there are none, the
// file is one range, and the segments tell of records.
func (f *elfFile) readSections(head []byte) {
	off := f.word(head[f.shoff:])
	entry := int(f.order.Uint16(head[f.shentsize:]))
	count := uint64(f.order.Uint16(head[f.shnum:]))
	names := uint64(f.order.Uint16(head[f.shstrndx:]))
	if off == 0 {
		return // stripped of it; loadedRecords says what that hides
	}
	if entry < f.shdr || !f.has(off, uint64(entry)) {
		f.obj.find(-1, fmt.Sprintf("section table at %s is not in the file: sections have no names", hexU(off)))
		return
	}
	// Counts that do not fit 16 bits are in the first section header.
	first := f.bytes(off, uint64(f.shdr))
	if len(first) < f.shdr {
		return
	}
	if count == 0 {
		count = f.word(first[f.shSize:])
	}
	if names == uint64(elf.SHN_XINDEX) {
		names = uint64(f.order.Uint32(first[f.shLink:]))
	}
	if count > maxSections {
		f.obj.find(f.base+int64(off), fmt.Sprintf("section table has %d entries, the first %d are read", count, maxSections))
		count = maxSections
	}
	nameOff := make([]uint32, 0, f.clip(off, count*uint64(entry))/int64(entry))
	f.sections = make([]elfSection, 0, cap(nameOff))
	n := f.each(off, count, entry, func(_ uint64, b []byte) bool {
		nameOff = append(nameOff, f.order.Uint32(b))
		s := elfSection{
			typ:   elf.SectionType(f.order.Uint32(b[4:])),
			flags: elf.SectionFlag(f.word(b[f.shFlags:])),
			link:  f.order.Uint32(b[f.shLink:]),
			info:  f.order.Uint32(b[f.shInfo:]),
		}
		s.addr, s.off, s.size = f.word(b[f.shAddr:]), f.word(b[f.shOff:]), f.word(b[f.shSize:])
		s.host = s.flags&elf.SHF_EXECINSTR != 0 || elfTable(s.typ)
		f.sections = append(f.sections, s)
		if s.typ == elf.SHT_SYMTAB_SHNDX && len(f.extended) < 4 {
			f.extended = append(f.extended, s)
		}
		return true
	})
	if n < count {
		f.obj.find(f.base+int64(off), fmt.Sprintf("section table is cut: %d of %d entries are in the file", n, count))
	}
	if names >= uint64(len(f.sections)) || !f.sections[names].loaded() {
		f.obj.find(-1, "section names are missing: device code is told from the rest by searching for it")
		return
	}
	table := f.strtab(f.sections[names].off, f.sections[names].size)
	for i := range f.sections {
		f.sections[i].name = table.name(uint64(nameOff[i]))
	}
}

// elfTable tells the types of sections that are made for linkers and loaders.
func elfTable(t elf.SectionType) bool {
	switch t {
	case elf.SHT_SYMTAB, elf.SHT_DYNSYM, elf.SHT_STRTAB, elf.SHT_RELA, elf.SHT_REL, elf.SHT_HASH, elf.SHT_GNU_HASH,
		elf.SHT_DYNAMIC, elf.SHT_GNU_VERSYM, elf.SHT_GNU_VERDEF, elf.SHT_GNU_VERNEED, elf.SHT_SYMTAB_SHNDX, elf.SHT_GROUP:
		return true
	}
	return false
}

// named tells whether any section has a name, without which those of device
// code and of registration records cannot be told.
func (f *elfFile) named() bool {
	for i := range f.sections {
		if f.sections[i].name != "" {
			return true
		}
	}
	return false
}

func (f *elfFile) readSegments(head []byte) {
	off := f.word(head[f.phoff:])
	entry := int(f.order.Uint16(head[f.phentsize:]))
	count := uint64(f.order.Uint16(head[f.phnum:]))
	if off == 0 || count == 0 || entry < f.prog {
		return
	}
	n := f.each(off, count, entry, func(_ uint64, b []byte) bool {
		s := elfSegment{
			elf.ProgType(f.order.Uint32(b)), elf.ProgFlag(f.order.Uint32(b[f.pFlags:])),
			f.word(b[f.pOffset:]), f.word(b[f.pVaddr:]), f.word(b[f.pFilesz:]),
		}
		if s.typ == elf.PT_LOAD || s.typ == elf.PT_DYNAMIC {
			f.segments = append(f.segments, s)
		}
		return len(f.segments) < maxSegments
	})
	if n < count {
		f.obj.find(f.base+int64(min(off, uint64(f.size))), fmt.Sprintf("program headers are cut: %d of %d are in the file", n, count))
	}
}

// offset finds the file offset of a virtual address.
func (f *elfFile) offset(vaddr uint64) (uint64, bool) {
	for _, s := range f.segments {
		if s.typ == elf.PT_LOAD && vaddr >= s.vaddr && vaddr-s.vaddr < s.bytes {
			off := s.off + (vaddr - s.vaddr)
			return off, off >= s.off && f.has(off, 1)
		}
	}
	return 0, false
}
