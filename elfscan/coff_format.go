package elfscan

import (
	"bytes"
	"cmp"
	"debug/pe"
	"fmt"
	"strconv"
	"strings"
)

// Layout of COFF, which PE images and objects share. Microsoft's "PE Format"
// names the fields; bigobj is ANON_OBJECT_HEADER_BIGOBJ of winnt.h.
const (
	dosMagic        = "MZ"
	peSignature     = "PE\x00\x00"
	coffHeaderSize  = 20
	coffSectionSize = 40
	coffSymbolSize  = 18
	coffRelocSize   = 10
	bigHeaderSize   = 56
	bigSymbolSize   = 20

	scnCode          = 0x00000020 // IMAGE_SCN_CNT_CODE
	scnUninitialized = 0x00000080 // IMAGE_SCN_CNT_UNINITIALIZED_DATA
	scnRelocOverflow = 0x01000000 // IMAGE_SCN_LNK_NRELOC_OVFL
	scnExecute       = 0x20000000 // IMAGE_SCN_MEM_EXECUTE
)

var bigObjClass = []byte{0xC7, 0xA1, 0xBA, 0xD1, 0xEE, 0xBA, 0xA9, 0x4B, 0xAF, 0x20, 0xFA, 0xF6, 0x6A, 0xA4, 0xDC, 0xB8}

// A coffHeader is what the plain header, the one of bigobj and the one inside
// a PE image have in common.
type coffHeader struct {
	machine    uint16
	sections   uint64 // count
	table      uint64 // offset of the section table
	symbols    uint64 // offset of the symbol table; 0 = none
	symbolsNum uint64
	symbolSize int
	optional   uint64 // size of the optional header
}

type coffSection struct {
	section
	flags     uint32
	virtual   uint64
	relocs    uint64 // offset
	relocsNum uint64
}

// loaded tells whether the section has bytes in the file.
func (s *coffSection) loaded() bool {
	return s.off != 0 && s.size > 0 && s.flags&scnUninitialized == 0
}

// readCOFFHeader reads the 20 bytes at off; b holds them.
func readCOFFHeader(b []byte, off uint64) *coffHeader {
	h := &coffHeader{
		machine:    le.Uint16(b),
		sections:   uint64(le.Uint16(b[2:])),
		symbols:    uint64(le.Uint32(b[8:])),
		symbolsNum: uint64(le.Uint32(b[12:])),
		symbolSize: coffSymbolSize,
		optional:   uint64(le.Uint16(b[16:])),
	}
	h.table = off + coffHeaderSize + h.optional
	return h
}

// coffHeaderOf recognises an object, which begins with a machine number and no
// magic; it returns nil for anything else.
func coffHeaderOf(v view, b []byte) (*coffHeader, error) {
	if len(b) < coffHeaderSize {
		return nil, nil
	}
	if le.Uint32(b) == 0xFFFF0000 {
		return anonHeader(b)
	}
	h := readCOFFHeader(b, 0)
	if !coffMachineKnown(h.machine) || h.optional != 0 || h.sections == 0 || h.table >= uint64(v.size) {
		return nil, nil
	}
	if flags := le.Uint16(b[18:]); flags&pe.IMAGE_FILE_EXECUTABLE_IMAGE != 0 {
		return nil, nil
	}
	// The first section's name tells an object from bytes that happen to
	// begin with a machine number.
	name := b[coffHeaderSize:min(len(b), coffHeaderSize+8)]
	text := bytes.TrimRight(name, "\x00")
	for _, c := range text {
		if c < 0x20 || c == 0x7F {
			return nil, nil
		}
	}
	if len(text) == 0 {
		return nil, nil
	}
	return h, nil
}

// errWholeProgram is an object of cl /GL (or a compiler like it): the format is
// private to Microsoft's linker.
var errWholeProgram = fmt.Errorf("object compiled with /GL, which only its linker can read: %w", ErrUnknown)

// anonHeader reads what begins with machine 0 and 0xFFFF: bigobj, an import
// stub of a DLL, or an object that only Microsoft's linker can read.
func anonHeader(b []byte) (*coffHeader, error) {
	switch version := le.Uint16(b[4:]); {
	case version == 0:
		return nil, fmt.Errorf("import stub of a DLL: %w", ErrUnknown)
	case len(b) < bigHeaderSize || version < 2 || !bytes.Equal(b[12:28], bigObjClass):
		return nil, errWholeProgram
	}
	return &coffHeader{
		machine:    le.Uint16(b[6:]),
		sections:   uint64(le.Uint32(b[44:])),
		symbols:    uint64(le.Uint32(b[48:])),
		symbolsNum: uint64(le.Uint32(b[52:])),
		symbolSize: bigSymbolSize,
		table:      bigHeaderSize,
	}, nil
}

// coffNames is the string table behind the symbols, empty if there is none.
// It begins with its own size, which offsets include.
func coffNames(v view, h *coffHeader) strtab {
	if h.symbols == 0 {
		return ""
	}
	off := h.symbols + h.symbolsNum*uint64(h.symbolSize)
	var b [4]byte
	if !v.full(b[:], off) {
		return ""
	}
	return v.strtab(off, uint64(le.Uint32(b[:])))
}

// coffName reads the name of a section: eight bytes, "/123" for an offset in
// the string table, or "//" and base 64 for one of more than seven digits.
func coffName(b []byte, names func() strtab) string {
	s := cutName(string(b[:8]))
	switch digits, ok := strings.CutPrefix(s, "/"); {
	case !ok:
		return s
	case strings.HasPrefix(digits, "/"):
		n := uint64(0)
		for _, c := range []byte(digits[1:]) {
			i := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c)
			if i < 0 {
				return s
			}
			n = n<<6 | uint64(i)
		}
		s = cmp.Or(names().name(n), s)
	default:
		if n, err := strconv.ParseUint(digits, 10, 32); err == nil {
			s = cmp.Or(names().name(n), s)
		}
	}
	return s
}

func coffMachineKnown(m uint16) bool {
	_, bits := coffMachine(m)
	return bits != 0
}

// coffMachine names a machine. Bits are 0 for one that fatview does not know.
func coffMachine(m uint16) (name string, bits int) {
	switch m {
	case pe.IMAGE_FILE_MACHINE_AMD64:
		return "x86_64", 64
	case pe.IMAGE_FILE_MACHINE_I386:
		return "i386", 32
	case pe.IMAGE_FILE_MACHINE_ARM64, 0xA641, 0xA64E: // also ARM64EC, ARM64X
		return "aarch64", 64
	case pe.IMAGE_FILE_MACHINE_ARM, pe.IMAGE_FILE_MACHINE_ARMNT, pe.IMAGE_FILE_MACHINE_THUMB:
		return "arm", 32
	case pe.IMAGE_FILE_MACHINE_RISCV64:
		return "riscv64", 64
	}
	return fmt.Sprintf("machine %d", m), 0
}
