package elfscan

import "debug/elf"

// maxNeeded bounds what a hostile dynamic table can ask for.
const maxNeeded = 4096

// An elfDynamic is what the dynamic table says, which the loader reads through
// PT_DYNAMIC: a file needs no section table to be loaded.
type elfDynamic struct {
	needed           []uint64 // offsets in the string table
	soname           uint64   // the same; 0 if there is none
	strings, symbols uint64   // addresses
	rela, relaSize   uint64
	rel, relSize     uint64
}

func (f *elfFile) dynamic() elfDynamic {
	var d elfDynamic
	for _, s := range f.segments {
		if s.typ != elf.PT_DYNAMIC {
			continue
		}
		f.each(s.off, s.bytes/uint64(f.dyn), f.dyn, func(_ uint64, b []byte) bool {
			tag, val := elf.DynTag(f.word(b)), f.word(b[f.ptr:])
			switch tag {
			case elf.DT_NEEDED:
				d.needed = append(d.needed, val)
			case elf.DT_SONAME:
				d.soname = val
			case elf.DT_STRTAB:
				d.strings = val
			case elf.DT_SYMTAB:
				d.symbols = val
			case elf.DT_RELA:
				d.rela = val
			case elf.DT_RELASZ:
				d.relaSize = val
			case elf.DT_REL:
				d.rel = val
			case elf.DT_RELSZ:
				d.relSize = val
			}
			return tag != elf.DT_NULL && len(d.needed) < maxNeeded
		})
		break
	}
	return d
}

// needed reads the names of the shared libraries that the object asks for,
// and its own.
func (f *elfFile) needed(d elfDynamic) (needed []string, soname string) {
	base, ok := f.offset(d.strings)
	if !ok {
		return nil, ""
	}
	// Names share their table with all symbols; only these few are read.
	name := func(n uint64) string {
		if n >= uint64(f.size) {
			return ""
		}
		return f.cstring(base + n)
	}
	for _, n := range d.needed {
		if s := name(n); s != "" {
			needed = append(needed, s)
		}
	}
	if d.soname != 0 {
		soname = name(d.soname)
	}
	return needed, soname
}
