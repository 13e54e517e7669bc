package fatbintest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Cubin builds a CUDA ELF file that has everything a reader looks for and
// no real machine code:
//
//	Cubin{Arch: "sm_90a", Kernels: []Kernel{{Name: "add", Registers: 10}}}.Bytes()
//
// With more than some 16,000 kernels it uses ELF's extended section numbers,
// as a linker would.
type Cubin struct {
	ABI         uint8  // 7 or 8; zero means 8
	Arch        string // "80", "sm_90a"; empty means sm_80
	Relocatable bool
	Kernels     []Kernel
	Functions   []Function
	Unit        string // file of the translation unit, "add.cu"
	Toolkit     int    // 10·major + minor, 135; zero means 135, or 124 for ABI 7
	CommandLine string // of ptxas; empty means "-arch <Arch>"
	NoNotes     bool
	ConstBytes  map[int]int // size of banks that belong to no kernel
	GlobalBytes int
	Compat      []byte // .nv.compat
	Mercury     int    // size of a .nv.capmerc copy of each kernel's code

	NoOwner bool // leave sh_info of sections that belong to a kernel zero
}

// A Kernel is an entry point. Sizes are in bytes; sections of size zero are
// left out.
type Kernel struct {
	Name       string
	Code       int // zero means 128
	Registers  int
	Stack      int
	Shared     int
	Const      int         // bank 0
	OtherConst map[int]int // other banks
	Params     int
	ParamCount int
	MaxThreads [3]uint32
	ReqThreads [3]uint32
	Cluster    [3]uint32
	Barriers   int
}

// A Function is a device function with a section of its own.
type Function struct {
	Name      string
	Code      int // zero means 128
	Registers int
	Stack     int
}

const (
	shtProgBits, shtSymTab, shtStrTab, shtNote, shtNoBits = 1, 2, 3, 7, 8

	shtSymTabShndx = 18
	shtCudaInfo    = 0x70000000
)

type cubinSection struct {
	name, typ, link, info uint32
	data                  []byte
	size                  int // of NOBITS
}

// cubinBuilder collects sections. The first four are fixed: null, section
// names, symbol names, symbols.
type cubinBuilder struct {
	Cubin
	cc       int
	sections []cubinSection
	names    []byte // of sections
	strings  []byte // of symbols
	symbols  []byte
	shndx    []byte // full section index of each symbol
	info     []byte // .nv.info
}

// Bytes returns the file.
func (c Cubin) Bytes() []byte {
	if c.ABI == 0 {
		c.ABI = 8
	}
	if c.Arch == "" {
		c.Arch = "sm_80"
	}
	b := &cubinBuilder{Cubin: c, names: []byte{0}, strings: []byte{0}, symbols: make([]byte, 24), shndx: make([]byte, 4)}
	b.cc, _ = parseArch(c.Arch)
	b.Arch = "sm_" + strings.TrimPrefix(c.Arch, "sm_")
	if b.Toolkit == 0 {
		b.Toolkit = 135
		if c.ABI == 7 {
			b.Toolkit = 124
		}
	}
	b.sections = make([]cubinSection, 4, 4+5*len(c.Kernels))
	if c.Unit != "" {
		file := []byte(c.Unit)
		for i := range file {
			if file[i] == '.' {
				file[i] = '_'
			}
		}
		tail := string(file) + "_1a2b3c4d"
		b.symbol(fmt.Sprintf("_INTERNAL_9f8e7d6c_%d_%s", len(tail), tail), 0, 0, 0, 0)
	}
	for i := range c.Kernels {
		b.kernel(&c.Kernels[i])
	}
	for _, f := range c.Functions {
		text := b.section(".text."+f.Name, shtProgBits, 3, 0, make([]byte, codeSize(f.Code)))
		sym := b.symbol(f.Name, 0x12, 0, text, codeSize(f.Code))
		b.perSymbol(sym, f.Registers, f.Stack)
	}
	b.shared()
	return b.finish()
}

func codeSize(declared int) int {
	if declared == 0 {
		return 128
	}
	return declared
}

