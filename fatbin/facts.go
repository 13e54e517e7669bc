package fatbin

import (
	"fmt"
	"strconv"

	"fatview/arch"
)

// A Fact is one thing that an image says about itself, such as "bytecode
// version", "13.5". Values may hold text from the file as it stands there.
type Fact struct{ Name, Value string }

// Facts returns what the entry header tells besides sizes and offsets, in a
// fixed order, of any kind: it reads no payload. What the header leaves empty is
// left out, so that a list may be as short as kind and architecture.
//
// Versions were compared with the files that went in, made by nvcc 13.5: of
// Tile IR the major field is the two version bytes of its header, of LTO IR both
// fields are those of its container, and of a cubin they are 1.7 up to CUDA 12
// and 1.8 since.
func (im *Image) Facts() []Fact {
	facts := []Fact{{"kind", im.Kind.Title()}, {"architecture", im.ArchName()}}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, Fact{name, value})
		}
	}
	add("suffix", suffixTitle(im.Arch.Suffix))
	name, version := im.version()
	add(name, version)
	add("host", im.Flags.Host())
	if im.Flags&FlagDebug != 0 {
		add("debug", "yes")
	}
	if im.Flags&FlagMercury != 0 {
		add("Mercury", "sections present")
	}
	add("options", im.Options)
	add("identifier", im.Identifier)
	if im.Flags&FlagObfuscated != 0 {
		add("obfuscated", "yes: only NVIDIA's tools read it")
	} else if im.Kind == KindNVVM {
		add("obfuscated", "no")
	}
	if im.Key != 0 {
		add("key", hex(im.Key))
	}
	if im.Concatenated() {
		add("stored", "in a concatenated entry, with others")
	}
	return facts
}

// version names the version fields and gives their value, "" where they are
// empty.
func (im *Image) version() (name, value string) {
	switch plain := fmt.Sprintf("%d.%d", im.Major, im.Minor); {
	case im.Major == 0 && im.Minor == 0:
		return "", ""
	case im.Kind == KindPTX || im.Kind == KindRelocatablePTX:
		return "PTX ISA", plain
	case im.Kind == KindTileIR:
		return "bytecode version", fmt.Sprintf("%d.%d", im.Major>>8, im.Major&0xFF)
	case im.Kind == KindNVVM:
		return "IR container version", plain
	default:
		return "entry version", plain
	}
}

func suffixTitle(suffix byte) string {
	switch suffix {
	case 'a':
		return "a: for this capability alone"
	case 'f':
		return "f: for this family"
	}
	return ""
}

// Magic numbers of the two intermediate forms.
const (
	tileMagic = "\x7fTileIR\x00"
	nvvmMagic = 0x7F4E43ED
)

// PayloadFacts returns what the payload of an image says that no header does,
// for kinds other than cubins and PTX. It is empty for kinds that nobody has
// described, and for payloads that do not begin as their kind should; LTO IR
// is obfuscated in fat binaries, and readable only as a file of its own.
//
// Tile IR begins with eight bytes of magic number, then the version: u8 major,
// u8 minor, u16 tag ("Binary Format" of NVIDIA's Tile IR documentation). LTO IR
// begins with a magic number and pairs of u8 major and u8 minor, as seen in
// the output of nvcc 13.5 -dlto -ltoir: of the container, of NVVM IR, of its
// debug information and of LLVM, which is 7.0 below sm_100 and 23.0 from there.
func PayloadFacts(k Kind, b []byte) []Fact {
	switch k {
	case KindTileIR:
		if v, tag, ok := TileIRVersion(b); ok {
			value := v.String()
			if tag != 0 {
				value += "." + strconv.Itoa(tag)
			}
			return []Fact{{"bytecode version", value}}
		}
	case KindNVVM:
		if len(b) < 12 || le.Uint32(b) != nvvmMagic {
			return nil
		}
		var facts []Fact
		for i, name := range []string{"IR container version", "NVVM IR version", "debug version", "LLVM version"} {
			facts = append(facts, Fact{name, fmt.Sprintf("%d.%d", b[4+2*i], b[5+2*i])})
		}
		return facts
	}
	return nil
}

// TileIRVersion reads the version of a Tile IR module from its first twelve
// bytes. The tag tells apart versions before a release; it is mostly 0.
func TileIRVersion(b []byte) (v arch.Version, tag int, ok bool) {
	if len(b) < len(tileMagic)+4 || string(b[:len(tileMagic)]) != tileMagic {
		return arch.Version{}, 0, false
	}
	b = b[len(tileMagic):]
	return arch.Version{Major: int(b[0]), Minor: int(b[1])}, int(le.Uint16(b[2:])), true
}
