package elfscan

import "debug/elf"

// readRecords reads the registration records and finds what they point to. In
// a shared object the pointer is a RELATIVE relocation, in a relocatable
// object one against the symbol of a section; only an executable with fixed
// addresses has it in place. Packed forms (SHT_RELR, Android's) keep the value
// in place too, so that they need no decoding here.
func (f *elfFile) readRecords() []pending {
	var all []pending
	var places []place // one for each record, at the same index
	seen := 0
	for i := range f.sections {
		s := &f.sections[i]
		if !isRecords(s.name) || !s.loaded() {
			continue
		}
		if seen++; seen > maxRecordSections {
			break
		}
		for _, p := range readRecords(f.view, s.off, s.size, f.order, f.ptr, maxRecords-len(all)) {
			at := place{i, p.at}
			if f.typ != elf.ET_REL {
				at = place{0, f.addr(s.addr + p.at)}
			}
			all, places = append(all, p), append(places, at)
		}
	}
	return f.resolve(all, places)
}

// resolve finds what records point to.
func (f *elfFile) resolve(all []pending, places []place) []pending {
	if len(all) == 0 {
		return nil
	}
	f.relocate(all, places)
	if f.typ != elf.ET_REL {
		for i := range all {
			if p := &all[i]; !p.done && p.inPlace != 0 {
				if off, ok := f.offset(p.inPlace); ok {
					p.resolve(f.view, off)
				}
			}
		}
	}
	return all
}

// A place is where a relocation applies: an address, or an offset in a section
// of a relocatable object.
type place struct {
	section int
	at      uint64
}

// relocate walks the relocation tables until each record has its target.
func (f *elfFile) relocate(all []pending, places []place) {
	index := make(map[place]int, len(places))
	lo, hi := ^uint64(0), uint64(0)
	for i, p := range places {
		index[p] = i
		lo, hi = min(lo, p.at), max(hi, p.at)
	}
	left := len(index)
	budget := f.size // tables that lie over each other are not worth reading twice
	for i := range f.sections {
		s := &f.sections[i]
		if s.typ != elf.SHT_RELA && s.typ != elf.SHT_REL || left == 0 {
			continue
		}
		target := 0
		if f.typ == elf.ET_REL {
			if uint64(s.info) >= uint64(len(f.sections)) || !isRecords(f.sections[s.info].name) {
				continue
			}
			target = int(s.info)
		} else if s.flags&elf.SHF_ALLOC == 0 {
			// Left by --emit-relocs; the loader does not apply it.
			continue
		}
		entry := f.rela
		if s.typ == elf.SHT_REL {
			entry = f.rel
		}
		if budget -= f.clip(s.off, s.size); budget < 0 {
			break
		}
		f.each(s.off, s.size/uint64(entry), entry, func(_ uint64, b []byte) bool {
			at := f.word(b)
			if at < lo || at > hi {
				return true
			}
			n, ok := index[place{target, at}]
			if !ok || all[n].done {
				return true
			}
			addend := all[n].inPlace
			if s.typ == elf.SHT_RELA {
				addend = f.sword(b[2*f.ptr:])
			}
			if off, ok := f.target(s, f.word(b[f.ptr:]), addend); ok {
				all[n].resolve(f.view, off)
				left--
			}
			return left > 0
		})
	}
}

// target is the offset that a relocation points to. The type is not looked at:
// only RELATIVE ones have no symbol, and a pointer-sized field with a symbol
// can only hold its address.
func (f *elfFile) target(table *elfSection, info, addend uint64) (uint64, bool) {
	symbol := info >> f.symShift
	if symbol == 0 {
		if f.typ == elf.ET_REL {
			return 0, false
		}
		return f.offset(f.addr(addend))
	}
	if uint64(table.link) >= uint64(len(f.sections)) {
		return 0, false
	}
	symbols := &f.sections[table.link]
	b := make([]byte, f.symbol)
	if !symbols.loaded() || symbol >= symbols.size/uint64(f.symbol) || !f.full(b, symbols.off+symbol*uint64(f.symbol)) {
		return 0, false
	}
	value := f.addr(f.word(b[f.stValue:]) + addend)
	if f.typ != elf.ET_REL {
		return f.offset(value)
	}
	shndx := uint64(f.order.Uint16(b[f.stShndx:]))
	if shndx == uint64(elf.SHN_XINDEX) {
		shndx = f.extendedIndex(table.link, symbol)
	}
	if shndx == 0 || shndx >= uint64(len(f.sections)) {
		return 0, false
	}
	s := &f.sections[shndx]
	if !s.loaded() || value >= s.size {
		return 0, false
	}
	return s.off + value, f.has(s.off, value)
}

// extendedIndex is the section of a symbol in an object that has more sections
// than 16 bits can count.
func (f *elfFile) extendedIndex(symtab uint32, symbol uint64) uint64 {
	for _, s := range f.extended {
		if s.link == symtab && symbol < s.size/4 {
			var b [4]byte
			if f.full(b[:], s.off+symbol*4) {
				return uint64(f.order.Uint32(b[:]))
			}
		}
	}
	return 0
}
