package foreign

import "encoding/binary"

// SPIR-V, sections 2.3 and 2.4 of the specification: a header of five words,
// then instructions whose first word has the word count above the opcode.
const (
	spirvMagic    = 0x07230203
	spirvHeader   = 20
	spirvMaxBound = 1 << 22 // limit of the specification, 4,194,303
	spirvMaxMinor = 15      // 6 is the newest

	opExtInst     = 12
	opMemoryModel = 14
	opCapability  = 17
	opFunction    = 54
	opFunctionEnd = 56
	opLine        = 8
	opNoLine      = 317
	opLimit       = 1 << 14 // opcodes that are given out are below 7000
)

// isSPIRV checks a header and the first instruction, which declares a
// capability in every module that a tool made.
func isSPIRV(b []byte) (order binary.ByteOrder, ok bool) {
	if len(b) < spirvHeader+8 {
		return nil, false
	}
	order = binary.LittleEndian
	if order.Uint32(b) != spirvMagic {
		order = binary.BigEndian
	}
	version, bound := order.Uint32(b[4:]), order.Uint32(b[12:])
	ok = order.Uint32(b) == spirvMagic &&
		version&0xFF0000FF == 0 && version>>16 == 1 && version>>8&0xFF <= spirvMaxMinor &&
		bound > 0 && bound < spirvMaxBound &&
		order.Uint32(b[16:]) == 0 &&
		order.Uint32(b[spirvHeader:]) == 2<<16|opCapability
	return order, ok
}

// readSPIRV reads the module at the start of v. target is what clang calls the
// addressing model. The size is that of the instructions that make sense: a
// module does not say where it ends, but nothing but functions and line numbers
// follow a function.
func readSPIRV(v view) (size int64, target string, ok bool) {
	var head [spirvHeader + 8]byte
	if !v.full(head[:], 0) {
		return 0, "", false
	}
	order, ok := isSPIRV(head[:])
	if !ok {
		return 0, "", false
	}
	var buf [16 << 10]byte
	at, n := int64(0), 0 // of buf
	word := func(off int64) (uint32, bool) {
		if off < at || off+4 > at+int64(n) {
			at, n = off, v.read(buf[:], off)
			if n < 4 {
				return 0, false
			}
		}
		return order.Uint32(buf[off-at:]), true
	}
	ended := false
	size = spirvHeader
	for {
		w, ok := word(size)
		count, op := int64(w>>16), w&0xFFFF
		if !ok || count == 0 || op >= opLimit || !v.has(uint64(size), uint64(count*4)) {
			break
		}
		if ended && op != opFunction && op != opLine && op != opNoLine && op != opExtInst {
			break
		}
		ended = op == opFunctionEnd || ended && op != opFunction
		if op == opMemoryModel && count == 3 && target == "" {
			if model, ok := word(size + 4); ok {
				target = addressing(model)
			}
		}
		size += count * 4
	}
	return size, target, true
}

// addressing names the addressing models: Logical, which graphics use,
// Physical32, Physical64, and PhysicalStorageBuffer64.
func addressing(model uint32) string {
	switch model {
	case 0, 5348:
		return "spirv"
	case 1:
		return "spir"
	case 2:
		return "spir64"
	}
	return ""
}
