package fatbin

import (
	"bytes"
	"debug/elf"
	"errors"

	"fatview/arch"
)

// A Cubin is what a CUDA ELF file says about itself and its kernels.
type Cubin struct {
	Arch        arch.Arch // the suffix is best effort: see suffixOf
	ABI         uint8     // EI_ABIVERSION: 7 up to CUDA 12, 8 since 13
	Relocatable bool      // must be linked before it can be loaded
	Kernels     []Kernel
	Functions   []Function // device functions kept out of line
	Virtual     arch.CC    // virtual architecture it was compiled from, 0 unknown
	Toolkit     arch.Version
	Tool        Tool
	Unit        string // file name of the translation unit, "" unknown
	// MercuryBytes counts the .nv.capmerc and .nv.merc copies of sm_100 and
	// later; CodeBytes counts the text sections.
	MercuryBytes, CodeBytes int64
	ConstBytes              map[int]int64 // banks that belong to no kernel
	GlobalBytes             int64         // __device__ variables
	Problems                []Problem     // offsets are within the cubin
}

// Tool is what .note.nv.tkinfo tells of the program that wrote a cubin.
type Tool struct{ Name, Version, Build, CommandLine string }

// A Kernel is an entry point of a cubin. Sizes are in bytes.
type Kernel struct {
	Name       string
	Code       uint64
	Registers  uint32 // per thread
	Stack      uint32 // frame of the kernel itself
	MinStack   uint32
	MaxStack   uint32 // including what it calls; 0 where the cubin does not tell
	Shared     uint64 // static shared memory per block
	Const      uint64 // constant bank 0: driver's part and parameters
	OtherConst map[int]uint64
	Params     uint32 // size of the parameters
	ParamCount uint32
	MaxThreads [3]uint32 // __launch_bounds__; 0 if none
	ReqThreads [3]uint32
	Cluster    [3]uint32
	Barriers   uint32
	Attributes int // records of .nv.info.<kernel>, known or not
}

// A Function is a device function that was not inlined.
type Function struct {
	Name      string
	Code      uint64
	Registers uint32
	Stack     uint32
	Own       bool // has a text section of its own; else it lies in its kernel's
}

// ErrNotCubin means bytes that are not a CUDA ELF file.
var ErrNotCubin = errors.New("not a cubin")

const (
	emCUDA   = 190
	stoEntry = 0x10 // st_other bit of a kernel's symbol

	shtCudaInfo = 0x70000000
	// Sections of these types take no room in the file, as SHT_NOBITS.
	shtCudaGlobal      = 0x70000007 // .nv.global
	shtCudaDebugShared = 0x7000000A // .nv_debug.shared

	maxSections = 1 << 20 // of one cubin; a kernel has three to eight
)

// cubinReader holds the tables while a cubin is read.
type cubinReader struct {
	b        []byte
	sections []section
	strings  stringTable // of the symbols
	symbols  []int32     // per symbol: kernel index, or ^function index, or none
	cubin    *Cubin
	byName   map[string]int32 // kernel index; made when first needed
	unread   int              // bytes of sections that may still be read
	texts    []uint32         // per kernel: its section
}

const noSymbol = 1 << 30

// ParseCubin reads the tables of a cubin: not debug/elf, because cubins of
// CUDA 12 and older carry the toolkit where ELF wants a version, and because
// only a few tables are needed of files that are read by the thousand.
// Nothing of b is kept. Damage inside is reported in Problems; an error means
// that nothing could be told.
func ParseCubin(b []byte) (*Cubin, error) {
	r, err := parseCubin(b)
	if err != nil {
		return nil, err
	}
	return r.cubin, nil
}

func parseCubin(b []byte) (*cubinReader, error) {
	if !isCubin(b) {
		return nil, ErrNotCubin
	}
	c := cubinHeader(b)
	r := &cubinReader{b: b, cubin: c, unread: 2*len(b) + 4096}
	if err := r.readSections(); err != nil {
		return nil, err
	}
	r.readSymbols()
	r.readOwned()
	r.readInfo()
	r.readNotes()
	c.Unit = unitName(r.strings.b)
	return r, nil
}

