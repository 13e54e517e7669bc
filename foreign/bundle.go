package foreign

import (
	"context"

	"fatview/elfscan"
)

const (
	bundleMagic  = "__CLANG_OFFLOAD_BUNDLE__"
	bundleHeader = 32
	bundleEntry  = 24
	// Bounds of a table. An entry for each of AMD's processors with each
	// setting of its features makes fewer than two hundred.
	maxEntries = 4096
	maxID      = 1024

	maxItems = 1 << 16 // bundles of a section; PyTorch has two thousand
	maxGap   = 64 << 10
)

// An entry of a bundle that holds code.
type entry struct{ vendor, target string }

// readBundle reads the table at the start of v. total is the size of what the
// code objects must lie in, which is more than v has where only the beginning
// was unpacked. It returns the bytes of the bundle, from its magic to the end
// of its last code object, and false for a table that is cut or lies.
func (s *scanner) readBundle(v view, total int64) (size int64, entries []entry, ok bool) {
	var head [bundleHeader]byte
	if !v.full(head[:], 0) || string(head[:len(bundleMagic)]) != bundleMagic {
		return 0, nil, false
	}
	count := le.Uint64(head[24:])
	if count > maxEntries || count*bundleEntry > uint64(v.size) || !s.spend(stepCost*int64(count)) {
		return 0, nil, false
	}
	at := int64(bundleHeader)
	first := total // lowest offset of a code object
	size = at
	var b [bundleEntry + maxName]byte
	for range count {
		n := v.read(b[:], at)
		if n < bundleEntry {
			return 0, nil, false
		}
		off, length, idLen := le.Uint64(b[:]), le.Uint64(b[8:]), le.Uint64(b[16:])
		if idLen > maxID || off > uint64(total) || length > uint64(total)-off || !v.has(uint64(at)+bundleEntry, idLen) {
			return 0, nil, false
		}
		id := string(b[bundleEntry:max(bundleEntry, min(n, bundleEntry+int(idLen)))])
		at += bundleEntry + int64(idLen)
		if length == 0 {
			continue // the host's entry, or no code for this target
		}
		first = min(first, int64(off))
		size = max(size, int64(off+length))
		if kind, vendor, target := splitID(id); kind != "host" {
			entries = append(entries, entry{vendor, target})
		}
	}
	return max(size, at), entries, at <= first
}

// bundleAt reads a bundle, compressed or not, at an offset of v and notes its
// targets. It returns where the bundle ends.
func (s *scanner) bundleAt(v view, at int64, t *tally) (end int64, ok bool) {
	if !s.spend(itemCost) {
		return 0, false
	}
	rest := v.from(at)
	var size int64
	var entries []entry
	if h, packed := s.readCCOB(rest); packed {
		size = h.stored
		entries, ok = s.unpackTable(rest, h)
		if !ok {
			entries = []entry{{t.fallback, ""}} // it is a bundle, but for whom cannot be read
		}
	} else if size, entries, ok = s.readBundle(rest, rest.size); !ok {
		return 0, false
	}
	t.items++
	for _, e := range entries {
		t.add(e.vendor, e.target)
	}
	return at + size, true
}

// bundles reads the bundles of a section. They follow one another, aligned by
// the linker, which is cheap to walk; only where that breaks off is the rest
// searched.
func (s *scanner) bundles(ctx context.Context, v view, t *tally) error {
	at := int64(0)
	for t.items < maxItems {
		if err := ctx.Err(); err != nil {
			return err
		}
		at = v.skipZeros(at, maxGap)
		end, ok := s.bundleAt(v, at, t)
		if !ok {
			break
		}
		at = end
	}
	if at >= v.size || *v.fail != nil || t.items >= maxItems {
		return *v.fail
	}
	gaps := []elfscan.Range{{Offset: v.base + at, Size: v.size - at}}
	for _, magic := range []string{bundleMagic, ccobMagic} {
		var taken []elfscan.Range
		err := elfscan.Search(ctx, v.r, gaps, []byte(magic), 1, func(off int64) int64 {
			if *v.fail != nil || t.items >= maxItems || s.allowance <= 0 {
				return v.base + v.size
			}
			end, ok := s.bundleAt(v, off-v.base, t)
			if !ok {
				return 0
			}
			taken = append(taken, elfscan.Range{Offset: off, Size: v.base + end - off})
			return v.base + end
		})
		if err != nil {
			return err
		}
		gaps = without(gaps[0], taken)
		if len(gaps) == 0 {
			break
		}
	}
	return *v.fail
}

// without returns the parts of r between the ranges of taken, which are sorted.
func without(r elfscan.Range, taken []elfscan.Range) []elfscan.Range {
	var out []elfscan.Range
	at, end := r.Offset, r.Offset+r.Size
	for _, t := range append(taken, elfscan.Range{Offset: end}) {
		if t.Offset > at {
			out = append(out, elfscan.Range{Offset: at, Size: min(end, t.Offset) - at})
		}
		at = max(at, t.Offset+t.Size)
	}
	return out
}
