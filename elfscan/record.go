package elfscan

import (
	"encoding/binary"
	"fmt"
)

const (
	recordMagic = 0x466243B1
	// A gigabyte of device code has some three thousand records, in one
	// section. The limits keep a hostile file from costing more than its size.
	maxRecords        = 1 << 15
	maxRecordSections = 256
)

// A pending record is one whose pointer still has to be resolved.
type pending struct {
	off     uint64 // of the record, relative to the object
	version uint32
	at      uint64 // offset of the pointer in the section
	inPlace uint64 // what the file stores there; relocations may replace it
	target  uint64 // offset relative to the object
	done    bool
}

// readRecords reads the records of a section, at most limit of them. Linkers may
// pad between the records of two objects, so the magic is looked for at each
// aligned place.
func readRecords(v view, off, size uint64, order binary.ByteOrder, ptr, limit int) []pending {
	entry := uint64(8 + 2*ptr)
	data := v.bytes(off, min(size, maxRecords*entry))
	var out []pending
	for i := uint64(0); i+entry <= uint64(len(data)) && len(out) < limit; {
		if order.Uint32(data[i:]) != recordMagic {
			i += 4
			continue
		}
		p := pending{off: off + i, version: order.Uint32(data[i+4:]), at: i + 8}
		if ptr == 8 {
			p.inPlace = order.Uint64(data[i+8:])
		} else {
			p.inPlace = uint64(order.Uint32(data[i+8:]))
		}
		out = append(out, p)
		i += entry
	}
	return out
}

// resolve sets where a record points to, if that is in the file.
func (p *pending) resolve(v view, target uint64) {
	p.target, p.done = target, v.has(target, 1)
}

// setRecords publishes the records and says how many led nowhere.
func (o *Object) setRecords(v view, records []pending) {
	lost, first := 0, int64(-1)
	for _, p := range records {
		rec := Record{Offset: v.base + int64(p.off), Version: p.version, Container: -1}
		if p.done {
			rec.Container = v.base + int64(p.target)
		} else if lost++; lost == 1 {
			first = rec.Offset
		}
		o.Records = append(o.Records, rec)
	}
	if len(records) >= maxRecords {
		o.find(-1, fmt.Sprintf("more than %d registration records, the rest is not read", maxRecords))
	}
	if lost > 0 {
		o.find(first, fmt.Sprintf("%d of %d registration records point to nothing in the file", lost, len(records)))
	}
}