func (b *cubinBuilder) kernel(k *Kernel) {
	code := codeSize(k.Code)
	sym := uint32(len(b.symbols) / 24)
	info := sym
	if b.cc < 90 {
		info |= uint32(k.Registers) << 24
	}
	text := b.section(".text."+k.Name, shtProgBits, 3, info, make([]byte, code))
	b.symbol(k.Name, 0x12, 0x10, text, code)
	b.perSymbol(sym, k.Registers, k.Stack)
	owner := text
	if b.NoOwner {
		owner = 0
	}
	b.section(".nv.info."+k.Name, shtCudaInfo, 3, owner, k.attributes())
	if k.Shared > 0 {
		at := b.section(".nv.shared."+k.Name, shtNoBits, 0, owner, nil)
		b.sections[at].size = k.Shared
	}
	if k.Const > 0 {
		b.section(".nv.constant0."+k.Name, shtProgBits, 0, owner, make([]byte, k.Const))
	}
	for _, bank := range slices.Sorted(maps.Keys(k.OtherConst)) {
		b.section(fmt.Sprintf(".nv.constant%d.%s", bank, k.Name), shtProgBits, 0, owner, make([]byte, k.OtherConst[bank]))
	}
	if b.Mercury > 0 {
		b.section(".nv.capmerc.text."+k.Name, shtProgBits, 0, 0, make([]byte, b.Mercury))
	}
}

// attributes returns the records of .nv.info.<kernel>.
func (k *Kernel) attributes() []byte {
	var b []byte
	if k.Params > 0 {
		b = attr16(b, 0x19, k.Params)
	}
	for range k.ParamCount {
		b = attrBytes(b, 0x17, make([]byte, 12))
	}
	for _, d := range []struct {
		attr byte
		v    [3]uint32
	}{{0x05, k.MaxThreads}, {0x10, k.ReqThreads}, {0x3D, k.Cluster}} {
		if d.v != [3]uint32{} {
			b = attrWords(b, d.attr, d.v[:]...)
		}
	}
	if k.Barriers > 0 {
		b = append(b, 2, 0x4C, byte(k.Barriers), 0)
	}
	return b
}

func attr16(b []byte, attr byte, v int) []byte {
	return binary.LittleEndian.AppendUint16(append(b, 3, attr), uint16(v))
}

func attrBytes(b []byte, attr byte, data []byte) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, 4, attr), uint16(len(data)))
	return append(b, data...)
}

