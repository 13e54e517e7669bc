package foreign

import "github.com/klauspost/compress/zstd"

// Layout of a zstd frame, RFC 8878: a header, then blocks, each with a header
// of three bytes (bit 0: last, bits 1-2: type, the rest: size), then four bytes
// of checksum if the header says so.
const (
	zstdMagic = "\x28\xB5\x2F\xFD"
	zstdBlock = 128 << 10 // largest block, packed or not

	blockRLE      = 1
	blockReserved = 3

	// maxZstdBlocks bounds the walk: 8 GiB of full blocks.
	maxZstdBlocks = 1 << 16
)

// A zstdFrame is where a frame lies.
type zstdFrame struct {
	header     int64 // bytes of the frame's header
	size       int64 // of the frame
	dictionary bool  // it cannot be unpacked without one
}

// readZstd walks the block headers of the frame at the start of v.
func (s *scanner) readZstd(v view) (f zstdFrame, ok bool) {
	var head [18]byte // the longest header
	var h zstd.Header
	n := v.read(head[:], 0)
	if n < 9 || string(head[:4]) != zstdMagic || h.Decode(head[:n]) != nil || h.Skippable {
		return f, false
	}
	f.header, f.dictionary = int64(h.HeaderSize), h.DictionaryID != 0
	f.size = f.header
	for range maxZstdBlocks {
		size, last, ok := zstdBlockAt(v, f.size)
		if !ok || !s.spend(stepCost) {
			return f, false
		}
		f.size += size
		if last {
			if h.HasCheckSum {
				f.size += 4
			}
			return f, f.size <= v.size
		}
	}
	return f, false
}

// zstdBlockAt reads the header of a block; size includes it.
func zstdBlockAt(v view, at int64) (size int64, last, ok bool) {
	var b [3]byte
	if !v.full(b[:], at) {
		return 0, false, false
	}
	w := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	size = int64(w >> 3)
	kind := w >> 1 & 3
	if size > zstdBlock || kind == blockReserved {
		return 0, false, false
	}
	if kind == blockRLE {
		size = 1
	}
	return 3 + size, w&1 != 0, v.has(uint64(at), uint64(3+size))
}

// prefix makes a frame of the first blocks alone, in buf. Whole frames declare
// a window as large as their content, up to gigabytes; the first eight blocks
// cannot refer back further than 1 MiB, so the new header declares that.
func (f zstdFrame) prefix(v view, blocks int, buf []byte) []byte {
	buf = append(buf, zstdMagic...)
	buf = append(buf, 0, 10<<3) // no size, no checksum; window 2^(10+10)
	at := f.header
	for i := range blocks {
		size, last, ok := zstdBlockAt(v, at)
		if !ok {
			break
		}
		mark := len(buf)
		buf = append(buf, make([]byte, size)...)
		if !v.full(buf[mark:], at) {
			break
		}
		if last || i == blocks-1 {
			buf[mark] |= 1
			break
		}
		at += size
	}
	return buf
}
