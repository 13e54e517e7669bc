package fatbintest

import (
	"encoding/binary"
	"fmt"
)

// An ArMember is a file in an archive.
type ArMember struct {
	Name string
	Data []byte
}

// ArGNU builds an archive as GNU ar does: a symbol table, long names in the
// "//" member, each ended by "/" and a line feed.
func ArGNU(members ...ArMember) []byte {
	out := arMember([]byte("!<arch>\n"), "/", []byte{0, 0, 0, 0})
	return arLong(out, "/\n", members)
}

// ArMS builds an archive as Microsoft's lib does: two linker members that are
// both called "/", and long names that end with NUL.
func ArMS(members ...ArMember) []byte {
	out := arMember([]byte("!<arch>\n"), "/", []byte{0, 0, 0, 0})
	out = arMember(out, "/", make([]byte, 8))
	return arLong(out, "\x00", members)
}

// ArBSD builds an archive as BSD and macOS do: long names before the data.
func ArBSD(members ...ArMember) []byte {
	out := arBSDMember([]byte("!<arch>\n"), "__.SYMDEF SORTED", make([]byte, 8))
	for _, m := range members {
		if len(m.Name) <= 16 {
			out = arMember(out, m.Name, m.Data)
		} else {
			out = arBSDMember(out, m.Name, m.Data)
		}
	}
	return out
}

// A ThinMember is what a thin archive names.
type ThinMember struct {
	Name   string
	Offset int // of the member's header where Name is an archive; 0 for a file
	Size   int
}

// ArThin builds an archive that only names its members.
func ArThin(names ...string) []byte {
	members := make([]ThinMember, len(names))
	for i, n := range names {
		members[i] = ThinMember{Name: n, Size: 1234}
	}
	return ArThinMembers(members...)
}

// ArThinMembers builds a thin archive as GNU ar does: a symbol table, all
// names in the "//" member, and no data.
func ArThinMembers(members ...ThinMember) []byte {
	out := arMember([]byte("!<thin>\n"), "/", []byte{0, 0, 0, 0})
	var long []byte
	refs := make([]string, len(members))
	for i, m := range members {
		refs[i] = fmt.Sprintf("/%d", len(long))
		if m.Offset > 0 {
			refs[i] += fmt.Sprintf(":%d", m.Offset)
		}
		long = append(append(long, m.Name...), "/\n"...)
	}
	out = arMember(out, "//", long)
	for i, m := range members {
		out = append(out, arHeader(refs[i], m.Size)...)
	}
	return out
}

// ImportStub is a member of an import library: it names a symbol of a DLL and
// holds no code.
func ImportStub(dll, symbol string) []byte {
	le := binary.LittleEndian
	b := make([]byte, 20)
	le.PutUint16(b[2:], 0xFFFF)
	le.PutUint16(b[6:], 0x8664)
	names := symbol + "\x00" + dll + "\x00"
	le.PutUint32(b[12:], uint32(len(names)))
	return append(b, names...)
}

func arLong(out []byte, end string, members []ArMember) []byte {
	var long []byte
	refs := make([]string, len(members))
	for i, m := range members {
		refs[i] = m.Name + "/"
		if len(refs[i]) > 16 {
			refs[i] = fmt.Sprintf("/%d", len(long))
			long = append(append(long, m.Name...), end...)
		}
	}
	if long != nil {
		out = arMember(out, "//", long)
	}
	for i, m := range members {
		out = arMember(out, refs[i], m.Data)
	}
	return out
}

func arHeader(name string, size int) string {
	return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "100644", size)
}

func arMember(out []byte, name string, data []byte) []byte {
	out = append(append(out, arHeader(name, len(data))...), data...)
	if len(out)%2 != 0 {
		out = append(out, '\n')
	}
	return out
}

func arBSDMember(out []byte, name string, data []byte) []byte {
	padded := []byte(name)
	for len(padded)%4 != 0 {
		padded = append(padded, 0)
	}
	return arMember(out, fmt.Sprintf("#1/%d", len(padded)), append(padded, data...))
}
