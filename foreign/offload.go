package foreign

import (
	"context"
	"strings"
)

const (
	binaryMagic  = "\x10\xFF\x10\xAD"
	binaryHeader = 32 // of versions 1 and 2; 40 in version 3
	binaryEntry  = 40

	maxStrings = 64 // of an entry; two or three are usual

	// Producers, LLVM's OffloadKind.
	producerCUDA = 2
	producerHIP  = 4

	flagMetadata = 1 // the entry holds no image
)

// An offloadBinary is the header of an offload binary.
type offloadBinary struct {
	size    int64 // as stored, header included
	entries int64 // offset of the entries
	count   uint64
	version uint32
	packed  bool
	total   int64 // bytes once unpacked, header included
}

func readBinary(v view) (b offloadBinary, ok bool) {
	var head [40]byte
	n := v.read(head[:], 0)
	if n < binaryHeader || string(head[:4]) != binaryMagic {
		return b, false
	}
	b.version = le.Uint32(head[4:])
	size, at := le.Uint64(head[8:]), le.Uint64(head[16:])
	b.count = le.Uint64(head[24:])
	header := uint64(binaryHeader)
	if b.version == 1 {
		b.count = 1
	}
	if b.version >= 3 {
		header = 40
	}
	if b.version < 1 || b.version > 3 || uint64(n) < header || size < header || !v.has(0, size) || at < header || at > size || b.count > maxEntries {
		return b, false
	}
	b.size, b.entries, b.total = int64(size), int64(at), int64(size)
	if inflated := le.Uint64(head[32:]); b.version >= 3 && inflated != 0 {
		if inflated < at || inflated > 1<<62 {
			return b, false
		}
		b.packed, b.total = true, int64(inflated)
		return b, true
	}
	return b, b.count*binaryEntry <= size-at
}

// binaryAt reads an offload binary at an offset of v and notes its targets. It
// returns where the binary ends.
func (s *scanner) binaryAt(v view, at int64, t *tally) (end int64, ok bool) {
	v = v.from(at)
	b, ok := readBinary(v)
	if !ok || !s.spend(itemCost) {
		return 0, false
	}
	t.items++
	body, delta := v.cut(b.size), int64(0) // delta: offset of the body's first byte in the binary
	if b.packed {
		// Entries and strings are at the start of the packed part.
		data := body.from(b.entries)
		method := uint16(methodZlib)
		if data.begins(0, zstdMagic) {
			method = methodZstd
		}
		body, delta = s.memory(s.unpack(data, method, maxBlocks)), b.entries
	}
	read := false
	for i := range b.count {
		var e [binaryEntry]byte
		if !body.full(e[:], b.entries-delta+int64(i)*binaryEntry) {
			break
		}
		vendor, target, kind := s.binaryEntry(b, body, delta, e[:])
		if kind != entryNone {
			t.add(vendor, target)
		}
		read = read || kind != entryBad
	}
	if !read {
		t.add(t.fallback, "")
	}
	return at + b.size, true
}

// What an entry turned out to be.
type entryKind int

const (
	entryCode entryKind = iota
	entryNone           // without an image
	entryBad            // its strings or its image are not in the binary
)

// binaryEntry reads the strings of one entry.
func (s *scanner) binaryEntry(b offloadBinary, body view, delta int64, e []byte) (vendor, target string, kind entryKind) {
	strs, n := le.Uint64(e[8:]), le.Uint64(e[16:])
	off, size := le.Uint64(e[24:]), le.Uint64(e[32:])
	width := uint64(24)
	if b.version == 1 {
		width = 16
	}
	switch {
	case le.Uint32(e[4:])&flagMetadata != 0 || size == 0:
		return "", "", entryNone
	case off > uint64(b.total) || size > uint64(b.total)-off || n > maxStrings || strs < uint64(delta) || !body.has(strs-uint64(delta), n*width) || !s.spend(stepCost*int64(n+1)):
		return "", "", entryBad
	}
	var triple, arch string
	for i := range n {
		var str [24]byte
		body.read(str[:width], int64(strs+i*width)-delta)
		text := func(off, limit uint64) string {
			if off < uint64(delta) || off > uint64(b.total) {
				return ""
			}
			t := body.cstring(int64(off) - delta)
			return t[:min(uint64(len(t)), limit)]
		}
		limit := uint64(maxName)
		if width == 24 {
			limit = le.Uint64(str[16:])
		}
		switch text(le.Uint64(str[:]), maxName) {
		case "triple":
			triple = text(le.Uint64(str[8:]), limit)
		case "arch":
			arch = text(le.Uint64(str[8:]), limit)
		}
	}
	machine, rest, _ := strings.Cut(triple, "-")
	maker, _, _ := strings.Cut(rest, "-")
	vendor, target = vendorOf(machine, maker), arch
	if target == "" || target == "generic" {
		target = machine
	}
	if vendor == "" {
		switch le.Uint16(e[2:]) {
		case producerCUDA:
			vendor = vendorNVIDIA
		case producerHIP:
			vendor = vendorAMD
		}
	}
	return vendor, target, entryCode
}

// binaries reads the offload binaries of a section, which follow one another
// at multiples of 8.
func (s *scanner) binaries(ctx context.Context, v view, t *tally) error {
	for at := int64(0); t.items < maxItems; {
		if err := ctx.Err(); err != nil {
			return err
		}
		at = v.skipZeros(at, maxGap)
		end, ok := s.binaryAt(v, at, t)
		if !ok {
			break
		}
		at = end
	}
	return *v.fail
}
