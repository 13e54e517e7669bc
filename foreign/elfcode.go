package foreign

import (
	"debug/elf"
	"fmt"
	"strings"

	"fatview/elfscan"
)

const (
	emAMDGPU  = 224
	emIntelGT = 205
)

// readELF tells whether the ELF file at the start of v is device code, and for
// which GPU. size is where its section table ends, which is last in files of
// both vendors, or all of v if that makes no sense.
func readELF(v view) (c Code, size int64, ok bool) {
	var h [64]byte
	n := v.read(h[:], 0)
	if n < 52 || string(h[:4]) != elf.ELFMAG || h[elf.EI_DATA] != byte(elf.ELFDATA2LSB) {
		return c, 0, false
	}
	wide := h[elf.EI_CLASS] == byte(elf.ELFCLASS64)
	if wide && n < len(h) || !wide && h[elf.EI_CLASS] != byte(elf.ELFCLASS32) {
		return c, 0, false
	}
	table, entry, count, flags := uint64(le.Uint32(h[32:])), le.Uint16(h[46:]), le.Uint16(h[48:]), le.Uint32(h[36:])
	if wide {
		table, entry, count, flags = le.Uint64(h[40:]), le.Uint16(h[58:]), le.Uint16(h[60:]), le.Uint32(h[48:])
	}
	size = v.size
	if end := uint64(entry) * uint64(count); table > 0 && v.has(table, end) {
		size = int64(table + end)
	}
	c.Count, c.Size = 1, size
	typ, machine := le.Uint16(h[16:]), le.Uint16(h[18:])
	switch {
	case machine == emAMDGPU:
		c.Vendor, c.Kind = vendorAMD, KindAMD
		if t := amdTarget(flags, h[elf.EI_OSABI], h[elf.EI_ABIVERSION]); t != "" {
			c.Targets = []string{t}
		}
	case machine == emIntelGT:
		c.Vendor, c.Kind = vendorIntel, KindIntel
		if t := intelTarget(v.cut(size)); t != "" {
			c.Targets = []string{t}
		}
	case typ >= 0xFF11 && typ <= 0xFF13:
		// Before 2021 the type said zebin and the machine was a number of
		// the product.
		c.Vendor, c.Kind = vendorIntel, KindIntel
	default:
		return Code{}, 0, false
	}
	return c, size, true
}

// amdTarget is the target id that an AMD code object's flags say. Features are
// there only where they are fixed; versions 2 and 3 of the code object do not
// tell "off" from "unsupported".
func amdTarget(flags uint32, osabi, abi byte) string {
	const hsa = 64
	if osabi == hsa && abi == 0 {
		return "" // version 2 keeps the processor in a note
	}
	name := amdProcessors[flags&0xFF]
	if name == "" || osabi != hsa {
		return name
	}
	if abi == 1 { // version 3
		if flags&0x200 != 0 {
			name += ":sramecc+"
		}
		if flags&0x100 != 0 {
			name += ":xnack+"
		}
		return name
	}
	setting := [4]string{"", "", "-", "+"} // unsupported, any, off, on
	if s := setting[flags>>10&3]; s != "" {
		name += ":sramecc" + s
	}
	if s := setting[flags>>8&3]; s != "" {
		name += ":xnack" + s
	}
	return name
}

// amdProcessors are the values of EF_AMDGPU_MACH, the low byte of e_flags.
var amdProcessors = [256]string{
	0x01: "r600", 0x02: "r630", 0x03: "rs880", 0x04: "rv670", 0x05: "rv710", 0x06: "rv730", 0x07: "rv770", 0x08: "cedar",
	0x09: "cypress", 0x0A: "juniper", 0x0B: "redwood", 0x0C: "sumo", 0x0D: "barts", 0x0E: "caicos", 0x0F: "cayman", 0x10: "turks",
	0x20: "gfx600", 0x21: "gfx601", 0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703", 0x26: "gfx704",
	0x28: "gfx801", 0x29: "gfx802", 0x2A: "gfx803", 0x2B: "gfx810", 0x2C: "gfx900", 0x2D: "gfx902", 0x2E: "gfx904", 0x2F: "gfx906",
	0x30: "gfx908", 0x31: "gfx909", 0x32: "gfx90c", 0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x36: "gfx1030", 0x37: "gfx1031",
	0x38: "gfx1032", 0x39: "gfx1033", 0x3A: "gfx602", 0x3B: "gfx705", 0x3C: "gfx805", 0x3D: "gfx1035", 0x3E: "gfx1034", 0x3F: "gfx90a",
	0x40: "gfx940", 0x41: "gfx1100", 0x42: "gfx1013", 0x43: "gfx1150", 0x44: "gfx1103", 0x45: "gfx1036", 0x46: "gfx1101", 0x47: "gfx1102",
	0x48: "gfx1200", 0x49: "gfx1250", 0x4A: "gfx1151", 0x4B: "gfx941", 0x4C: "gfx942", 0x4E: "gfx1201", 0x4F: "gfx950",
	0x50: "gfx1310", 0x51: "gfx9-generic", 0x52: "gfx10-1-generic", 0x53: "gfx10-3-generic", 0x54: "gfx11-generic", 0x55: "gfx1152",
	0x57: "gfx1154", 0x58: "gfx1153", 0x59: "gfx12-generic", 0x5A: "gfx1251", 0x5B: "gfx12-5-generic", 0x5C: "gfx1172",
	0x5D: "gfx1170", 0x5E: "gfx1171", 0x5F: "gfx9-4-generic", 0x62: "gfx11-7-generic", 0x63: "gfx13-generic",
}

// intelTarget reads the note that says which product a zebin is for. Its u32
// has the architecture in bits 22 to 31, the release in 14 to 21 and the
// revision in 0 to 5; DPC++ takes the three as a target.
func intelTarget(v view) string {
	f, err := elfscan.Scan(readerAt{v}, v.size)
	if err != nil || len(f.Objects) != 1 {
		return ""
	}
	for _, r := range f.Objects[0].Ranges {
		if r.Name == ".note.intelgt.compat" {
			return intelNote(v.from(r.Offset).cut(min(r.Size, 4096)))
		}
	}
	return ""
}

func intelNote(v view) string {
	const productConfig = 6
	b := make([]byte, v.size)
	b = b[:v.read(b, 0)]
	for len(b) >= 12 {
		name, desc, typ := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
		b = b[12:]
		skip := (name + 3) &^ 3
		next := skip + (desc+3)&^3
		if next > uint64(len(b)) {
			return ""
		}
		if typ == productConfig && desc == 4 && strings.HasPrefix(string(b[:skip]), "IntelGT\x00") {
			c := le.Uint32(b[skip:])
			return fmt.Sprintf("intel_gpu_%d_%d_%d", c>>22, c>>14&0xFF, c&0x3F)
		}
		b = b[next:]
	}
	return ""
}
