package elfscan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Layout of an ar archive: the magic, then members, each a header of 60 bytes
// and its data, padded to an even offset.
//
//	0   name    16  GNU "vec.o/", "/123" in the "//" member; BSD "#1/20", name before the data
//	48  size    10  decimal
//	58  end      2  "`\n"
const (
	arMagic      = "!<arch>\n"
	arThinMagic  = "!<thin>\n"
	arHeaderSize = 60
	maxMembers   = 1 << 20
)

// scanAR reads the members of an archive. Nested archives are not opened, and
// neither are the files that a thin archive names in place of members.
func scanAR(v view, thin bool) (*File, error) {
	f := &File{Format: FormatAR}
	find := func(off int64, format string, args ...any) {
		if len(f.Findings) < maxFindings {
			f.Findings = append(f.Findings, Finding{v.base + off, fmt.Sprintf(format, args...)})
		}
	}
	var long strtab
	pos := int64(len(arMagic))
	for n := 0; pos < v.size; n++ {
		if n == maxMembers {
			find(pos, "archive has more than %d members, the rest is not read", maxMembers)
			break
		}
		m, err := arHeader(v, pos)
		if err != nil {
			find(pos, "%v; what follows is not read", err)
			break
		}
		if thin && !arIsTable(m.name) {
			f.Thin = append(f.Thin, thinMember(m, long))
			pos = m.off
			continue
		}
		next, declared := m.off+m.size, m.size
		if next > v.size {
			m.size, next = v.size-m.off, v.size
		}
		stored := m.size
		if !arIsTable(m.name) {
			m.resolveName(v, long)
		}
		if stored < declared {
			find(pos, "member %q is cut: %s of %s bytes are in the file", m.name, hex(stored), hex(declared))
		}
		if m.name == "//" {
			long = v.strtab(uint64(m.off), uint64(m.size))
		} else if !arIsTable(m.name) {
			if o, err := scanMember(v, m); err == nil {
				f.Objects = append(f.Objects, *o)
			} else {
				f.Skipped++
				if notable(err) {
					find(m.off, "member %q is skipped: %v", m.name, err)
				}
			}
		}
		pos = next + next&1
		if *v.fail != nil {
			break
		}
	}
	return f, nil
}

// maxThinName bounds the path that stands for a member of a thin archive.
const maxThinName = 4096

// thinMember reads what stands in a thin archive in place of a member. GNU ar
// keeps all names in the "//" member, and writes "/123:456" for one that stands
// in another archive: a name, and where in that archive the header is.
func thinMember(m arMember, long strtab) ThinMember {
	t := ThinMember{Name: strings.TrimSuffix(m.name, "/"), Size: m.size}
	ref, ok := strings.CutPrefix(m.name, "/")
	if !ok {
		return t
	}
	ref, origin, nested := strings.Cut(ref, ":")
	n, err := strconv.ParseUint(ref, 10, 32)
	if err != nil || n >= uint64(len(long)) {
		return t
	}
	name, _, _ := strings.Cut(string(long[n:min(n+maxThinName, uint64(len(long)))]), "\n")
	name, _, _ = strings.Cut(name, "\x00")
	t.Name = strings.TrimSuffix(name, "/")
	if off, err := strconv.ParseInt(origin, 10, 64); nested && err == nil && off > 0 {
		t.Offset = off
	}
	return t
}

type arMember struct {
	name      string
	off, size int64 // of the data
}

func arHeader(v view, pos int64) (arMember, error) {
	var b [arHeaderSize]byte
	if !v.full(b[:], uint64(pos)) {
		return arMember{}, errors.New("archive header is cut off")
	}
	if b[58] != '`' || b[59] != '\n' {
		return arMember{}, errors.New("archive header is damaged")
	}
	digits := strings.TrimRight(string(b[48:58]), " ")
	size, err := strconv.ParseUint(digits, 10, 40)
	if err != nil {
		return arMember{}, fmt.Errorf("size of archive member is no number (%.10q)", digits)
	}
	name := cutName(strings.TrimRight(string(b[:16]), " "))
	return arMember{name, pos + arHeaderSize, int64(size)}, nil
}

// arIsTable tells whether a member is the archive's own: symbol tables of GNU,
// Microsoft and BSD. Microsoft's linker members are both called "/".
func arIsTable(name string) bool {
	return name == "/" || name == "//" || name == "/SYM64/" || strings.HasPrefix(name, "/<") ||
		strings.HasPrefix(name, "__.SYMDEF")
}

// resolveName replaces a reference by the name it stands for. Names in the "//"
// member end with "/\n" (GNU) or NUL (Microsoft).
func (m *arMember) resolveName(v view, long strtab) {
	if digits, ok := strings.CutPrefix(m.name, "#1/"); ok {
		n, err := strconv.ParseInt(digits, 10, 32)
		if err == nil && n >= 0 && n <= m.size {
			m.name = cutName(string(v.bytes(uint64(m.off), uint64(min(n, maxName)))))
			m.off, m.size = m.off+n, m.size-n
		}
		return
	}
	if digits, ok := strings.CutPrefix(m.name, "/"); ok {
		if n, err := strconv.ParseUint(digits, 10, 32); err == nil {
			name, _, _ := strings.Cut(long.name(n), "\n")
			if name != "" {
				m.name = name
			}
		}
	}
	m.name = strings.TrimSuffix(m.name, "/")
}

func scanMember(v view, m arMember) (*Object, error) {
	sub := v.sub(m.off, m.size)
	head := sub.bytes(0, sniffSize)
	if len(head) == 0 {
		return nil, ErrEmpty
	}
	o, err := scanObject(sub, head)
	if err != nil {
		return nil, err
	}
	o.Member = m.name
	return o, nil
}

// notable tells whether a skipped member deserves a word. An import library
// has thousands of stubs, and archives carry texts and bitcode.
func notable(err error) bool {
	var f *FormatError
	return errors.As(err, &f) || errors.Is(err, errWholeProgram)
}
