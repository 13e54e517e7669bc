package fatbintest

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Kinds of entries, written out here so that a test does not read with the
// constants it was written with.
const (
	KindPTX    = 0x01
	KindSASS   = 0x02
	KindNVVM   = 0x08
	KindTileIR = 0x80
	KindConcat = 0x100
)

// Bits of the flags that builders set.
const (
	flagCommon  = 0x11 // 64-bit, Linux
	flagLZ4     = 0x2000
	flagZstd    = 0x8000
	flagSuffixA = 0x100000
	flagSuffixF = 0x200000
)

// An Entry is one image before it is written. Container's methods fill it in;
// options change it.
type Entry struct {
	Kind         uint16
	Arch         int
	Major, Minor int
	Flags        uint64
	Key          uint64
	Payload      []byte // not compressed
	Text         string // of the options block
	Identifier   string
	Compat       []byte
	HeaderSize   int // at least; more is filled with zeros

	compress func([]byte) []byte
	patches  []func(header []byte)
	inner    []Entry // of a concatenated entry
}

// An EntryOption changes an entry before it is written. Zstd and LZ4 are
// options, too.
type EntryOption func(*Entry)

// Zstd stores the payload as a zstd frame.
func Zstd(e *Entry) { e.Flags |= flagZstd; e.compress = CompressZstd }

// LZ4 stores the payload as an LZ4 block.
func LZ4(e *Entry) { e.Flags |= flagLZ4; e.compress = CompressLZ4 }

// Packed stores the given bytes as the compressed form, whatever they are.
// The flags must say what they claim to be.
func Packed(b []byte) EntryOption {
	return func(e *Entry) { e.compress = func([]byte) []byte { return b } }
}

// Flags sets further bits of the flags.
func Flags(bits uint64) EntryOption { return func(e *Entry) { e.Flags |= bits } }

// Options sets the text of the options block, such as "-O3".
func Options(text string) EntryOption { return func(e *Entry) { e.Text = text } }

// Identifier names the entry.
func Identifier(name string) EntryOption { return func(e *Entry) { e.Identifier = name } }

// Compat adds the copy of a cubin's .nv.compat attributes.
func Compat(b []byte) EntryOption { return func(e *Entry) { e.Compat = b } }

// HeaderSize makes the header at least so many bytes long.
func HeaderSize(n int) EntryOption { return func(e *Entry) { e.HeaderSize = n } }

// Patch32 overwrites the u32 at an offset of the finished header.
func Patch32(at int, v uint32) EntryOption {
	return func(e *Entry) {
		e.patches = append(e.patches, func(h []byte) { binary.LittleEndian.PutUint32(h[at:], v) })
	}
}

// Patch64 overwrites the u64 at an offset of the finished header.
func Patch64(at int, v uint64) EntryOption {
	return func(e *Entry) {
		e.patches = append(e.patches, func(h []byte) { binary.LittleEndian.PutUint64(h[at:], v) })
	}
}

// A Container builds a fat binary:
//
//	NewContainer().SASS("sm_90a", cubin, Zstd).PTX("90", "8.4", text).Bytes()
type Container struct {
	entries []byte
}

// NewContainer returns a container without entries.
func NewContainer() *Container { return &Container{} }

// PTX adds PTX text for an architecture ("80", "90a", "compute_90a") and a
// PTX ISA version ("8.4"). As in real files, the text is padded with NULs.
func (c *Container) PTX(arch, isa, text string, options ...EntryOption) *Container {
	e := c.entry(KindPTX, arch, []byte(text), options)
	if _, err := fmt.Sscanf(isa, "%d.%d", &e.Major, &e.Minor); err != nil {
		panic("fatbintest: PTX ISA version " + isa)
	}
	return c.Add(e)
}

// SASS adds a cubin for an architecture ("80", "90a", "sm_100f").
func (c *Container) SASS(arch string, cubin []byte, options ...EntryOption) *Container {
	e := c.entry(KindSASS, arch, cubin, options)
	e.Major, e.Minor = 1, 8
	return c.Add(e)
}

// Other adds an entry of any kind.
func (c *Container) Other(kind uint16, arch string, payload []byte, options ...EntryOption) *Container {
	return c.Add(c.entry(kind, arch, payload, options))
}

// Concat adds one concatenated entry with the given cubins.
func (c *Container) Concat(cubins []Entry, options ...EntryOption) *Container {
	e := c.entry(KindConcat, "0", nil, options)
	e.Minor = 1
	e.inner = cubins
	return c.Add(e)
}

// SASSEntry returns the entry that SASS adds, for Concat.
func SASSEntry(arch string, cubin []byte, options ...EntryOption) Entry {
	e := NewContainer().entry(KindSASS, arch, cubin, options)
	e.Major, e.Minor = 1, 8
	return e
}

func (*Container) entry(kind uint16, arch string, payload []byte, options []EntryOption) Entry {
	num, flags := parseArch(arch)
	e := Entry{Kind: kind, Arch: num, Flags: flagCommon | flags, Payload: payload}
	for _, o := range options {
		o(&e)
	}
	return e
}

