package elfscan

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
)

// scanCOFF reads a relocatable object.
func scanCOFF(v view, h *coffHeader) (*Object, error) {
	o := &Object{Offset: v.base, Size: v.size, Format: FormatCOFF, Relocatable: true}
	o.Machine, o.Bits = coffMachine(h.machine)
	sections := o.coffSections(v, h)
	list := make([]section, 0, len(sections))
	for i := range sections {
		s := &sections[i]
		// What follows a "$" only orders the parts of a section for the linker.
		if base, _, ok := strings.Cut(s.name, "$"); ok && (kindOf(base) != KindOther || isRecords(base)) {
			s.name = base
		}
		if s.loaded() {
			list = append(list, s.section)
		}
	}
	o.setRanges(v, list)

	var records []pending
	budget, seen := v.size, 0 // tables that lie over each other are not read twice
	for i := range sections {
		s := &sections[i]
		if !isRecords(s.name) || !s.loaded() {
			continue
		}
		if seen++; seen > maxRecordSections {
			break
		}
		found := readRecords(v, s.off, s.size, binary.LittleEndian, max(4, o.Bits/8), maxRecords-len(records))
		if budget -= v.clip(s.relocs, s.relocsCount(v)*coffRelocSize); budget >= 0 {
			relocateCOFF(v, h, sections, s, found)
		}
		records = append(records, found...)
	}
	o.setRecords(v, records)
	return o, nil
}

// coffSections reads the section table. Sizes are those of the raw data.
func (o *Object) coffSections(v view, h *coffHeader) []coffSection {
	names := sync.OnceValue(func() strtab { return coffNames(v, h) })
	count := min(h.sections, maxSections)
	out := make([]coffSection, 0, v.clip(h.table, count*coffSectionSize)/coffSectionSize)
	n := v.each(h.table, count, coffSectionSize, func(_ uint64, b []byte) bool {
		s := coffSection{
			flags:     le.Uint32(b[36:]),
			virtual:   uint64(le.Uint32(b[8:])),
			relocs:    uint64(le.Uint32(b[24:])),
			relocsNum: uint64(le.Uint16(b[32:])),
		}
		s.name = coffName(b, names)
		s.host = s.flags&(scnCode|scnExecute) != 0
		s.addr = uint64(le.Uint32(b[12:]))
		s.size, s.off = uint64(le.Uint32(b[16:])), uint64(le.Uint32(b[20:]))
		out = append(out, s)
		return true
	})
	if n < h.sections {
		o.find(v.base+int64(min(h.table, uint64(v.size))), fmt.Sprintf("section table is cut: %d of %d entries are read", n, h.sections))
	}
	return out
}

// relocsCount is how many relocations a section has. A count beyond 16 bits is
// in the first of them.
func (s *coffSection) relocsCount(v view) uint64 {
	var b [4]byte
	if s.flags&scnRelocOverflow != 0 && s.relocsNum == 0xFFFF && v.full(b[:], s.relocs) {
		return uint64(le.Uint32(b[:]))
	}
	return s.relocsNum
}

// relocateCOFF finds what the records of one section point to. As in ELF, the
// type of the relocation is not looked at. The field itself holds the addend.
func relocateCOFF(v view, h *coffHeader, sections []coffSection, s *coffSection, records []pending) {
	index := make(map[uint64]*pending, len(records))
	for i := range records {
		index[records[i].at] = &records[i]
	}
	left := len(records)
	v.each(s.relocs, s.relocsCount(v), coffRelocSize, func(_ uint64, b []byte) bool {
		p := index[uint64(le.Uint32(b))-s.addr]
		if p == nil || p.done {
			return left > 0
		}
		if off, ok := coffSymbol(v, h, sections, uint64(le.Uint32(b[4:])), p.inPlace); ok {
			p.resolve(v, off)
			left--
		}
		return left > 0
	})
}

// coffSymbol is the offset of a symbol's value plus an addend.
func coffSymbol(v view, h *coffHeader, sections []coffSection, symbol, addend uint64) (uint64, bool) {
	buf := make([]byte, h.symbolSize)
	if symbol >= h.symbolsNum || !v.full(buf, h.symbols+symbol*uint64(h.symbolSize)) {
		return 0, false
	}
	number := int(int16(le.Uint16(buf[12:])))
	if h.symbolSize == bigSymbolSize {
		number = int(int32(le.Uint32(buf[12:])))
	}
	if number < 1 || number > len(sections) {
		return 0, false
	}
	s := &sections[number-1]
	value := uint64(le.Uint32(buf[8:])) + addend
	if !s.loaded() || value >= s.size {
		return 0, false
	}
	return s.off + value, true
}
