package foreign

import (
	"bytes"
	"compress/zlib"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"fatview/elfscan"
	"fatview/internal/fatbintest"
)

// The builders follow the documented layouts, field by field.

func u16(v uint16) []byte { return le.AppendUint16(nil, v) }
func u32(v uint32) []byte { return le.AppendUint32(nil, v) }
func u64(v uint64) []byte { return le.AppendUint64(nil, v) }

func cat(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

func padTo(b []byte, n int) []byte { return append(b, make([]byte, max(0, n-len(b)))...) }

func align(b []byte, n int) []byte { return padTo(b, (len(b)+n-1)/n*n) }

// noise is bytes that do not compress and hold no magic.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32()) | 0x80 // neither letters nor zeros
	}
	return b
}

const hostID = "host-x86_64-unknown-linux-gnu-"

func hipID(target string) string { return "hipv4-amdgcn-amd-amdhsa--" + target }

// bundle makes a bundle as clang does: an empty entry for the host, then code
// of size bytes for each id, aligned to 4096, or to 16 where there are many.
func bundle(size int, ids ...string) []byte {
	unit := 4096
	if len(ids) > 100 {
		unit = 16
	}
	up := func(n int) int { return (n + unit - 1) / unit * unit }
	table := 32 + 24 + len(hostID)
	for _, id := range ids {
		table += 24 + len(id)
	}
	off := up(table)
	b := cat(bundleMagic, u64(uint64(len(ids)+1)), u64(uint64(off)), u64(0), u64(uint64(len(hostID))), hostID)
	code, end := noise(size), off
	for _, id := range ids {
		b = append(b, cat(u64(uint64(off)), u64(uint64(size)), u64(uint64(len(id))), id)...)
		end, off = off+size, up(off+size)
	}
	b = padTo(b, end)
	for o := up(table); o < end; o += up(size) {
		copy(b[o:], code)
	}
	return b
}

