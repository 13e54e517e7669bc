// Package fatbin reads CUDA fat binaries: the containers that compilers put
// into host files, the images (entries) inside them, and what the images say
// about themselves — cubins, PTX and their kernels.
//
// A container, all integers little-endian:
//
//	0        4    6    8                16
//	+--------+----+----+----------------+------------------------------
//	| magic  | v1 | 16 | size of rest   | entry, entry, …
//	+--------+----+----+----------------+------------------------------
//
// An entry is a header of 64 bytes or more, then its payload:
//
//	 0  u16 kind                    28  u32 architecture (75, 80, 103 …)
//	 2  u16 0x0101                  32  u32 identifier: offset in the entry
//	 4  u32 header size             36  u32 identifier: length
//	 8  u64 payload size, padded    40  u64 flags
//	16  u32 compressed size, exact  48  u64 obfuscation key
//	20  u32 options: offset         56  u64 uncompressed size
//	24  u16 minor, u16 major
//
// Facts come from reading the output of the CUDA 11.8, 12.4, 12.9 and 13.5
// tools byte by byte, and from libraries in public package indexes; NVIDIA
// publishes no description. Readers take an io.ReaderAt and never read a
// payload before they are asked to. Every size is checked against the bytes
// that are there before memory is allocated for it.
//
// What is not promised: that a payload is valid machine code, that an
// architecture was ever made, or that unknown kinds keep their meaning.
package fatbin

// Magic numbers of the formats, as little-endian words.
const (
	magicContainer = 0xBA55ED50
	magicOld       = 0x1EE55A01 // CUDA 5 and older; known by name only
)

// magicBytes are the four bytes that begin every container in a file.
var magicBytes = [4]byte{0x50, 0xED, 0x55, 0xBA}

// Magic returns the four bytes that begin every container.
func Magic() []byte { b := magicBytes; return b[:] }

// OldMagic returns the four bytes that begin a container of CUDA 5 or older.
func OldMagic() []byte { return []byte{0x01, 0x5A, 0xE5, 0x1E} }

const (
	containerHeaderSize = 16
	entryHeaderSize     = 64
	entryWord           = 0x0101 // the second u16 of every entry header

	// maxEntryHeader bounds the header of one entry, which holds its options
	// text. 312 bytes is the largest one met; compilers' option texts can be
	// longer, but not this long.
	maxEntryHeader = 1 << 20
	// maxEntries bounds the images of one container.
	maxEntries     = 1 << 16
	tooManyEntries = "more than 65536 entries"
	// maxProblems keeps one damaged file from filling memory with complaints.
	maxProblems = 100
)

// Kind is what an entry holds.
type Kind uint16

// The kinds of entry. KindConcat never appears on an Image: its cubins are
// shown as images of the container.
const (
	KindPTX            Kind = 0x01
	KindCubin          Kind = 0x02 // SASS in an ELF file
	KindOldCubin       Kind = 0x04 // the text format of CUDA 2
	KindNVVM           Kind = 0x08 // LTO IR
	KindMercury        Kind = 0x10 // reported, never met
	KindIndex          Kind = 0x20
	KindRelocatablePTX Kind = 0x40
	KindTileIR         Kind = 0x80
	KindConcat         Kind = 0x100
)

// String returns the kind's word in reports: sass, ptx, nvvm, tileir,
// relocatable_ptx, old_cubin, index, or unknown for every other one.
func (k Kind) String() string {
	switch k {
	case KindPTX:
		return "ptx"
	case KindCubin:
		return "sass"
	case KindOldCubin:
		return "old_cubin"
	case KindNVVM:
		return "nvvm"
	case KindIndex:
		return "index"
	case KindRelocatablePTX:
		return "relocatable_ptx"
	case KindTileIR:
		return "tileir"
	}
	return "unknown"
}

// Title returns the kind as a person would say it, with the code of a kind
// that has no word.
func (k Kind) Title() string {
	switch k {
	case KindPTX:
		return "PTX"
	case KindCubin:
		return "SASS"
	case KindOldCubin:
		return "old cubin"
	case KindNVVM:
		return "LTO IR"
	case KindMercury:
		return "Mercury"
	case KindIndex:
		return "index"
	case KindRelocatablePTX:
		return "relocatable PTX"
	case KindTileIR:
		return "Tile IR"
	case KindConcat:
		return "concatenated"
	}
	return "unknown kind " + hex(uint64(k))
}

// Flags of an entry.
type Flags uint64

// The flags known so far.
const (
	Flag64Bit      Flags = 0x1
	FlagDebug      Flags = 0x2
	FlagLinux      Flags = 0x10
	FlagMac        Flags = 0x20
	FlagWindows    Flags = 0x40
	flagCompressed Flags = 0xF000
	flagLZ4        Flags = 0x2000
	flagZstd       Flags = 0x8000
	FlagObfuscated Flags = 0x10000
	FlagSuffixA    Flags = 0x100000 // built for exactly this capability
	FlagSuffixF    Flags = 0x200000 // built for this family
	FlagMercury    Flags = 0x1000000
)

var flagNames = []struct {
	flag Flags
	name string
}{
	{Flag64Bit, "64-bit"}, {FlagDebug, "debug"}, {FlagLinux, "linux"}, {FlagMac, "macos"}, {FlagWindows, "windows"},
	{0x1000, "compressed 0x1000"}, {flagLZ4, "lz4"}, {0x4000, "compressed 0x4000"}, {flagZstd, "zstd"},
	{FlagObfuscated, "obfuscated"}, {FlagSuffixA, "a"}, {FlagSuffixF, "f"}, {FlagMercury, "mercury"},
}

// Names returns the words of all flags that are set; bits without a word are
// given in hexadecimal as one last item.
func (f Flags) Names() []string {
	names := []string{}
	for _, n := range flagNames {
		if f&n.flag != 0 {
			names = append(names, n.name)
			f &^= n.flag
		}
	}
	if f != 0 {
		names = append(names, hex(uint64(f)))
	}
	return names
}

// Host returns the operating system the entry was built for, or "".
func (f Flags) Host() string {
	switch {
	case f&FlagLinux != 0:
		return "linux"
	case f&FlagWindows != 0:
		return "windows"
	case f&FlagMac != 0:
		return "macos"
	}
	return ""
}

// Compression is how a payload is stored.
type Compression uint8

// The compressions. CompressionUnknown stands for the nibble values that
// NVIDIA's tools know and nobody has met.
const (
	CompressionNone Compression = iota
	CompressionLZ4
	CompressionZstd
	CompressionUnknown
	CompressionGzip // never in a container: of PTX that lies alone in a library
)

// String returns none, lz4, zstd, gzip or unknown.
func (c Compression) String() string {
	switch c {
	case CompressionNone:
		return "none"
	case CompressionLZ4:
		return "lz4"
	case CompressionZstd:
		return "zstd"
	case CompressionGzip:
		return "gzip"
	}
	return "unknown"
}