// parseArch reads "90a", "sm_90a" or "compute_90a" into the number and the
// flag of the suffix. It panics on anything else: tests write constants.
func parseArch(s string) (num int, flags uint64) {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "compute_"), "sm_")
	switch {
	case strings.HasSuffix(s, "a"):
		flags = flagSuffixA
	case strings.HasSuffix(s, "f"):
		flags = flagSuffixF
	}
	num, err := strconv.Atoi(strings.TrimRight(s, "af"))
	if err != nil {
		panic("fatbintest: architecture " + s)
	}
	return num, flags
}

// Add adds an entry that the caller filled in.
func (c *Container) Add(e Entry) *Container {
	var options []byte // from the end of the fixed header on
	if e.Kind == KindConcat {
		options = e.concat()
	} else {
		options = e.optionsBlock()
	}
	packed, whole := e.Payload, 0
	if e.compress != nil {
		packed, whole = e.compress(e.Payload), len(e.Payload)
	}
	header := e.header()
	if options != nil {
		binary.LittleEndian.PutUint32(header[20:], uint32(len(header)))
		header = pad8(append(header, options...))
	}
	if e.Identifier != "" {
		binary.LittleEndian.PutUint32(header[32:], uint32(len(header)))
		binary.LittleEndian.PutUint32(header[36:], uint32(len(e.Identifier)))
		header = pad8(append(append(header, e.Identifier...), 0))
	}
	header = append(header, make([]byte, max(0, e.HeaderSize-len(header)))...)
	body := pad8(packed)
	binary.LittleEndian.PutUint32(header[4:], uint32(len(header)))
	binary.LittleEndian.PutUint64(header[8:], uint64(len(body)))
	if e.compress != nil {
		binary.LittleEndian.PutUint32(header[16:], uint32(len(packed)))
		binary.LittleEndian.PutUint64(header[56:], uint64(whole))
	}
	for _, patch := range e.patches {
		patch(header)
	}
	c.entries = append(append(c.entries, header...), body...)
	return c
}

// header returns the fixed part with everything but sizes and offsets.
func (e *Entry) header() []byte {
	h := make([]byte, 64)
	binary.LittleEndian.PutUint16(h, e.Kind)
	binary.LittleEndian.PutUint16(h[2:], 0x0101)
	binary.LittleEndian.PutUint16(h[24:], uint16(e.Minor))
	binary.LittleEndian.PutUint16(h[26:], uint16(e.Major))
	binary.LittleEndian.PutUint32(h[28:], uint32(e.Arch))
	binary.LittleEndian.PutUint64(h[40:], e.Flags)
	binary.LittleEndian.PutUint64(h[48:], e.Key)
	return h
}

// optionsBlock returns the block that follows the fixed header at 64: offset,
// length without the NUL, text, NUL, copy of .nv.compat.
func (e *Entry) optionsBlock() []byte {
	if e.Text == "" && e.Compat == nil {
		return nil
	}
	b := binary.LittleEndian.AppendUint32(nil, 64+8)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Text)+len(e.Compat)))
	return append(append(append(b, e.Text...), 0), e.Compat...)
}

// concat sets the payload to all inner ones together and returns their table.
func (e *Entry) concat() []byte {
	var table []byte
	for _, in := range e.inner {
		h := in.header()
		binary.LittleEndian.PutUint32(h[4:], uint32(len(e.Payload)))
		binary.LittleEndian.PutUint64(h[8:], uint64(len(in.Payload)))
		if o := in.optionsBlock(); o != nil {
			binary.LittleEndian.PutUint32(h[20:], uint32(len(h)))
			h = pad8(append(h, o...))
		}
		for _, patch := range in.patches {
			patch(h)
		}
		table = append(table, h...)
		e.Payload = append(e.Payload, pad8(in.Payload)...)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(e.inner)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(table)+8))
	return append(b, table...)
}

// Bytes returns the container.
func (c *Container) Bytes() []byte {
	b := []byte{0x50, 0xED, 0x55, 0xBA, 1, 0, 16, 0}
	b = binary.LittleEndian.AppendUint64(b, uint64(len(c.entries)))
	return append(b, c.entries...)
}

// Join puts containers behind each other, each aligned to 8, as they stand in
// a section.
func Join(containers ...[]byte) []byte {
	var b []byte
	for _, c := range containers {
		b = append(pad8(b), c...)
	}
	return b
}

// CompressZstd returns b as one zstd frame.
func CompressZstd(b []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer w.Close()
	return w.EncodeAll(b, nil)
}

// CompressLZ4 returns b as one LZ4 block.
func CompressLZ4(b []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, out, nil)
	if err != nil {
		panic(err)
	}
	if n == 0 { // not compressible: literals only
		return lz4Literals(b)
	}
	return out[:n]
}

// lz4Literals returns the LZ4 block that holds b as it is.
func lz4Literals(b []byte) []byte {
	if len(b) < 15 {
		return append([]byte{byte(len(b) << 4)}, b...)
	}
	out := []byte{0xF0}
	for n := len(b) - 15; ; n -= 255 {
		if n < 255 {
			out = append(out, byte(n))
			break
		}
		out = append(out, 255)
	}
	return append(out, b...)
}

// pad8 returns a copy of b with zeros up to a multiple of eight.
func pad8(b []byte) []byte {
	return append(b[:len(b):len(b)], make([]byte, -len(b)&7)...)
}
