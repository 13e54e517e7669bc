package elfscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// searchBuffer is what fits a second-level cache: the bytes are still there
// when they are searched.
const searchBuffer = 256 << 10

var searchBuffers = sync.Pool{New: func() any { return new([searchBuffer]byte) }}

// Search calls visit with the offset of each occurrence of pattern inside a
// range, in the order of the ranges and of the offsets. Only occurrences at a
// multiple of align count; sections of COFF objects and of archive members are
// not aligned in the file, so use 1 there. visit returns the offset at which to
// go on in the same range, such as the end of a container, or 0 to go on with
// the next byte.
//
// Memory is bounded whatever the ranges. It ends early with the error of ctx,
// or of the reader; a file that ends inside a range gives io.ErrUnexpectedEOF.
func Search(ctx context.Context, r io.ReaderAt, ranges []Range, pattern []byte, align int64, visit func(off int64) (skipTo int64)) error {
	if len(pattern) == 0 || len(pattern) > searchBuffer/2 {
		return errors.New("search pattern is empty or too long")
	}
	buf := searchBuffers.Get().(*[searchBuffer]byte)
	defer searchBuffers.Put(buf)
	s := searcher{ctx: ctx, r: r, buf: buf[:], pattern: pattern, rare: rarest(pattern), align: max(1, align)}
	for _, rg := range ranges {
		if rg.Offset < 0 || rg.Size < 0 || rg.Offset+rg.Size < 0 {
			return &FormatError{rg.Offset, "range is not in a file", rg.Size}
		}
		s.limit = max(s.limit, rg.Offset+rg.Size)
	}
	for _, rg := range ranges {
		if err := s.search(rg.Offset, rg.Offset+rg.Size, visit); err != nil {
			return err
		}
	}
	return ctx.Err()
}

type searcher struct {
	ctx     context.Context
	r       io.ReaderAt
	pattern []byte
	rare    int // index in pattern of the byte to look for first
	align   int64
	limit   int64 // end of the last range
	buf     []byte
	at      int64 // offset of buf[0]
	have    int   // bytes of buf that are filled
}

func (s *searcher) search(pos, end int64, visit func(int64) int64) error {
	m := int64(len(s.pattern))
	for end-pos >= m {
		w, err := s.window(pos, end)
		if err != nil {
			return err
		}
		// Until the end of the window, positions are relative to it.
		for i := int64(0); ; {
			n := int64(-1)
			if i <= int64(len(w)) {
				n = int64(s.index(w[i:]))
			}
			if n < 0 {
				// An occurrence may straddle the end of the window. A visit
				// may have skipped further than that.
				pos += max(i, int64(len(w))-m+1)
				break
			}
			i += n
			off := pos + i
			i++
			if off%s.align != 0 {
				continue
			}
			if to := visit(off); to > off {
				if to >= end {
					return s.ctx.Err()
				}
				i = to - pos
			}
			if err := s.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// window returns bytes from pos on, at least as many as the pattern has.
// Objects may have thousands of tiny sections, so short ranges are served from
// one read that goes beyond them.
func (s *searcher) window(pos, end int64) ([]byte, error) {
	need := min(end-pos, max(4096, int64(len(s.pattern))))
	if pos < s.at || pos+need > s.at+int64(s.have) {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		want := min(int64(len(s.buf)), max(end-pos, 16<<10), s.limit-pos)
		n, err := s.r.ReadAt(s.buf[:want], pos)
		s.at, s.have = pos, max(0, min(n, int(want)))
		if int64(s.have) < min(want, end-pos) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("searching at offset %s: %w", hex(pos+int64(s.have)), err)
		}
	}
	w := s.buf[pos-s.at : s.have]
	return w[:min(int64(len(w)), end-pos)], nil
}

// index is bytes.Index, but led by the byte of the pattern that is rarest in
// programs: bytes.Index looks for the first one, which in the container's magic
// is 0x50, a push instruction.
func (s *searcher) index(w []byte) int {
	m := len(s.pattern)
	c := s.pattern[s.rare]
	for i, misses := 0, 0; i+m <= len(w); {
		n := bytes.IndexByte(w[i+s.rare:len(w)-m+1+s.rare], c)
		if n < 0 {
			return -1
		}
		i += n
		if string(w[i:i+m]) == string(s.pattern) {
			return i
		}
		i++
		// Data full of the byte makes each step short; the general search
		// does not mind.
		if misses++; misses > 64 && misses > i/16 {
			if n = bytes.Index(w[i:], s.pattern); n < 0 {
				return -1
			}
			return i + n
		}
	}
	return -1
}

// commonBytes are frequent in code, padding and text, the most frequent first.
var commonBytes = []byte("\x00\xff\x48\x8b\x89\x0f\x24\x01\xe8\x4c\x41\x44\x83\x85\xc0\x50\x55 eationsrlcdpu_.m")

func rarest(pattern []byte) int {
	best, rank := 0, -1
	for i, c := range pattern {
		n := slices.Index(commonBytes, c)
		if n < 0 {
			n = len(commonBytes)
		}
		if n > rank {
			best, rank = i, n
		}
	}
	return best
}
