package elfscan

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

const elfMagic = elf.ELFMAG

// An elfLayout is where the fields lie, which depends on the class alone.
type elfLayout struct {
	ptr                                            int // bytes of an address
	header, prog, shdr, symbol, rela, rel, dyn     int // sizes of the structures
	phoff, shoff, phentsize, phnum                 int // in the file header
	shentsize, shnum, shstrndx                     int
	pOffset, pVaddr, pFilesz, pFlags               int // in a program header
	shFlags, shAddr, shOff, shSize, shLink, shInfo int // in a section header
	stValue, stShndx                               int // in a symbol
	symShift                                       uint
}

var (
	elf64 = elfLayout{
		ptr: 8, header: 64, prog: 56, shdr: 64, symbol: 24, rela: 24, rel: 16, dyn: 16,
		phoff: 32, shoff: 40, phentsize: 54, phnum: 56, shentsize: 58, shnum: 60, shstrndx: 62,
		pOffset: 8, pVaddr: 16, pFilesz: 32, pFlags: 4,
		shFlags: 8, shAddr: 16, shOff: 24, shSize: 32, shLink: 40, shInfo: 44,
		stValue: 8, stShndx: 6, symShift: 32,
	}
	elf32 = elfLayout{
		ptr: 4, header: 52, prog: 32, shdr: 40, symbol: 16, rela: 12, rel: 8, dyn: 8,
		phoff: 28, shoff: 32, phentsize: 42, phnum: 44, shentsize: 46, shnum: 48, shstrndx: 50,
		pOffset: 4, pVaddr: 8, pFilesz: 16, pFlags: 24,
		shFlags: 8, shAddr: 12, shOff: 16, shSize: 20, shLink: 24, shInfo: 28,
		stValue: 4, stShndx: 14, symShift: 8,
	}
)

type elfSection struct {
	section
	typ        elf.SectionType
	flags      elf.SectionFlag
	link, info uint32
}

// loaded tells whether the section has bytes in the file.
func (s *elfSection) loaded() bool {
	return s.typ != elf.SHT_NULL && s.typ != elf.SHT_NOBITS && s.size > 0
}

type elfSegment struct {
	typ               elf.ProgType
	flags             elf.ProgFlag
	off, vaddr, bytes uint64
}

type elfFile struct {
	view
	elfLayout
	order    binary.ByteOrder
	typ      elf.Type
	machine  elf.Machine
	sections []elfSection
	extended []elfSection // SHT_SYMTAB_SHNDX; there is one at most
	segments []elfSegment
	obj      *Object
}

// word reads an address, offset or size.
func (f *elfFile) word(b []byte) uint64 {
	if f.ptr == 8 {
		return f.order.Uint64(b)
	}
	return uint64(f.order.Uint32(b))
}

// sword reads a signed addend.
func (f *elfFile) sword(b []byte) uint64 {
	if f.ptr == 8 {
		return f.order.Uint64(b)
	}
	return uint64(int64(int32(f.order.Uint32(b))))
}

// addr cuts a sum of addresses to the width of the machine.
func (f *elfFile) addr(a uint64) uint64 {
	if f.ptr == 4 {
		return uint64(uint32(a))
	}
	return a
}

func elfMachine(m elf.Machine, bits int, order binary.ByteOrder) string {
	switch m {
	case elf.EM_X86_64:
		return "x86_64"
	case elf.EM_386:
		return "i386"
	case elf.EM_AARCH64:
		return "aarch64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_PPC64:
		if order == binary.ByteOrder(binary.LittleEndian) {
			return "ppc64le"
		}
		return "ppc64"
	case elf.EM_RISCV:
		return fmt.Sprintf("riscv%d", bits)
	case elf.EM_S390:
		return "s390x"
	case elf.EM_LOONGARCH:
		return fmt.Sprintf("loongarch%d", bits)
	case emCUDA:
		return "cuda"
	}
	return fmt.Sprintf("machine %d", uint16(m))
}

// emCUDA marks a cubin.
const emCUDA elf.Machine = 190
