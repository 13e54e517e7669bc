package elfscan

import (
	"bytes"
	"debug/elf"
)

// loadedRecords finds the registration records of a file without a usable
// section table, as sstrip and packers leave it, where the loader would: in the
// writable segments, with the relocations that the dynamic table names. Packed
// relocations (DT_RELR) keep the value in place and need no decoding.
func (f *elfFile) loadedRecords(d elfDynamic) []pending {
	if f.typ == elf.ET_REL {
		return nil
	}
	var all []pending
	var places []place
	budget := f.size // segments that lie over each other are not worth reading twice
	for _, s := range f.segments {
		if s.typ != elf.PT_LOAD || s.flags&elf.PF_W == 0 {
			continue
		}
		if budget -= f.clip(s.off, s.bytes); budget < 0 {
			break
		}
		for _, p := range f.scanRecords(s) {
			if len(all) == maxRecords {
				break
			}
			all, places = append(all, p), append(places, place{0, f.addr(s.vaddr + p.off + 8 - s.off)})
		}
	}
	f.sections = f.dynamicTables(d)
	all = f.resolve(all, places)
	f.sections = nil
	var kept []pending
	linked := false
	for _, p := range all {
		// Four bytes and a version prove little; what the pointer leads to
		// does. One that leads nowhere is kept: its absence is worth a word.
		if p.done {
			var b [4]byte
			if !f.full(b[:], p.target) || !isFatbin(b[:]) {
				continue
			}
		}
		kept, linked = append(kept, p), linked || p.version == 2
	}
	if linked {
		f.obj.find(-1, "no section table: the inputs of the device link cannot be told from other device code")
	}
	return kept
}

// scanRecords looks for records at each aligned place of a segment.
func (f *elfFile) scanRecords(s elfSegment) []pending {
	var magic [4]byte
	f.order.PutUint32(magic[:], recordMagic)
	entry := uint64(8 + 2*f.ptr)
	size := uint64(f.clip(s.off, s.bytes))
	buf := make([]byte, min(size, chunkSize))
	var out []pending
	for at := uint64(0); at+entry <= size && len(out) < maxRecords; {
		b := buf[:f.read(buf[:min(uint64(len(buf)), size-at)], s.off+at)]
		if uint64(len(b)) < entry {
			break
		}
		last := uint64(len(b)) - entry // the last place that a whole record has
		next := last + 1
		for i := uint64(0); i <= last && len(out) < maxRecords; {
			n := bytes.Index(b[i:last+4], magic[:])
			if n < 0 {
				break
			}
			i += uint64(n)
			version := f.order.Uint32(b[i+4:])
			if (s.vaddr+at+i)%uint64(f.ptr) != 0 || version != 1 && version != 2 {
				i++
				continue
			}
			p := pending{off: s.off + at + i, version: version, inPlace: f.word(b[i+8:])}
			out = append(out, p)
			i += entry
			next = max(next, i)
		}
		at += next
	}
	return out
}

// dynamicTables returns the relocations of the dynamic table and its symbols
// as sections, for relocate to walk.
func (f *elfFile) dynamicTables(d elfDynamic) []elfSection {
	table := func(typ elf.SectionType, addr, size uint64) elfSection {
		s := elfSection{typ: typ, flags: elf.SHF_ALLOC, link: 1}
		if off, ok := f.offset(addr); ok && addr != 0 {
			s.off, s.size = off, uint64(f.clip(off, size))
		}
		return s
	}
	return []elfSection{
		{},
		table(elf.SHT_DYNSYM, d.symbols, ^uint64(0)), // its size stands nowhere
		table(elf.SHT_RELA, d.rela, d.relaSize),
		table(elf.SHT_REL, d.rel, d.relSize),
	}
}
