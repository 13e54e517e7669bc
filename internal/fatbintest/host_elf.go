// Package fatbintest builds what tests read: host files (host_*.go) around device
// code. Nothing in it is checked in as bytes, so a test can vary what it needs.
package fatbintest

import (
	"debug/elf"
	"encoding/binary"
	"slices"
)

// A HostSection is a section of a synthetic host file. Type and Alloc are for
// ELF; the zero Type is PROGBITS, and NOBITS takes the length of Data only.
type HostSection struct {
	Name  string
	Data  []byte
	Align int // in the file and in memory; 0 means 1
	Type  elf.SectionType
	Code  bool // machine code, by the section's flags
}

// A HostPointer is a pointer-sized field that points to a place in a section.
// Builders express it as the format does: by a relocation, or in place.
type HostPointer struct {
	Section string // that holds the field
	At      int    // offset of the field
	Target  string // section pointed to
	Addend  int    // offset in the target
}

// RegistrationRecord is what nvcc puts into .nvFatBinSegment, with both
// pointers zero. bits is the width of the host's pointers.
func RegistrationRecord(version uint32, bits int, order binary.ByteOrder) []byte {
	b := make([]byte, 8+bits/4)
	order.PutUint32(b, 0x466243B1)
	order.PutUint32(b[4:], version)
	return b
}

// An ELF builds an ELF file: header, program headers, sections, section table.
// Addresses differ from offsets, so that mixing them up shows.
type ELF struct {
	Bits      int // 64 if zero
	BigEndian bool
	Type      elf.Type // ET_DYN if zero
	Machine   elf.Machine
	Sections  []HostSection
	Pointers  []HostPointer
	REL       bool // relocations keep the addend in place
	NoRelocs  bool // pointers in place only, as after packing relocations
	Needed    []string
	Soname    string
	NoTable   bool // leave out the section table, as sstrip does
	Overlay   []byte
}

// elfBase is the address of the file's first byte in memory.
const elfBase = 0x10000

