package foreign

import (
	"context"
	"io"
)

const (
	metalMagic  = "MTLB"
	metalHeader = 88
	dxMagic     = "DXBC"
	dxHeader    = 32
)

// ScanLoose tells whether a whole file is device code of another vendor: a
// clang offload bundle, compressed or not, an offload binary, a code object for
// an AMD or Intel GPU, an archive of Intel's offline compiler, a SPIR-V module,
// a Metal library, or a container of DirectX. It reads headers and tables, of
// bundles that follow one another all tables.
//
// False means that it is nothing of that, or that it could not be read. Where a
// bundle holds code for several vendors, the first is told.
func ScanLoose(r io.ReaderAt, size int64) (Code, bool) {
	var fail error
	v := view{r, 0, max(0, size), &fail}
	s := newScanner(v.size)
	defer s.close()
	c, ok := s.loose(v)
	if !ok || fail != nil {
		return Code{}, false
	}
	c.Offset, c.Size = 0, v.size
	return c, true
}

func (s *scanner) loose(v view) (Code, bool) {
	var head [len(bundleMagic)]byte
	n := v.read(head[:], 0)
	begins := func(magic string) bool { return n >= len(magic) && string(head[:len(magic)]) == magic }
	ctx := context.Background() // the walks below are bounded by the file
	var t tally
	switch {
	case begins(bundleMagic):
		if s.bundles(ctx, v, &t) == nil && t.items > 0 {
			return t.first(KindBundle)
		}
	case begins(ccobMagic):
		if s.bundles(ctx, v, &t) == nil && t.items > 0 {
			return t.first(KindCompressed)
		}
	case begins(binaryMagic):
		if s.binaries(ctx, v, &t) == nil && t.items > 0 {
			return t.first(KindBinary)
		}
	case begins("\x7fELF"):
		c, _, ok := readELF(v)
		return c, ok
	case begins(arMagic):
		targets, _, ok := readOcloc(v)
		t.items++
		for _, target := range targets {
			t.add(vendorIntel, target)
		}
		if ok {
			return t.first(KindIntelAr)
		}
	case begins(metalMagic):
		return readMetal(v)
	case begins(dxMagic):
		return readDX(v)
	default:
		if _, target, ok := readSPIRV(v); ok {
			t.items++
			t.add(vendorKhronos, target)
			return t.first(KindSPIRV)
		}
	}
	return Code{}, false
}

// first is what is told of a file with one kind of content.
func (t *tally) first(kind string) (Code, bool) {
	like := Code{Kind: kind}
	if c := t.codes(like); len(c) > 0 {
		return c[0], true
	}
	return like, true // code for the host alone
}

// readMetal checks that the size in the header is the file's.
func readMetal(v view) (Code, bool) {
	var b [metalHeader]byte
	if !v.full(b[:], 0) {
		return Code{}, false
	}
	size := le.Uint64(b[16:])
	return Code{Vendor: vendorApple, Kind: KindMetal, Count: 1}, size >= metalHeader && size <= uint64(v.size)
}

// readDX looks for the part that holds a program. The target is how the part
// is written: DXIL since shader model 6, DXBC before.
func readDX(v view) (Code, bool) {
	var b [dxHeader]byte
	if !v.full(b[:], 0) {
		return Code{}, false
	}
	size, parts := int64(le.Uint32(b[24:])), int64(le.Uint32(b[28:]))
	if le.Uint16(b[20:]) != 1 || size > v.size || size < dxHeader+4*parts || parts > maxEntries {
		return Code{}, false
	}
	c := Code{Vendor: vendorMicrosoft, Kind: KindDXIL, Count: 1}
	for i := range parts {
		var off, name [4]byte
		if !v.full(off[:], dxHeader+4*i) || !v.full(name[:], int64(le.Uint32(off[:]))) {
			return Code{}, false
		}
		switch string(name[:]) {
		case "DXIL":
			c.Targets = []string{"dxil"}
			return c, true
		case "SHDR", "SHEX":
			c.Targets = []string{"dxbc"}
			return c, true
		}
	}
	return Code{}, false // reflection or a root signature alone
}
