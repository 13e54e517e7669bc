package elfscan

import (
	"bytes"
	"errors"
	"math/bits"
	"slices"
)

// A Pattern is a byte string to look for.
type Pattern struct {
	Bytes []byte // not empty
	Align int64  // only offsets that are a multiple count; 0 means 1
	Data  bool   // only in ranges that may hold data of the program
}

// Patterns are made ready once and can be looked for by any number of
// goroutines.
type Patterns struct {
	list       []Pattern
	longest    int
	data, code pairTable
	inCode     []int // indexes of those that are looked for in machine code
}

// NewPatterns makes at most eight patterns ready. An error means that one is
// empty or too long, or that there are more.
func NewPatterns(patterns ...Pattern) (*Patterns, error) {
	p := &Patterns{list: slices.Clone(patterns)}
	if len(patterns) > 8 {
		return nil, errors.New("more than eight search patterns")
	}
	for i := range p.list {
		n := &p.list[i]
		if len(n.Bytes) == 0 || len(n.Bytes) > searchBuffer/2 {
			return nil, errors.New("search pattern is empty or too long")
		}
		n.Align = max(1, n.Align)
		p.longest = max(p.longest, len(n.Bytes))
		if !n.Data {
			p.inCode = append(p.inCode, i)
		}
	}
	if len(p.list) > 1 {
		p.data = newPairTable(p.list, false)
	}
	if len(p.inCode) > 1 {
		p.code = newPairTable(p.list, true)
	}
	return p, nil
}

// find calls yield for what begins in the first cut bytes of w, not in order.
func (p *Patterns) find(w []byte, cut int, host bool, yield func(pattern, i int)) {
	switch {
	case !host && len(p.list) == 1:
		findOne(w, cut, p.list[0].Bytes, func(i int) { yield(0, i) })
	case !host:
		p.data.find(p.list, w, cut, yield)
	case len(p.inCode) == 1:
		findOne(w, cut, p.list[p.inCode[0]].Bytes, func(i int) { yield(p.inCode[0], i) })
	case len(p.inCode) > 1:
		p.code.find(p.list, w, cut, yield)
	}
}

// A pairTable has, for each pair of bytes, the set of patterns in which it
// stands at one of three neighbouring places. Looking up every third pair of
// the data meets each pattern, whatever the data: searching for one rare byte
// of each is slower on most data, and three times as slow on some.
type pairTable struct {
	sets *[1 << 16]uint8
	of   [8]pairTest
}

// A pairTest tells a pair that stands there by chance.
type pairTest struct {
	used       bool
	place      int    // of the first of the three pairs, from the pattern's first byte
	word, mask uint32 // first four bytes of the pattern, and which of them count
}

// stride is the distance between pairs, and block what one step looks at.
const (
	stride = 3
	block  = 8 * stride
)

func newPairTable(list []Pattern, code bool) pairTable {
	t := pairTable{sets: new([1 << 16]uint8)}
	for i, p := range list {
		if code && p.Data {
			continue
		}
		test := &t.of[i]
		test.used = true
		if len(p.Bytes) < 4 {
			// One of the pairs has a byte that may be anything. Before the
			// pattern is better than behind: the first byte of a gzip stream
			// is rare, and its third is frequent in tables.
			test.place = -1
		}
		for at, c := range p.Bytes[:min(4, len(p.Bytes))] {
			test.word |= uint32(c) << (8 * at)
			test.mask |= 0xFF << (8 * at)
		}
		for at := test.place; at < test.place+stride; at++ {
			first, firsts := p.bytesAt(at)
			second, seconds := p.bytesAt(at + 1)
			for a := range firsts {
				for b := range seconds {
					t.sets[(first+a)|(second+b)<<8] |= 1 << i
				}
			}
		}
	}
	return t
}

// bytesAt returns the first and the number of the bytes that may stand at a
// place: outside of the pattern it is any.
func (p *Pattern) bytesAt(at int) (first, n int) {
	if at >= 0 && at < len(p.Bytes) {
		return int(p.Bytes[at]), 1
	}
	return 0, 256
}

// find calls yield for what begins in the first cut bytes of w, not in order.
func (t *pairTable) find(list []Pattern, w []byte, cut int, yield func(pattern, i int)) {
	sets := t.sets
	// What begins before end is met by the pairs that blocks have.
	blocks := max(0, min(cut, len(w)-4)/block)
	end := max(0, blocks*block-stride)
	if blocks == 0 {
		end = 0
	}
	for i := 0; i < blocks*block; i += block {
		b := w[i : i+block : i+block]
		x, y := le.Uint64(b), le.Uint64(b[9:])
		if sets[uint16(x)]|sets[uint16(x>>24)]|sets[uint16(x>>48)]|
			sets[uint16(y)]|sets[uint16(y>>24)]|sets[uint16(y>>48)]|
			sets[le.Uint16(b[18:])]|sets[le.Uint16(b[21:])] == 0 {
			continue
		}
		for q := 0; q < block; q += stride {
			for set := sets[le.Uint16(b[q:])]; set != 0; set &= set - 1 {
				k := bits.TrailingZeros8(set) & 7
				test := &t.of[k]
				last := i + q - test.place
				for start := max(0, last-stride+1); start <= last && start < end; start++ {
					if le.Uint32(w[start:])&test.mask == test.word && bytes.HasPrefix(w[start:], list[k].Bytes) {
						yield(k, start)
					}
				}
			}
		}
	}
	for i := end; i < min(cut, len(w)); i++ {
		for k := range list {
			if t.of[k].used && bytes.HasPrefix(w[i:], list[k].Bytes) {
				yield(k, i)
			}
		}
	}
}

// findOne looks for one pattern.
func findOne(w []byte, cut int, pattern []byte, yield func(i int)) {
	rare := rarest(pattern)
	w = w[:min(len(w), cut+len(pattern)-1)]
	for i := 0; i < len(w); i++ {
		n := indexRare(w[i:], pattern, rare)
		if n < 0 {
			return
		}
		i += n
		yield(i)
	}
}

// indexRare is bytes.Index, but led by the byte of the pattern that is rarest
// in programs: bytes.Index looks for the first one, which in the container's
// magic is 0x50, a push instruction.
func indexRare(w, pattern []byte, rare int) int {
	m := len(pattern)
	c := pattern[rare]
	for i, misses := 0, 0; i+m <= len(w); {
		n := bytes.IndexByte(w[i+rare:len(w)-m+1+rare], c)
		if n < 0 {
			return -1
		}
		i += n
		if string(w[i:i+m]) == string(pattern) {
			return i
		}
		i++
		// Data full of the byte makes each step short; the general search
		// does not mind.
		if misses++; misses > 64 && misses > i/16 {
			if n = bytes.Index(w[i:], pattern); n < 0 {
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
