package fatbin

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"fatview/arch"
)

// PTX is what the text of a PTX module says about itself.
type PTX struct {
	Version     arch.Version // of the PTX ISA; zero where the toolkit stripped it
	Target      arch.Arch
	Modifiers   []string // further words of .target: debug, map_f64_to_f32 …
	AddressSize int      // bits; 0 if not stated
	Entries     []Entry  // kernels, in the order of the text
	Functions   int      // .func definitions and declarations
}

// Entry is one kernel of a PTX module.
type Entry struct {
	Name       string
	Offset     int // of the .entry directive in the text
	MaxThreads [3]uint32
	ReqThreads [3]uint32
}

// ErrNotPTX means a text without a .target directive.
var ErrNotPTX = errors.New("not PTX text")

// maxPTXEntries bounds the kernels of one module; the biggest known have a few
// thousand.
const maxPTXEntries = 1 << 16

// ParsePTX reads the directives of a PTX module; it does not check
// instructions. The text may end in NULs, as fat binaries pad it.
func ParsePTX(text []byte) (*PTX, error) {
	p := &PTX{}
	seenTarget := false
	s := scanner{b: bytes.TrimRight(text, "\x00")}
	for {
		word, at := s.directive()
		switch word {
		case "":
			if !seenTarget {
				return nil, ErrNotPTX
			}
			return p, nil
		case ".version":
			if v, err := arch.ParseVersion(s.word()); err == nil && p.Version.IsZero() {
				p.Version = v
			}
		case ".target":
			if list := s.list(); !seenTarget && len(list) > 0 {
				a, err := arch.Parse(list[0])
				if err == nil {
					p.Target, p.Modifiers, seenTarget = a, list[1:], true
				}
			}
		case ".address_size":
			if n, err := strconv.Atoi(s.word()); err == nil && (n == 32 || n == 64) {
				p.AddressSize = n
			}
		case ".entry":
			if len(p.Entries) >= maxPTXEntries {
				return nil, fmt.Errorf("%w: more than %d kernels in one PTX module", ErrTooLarge, maxPTXEntries)
			}
			if name := s.word(); name != "" {
				p.Entries = append(p.Entries, Entry{Name: name, Offset: at})
			}
		case ".func":
			p.Functions++
		case ".maxntid":
			if n := len(p.Entries); n > 0 {
				p.Entries[n-1].MaxThreads = triple(s.list())
			}
		case ".reqntid":
			if n := len(p.Entries); n > 0 {
				p.Entries[n-1].ReqThreads = triple(s.list())
			}
		}
	}
}

// triple reads one to three dimensions; those left out are 1.
func triple(list []string) [3]uint32 {
	t := [3]uint32{1, 1, 1}
	if len(list) == 0 || len(list) > len(t) {
		return [3]uint32{}
	}
	for i, w := range list {
		n, err := strconv.ParseUint(w, 0, 32)
		if err != nil {
			return [3]uint32{}
		}
		t[i] = uint32(n)
	}
	return t
}
