package elfscan

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
)

// A peFile is an image: a .dll, .exe, .pyd or .node.
type peFile struct {
	view
	imageBase uint64 // preferred load address
	ptr       int
	sections  []coffSection // addresses are relative to the image
	headers   uint64        // bytes at the start of the file that are mapped as they are
	dirs      []byte        // data directories: u32 address, u32 size
	obj       *Object
}

func scanPE(v view, head []byte) (*Object, error) {
	if len(head) < 64 {
		return nil, &FormatError{v.base, "dos header is cut off", nil}
	}
	at := uint64(le.Uint32(head[60:]))
	b := v.bytes(at, 4+coffHeaderSize)
	if len(b) < 4+coffHeaderSize {
		// A DOS program has anything there; a cut image has a plausible offset.
		return nil, &FormatError{v.base + 60, "pe header is not in the file", hexU(at)}
	}
	if !bytes.HasPrefix(b, []byte(peSignature)) {
		return nil, ErrUnknown
	}
	h := readCOFFHeader(b[4:], at+4)
	opt := v.bytes(at+4+coffHeaderSize, h.optional)
	f, err := peOptional(v, opt, at+4+coffHeaderSize)
	if err != nil {
		return nil, err
	}
	o := &Object{Offset: v.base, Size: v.size, Format: FormatPE, Bits: f.ptr * 8}
	o.Machine, _ = coffMachine(h.machine)
	f.obj, f.sections = o, o.coffSections(v, h)

	list := make([]section, 0, len(f.sections))
	for i := range f.sections {
		s := &f.sections[i]
		// Raw data is padded to the file alignment; the rest is not the section's.
		if s.virtual != 0 {
			s.size = min(s.size, s.virtual)
		}
		if s.loaded() {
			abs := s.section
			abs.addr += f.imageBase
			list = append(list, abs)
		}
	}
	o.setRanges(v, list)
	o.setRecords(v, f.readRecords())
	o.Needed, o.Soname = f.needed(), f.exportName()
	return o, nil
}

// peOptional reads the optional header, which images must have.
func peOptional(v view, b []byte, off uint64) (*peFile, error) {
	f := &peFile{view: v}
	bad := func(msg string, val any) (*peFile, error) {
		return nil, &FormatError{v.base + int64(off), msg, val}
	}
	if len(b) < 2 {
		return bad("pe optional header is cut off", nil)
	}
	dirs := 0
	switch magic := le.Uint16(b); magic {
	case 0x10B:
		f.ptr, dirs = 4, 96
	case 0x20B:
		f.ptr, dirs = 8, 112
	default:
		return bad("pe optional header is neither of 32 nor of 64 bit", hexU(uint64(magic)))
	}
	if len(b) < dirs {
		return bad("pe optional header is cut off", nil)
	}
	f.headers = uint64(le.Uint32(b[60:]))
	if f.ptr == 8 {
		f.imageBase = le.Uint64(b[24:])
	} else {
		f.imageBase = uint64(le.Uint32(b[28:]))
	}
	count := min(uint64(le.Uint32(b[dirs-4:])), 16, uint64(len(b)-dirs)/8)
	f.dirs = b[dirs : dirs+int(count)*8]
	return f, nil
}

// offset finds the file offset of an address relative to the image.
func (f *peFile) offset(rva uint64) (uint64, bool) {
	for i := range min(len(f.sections), maxSegments) {
		s := &f.sections[i]
		if s.loaded() && rva >= s.addr && rva-s.addr < s.size {
			off := s.off + (rva - s.addr)
			return off, f.has(off, 1)
		}
	}
	return rva, rva < f.headers && f.has(rva, 1)
}

func (f *peFile) readRecords() []pending {
	var all []pending
	seen := 0
	for i := range f.sections {
		s := &f.sections[i]
		if !isRecords(s.name) || !s.loaded() {
			continue
		}
		if seen++; seen > maxRecordSections {
			break
		}
		for _, p := range readRecords(f.view, s.off, s.size, binary.LittleEndian, f.ptr, maxRecords-len(all)) {
			if off, ok := f.offset(p.inPlace - f.imageBase); ok {
				p.resolve(f.view, off)
			}
			all = append(all, p)
		}
	}
	return all
}

const (
	importEntry = 20 // IMAGE_IMPORT_DESCRIPTOR
	delayEntry  = 32 // IMAGE_DELAYLOAD_DESCRIPTOR
)

// needed lists the DLLs that the image imports, at load time or on first use.
func (f *peFile) needed() []string {
	var out []string
	add := func(rva uint64) {
		if off, ok := f.offset(rva); ok {
			if s := f.cstring(off); s != "" {
				out = append(out, s)
			}
		}
	}
	// Sizes of these directories are wrong in real files; an empty entry ends
	// the list, as it does for the loader.
	f.directory(pe.IMAGE_DIRECTORY_ENTRY_IMPORT, importEntry, func(b []byte) bool {
		rva := uint64(le.Uint32(b[12:]))
		if rva != 0 {
			add(rva)
		}
		return rva != 0
	})
	f.directory(pe.IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, delayEntry, func(b []byte) bool {
		rva := uint64(le.Uint32(b[4:]))
		if rva == 0 {
			return false
		}
		if le.Uint32(b)&1 == 0 { // Visual C++ 6 stored addresses, not offsets
			rva -= f.imageBase
		}
		add(rva)
		return true
	})
	return out
}

// exportName reads the name that the linker gave the image, at 12 in
// IMAGE_EXPORT_DIRECTORY.
func (f *peFile) exportName() string {
	if len(f.dirs) < (pe.IMAGE_DIRECTORY_ENTRY_EXPORT+1)*8 {
		return ""
	}
	var b [16]byte
	off, ok := f.offset(uint64(le.Uint32(f.dirs[pe.IMAGE_DIRECTORY_ENTRY_EXPORT*8:])))
	if !ok || le.Uint32(f.dirs[pe.IMAGE_DIRECTORY_ENTRY_EXPORT*8:]) == 0 || !f.full(b[:], off) {
		return ""
	}
	name := uint64(le.Uint32(b[12:]))
	if off, ok = f.offset(name); !ok || name == 0 {
		return ""
	}
	return f.cstring(off)
}

func (f *peFile) directory(n, entry int, visit func(b []byte) bool) {
	if len(f.dirs) < (n+1)*8 {
		return
	}
	rva := uint64(le.Uint32(f.dirs[n*8:]))
	if rva == 0 {
		return
	}
	off, ok := f.offset(rva)
	// The length of the list is unknown; small steps keep the reads small.
	const step = 64
	for n := 0; ok && n < maxNeeded; n += step {
		got := f.each(off+uint64(n*entry), step, entry, func(_ uint64, b []byte) bool {
			ok = ok && visit(b)
			return ok
		})
		ok = ok && got == step
	}
}
