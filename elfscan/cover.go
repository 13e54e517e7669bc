package elfscan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A section is a piece of an object that has bytes in the file. Offsets are
// relative to the object.
type section struct {
	name string
	addr uint64
	off  uint64
	size uint64 // as declared
	host bool   // see Range.Host
}

// setRanges turns sections into ranges that cover the object once. Sections
// for device code come first and win where sections overlap, which only
// damaged or hostile files do.
func (o *Object) setRanges(v view, sections []section) {
	// Findings are limited, and those about device code must be among them.
	slices.SortStableFunc(sections, func(a, b section) int {
		return cmp.Compare(min(1, kindOf(b.name)), min(1, kindOf(a.name)))
	})
	var named, others []Range
	for _, s := range sections {
		r := Range{Name: s.name, Kind: kindOf(s.name), Offset: int64(min(s.off, uint64(v.size))), Size: v.clip(s.off, s.size), Addr: s.addr, Host: s.host || hostName(s.name)}
		if uint64(r.Size) < s.size {
			o.find(v.base+r.Offset, fmt.Sprintf("section %q is cut: %s of %s bytes are in the file", s.name, hex(r.Size), hexU(s.size)))
		}
		switch {
		case r.Size == 0:
		case r.Kind == KindOther:
			others = append(others, r)
		default:
			named = append(named, r)
		}
	}
	sortRanges(named)
	sortRanges(others)
	named = subtract(named, nil)
	others = subtract(others, named)

	all := slices.Concat(named, others)
	sortRanges(all)
	pos := int64(0)
	for _, r := range all {
		if r.Offset > pos {
			others = append(others, Range{Offset: pos, Size: r.Offset - pos})
		}
		pos = r.Offset + r.Size
	}
	if pos < v.size {
		others = append(others, Range{Offset: pos, Size: v.size - pos})
	}
	sortRanges(others)
	o.Ranges = append(named, others...)
	for i := range o.Ranges {
		o.Ranges[i].Offset += v.base
	}
}

// hostName tells sections that compilers make for the host by name, where no
// flag or type does: for unwinding, debuggers and the loader.
func hostName(name string) bool {
	switch name {
	case ".eh_frame", ".eh_frame_hdr", ".gcc_except_table", ".pdata", ".xdata", ".reloc":
		return true
	}
	return strings.HasPrefix(name, ".debug_")
}

func sortRanges(rs []Range) {
	slices.SortStableFunc(rs, func(a, b Range) int { return cmp.Compare(a.Offset, b.Offset) })
}

// subtract returns the parts of rs that neither an earlier range of rs nor a
// range of taken covers. Both are sorted, and taken does not overlap itself.
func subtract(rs, taken []Range) []Range {
	out := rs[:0:0]
	pos := int64(0)
	for _, r := range rs {
		end := r.Offset + r.Size
		for at := max(pos, r.Offset); at < end; {
			for len(taken) > 0 && taken[0].Offset+taken[0].Size <= at {
				taken = taken[1:]
			}
			stop, next := end, end
			if len(taken) > 0 && taken[0].Offset < end {
				stop, next = taken[0].Offset, taken[0].Offset+taken[0].Size
			}
			if stop > at {
				out = append(out, r.part(at, stop))
			}
			at = next
		}
		pos = max(pos, end)
	}
	return out
}

// part is the range from one offset to another. An address of 0 is kept, for
// it means that there is none, and sections of a relocatable object all have it.
func (r Range) part(from, to int64) Range {
	if r.Addr != 0 {
		r.Addr += uint64(from - r.Offset)
	}
	r.Offset, r.Size = from, to-from
	return r
}
