package fatbin

import "bytes"

// An Attr is the number of a record of .nv.info.
type Attr uint8

// Attributes that are read. The names are those of NVIDIA's own listings.
const (
	AttrMaxThreads   Attr = 0x05
	AttrParamCBank   Attr = 0x0A
	AttrReqNTid      Attr = 0x10
	AttrFrameSize    Attr = 0x11
	AttrMinStack     Attr = 0x12
	AttrKParamInfo   Attr = 0x17
	AttrCBankParams  Attr = 0x19
	AttrMaxStack     Attr = 0x23
	AttrRegCount     Attr = 0x2F
	AttrClusterDims  Attr = 0x3D
	AttrKParamInfoV2 Attr = 0x45
	AttrNumBarriers  Attr = 0x4C
)

// record is one attribute: u8 format (1 none, 2 byte, 3 u16, 4 u16 length and
// bytes), u8 attribute, then the value; records are four-byte aligned.
type record struct {
	attr  Attr
	value uint16 // of formats 2 and 3
	data  []byte // of format 4
}

// records calls yield for each record of b and returns the offset at which
// the bytes stopped making sense, or -1.
func records(b []byte, yield func(record)) int {
	for p := 0; p < len(b); {
		if len(b)-p < 4 {
			return p
		}
		rec := record{attr: Attr(b[p+1])}
		switch b[p] {
		case 1:
		case 2:
			rec.value = uint16(b[p+2])
		case 3:
			rec.value = le.Uint16(b[p+2:])
		case 4:
			n := int(le.Uint16(b[p+2:]))
			if n > len(b)-p-4 {
				return p
			}
			rec.data = b[p+4 : p+4+n]
			p += (n + 3) &^ 3
		default:
			return p
		}
		p += 4
		yield(rec)
	}
	return -1
}

// readInfo reads .nv.info, which holds values per symbol, and
// .nv.info.<kernel>.
func (r *cubinReader) readInfo() {
	for i := range r.sections {
		s := &r.sections[i]
		if s.typ != shtCudaInfo || len(s.data) == 0 {
			continue
		}
		bad := -1
		switch {
		case string(s.name) == ".nv.info":
			bad = records(r.content(s), r.symbolAttr)
		case bytes.HasPrefix(s.name, []byte(".nv.info.")):
			if k := r.owner(s, len(".nv.info.")); k != nil {
				bad = records(r.content(s), k.attr)
			}
		}
		if bad >= 0 {
			r.cubin.problem(s.off+uint64(bad), "attribute record is damaged")
		}
	}
}

func (r *cubinReader) symbolAttr(rec record) {
	if len(rec.data) < 8 {
		return
	}
	sym, value := le.Uint32(rec.data), le.Uint32(rec.data[4:])
	if uint64(sym) >= uint64(len(r.symbols)) || r.symbols[sym] == noSymbol {
		return
	}
	i := r.symbols[sym]
	if i < 0 {
		f := &r.cubin.Functions[^i]
		switch rec.attr {
		case AttrRegCount:
			f.Registers = value
		case AttrFrameSize:
			f.Stack = value
		}
		return
	}
	k := &r.cubin.Kernels[i]
	switch rec.attr {
	case AttrRegCount:
		k.Registers = value
	case AttrFrameSize:
		k.Stack = value
	case AttrMinStack:
		k.MinStack = value
	case AttrMaxStack:
		k.MaxStack = value
	}
}

func (k *Kernel) attr(rec record) {
	k.Attributes++
	switch rec.attr {
	case AttrMaxThreads:
		k.MaxThreads = dims(rec.data)
	case AttrReqNTid:
		k.ReqThreads = dims(rec.data)
	case AttrClusterDims:
		k.Cluster = dims(rec.data)
	case AttrParamCBank:
		if len(rec.data) >= 8 {
			k.Params = uint32(le.Uint16(rec.data[6:]))
		}
	case AttrCBankParams:
		k.Params = uint32(rec.value)
	case AttrKParamInfo, AttrKParamInfoV2:
		k.ParamCount++
	case AttrNumBarriers:
		k.Barriers = uint32(rec.value)
	}
}

func dims(b []byte) (d [3]uint32) {
	if len(b) >= 12 {
		d = [3]uint32{le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])}
	}
	return d
}
