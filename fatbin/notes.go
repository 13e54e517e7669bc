package fatbin

import (
	"bytes"
	"debug/elf"
	"strings"

	"fatview/arch"
)

// Types of the notes that NVIDIA's tools leave.
const (
	noteCUInfo = 1000
	noteTKInfo = 2000
)

// readNotes reads .note.nv.tkinfo, .note.nv.cuinfo and .nv.compat.
func (r *cubinReader) readNotes() {
	c := r.cubin
	for i := range r.sections {
		s := &r.sections[i]
		switch {
		case s.typ == uint32(elf.SHT_NOTE) && bytes.HasPrefix(s.name, []byte(".note.nv.")):
			r.notes(s)
		case string(s.name) == ".nv.compat":
			if c.Arch.Suffix == 0 {
				c.Arch.Suffix = CompatSuffix(r.content(s))
			}
		}
	}
	if c.Arch.Suffix == 0 {
		c.Arch.Suffix = suffixOf(c.Tool.CommandLine, c.Arch)
	}
}

// attrCompatSuffix is 1 for a and 2 for f. .nv.compat numbers its attributes
// apart from .nv.info.
const attrCompatSuffix = 9

// CompatSuffix reads the architecture suffix, a or f, out of the attributes of
// .nv.compat. It returns 0 where there is none.
func CompatSuffix(b []byte) (suffix byte) {
	records(b, func(rec record) {
		if rec.attr == attrCompatSuffix && rec.data == nil {
			switch rec.value {
			case 1:
				suffix = 'a'
			case 2:
				suffix = 'f'
			}
		}
	})
	return suffix
}

// suffixOf finds the suffix in the command line that a cubin keeps, such as
// "-arch sm_90a -m 64": the flags of the file itself do not tell sm_90a from
// sm_90 since CUDA 13.
func suffixOf(command string, a arch.Arch) byte {
	for _, w := range strings.FieldsFunc(command, func(r rune) bool { return r == ' ' || r == '=' || r == ',' || r == '"' }) {
		if !strings.HasPrefix(w, "sm_") {
			continue
		}
		if b, err := arch.Parse(w); err == nil && b.CC == a.CC && b.Suffix != 0 {
			return b.Suffix
		}
	}
	return 0
}

func (r *cubinReader) notes(s *section) {
	for b := r.content(s); len(b) >= 12; {
		nameSize, size, typ := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
		start := 12 + (nameSize+3)&^3
		end := start + size
		if start > uint64(len(b)) || end > uint64(len(b)) {
			r.cubin.problem(s.off, "note is cut off")
			return
		}
		desc := b[start:end]
		switch typ {
		case noteTKInfo:
			r.tkinfo(desc)
		case noteCUInfo:
			if len(desc) >= 6 {
				r.cubin.Virtual = arch.CC(le.Uint16(desc[2:]))
				if v := packedVersion(uint32(le.Uint16(desc[4:]))); !v.IsZero() {
					r.cubin.Toolkit = v
				}
			}
		}
		next := (end + 3) &^ 3
		if next >= uint64(len(b)) {
			return
		}
		b = b[next:]
	}
}

// tkinfo reads the tool note: version, then offsets of tool, version, build
// and command line in the NUL-separated text that follows.
func (r *cubinReader) tkinfo(b []byte) {
	if len(b) < 24 {
		return
	}
	const longest = 4096
	text := newStringTable(b[24:])
	field := func(at int) string {
		s := text.at(le.Uint32(b[at:]))
		return string(s[:min(len(s), longest)])
	}
	t := &r.cubin.Tool
	t.Name, t.Version, t.Build, t.CommandLine = field(8), field(12), field(16), field(20)
	if r.cubin.Toolkit.IsZero() {
		r.cubin.Toolkit = releaseIn(t.Version)
	}
}

// releaseIn finds "release 13.5" in a tool's version line.
func releaseIn(s string) arch.Version {
	_, rest, ok := strings.Cut(s, "release ")
	if !ok {
		return arch.Version{}
	}
	rest, _, _ = strings.Cut(rest, ",")
	v, err := arch.ParseVersion(rest)
	if err != nil {
		return arch.Version{}
	}
	return v
}
