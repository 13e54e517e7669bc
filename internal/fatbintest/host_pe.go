package fatbintest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// A PE builds an image. Section names longer than eight characters are cut, as
// linkers do, unless LongNames asks for a string table.
type PE struct {
	Bits         int    // 64 if zero
	Machine      uint16 // AMD64 or i386 if zero
	Sections     []HostSection
	Pointers     []HostPointer
	Imports      []string
	DelayImports []string
	Export       string // name in the export directory, which is left out if empty
	LongNames    bool
	Overlay      []byte
}

const (
	peBase      = 0x140000000
	peBase32    = 0x10000000
	peFileAlign = 0x200
	peMemAlign  = 0x1000
)

type hostPlaced struct {
	HostSection
	off, rva, raw int
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

func hostAlign(n, to int) int { return (n + to - 1) / to * to }

// Bytes lays the image out.
func (p PE) Bytes() []byte {
	ptr, base, dirs, magic, machine := 8, uint64(peBase), 112, 0x20B, uint16(0x8664)
	if p.Bits == 32 {
		ptr, base, dirs, magic, machine = 4, peBase32, 96, 0x10B, 0x14C
	}
	if p.Machine != 0 {
		machine = p.Machine
	}
	le := binary.LittleEndian
	sections := slices.Clone(p.Sections)
	if p.Export != "" {
		sections = append(sections, HostSection{Name: ".edata"})
	}
	if len(p.Imports)+len(p.DelayImports) > 0 {
		sections = append(sections, HostSection{Name: ".idata"})
	}
	const pe = 0x80
	optional := dirs + 16*8
	table := pe + 24 + optional
	headers := hostAlign(table+40*len(sections), peFileAlign)
	rva := hostAlign(headers, peMemAlign)
	out := make([]byte, headers)
	placed := make([]hostPlaced, len(sections))
	for i, s := range sections {
		if s.Name == ".idata" && s.Data == nil {
			s.Data = p.importTables(rva, out[pe+24+dirs:])
		}
		if s.Name == ".edata" && s.Data == nil {
			s.Data = append(make([]byte, 40), p.Export+"\x00"...)
			le.PutUint32(s.Data[12:], uint32(rva+40))
			le.PutUint32(out[pe+24+dirs:], uint32(rva))
			le.PutUint32(out[pe+24+dirs+4:], uint32(len(s.Data)))
		}
		h := hostPlaced{s, len(out), rva, hostAlign(len(s.Data), peFileAlign)}
		out = append(out, s.Data...)
		out = append(out, make([]byte, h.raw-len(s.Data))...)
		rva += hostAlign(max(1, len(s.Data)), peMemAlign)
		placed[i] = h
	}
	for _, q := range p.Pointers {
		from, to := hostFind(placed, q.Section), hostFind(placed, q.Target)
		v := base + uint64(to.rva+q.Addend)
		if ptr == 8 {
			le.PutUint64(out[from.off+q.At:], v)
		} else {
			le.PutUint32(out[from.off+q.At:], uint32(v))
		}
	}
	symbols := len(out)
	names := hostNames{}
	for i, h := range placed {
		b := out[table+40*i:]
		names.put(b, h.Name, p.LongNames)
		for k, v := range []int{len(h.Data), h.rva, h.raw, h.off} {
			le.PutUint32(b[8+4*k:], uint32(v))
		}
		if h.Code {
			le.PutUint32(b[36:], 0x60000020) // readable, executable, code
		}
	}
	copy(out, "MZ")
	le.PutUint32(out[0x3C:], pe)
	copy(out[pe:], "PE\x00\x00")
	b := out[pe+4:]
	le.PutUint16(b, machine)
	le.PutUint16(b[2:], uint16(len(sections)))
	le.PutUint16(b[16:], uint16(optional))
	le.PutUint16(b[18:], 0x2022)
	o := out[pe+24:]
	le.PutUint16(o, uint16(magic))
	if ptr == 8 {
		le.PutUint64(o[24:], peBase)
	} else {
		le.PutUint32(o[28:], peBase32)
	}
	le.PutUint32(o[60:], uint32(headers))
	le.PutUint32(o[dirs-4:], 16)
	if p.LongNames {
		le.PutUint32(b[8:], uint32(symbols))
		out = append(out, names.table()...)
	}
	return append(out, p.Overlay...)
}

// importTables builds both directories at rva and enters them in dirs.
func (p PE) importTables(rva int, dirs []byte) []byte {
	le := binary.LittleEndian
	delay := 20 * (len(p.Imports) + 1)
	names := delay + 32*(len(p.DelayImports)+1)
	b := make([]byte, names)
	for i, n := range p.Imports {
		le.PutUint32(b[20*i+12:], uint32(rva+len(b)))
		b = append(append(b, n...), 0)
	}
	for i, n := range p.DelayImports {
		le.PutUint32(b[delay+32*i:], 1)
		le.PutUint32(b[delay+32*i+4:], uint32(rva+len(b)))
		b = append(append(b, n...), 0)
	}
	le.PutUint32(dirs[8:], uint32(rva))
	le.PutUint32(dirs[12:], uint32(delay))
	le.PutUint32(dirs[13*8:], uint32(rva+delay))
	return b
}

// A COFF builds a relocatable object.
type COFF struct {
	Machine  uint16 // AMD64 if zero
	BigObj   bool
	Sections []HostSection // long names go to the string table
	Pointers []HostPointer
}

var hostBigObj = []byte{0xC7, 0xA1, 0xBA, 0xD1, 0xEE, 0xBA, 0xA9, 0x4B, 0xAF, 0x20, 0xFA, 0xF6, 0x6A, 0xA4, 0xDC, 0xB8}

// Bytes lays the object out.
func (c COFF) Bytes() []byte {
	le := binary.LittleEndian
	machine := c.Machine
	if machine == 0 {
		machine = 0x8664
	}
	header := 20
	if c.BigObj {
		header = 56
	}
	out := make([]byte, header+40*len(c.Sections))
	placed := make([]hostPlaced, len(c.Sections))
	names := hostNames{}
	for i, s := range c.Sections {
		placed[i] = hostPlaced{s, len(out), 0, len(s.Data)}
		out = append(out, s.Data...)
		b := out[header+40*i:]
		names.put(b, s.Name, true)
		le.PutUint32(b[16:], uint32(len(s.Data)))
		le.PutUint32(b[20:], uint32(placed[i].off))
	}
	for i, s := range c.Sections {
		at, n := len(out), 0
		for _, p := range c.Pointers {
			if p.Section != s.Name {
				continue
			}
			n++
			target := slices.IndexFunc(c.Sections, func(t HostSection) bool { return t.Name == p.Target })
			out = le.AppendUint32(out, uint32(p.At))
			out = le.AppendUint32(out, uint32(target))
			out = le.AppendUint16(out, 1) // IMAGE_REL_AMD64_ADDR64
			le.PutUint32(out[placed[i].off+p.At:], uint32(p.Addend))
		}
		b := out[header+40*i:]
		le.PutUint32(b[24:], uint32(at))
		le.PutUint16(b[32:], uint16(n))
	}
	symbols := len(out)
	for i := range c.Sections {
		sym := make([]byte, 18)
		if c.BigObj {
			sym = make([]byte, 20)
		}
		copy(sym, fmt.Sprintf("s%d", i))
		le.PutUint16(sym[12:], uint16(i+1))
		sym[len(sym)-2] = 3
		out = append(out, sym...)
	}
	out = append(out, names.table()...)
	if c.BigObj {
		le.PutUint16(out[2:], 0xFFFF)
		le.PutUint16(out[4:], 2)
		le.PutUint16(out[6:], machine)
		copy(out[12:], hostBigObj)
		for k, v := range []int{len(c.Sections), symbols, len(c.Sections)} {
			le.PutUint32(out[44+4*k:], uint32(v))
		}
		return out
	}
	le.PutUint16(out, machine)
	le.PutUint16(out[2:], uint16(len(c.Sections)))
	le.PutUint32(out[8:], uint32(symbols))
	le.PutUint32(out[12:], uint32(len(c.Sections)))
	return out
}

func hostFind(placed []hostPlaced, name string) hostPlaced {
	return placed[slices.IndexFunc(placed, func(h hostPlaced) bool { return h.Name == name })]
}

// hostNames is the string table of a COFF file.
type hostNames struct{ b []byte }

func (n *hostNames) put(to []byte, name string, long bool) {
	if len(name) > 8 && long {
		ref := fmt.Sprintf("/%d", 4+len(n.b))
		n.b = append(append(n.b, name...), 0)
		name = ref
	}
	copy(to[:8], name)
}

func (n *hostNames) table() []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(4+len(n.b))), n.b...)
}