func attrWords(b []byte, attr byte, words ...uint32) []byte {
	var data []byte
	for _, w := range words {
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	return attrBytes(b, attr, data)
}

// perSymbol adds the records of .nv.info for one symbol.
func (b *cubinBuilder) perSymbol(sym uint32, registers, stack int) {
	b.info = attrWords(b.info, 0x2F, sym, uint32(registers))
	b.info = attrWords(b.info, 0x11, sym, uint32(stack))
	b.info = attrWords(b.info, 0x12, sym, uint32(stack))
}

// shared adds the sections that belong to no kernel.
func (b *cubinBuilder) shared() {
	b.section(".nv.info", shtCudaInfo, 3, 0, b.info)
	for _, bank := range slices.Sorted(maps.Keys(b.ConstBytes)) {
		b.section(fmt.Sprintf(".nv.constant%d", bank), shtProgBits, 0, 0, make([]byte, b.ConstBytes[bank]))
	}
	if b.GlobalBytes > 0 {
		at := b.section(".nv.global", shtNoBits, 0, 0, nil)
		b.sections[at].size = b.GlobalBytes
	}
	if b.Compat != nil {
		b.section(".nv.compat", shtCudaInfo, 0, 0, b.Compat)
	}
	if b.NoNotes {
		return
	}
	command := b.CommandLine
	if command == "" {
		command = "-arch " + b.Arch
	}
	release := fmt.Sprintf("Cuda compilation tools, release %d.%d, V%d.%d.0", b.Toolkit/10, b.Toolkit%10, b.Toolkit/10, b.Toolkit%10)
	b.section(".note.nv.tkinfo", shtNote, 0, 0, ToolNote("ptxas", release, "Build test", command))
	desc := binary.LittleEndian.AppendUint16(nil, 2)
	desc = binary.LittleEndian.AppendUint16(desc, uint16(b.cc))
	desc = binary.LittleEndian.AppendUint32(desc, uint32(b.Toolkit))
	b.section(".note.nv.cuinfo", shtNote, 0, 0, Note(1000, desc))
}

// Note returns one ELF note of NVIDIA's.
func Note(typ uint32, desc []byte) []byte {
	const name = "NVIDIA Corp\x00"
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
	b = binary.LittleEndian.AppendUint32(b, typ)
	b = append(append(b, name...), desc...)
	return append(b, make([]byte, -len(desc)&3)...)
}

// ToolNote returns a .note.nv.tkinfo note.
func ToolNote(tool, version, build, command string) []byte {
	text := []byte{0}
	desc := binary.LittleEndian.AppendUint32(nil, 2)
	desc = append(desc, 0, 0, 0, 0)
	for _, s := range []string{tool, version, build, command} {
		desc = binary.LittleEndian.AppendUint32(desc, uint32(len(text)))
		text = append(append(text, s...), 0)
	}
	return Note(2000, append(desc, text...))
}

// section adds a section and returns its index.
func (b *cubinBuilder) section(name string, typ, link, info uint32, data []byte) uint32 {
	b.sections = append(b.sections, cubinSection{name: b.name(name), typ: typ, link: link, info: info, data: data})
	return uint32(len(b.sections) - 1)
}

func (b *cubinBuilder) name(s string) uint32 {
	at := uint32(len(b.names))
	b.names = append(append(b.names, s...), 0)
	return at
}

// symbol adds a symbol and returns its index. info is ELF's st_info.
func (b *cubinBuilder) symbol(name string, info, other byte, section uint32, size int) uint32 {
	s := binary.LittleEndian.AppendUint32(nil, uint32(len(b.strings)))
	b.strings = append(append(b.strings, name...), 0)
	short := uint16(section)
	if section >= 0xFF00 {
		short = 0xFFFF // SHN_XINDEX
	}
	s = binary.LittleEndian.AppendUint16(append(s, info, other), short)
	s = append(s, make([]byte, 8)...)
	s = binary.LittleEndian.AppendUint64(s, uint64(size))
	b.symbols = append(b.symbols, s...)
	b.shndx = binary.LittleEndian.AppendUint32(b.shndx, section)
	return uint32(len(b.symbols)/24 - 1)
}

// finish lays the file out: header, section contents, section table.
func (b *cubinBuilder) finish() []byte {
	if len(b.sections) >= 0xFF00 {
		b.section(".symtab_shndx", shtSymTabShndx, 3, 0, b.shndx)
	}
	b.sections[1] = cubinSection{name: b.name(".shstrtab"), typ: shtStrTab}
	b.sections[2] = cubinSection{name: b.name(".strtab"), typ: shtStrTab, data: b.strings}
	b.sections[3] = cubinSection{name: b.name(".symtab"), typ: shtSymTab, link: 2, info: 1, data: b.symbols}
	b.sections[1].data = b.names

	le := binary.LittleEndian
	out := make([]byte, 64)
	table := make([]byte, 64*len(b.sections))
	for i := range b.sections {
		s, h := &b.sections[i], table[64*i:]
		if i == 0 {
			continue
		}
		out = append(out, make([]byte, -len(out)&7)...)
		size := len(s.data) + s.size
		le.PutUint32(h, s.name)
		le.PutUint32(h[4:], s.typ)
		le.PutUint64(h[24:], uint64(len(out)))
		le.PutUint64(h[32:], uint64(size))
		le.PutUint32(h[40:], s.link)
		le.PutUint32(h[44:], s.info)
		out = append(out, s.data...)
	}
	out = append(out, make([]byte, -len(out)&7)...)

	copy(out, "\x7fELF\x02\x01\x01\x41")
	out[8] = b.ABI
	typ, flags, version := uint16(2), uint32(b.cc)<<8|4, uint32(1)
	if b.Relocatable {
		typ = 1
	}
	if b.ABI == 7 {
		flags, version = uint32(b.cc), uint32(b.Toolkit)
		if _, suffix := parseArch(b.Arch); suffix == flagSuffixA {
			flags |= 0x800
		}
	}
	le.PutUint16(out[16:], typ)
	le.PutUint16(out[18:], 190)
	le.PutUint32(out[20:], version)
	le.PutUint64(out[40:], uint64(len(out)))
	le.PutUint32(out[48:], flags)
	le.PutUint16(out[52:], 64)
	le.PutUint16(out[58:], 64)
	le.PutUint16(out[60:], uint16(len(b.sections)))
	le.PutUint16(out[62:], 1)
	if len(b.sections) >= 0xFF00 {
		le.PutUint16(out[60:], 0)
		le.PutUint64(table[32:], uint64(len(b.sections)))
	}
	return append(out, table...)
}