// cubinHeader reads what the ELF header tells.
func cubinHeader(b []byte) *Cubin {
	c := &Cubin{ABI: b[8], Relocatable: le.Uint16(b[16:]) == uint16(elf.ET_REL)}
	flags := le.Uint32(b[48:])
	if c.ABI <= 7 {
		c.Arch.CC = arch.CC(flags & 0xFF)
		if flags&0x800 != 0 && c.Arch.CC >= 90 {
			c.Arch.Suffix = 'a'
		}
		c.Toolkit = packedVersion(le.Uint32(b[20:]))
	} else {
		c.Arch.CC = arch.CC(flags >> 8 & 0xFF)
	}
	return c
}

// isCubin reports whether b begins with the whole ELF header of a cubin.
func isCubin(b []byte) bool {
	return len(b) >= 64 && string(b[:4]) == elf.ELFMAG && b[4] == byte(elf.ELFCLASS64) && b[5] == byte(elf.ELFDATA2LSB) && le.Uint16(b[18:]) == emCUDA
}

// packedVersion reads a toolkit version stored as 10·major + minor.
func packedVersion(v uint32) arch.Version {
	if v < 20 || v > 999 {
		return arch.Version{}
	}
	return arch.Version{Major: int(v) / 10, Minor: int(v) % 10}
}

func (c *Cubin) problem(off uint64, msg string) {
	if len(c.Problems) < maxProblems {
		c.Problems = append(c.Problems, Problem{Off: int64(off), Msg: msg})
	}
}

// symbolSize is the size of an ELF64 symbol.
const symbolSize = 24

func (r *cubinReader) readSymbols() {
	var table, extended *section
	for i := range r.sections {
		switch s := &r.sections[i]; elf.SectionType(s.typ) {
		case elf.SHT_SYMTAB:
			if table == nil {
				table = s
			}
		case elf.SHT_SYMTAB_SHNDX:
			extended = s
		}
	}
	if table == nil {
		return
	}
	if uint64(table.link) < uint64(len(r.sections)) {
		r.strings = newStringTable(r.sections[table.link].data)
	}
	r.symbols = make([]int32, len(table.data)/symbolSize)
	kernels := 0
	for i := range r.symbols {
		r.symbols[i] = noSymbol
		if s := table.data[i*symbolSize:]; isFunction(s) && s[5]&stoEntry != 0 {
			kernels++
		}
	}
	r.cubin.Kernels = make([]Kernel, 0, kernels)
	for i := range r.symbols {
		s := table.data[i*symbolSize:]
		if !isFunction(s) {
			continue
		}
		index := uint32(le.Uint16(s[6:]))
		switch shn := elf.SectionIndex(index); {
		case shn == elf.SHN_UNDEF:
			continue
		case shn == elf.SHN_XINDEX && extended != nil && len(extended.data) >= 4*i+4:
			index = le.Uint32(extended.data[4*i:])
		case shn >= elf.SHN_LORESERVE:
			index = uint32(len(r.sections)) // none
		}
		r.addFunction(i, s, index)
	}
	if r.strings.left == 0 {
		r.cubin.problem(table.off, "symbol names overlap too much")
	}
}

func isFunction(symbol []byte) bool { return elf.SymType(symbol[4]&0xF) == elf.STT_FUNC }