func deflate(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// compressed makes a compressed bundle of plain.
func compressed(version, method uint16, plain []byte) []byte {
	data := deflate(plain)
	if method == methodZstd {
		data = fatbintest.CompressZstd(plain)
	}
	return ccobOf(version, method, uint64(len(plain)), data)
}

func ccobOf(version, method uint16, unpacked uint64, data []byte) []byte {
	head := cat("CCOB", u16(version), u16(method))
	hash := u64(0x1122334455667788)
	switch version {
	case 1:
		return cat(head, u32(uint32(unpacked)), hash, data)
	case 2:
		return cat(head, u32(uint32(24+len(data))), u32(uint32(unpacked)), hash, data)
	}
	return cat(head, u64(uint64(32+len(data))), u64(unpacked), hash, data)
}

// An offEntry is an image of an offload binary.
type offEntry struct {
	image, producer uint16
	flags           uint32
	triple, arch    string
}

// offload makes an offload binary of a version: header, entries, string maps,
// string table, images.
func offload(version uint32, entries ...offEntry) []byte {
	header, width := 32, 24
	if version == 1 {
		width = 16
	}
	if version == 3 {
		header = 40
	}
	maps := header + 40*len(entries)
	table := maps + 2*width*len(entries)
	strs := "triple\x00arch\x00"
	offs := make([][2]int, len(entries))
	for i, e := range entries {
		offs[i] = [2]int{len(strs), len(strs) + len(e.triple) + 1}
		strs += e.triple + "\x00" + e.arch + "\x00"
	}
	images := (table + len(strs) + 7) / 8 * 8
	size := images + 16*len(entries)
	b := cat(binaryMagic, u32(version), u64(uint64(size)), u64(uint64(header)))
	if version == 1 {
		b = cat(b, u64(40))
	} else {
		b = cat(b, u64(uint64(len(entries))))
	}
	b = padTo(b, header)
	for i, e := range entries {
		b = cat(b, u16(e.image), u16(e.producer), u32(e.flags), u64(uint64(maps+2*width*i)), u64(2), u64(uint64(images+16*i)), u64(16))
	}
	for i, e := range entries {
		for k, text := range []string{e.triple, e.arch} {
			b = cat(b, u64(uint64(table+[]int{0, 7}[k])), u64(uint64(table+offs[i][k])))
			if version > 1 {
				b = cat(b, u64(uint64(len(text))))
			}
		}
	}
	return padTo(padTo(cat(b, strs), images), size)
}

// packBinary compresses a binary of version 3 as LLVM does: all behind the
// header.
func packBinary(b []byte, pack func([]byte) []byte) []byte {
	data := pack(b[40:])
	return align(cat(b[:8], u64(uint64(40+len(data))), b[16:32], u64(uint64(len(b))), data), 8)
}

// spirv makes a module: a capability, the memory model, a function of one
// block, in a byte order.
func spirv(order binary.AppendByteOrder, addressing uint32) []byte {
	var b []byte
	for _, w := range []uint32{
		0x07230203, 0x00010400, 0x0006000E, 20, 0, // magic, version 1.4, tool, bound, schema
		2<<16 | 17, 6, // OpCapability Kernel
		3<<16 | 14, addressing, 2, // OpMemoryModel, OpenCL
		2<<16 | 19, 1, // OpTypeVoid
		3<<16 | 33, 2, 1, // OpTypeFunction
		5<<16 | 54, 1, 3, 0, 2, // OpFunction
		2<<16 | 248, 4, // OpLabel
		1<<16 | 253, // OpReturn
		1<<16 | 56,  // OpFunctionEnd
	} {
		b = order.AppendUint32(b, w)
	}
	return b
}

// amdELF makes an AMD code object.
func amdELF(flags uint32, osabi, abi byte) []byte {
	b := fatbintest.ELF{Machine: 224, Sections: []fatbintest.HostSection{{Name: ".text", Data: noise(64)}}}.Bytes()
	b[elf.EI_OSABI], b[elf.EI_ABIVERSION] = osabi, abi
	le.PutUint32(b[48:], flags)
	return b
}

// intelELF makes a zebin for a product, as bits of its note say.
func intelELF(product uint32) []byte {
	note := cat(
		u32(8), u32(5), u32(4), "IntelGT\x00", "1.50\x00\x00\x00\x00", // version of the format, padded
		u32(8), u32(4), u32(6), "IntelGT\x00", u32(product))
	return fatbintest.ELF{Type: elf.ET_REL, Machine: 205, Sections: []fatbintest.HostSection{
		{Name: ".text.kernel", Data: noise(64)}, {Name: ".note.intelgt.compat", Data: note, Type: elf.SHT_NOTE},
	}}.Bytes()
}

// ocloc makes an archive as Intel's offline compiler does.
func ocloc(members ...string) []byte {
	b := []byte(arMagic)
	for i, name := range members {
		for _, m := range []struct {
			name string
			data []byte
		}{{fmt.Sprintf("pad_%d/", i), []byte("        ")}, {name + "/", intelELF(0)}} {
			b = cat(b, fmt.Sprintf("%-16s%-12s%-6s%-6s%-8s%-10d`\n", m.name, "0", "0", "0", "644", len(m.data)), m.data)
			b = align(b, 2)
		}
	}
	return b
}

// section makes an ELF library with one more section, and code around it.
func section(name string, data []byte) []byte {
	return fatbintest.ELF{Sections: []fatbintest.HostSection{
		{Name: ".rodata", Data: noise(100)}, {Name: name, Data: data, Align: 4096}, {Name: ".data", Data: noise(100)},
	}}.Bytes()
}

// A counting reader counts what is asked of it, by several goroutines at once.
type counting struct {
	r            io.ReaderAt
	reads, bytes atomic.Int64
}

func (c *counting) ReadAt(b []byte, off int64) (int, error) {
	c.reads.Add(1)
	c.bytes.Add(int64(len(b)))
	return c.r.ReadAt(b, off)
}

// scanAll scans all objects of a file.
func scanAll(t testing.TB, data []byte) []Code {
	t.Helper()
	codes, _ := scanCounted(t, data)
	return codes
}

func scanCounted(t testing.TB, data []byte) ([]Code, *counting) {
	t.Helper()
	f, err := elfscan.Scan(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	c := &counting{r: bytes.NewReader(data)}
	var out []Code
	for i := range f.Objects {
		codes, err := Scan(context.Background(), c, &f.Objects[i])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, codes...)
	}
	return out, c
}
