package fatbin

import (
	"bytes"
	"io"

	"fatview/arch"
)

// entry is the fixed part of an entry header, in the order of the format.
type entry struct {
	off        int64
	kind       Kind
	headerSize int64
	end        int64 // offset of the next entry
	payload    int64 // size with padding
	compressed int64 // exact size; 0 if raw
	options    int64 // offset in the header; 0 if there are none
	minor      uint16
	major      uint16
	arch       uint32
	idOff      int64 // identifier, in the header
	idLen      int64
	flags      Flags
	key        uint64
	bytes      uint64 // after decompression; 0 if raw
	truncated  bool   // payload reaches past the container
}

// parseFixed reads the fields that mean the same in an entry header and in the
// table of a concatenated entry. b holds at least entryHeaderSize bytes.
func parseFixed(b []byte, off int64) entry {
	return entry{
		off:        off,
		kind:       Kind(le.Uint16(b)),
		headerSize: int64(le.Uint32(b[4:])),
		compressed: int64(le.Uint32(b[16:])),
		options:    int64(le.Uint32(b[20:])),
		minor:      le.Uint16(b[24:]),
		major:      le.Uint16(b[26:]),
		arch:       le.Uint32(b[28:]),
		idOff:      int64(le.Uint32(b[32:])),
		idLen:      int64(le.Uint32(b[36:])),
		flags:      Flags(le.Uint64(b[40:])),
		key:        le.Uint64(b[48:]),
		bytes:      le.Uint64(b[56:]),
	}
}

// parseEntry reads the entry header at off, of which b is the beginning, and
// checks its sizes against the container's end.
func parseEntry(b []byte, off, end int64) (entry, error) {
	e := parseFixed(b, off)
	if w := le.Uint16(b[2:]); w != entryWord {
		return e, formatErr(off+2, "entry word is %s, not 0x101", hex(uint64(w)))
	}
	if e.headerSize < entryHeaderSize || e.headerSize > maxEntryHeader || e.headerSize > end-off {
		return e, formatErr(off+4, "entry header size %s", hex(uint64(e.headerSize)))
	}
	payload := le.Uint64(b[8:])
	if payload > uint64(end-off-e.headerSize) {
		if payload > 1<<62 {
			return e, formatErr(off+8, "entry payload size %s is beyond any file", hex(payload))
		}
		e.truncated = true
	}
	e.payload = int64(payload)
	e.end = off + e.headerSize + e.payload
	if e.truncated {
		e.end = end
	}
	return e, nil
}

// newImage makes an image of what every entry header tells; where the payload
// lies is for the caller to add.
func newImage(r io.ReaderAt, e entry) *Image {
	return &Image{
		Kind: e.kind, Offset: e.off, Arch: entryArch(e),
		Major: e.major, Minor: e.minor, Flags: e.flags, Key: e.key, r: r,
	}
}

// stored returns the bytes that an entry's payload takes in the file, without
// padding where it is compressed, and the bytes after decompression. cut
// reports that the first is less than the header declares, because that lies
// outside of the container or of the entry.
func (e entry) stored() (stored, bytes int64, cut bool) {
	stored, bytes = e.payload, e.payload
	if e.compressed != 0 {
		stored, bytes = e.compressed, clampSize(e.bytes)
	}
	if there := e.end - e.off - e.headerSize; stored > there {
		return there, bytes, true
	}
	return stored, bytes, false
}

func entryArch(e entry) arch.Arch {
	num := e.arch
	if num > 9999 { // no capability has more than three digits; keep what is shown short
		num = 9999
	}
	a := arch.Arch{CC: arch.CC(num)}
	switch {
	case e.flags&FlagSuffixA != 0:
		a.Suffix = 'a'
	case e.flags&FlagSuffixF != 0:
		a.Suffix = 'f'
	}
	return a
}

func compressionOf(e entry) Compression {
	if e.compressed == 0 {
		return CompressionNone
	}
	switch e.flags & flagCompressed {
	case flagLZ4:
		return CompressionLZ4
	case flagZstd:
		return CompressionZstd
	}
	return CompressionUnknown
}

// clampSize makes a declared size fit an int64; Payload refuses implausible
// ones.
func clampSize(v uint64) int64 {
	if v > 1<<62 {
		return 1 << 62
	}
	return int64(v)
}

// setOptions reads the options block. The length that it declares leaves out
// one NUL, the one that ends the text; on cubins a copy of .nv.compat follows.
func (im *Image) setOptions(header []byte, e entry) {
	if e.options == 0 {
		return
	}
	b, ok := slice(header, e.options, 8)
	if !ok {
		return
	}
	off, n := int64(le.Uint32(b)), int64(le.Uint32(b[4:]))
	if n == 0 || off < entryHeaderSize {
		return
	}
	block, ok := slice(header, off, n+1)
	if !ok {
		if block, ok = slice(header, off, n); !ok {
			return
		}
	}
	text, compat, _ := bytes.Cut(block, []byte{0})
	im.Options = string(text)
	if im.Kind == KindCubin && len(compat) > 0 {
		im.Compat = bytes.Clone(compat)
	}
}
