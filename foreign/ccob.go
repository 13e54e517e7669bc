package foreign

import (
	"bytes"
	"compress/zlib"
	"io"

	"github.com/klauspost/compress/zstd"
)

const ccobMagic = "CCOB"

const (
	methodZlib = 0
	methodZstd = 1
)

// A ccob is the header of a compressed bundle.
type ccob struct {
	header   int64 // bytes before the compressed data
	stored   int64 // of the whole, header included
	unpacked int64 // as declared; nothing is allocated for it
	method   uint16
}

// readCCOB reads the header at the start of v. The first bytes of the data are
// looked at too, because four letters occur by chance.
func (s *scanner) readCCOB(v view) (h ccob, ok bool) {
	var b [32]byte
	n := v.read(b[:], 0)
	if n < 8 || string(b[:4]) != ccobMagic {
		return h, false
	}
	var stored, unpacked uint64
	switch le.Uint16(b[4:]) {
	case 1:
		h.header, unpacked = 20, uint64(le.Uint32(b[8:]))
	case 2:
		h.header, stored, unpacked = 24, uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[12:]))
	case 3:
		h.header, stored, unpacked = 32, le.Uint64(b[8:]), le.Uint64(b[16:])
	default:
		return h, false
	}
	if int64(n) < h.header || unpacked < bundleHeader || unpacked > 1<<62 {
		return h, false
	}
	h.method, h.unpacked = le.Uint16(b[6:]), int64(unpacked)
	switch {
	case h.method == methodZstd && v.begins(h.header, zstdMagic):
	case h.method == methodZlib && isZlib(v.from(h.header)):
	default:
		return h, false
	}
	if h.header == 20 {
		// Version 1 does not say where it ends. A zstd frame does; after a
		// zlib stream the next bundle is found by searching.
		h.stored = h.header
		if f, is := s.readZstd(v.from(h.header)); is && h.method == methodZstd {
			h.stored += f.size
		}
		return h, true
	}
	if stored <= uint64(h.header) || stored > uint64(v.size) {
		return h, false
	}
	h.stored = int64(stored)
	return h, true
}

// isZlib checks the two bytes of RFC 1950: deflate, and a multiple of 31.
func isZlib(v view) bool {
	var b [2]byte
	return v.full(b[:], 0) && b[0]&0xF == 8 && b[0]>>4 <= 7 && (uint(b[0])<<8|uint(b[1]))%31 == 0
}

// unpackTable reads the table of a compressed bundle. The table is at the
// start, so one block is unpacked, and some more if the table is longer.
func (s *scanner) unpackTable(v view, h ccob) ([]entry, bool) {
	data := v.from(h.header)
	if h.header > 20 {
		data = data.cut(h.stored - h.header)
	}
	for _, blocks := range []int{1, maxBlocks} {
		out := s.unpack(data, h.method, blocks)
		if _, entries, ok := s.readBundle(s.memory(out), h.unpacked); ok {
			return entries, true
		}
		if len(out) < bundleHeader {
			break
		}
	}
	return nil, false
}

// maxBlocks bounds what is unpacked of one stream, in blocks of zstd's largest
// size: 1 MiB. A table takes some kilobytes.
const maxBlocks = 8

// unpack returns the beginning of a stream: as much as blocks blocks hold, or
// less where it is damaged or the scanner's allowance is used up.
func (s *scanner) unpack(v view, method uint16, blocks int) []byte {
	limit := blocks * zstdBlock
	if !s.spend(itemCost) {
		return nil
	}
	if cap(s.out) < limit {
		s.out = make([]byte, 0, limit)
	}
	s.out = s.out[:0]
	if method == methodZstd {
		s.unzstd(v, blocks)
	} else {
		s.unzlib(v, limit)
	}
	s.spend(int64(len(s.out)))
	return s.out
}

func (s *scanner) unzlib(v view, limit int) {
	z, err := zlib.NewReader(io.NewSectionReader(readerAt{v}, 0, v.size))
	if err != nil {
		return
	}
	n, _ := io.ReadFull(z, s.out[:limit]) // what came out before an error counts
	s.out = s.out[:n]
}

func (s *scanner) unzstd(v view, blocks int) {
	f, ok := s.readZstd(v)
	if !ok || f.dictionary {
		return
	}
	s.in = f.prefix(v, blocks, s.in[:0])
	if s.zstd == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxBlocks*zstdBlock),
			zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
		if err != nil {
			return
		}
		s.zstd = z
	}
	if out, err := s.zstd.DecodeAll(s.in, s.out); err == nil {
		s.out = out
	}
}

// memory is a view of unpacked bytes.
func (s *scanner) memory(b []byte) view {
	return view{bytes.NewReader(b), 0, int64(len(b)), new(error)}
}

// readerAt lets a view be read by others, with its bounds and its note of the
// first error.
type readerAt struct{ v view }

func (r readerAt) ReadAt(b []byte, off int64) (int, error) {
	if n := r.v.read(b, off); n < len(b) {
		return n, io.EOF
	}
	return len(b), nil
}