// addFunction adds symbol i, read from s, of the section with the given index.
func (r *cubinReader) addFunction(i int, s []byte, index uint32) {
	c := r.cubin
	name, size := r.strings.at(le.Uint32(s)), le.Uint64(s[16:])
	var text *section
	if uint64(index) < uint64(len(r.sections)) {
		text = &r.sections[index]
	}
	if s[5]&stoEntry != 0 {
		r.symbols[i] = int32(len(c.Kernels))
		if text != nil {
			text.kernel = r.symbols[i]
		}
		c.Kernels = append(c.Kernels, Kernel{Name: string(name), Code: size})
		r.texts = append(r.texts, index)
		return
	}
	own := false
	if text != nil {
		rest, ok := bytes.CutPrefix(text.name, []byte(".text."))
		own = ok && bytes.Equal(rest, name)
	}
	r.symbols[i] = ^int32(len(c.Functions))
	c.Functions = append(c.Functions, Function{Name: string(name), Code: size, Own: own})
}

// readOwned adds up the sections that belong to a kernel: shared memory and
// constant banks name their text section in sh_info.
func (r *cubinReader) readOwned() {
	c := r.cubin
	for i := range r.sections {
		s := &r.sections[i]
		switch {
		case bytes.HasPrefix(s.name, []byte(".text.")):
			c.CodeBytes += int64(len(s.data))
			if s.kernel >= 0 && c.Arch.CC < 90 {
				// Below sm_90 the count also stands here; .nv.info, read
				// later, replaces it.
				c.Kernels[s.kernel].Registers = s.info >> 24
			}
			if s.kernel >= 0 {
				c.Kernels[s.kernel].Barriers = uint32(s.barriers)
			}
		case bytes.HasPrefix(s.name, []byte(".nv.shared.")):
			if k := r.owner(s, len(".nv.shared.")); k != nil {
				k.Shared += s.size
			}
		case string(s.name) == ".nv.global", string(s.name) == ".nv.global.init":
			c.GlobalBytes += int64(min(s.size, maxDeclared))
		case bytes.HasPrefix(s.name, []byte(".nv.constant")):
			r.constant(s)
		case bytes.HasPrefix(s.name, []byte(".nv.capmerc")), bytes.HasPrefix(s.name, []byte(".nv.merc")):
			c.MercuryBytes += int64(len(s.data))
		}
	}
}

// maxDeclared bounds sizes of memory that takes no bytes in the file, so that
// sums stay sums.
const maxDeclared = 1 << 40

// constant handles .nv.constantN and .nv.constantN.<kernel>.
func (r *cubinReader) constant(s *section) {
	rest := s.name[len(".nv.constant"):]
	bank, i := 0, 0
	for i < len(rest) && i < 3 && rest[i] >= '0' && rest[i] <= '9' {
		bank = bank*10 + int(rest[i]-'0')
		i++
	}
	if i == 0 {
		return
	}
	if i == len(rest) {
		if r.cubin.ConstBytes == nil {
			r.cubin.ConstBytes = map[int]int64{}
		}
		r.cubin.ConstBytes[bank] += int64(min(s.size, maxDeclared))
		return
	}
	if rest[i] != '.' {
		return
	}
	k := r.owner(s, len(".nv.constant")+i+1)
	switch {
	case k == nil:
	case bank == 0:
		k.Const += s.size
	default:
		if k.OtherConst == nil {
			k.OtherConst = map[int]uint64{}
		}
		k.OtherConst[bank] += s.size
	}
}

// owner finds the kernel of a section whose name is a prefix of the given
// length and then the kernel's name.
func (r *cubinReader) owner(s *section, prefix int) *Kernel {
	name, kernels := s.name[prefix:], r.cubin.Kernels
	if uint64(s.info) < uint64(len(r.sections)) {
		if k := r.sections[s.info].kernel; k >= 0 && kernels[k].Name == string(name) {
			return &kernels[k]
		}
	}
	// Rare: the index is missing or wrong, so look by name.
	if r.byName == nil {
		r.byName = make(map[string]int32, len(kernels))
		for i := len(kernels) - 1; i >= 0; i-- { // the first of a name wins
			r.byName[kernels[i].Name] = int32(i)
		}
	}
	if k, ok := r.byName[string(name)]; ok {
		return &kernels[k]
	}
	return nil
}
