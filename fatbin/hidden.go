package fatbin

import (
	"bytes"
	"errors"
	"io"

	"fatview/arch"
)

// A Prober looks at the places where device code without a fat binary around
// it may begin: PTX text, a gzip stream of PTX, a cubin. A search finds such
// places by magic number, and most of them in a library are something else.
//
// What it finds becomes a container of one image, as LoosePTX and LooseCubin
// make them. It must not be used by two goroutines at once.
type Prober struct {
	r    io.ReaderAt
	left int64 // bytes that may still be read and inflated for nothing
	buf  []byte
	gunzip
}

// NewProber returns a Prober of a file, or part of one, of so many bytes. What
// it may do for nothing grows with them: see ErrEffort.
func NewProber(r io.ReaderAt, size int64) *Prober {
	return &Prober{r: r, left: 64<<20 + 8*max(0, size)}
}

// ErrEffort means that so many places looked like device code and were none,
// as only a hostile file has them, that no more are looked into.
var ErrEffort = errors.New("too much looks like device code and is none: not looked into any more")

// charge takes n bytes off the effort, and reports whether there was enough.
func (p *Prober) charge(n int64) bool {
	if p.left < n {
		return false
	}
	p.left -= n
	return true
}

// read returns up to n bytes from off on, valid until the next call.
func (p *Prober) read(off, n int64) []byte {
	b := grow(&p.buf, max(0, n))
	got, _ := p.r.ReadAt(b, off)
	return b[:max(0, min(got, len(b)))]
}

// Sizes in bytes of what PTX begins with.
const (
	firstLook   = 128      // enough for directives without comments between
	maxPTXHead  = 4 << 10  // from .version to behind .address_size
	maxPreamble = 64 << 10 // comments before .version
)

// PTX looks at the word .version at off. The text goes from the comments and
// blanks before it, but not from before low, to the first NUL, or to limit.
// The error is ErrNotPTX unless a .target that fatview knows and some content
// follow.
func (p *Prober) PTX(off, low, limit int64) (*Container, error) {
	var head *PTX
	for _, n := range []int64{firstLook, maxPTXHead} {
		b, _, ended := bytes.Cut(p.read(off, min(n, limit-off)), []byte{0})
		whole := ended || int64(len(b)) < n
		var more bool
		if head, more = moduleHead(b, whole); head != nil {
			break
		}
		if !more {
			return nil, ErrNotPTX
		}
	}
	if head == nil {
		return nil, ErrNotPTX
	}
	end := p.textEnd(off, limit)
	start := p.preamble(off, low)
	im := bareImage(p.r, KindPTX, start, end-start)
	im.setPTX(head)
	return &Container{Offset: start, Size: end - start, Images: []*Image{im}}, nil
}

// moduleHead reads the directives that a module begins with, from .version on.
// It returns nil if something else stands there, and reports whether more bytes
// could tell better: never if b is the whole text. What has nothing behind the
// directives is no module but a text that some program completes.
func moduleHead(b []byte, whole bool) (head *PTX, more bool) {
	s := scanner{b: b}
	// near reports whether the bytes end within a word of here.
	near := func() bool { return !whole && len(b)-s.p < len(".address_size 64 ") }
	head = &PTX{}
	if !s.takes(".version") {
		return nil, near()
	}
	var err error
	if head.Version, err = arch.ParseVersion(s.word()); err != nil || !s.takes(".target") {
		return nil, near()
	}
	list := s.list()
	if len(list) == 0 {
		return nil, near()
	}
	if head.Target, err = arch.Parse(list[0]); err != nil {
		return nil, near()
	}
	head.Modifiers = list[1:]
	if s.takes(".address_size") {
		switch s.word() {
		case "32":
			head.AddressSize = 32
		case "64":
			head.AddressSize = 64
		}
	}
	if s.skipSpace(); s.p == len(b) || near() {
		return nil, !whole
	}
	return head, false
}

// takes moves behind a directive, if it is what comes next.
func (s *scanner) takes(word string) bool {
	s.skipSpace()
	if s.p < len(s.b) && s.b[s.p] == '.' && s.directiveAt(s.p) == word {
		s.p += len(word)
		return true
	}
	return false
}

// textEnd returns the offset of the first NUL from off on, or limit.
func (p *Prober) textEnd(off, limit int64) int64 {
	const step = 64 << 10
	for off < limit {
		b := p.read(off, min(step, limit-off))
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return off + int64(i)
		}
		if len(b) == 0 {
			return off // the file is shorter than it was
		}
		off += int64(len(b))
	}
	return limit
}

// preamble returns where the comments and blanks before off begin, at low at
// the earliest.
func (p *Prober) preamble(off, low int64) int64 {
	for n := int64(1 << 10); ; n *= 8 {
		from := max(low, off-n)
		b := p.read(from, off-from)
		start := len(b)
		for start > 0 && isText(b[start-1]) {
			start--
		}
		// The text may go on before the bytes that were read.
		if start == 0 && from > low && n < maxPreamble {
			continue
		}
		s := scanner{b: b[start:]}
		if s.skipSpace(); s.p == len(s.b) {
			return from + int64(start)
		}
		return off - commentLines(b[start:])
	}
}

// isText reports whether c can stand in a comment.
func isText(c byte) bool { return c >= ' ' && c != 0x7F || c >= '\t' && c <= '\r' }

// commentLines returns how many bytes at the end of b are whole lines that
// hold nothing, or a comment to the end of the line.
func commentLines(b []byte) int64 {
	size := len(b)
	for size > 0 {
		line := b[bytes.LastIndexByte(b[:size-1], '\n')+1 : size]
		text := bytes.TrimLeft(line, " \t\r\n")
		if len(text) > 0 && !bytes.HasPrefix(text, []byte("//")) || line[len(line)-1] != '\n' {
			break
		}
		size -= len(line)
	}
	return int64(len(b) - size)
}

// OldContainer tells whether b begins with a container of CUDA 5 or older that
// can be believed: behind the magic number stands a version, 1 to 4 as far as
// is known, as long as the host's C type long. The layout is that of
// __cudaFatFormat.h, which those toolkits install.
func OldContainer(b []byte) bool {
	if len(b) < 16 || le.Uint32(b) != magicOld {
		return false
	}
	const most = 16
	if v := le.Uint32(b[4:]); v != 0 {
		return v <= most
	}
	v := le.Uint64(b[8:])
	return v > 0 && v <= most
}