// Order is the byte order of the file.
func (e *ELF) Order() binary.ByteOrder {
	if e.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

type elfBuilder struct {
	*ELF
	out     []byte
	headers []elfShdr
	wide    bool
}

type elfShdr struct {
	name              string
	typ               elf.SectionType
	flags             elf.SectionFlag
	off, size         int
	link, info, entry int
}

// Bytes lays the file out.
func (e ELF) Bytes() []byte {
	if e.Type == 0 {
		e.Type = elf.ET_DYN
	}
	if e.Machine == 0 {
		e.Machine = elf.EM_X86_64
	}
	b := &elfBuilder{ELF: &e, wide: e.Bits != 32}
	header, prog := 52, 32
	if b.wide {
		header, prog = 64, 56
	}
	phnum := 2
	if e.Type == elf.ET_REL {
		phnum = 0
	}
	b.out = make([]byte, header+phnum*prog)
	b.headers = []elfShdr{{}}
	for _, s := range e.Sections {
		flags := elf.SHF_ALLOC
		if s.Code {
			flags |= elf.SHF_EXECINSTR
		}
		b.add(elfShdr{name: s.Name, typ: max(s.Type, elf.SHT_PROGBITS), flags: flags}, s.Data, max(1, s.Align))
	}
	b.relocate()
	dynOff, dynSize := b.dynamic()
	mapped := len(b.out)
	names := []byte{0}
	for i := range b.headers[1:] {
		names = append(append(names, b.headers[i+1].name...), 0)
	}
	names = append(names, ".shstrtab\x00"...)
	b.add(elfShdr{name: ".shstrtab", typ: elf.SHT_STRTAB}, names, 1)
	shoff := 0
	if !e.NoTable {
		b.pad(8)
		shoff = len(b.out)
		b.sectionTable()
	}
	if phnum > 0 {
		b.segment(header, elf.PT_LOAD, 0, mapped)
		b.segment(header+prog, elf.PT_DYNAMIC, dynOff, dynSize)
	}
	b.header(header, prog, phnum, shoff)
	return append(b.out, e.Overlay...)
}

// order is the byte order as the interface that appends.
func (b *elfBuilder) order() binary.AppendByteOrder {
	if b.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (b *elfBuilder) pad(align int) {
	for len(b.out)%align != 0 {
		b.out = append(b.out, 0)
	}
}

func (b *elfBuilder) add(h elfShdr, data []byte, align int) int {
	b.pad(align)
	h.off, h.size = len(b.out), len(data)
	if h.typ != elf.SHT_NOBITS {
		b.out = append(b.out, data...)
	}
	b.headers = append(b.headers, h)
	return len(b.headers) - 1
}

// word appends an address-sized value.
func (b *elfBuilder) word(to []byte, v int) []byte { return b.word64(to, uint64(v)) }

func (b *elfBuilder) word64(to []byte, v uint64) []byte {
	if b.wide {
		return b.order().AppendUint64(to, v)
	}
	return b.order().AppendUint32(to, uint32(v))
}

// u32 and u16 append values whose width the class does not change.
func (b *elfBuilder) u32(to []byte, v int) []byte { return b.order().AppendUint32(to, uint32(v)) }
func (b *elfBuilder) u16(to []byte, v int) []byte { return b.order().AppendUint16(to, uint16(v)) }

func (b *elfBuilder) find(name string) int {
	return slices.IndexFunc(b.headers, func(h elfShdr) bool { return h.name == name })
}

// relocate writes the pointers: RELATIVE relocations in .rela.dyn or .rel.dyn
// for a shared object, .rela<section> against section symbols for a relocatable
// one, plain addresses for a fixed executable.
func (b *elfBuilder) relocate() {
	tables := map[int][]byte{}
	for _, p := range b.Pointers {
		from, to := b.find(p.Section), b.find(p.Target)
		field := b.headers[from].off + p.At
		value := elfBase + b.headers[to].off + p.Addend
		where, info, key := elfBase+field, uint64(8), 0 // R_X86_64_RELATIVE; readers go by the missing symbol
		if b.Type == elf.ET_REL {
			value, where, key = p.Addend, p.At, from
			info = uint64(to)<<8 | 1
			if b.wide {
				info = uint64(to)<<32 | 1
			}
		}
		if b.REL || b.NoRelocs || b.Type == elf.ET_EXEC {
			copy(b.out[field:], b.word(nil, value))
		}
		if b.NoRelocs || b.Type == elf.ET_EXEC {
			continue
		}
		t := b.word64(b.word(tables[key], where), info)
		if !b.REL {
			t = b.word(t, value)
		}
		tables[key] = t
	}
	symtab := 0
	if b.Type == elf.ET_REL {
		symtab = b.symbols()
	}
	for _, key := range sortedKeys(tables) {
		h := elfShdr{name: ".rela", typ: elf.SHT_RELA, flags: elf.SHF_ALLOC, link: symtab, info: key}
		if b.REL {
			h.name, h.typ = ".rel", elf.SHT_REL
		}
		if key == 0 {
			h.name += ".dyn"
		} else {
			h.name, h.flags = h.name+b.headers[key].name, 0
		}
		b.add(h, tables[key], 8)
	}
}

// symbols writes a symbol for each section, at the section's own index.
func (b *elfBuilder) symbols() int {
	var t []byte
	for i := range b.headers {
		if b.wide {
			t = append(b.u32(t, 0), 3, 0)
			t = b.word(b.word(b.u16(t, i), 0), 0)
		} else {
			t = b.word(b.word(b.u32(t, 0), 0), 0)
			t = b.u16(append(t, 3, 0), i)
		}
	}
	return b.add(elfShdr{name: ".symtab", typ: elf.SHT_SYMTAB}, t, 8)
}

func (b *elfBuilder) dynamic() (off, size int) {
	if b.Type == elf.ET_REL {
		return 0, 0
	}
	names := []byte{0}
	var t []byte
	for _, n := range b.Needed {
		t = b.word(b.word(t, int(elf.DT_NEEDED)), len(names))
		names = append(append(names, n...), 0)
	}
	if b.Soname != "" {
		t = b.word(b.word(t, int(elf.DT_SONAME)), len(names))
		names = append(append(names, b.Soname...), 0)
	}
	for _, r := range []struct {
		section   string
		tag, size elf.DynTag
	}{{".rela.dyn", elf.DT_RELA, elf.DT_RELASZ}, {".rel.dyn", elf.DT_REL, elf.DT_RELSZ}} {
		if at := b.find(r.section); at > 0 {
			t = b.word(b.word(t, int(r.tag)), elfBase+b.headers[at].off)
			t = b.word(b.word(t, int(r.size)), b.headers[at].size)
		}
	}
	str := b.add(elfShdr{name: ".dynstr", typ: elf.SHT_STRTAB, flags: elf.SHF_ALLOC}, names, 1)
	t = b.word(b.word(t, int(elf.DT_STRTAB)), elfBase+b.headers[str].off)
	t = b.word(b.word(t, 0), 0)
	dyn := b.add(elfShdr{name: ".dynamic", typ: elf.SHT_DYNAMIC, flags: elf.SHF_ALLOC, link: str}, t, 8)
	return b.headers[dyn].off, len(t)
}

func (b *elfBuilder) sectionTable() {
	name := 1
	for i, h := range b.headers {
		n, addr := name, 0
		if i == 0 {
			n = 0
		} else {
			name += len(h.name) + 1
		}
		if h.flags&elf.SHF_ALLOC != 0 && b.Type != elf.ET_REL {
			addr = elfBase + h.off
		}
		t := b.u32(b.u32(b.out, n), int(h.typ))
		t = b.word(b.word(b.word(b.word(t, int(h.flags)), addr), h.off), h.size)
		t = b.u32(b.u32(t, h.link), h.info)
		b.out = b.word(b.word(t, 1), h.entry)
	}
}

func (b *elfBuilder) segment(at int, typ elf.ProgType, off, size int) {
	t := b.u32(nil, int(typ))
	if b.wide {
		t = b.u32(t, int(elf.PF_R|elf.PF_W))
	}
	t = b.word(b.word(b.word(b.word(b.word(t, off), elfBase+off), elfBase+off), size), size)
	if !b.wide {
		t = b.u32(t, int(elf.PF_R|elf.PF_W))
	}
	copy(b.out[at:], b.word(t, 1))
}

func (b *elfBuilder) header(header, prog, phnum, shoff int) {
	class, data, section := elf.ELFCLASS32, elf.ELFDATA2LSB, 40
	if b.wide {
		class, section = elf.ELFCLASS64, 64
	}
	if b.BigEndian {
		data = elf.ELFDATA2MSB
	}
	phoff, shnum := header, len(b.headers)
	if phnum == 0 {
		phoff = 0
	}
	if shoff == 0 {
		shnum = 0
	}
	t := append([]byte(elf.ELFMAG), byte(class), byte(data), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	t = b.u32(b.u16(b.u16(t, int(b.Type)), int(b.Machine)), 1)
	t = b.u32(b.word(b.word(b.word(t, 0), phoff), shoff), 0)
	for _, v := range []int{header, prog, phnum, section, shnum, max(0, shnum-1)} {
		t = b.u16(t, v)
	}
	copy(b.out, t)
}
