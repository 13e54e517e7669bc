package elfscan

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"fatview/internal/fatbintest"
)

// code is what the synthetic sections hold: enough to tell offsets apart.
func code(n int) []byte {
	b := make([]byte, n)
	for i := 0; i+8 <= n; i += 32 {
		le.PutUint32(b[i:], fatbinMagic)
	}
	return b
}

func twoRecords(bits int, order binary.ByteOrder) []byte {
	r := fatbintest.RegistrationRecord(1, bits, order)
	return append(r, fatbintest.RegistrationRecord(2, bits, order)...)
}

func synthetic(e fatbintest.ELF) fatbintest.ELF {
	bits := e.Bits
	if bits == 0 {
		bits = 64
	}
	second := 8 + bits/4 + 8
	e.Sections = []fatbintest.HostSection{
		{Name: ".rodata", Data: make([]byte, 24), Align: 8},
		{Name: ".nv_fatbin", Data: code(128), Align: 8},
		{Name: ".bss", Data: make([]byte, 4096), Type: elf.SHT_NOBITS},
		{Name: ".nvFatBinSegment", Data: twoRecords(bits, e.Order()), Align: 8},
		{Name: "__nv_relfatbin", Data: code(64), Align: 8},
	}
	e.Pointers = []fatbintest.HostPointer{
		{Section: ".nvFatBinSegment", At: 8, Target: "__nv_relfatbin", Addend: 32},
		{Section: ".nvFatBinSegment", At: second, Target: ".nv_fatbin", Addend: 64},
	}
	return e
}

// TestELFVariants: however the pointer of a record is expressed, it leads to
// the same place.
func TestELFVariants(t *testing.T) {
	for _, e := range []fatbintest.ELF{
		{},
		{Needed: []string{"libcuda.so.1", "libc.so.6"}},
		{REL: true},
		{NoRelocs: true},
		{Type: elf.ET_EXEC},
		{Type: elf.ET_REL},
		{Type: elf.ET_REL, REL: true},
		{Machine: elf.EM_PPC64},
		{Machine: elf.EM_S390, BigEndian: true},
		{Bits: 32, Machine: elf.EM_386, REL: true},
		{Bits: 32, Machine: elf.EM_386, REL: true, Type: elf.ET_REL},
		{Bits: 32, Machine: elf.EM_ARM, Needed: []string{"libc.so.6"}},
		{Bits: 32, Machine: elf.EM_PPC, BigEndian: true, Type: elf.ET_REL},
	} {
		t.Run(fmt.Sprintf("%v %d %v big=%v rel=%v", e.Type, e.Bits, e.Machine, e.BigEndian, e.REL), func(t *testing.T) {
			data := synthetic(e).Bytes()
			o := mustScan(t, data).Objects[0]
			at := map[string]int64{}
			for _, r := range o.Ranges {
				at[r.Name] = r.Offset
			}
			if o.Ranges[0].Name != ".nv_fatbin" || o.Ranges[0].Size != 128 || o.Ranges[1].Name != "__nv_relfatbin" {
				t.Errorf("ranges %v", o.Ranges)
			}
			if len(o.Records) != 2 || o.Records[0].Container != at["__nv_relfatbin"]+32 || o.Records[1].Container != at[".nv_fatbin"]+64 || o.Records[1].Version != 2 {
				t.Errorf("records %v, sections at %v", o.Records, at)
			}
			if strings.Join(o.Needed, " ") != strings.Join(e.Needed, " ") {
				t.Errorf("needed %v", o.Needed)
			}
			if len(o.Findings) > 0 {
				t.Errorf("findings %v", o.Findings)
			}
		})
	}
}

func TestELFDamage(t *testing.T) {
	whole := synthetic(fatbintest.ELF{})
	whole.NoTable = true
	wantFinding(t, whole.Bytes(), "no section table")

	whole.NoTable, whole.Overlay = false, []byte("appended")
	o := mustScan(t, whole.Bytes()).Objects[0]
	if last := o.Ranges[len(o.Ranges)-1]; last.Name != "" || last.Size < 8 {
		t.Errorf("appended data is in %+v", last)
	}

	whole.Overlay = nil
	data := whole.Bytes()
	wantFinding(t, data[:len(data)-100], "section table is cut")

	debug := fatbintest.ELF{Sections: []fatbintest.HostSection{{Name: ".nv_fatbin", Data: make([]byte, 64), Type: elf.SHT_NOBITS}}}
	wantFinding(t, debug.Bytes(), "no bytes here")

	lost := synthetic(fatbintest.ELF{})
	lost.Pointers = lost.Pointers[:1]
	o = wantFinding(t, lost.Bytes(), "1 of 2 registration records point to nothing")
	if o.Records[0].Container < 0 || o.Records[1].Container != -1 {
		t.Errorf("records %v", o.Records)
	}

	// A section that claims more than the file has.
	end := fatbintest.ELF{Sections: []fatbintest.HostSection{{Name: ".nv_fatbin", Data: code(64)}}}
	data = end.Bytes()
	shoff := int(le.Uint64(data[40:]))
	le.PutUint64(data[shoff+64+32:], 1<<40)
	o = wantFinding(t, data, `section ".nv_fatbin" is cut: 0x`)
	if o.Ranges[0].Kind != KindFatbin {
		t.Errorf("ranges %v", o.Ranges)
	}
}

func TestPEVariants(t *testing.T) {
	for _, bits := range []int{64, 32} {
		for _, long := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d long=%v", bits, long), func(t *testing.T) {
				p := fatbintest.PE{
					Bits: bits,
					Sections: []fatbintest.HostSection{
						{Name: ".text", Data: make([]byte, 700)},
						{Name: ".nv_fatbin", Data: code(600)},
						{Name: ".nvFatBinSegment", Data: twoRecords(bits, binary.LittleEndian)},
					},
					Pointers: []fatbintest.HostPointer{
						{Section: ".nvFatBinSegment", At: 8, Target: ".nv_fatbin", Addend: 32},
						{Section: ".nvFatBinSegment", At: 16 + bits/4, Target: ".nv_fatbin"},
					},
					Imports:      []string{"cudart64_12.dll", "KERNEL32.dll"},
					DelayImports: []string{"nvcuda.dll"},
					LongNames:    long,
					Overlay:      []byte("appended"),
				}
				o := mustScan(t, p.Bytes()).Objects[0]
				name := ".nv_fatb"
				if long {
					name = ".nv_fatbin"
				}
				if r := o.Ranges[0]; r.Name != name || r.Kind != KindFatbin || r.Size != 600 {
					t.Errorf("range %+v", r)
				}
				if len(o.Records) != 2 || o.Records[0].Container != o.Ranges[0].Offset+32 || o.Records[1].Container != o.Ranges[0].Offset {
					t.Errorf("records %+v", o.Records)
				}
				equal(t, "needed", strings.Join(o.Needed, " "), "cudart64_12.dll KERNEL32.dll nvcuda.dll")
				if o.Bits != bits || len(o.Findings) > 0 {
					t.Errorf("bits %d, findings %v", o.Bits, o.Findings)
				}
			})
		}
	}
}

func syntheticCOFF(big bool) []byte {
	return fatbintest.COFF{
		BigObj: big,
		Sections: []fatbintest.HostSection{
			{Name: ".text", Data: make([]byte, 7)},
			{Name: "__nv_relfatbin", Data: code(64)},
			{Name: ".nvFatBinSegment", Data: twoRecords(64, le)},
		},
		Pointers: []fatbintest.HostPointer{
			{Section: ".nvFatBinSegment", At: 8, Target: "__nv_relfatbin"},
			{Section: ".nvFatBinSegment", At: 32, Target: "__nv_relfatbin", Addend: 32},
		},
	}.Bytes()
}

func TestCOFFVariants(t *testing.T) {
	for _, big := range []bool{false, true} {
		o := mustScan(t, syntheticCOFF(big)).Objects[0]
		r := o.Ranges[0]
		if o.Format != FormatCOFF || r.Name != "__nv_relfatbin" || r.Kind != KindRelFatbin || r.Size != 64 {
			t.Errorf("big=%v: %s %+v", big, o.Format, r)
		}
		if len(o.Records) != 2 || o.Records[0].Container != r.Offset || o.Records[1].Container != r.Offset+32 {
			t.Errorf("big=%v: records %+v", big, o.Records)
		}
	}
}

func TestArchives(t *testing.T) {
	long := "a_rather_long_directory/with_a_long_file_name.obj"
	members := []fatbintest.ArMember{
		{Name: "vec.o", Data: synthetic(fatbintest.ELF{Type: elf.ET_REL}).Bytes()},
		{Name: "readme.txt", Data: []byte("nothing")},
		{Name: long, Data: syntheticCOFF(false)},
		{Name: "stub.obj", Data: fatbintest.ImportStub("nvcuda.dll", "cuInit")},
		{Name: "k.ptx", Data: []byte(".version 8.0\n.target sm_80\n")},
		{Name: "empty", Data: nil},
	}
	for name, build := range map[string]func(...fatbintest.ArMember) []byte{"gnu": fatbintest.ArGNU, "bsd": fatbintest.ArBSD, "ms": fatbintest.ArMS} {
		t.Run(name, func(t *testing.T) {
			data := build(members...)
			f := mustScan(t, data)
			if f.Format != FormatAR || len(f.Objects) != 3 || f.Skipped != 3 || len(f.Findings) > 0 {
				t.Fatalf("%s: %d objects, %d skipped, %v", f.Format, len(f.Objects), f.Skipped, f.Findings)
			}
			for i, want := range []int{0, 2, 4} {
				o := f.Objects[i]
				if o.Member != members[want].Name || string(data[o.Offset:o.Offset+o.Size]) != string(members[want].Data) {
					t.Errorf("object %d is %q at %#x", i, o.Member, o.Offset)
				}
				for _, r := range o.Records {
					if le.Uint32(data[r.Container:]) != fatbinMagic {
						t.Errorf("%s: record leads to %#x", o.Member, r.Container)
					}
				}
			}
		})
	}
}

func TestArchiveDamage(t *testing.T) {
	whole := fatbintest.ArGNU(
		fatbintest.ArMember{Name: "a.o", Data: synthetic(fatbintest.ELF{}).Bytes()},
		fatbintest.ArMember{Name: "b.o", Data: synthetic(fatbintest.ELF{}).Bytes()})
	f := mustScan(t, whole[:len(whole)-200])
	if len(f.Objects) != 2 || len(f.Findings) == 0 || !strings.Contains(f.Findings[0].Message, `member "b.o" is cut`) {
		t.Errorf("%d objects, %v", len(f.Objects), f.Findings)
	}
	broken := append([]byte(nil), whole...)
	broken[f.Objects[1].Offset-1] = 'x'
	f = mustScan(t, broken)
	if len(f.Objects) != 1 || len(f.Findings) != 1 || !strings.Contains(f.Findings[0].Message, "header is damaged") {
		t.Errorf("%d objects, %v", len(f.Objects), f.Findings)
	}
	gl := fatbintest.ImportStub("x", "y")
	le.PutUint16(gl[4:], 1)
	f = mustScan(t, fatbintest.ArMS(fatbintest.ArMember{Name: "gl.obj", Data: gl}))
	if f.Skipped != 1 || len(f.Findings) != 1 || !strings.Contains(f.Findings[0].Message, "/GL") {
		t.Errorf("skipped %d, %v", f.Skipped, f.Findings)
	}
}

func TestSniff(t *testing.T) {
	comment := "// " + strings.Repeat("licence ", 200) + "\n/* more\n*/ "
	for _, tt := range []struct {
		content string
		want    Format
		err     error
	}{
		{"", "", ErrEmpty},
		{"hello, world\n", "", ErrUnknown},
		{".version 8.0\n.target sm_80\n", FormatPTX, nil},
		{"\ufeff\r\n" + comment + ".version\t8.0\n// x\n.target sm_80, debug\n", FormatPTX, nil},
		{comment, "", ErrUnknown},
		{".version 8.0\n.text\n", "", ErrUnknown},
		{".version x\n.target y\n", "", ErrUnknown},
		{".versions 8.0\n.target sm_80\n", "", ErrUnknown},
		{"\x50\xed\x55\xba\x01\x00\x10\x00", FormatFatbin, nil},
		{"\x01\x5a\xe5\x1e", FormatFatbin, nil},
		{"MZ" + strings.Repeat("\x00", 100), "", ErrUnknown},
		{"\x64\x86 text that begins like an object", "", ErrUnknown},
	} {
		f, err := scanBytes([]byte(tt.content))
		if !errors.Is(err, tt.err) {
			t.Errorf("%.20q: error %v, want %v", tt.content, err, tt.err)
		} else if err == nil && f.Format != tt.want {
			t.Errorf("%.20q: %s, want %s", tt.content, f.Format, tt.want)
		}
	}
	_, err := scanBytes([]byte("\x7fELF\x09\x01\x01"))
	var bad *FormatError
	if !errors.As(err, &bad) || !strings.HasSuffix(err.Error(), "at offset 0x0") {
		t.Errorf("short elf: %v", err)
	}
}

type failing struct{ io.ReaderAt }

var errDisk = errors.New("disk on fire")

func (f failing) ReadAt(b []byte, off int64) (int, error) {
	if off > 0 {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(b, off)
}

func TestReaderError(t *testing.T) {
	data := fixture(t, "multi13.so")
	_, err := Scan(failing{strings.NewReader(string(data))}, int64(len(data)))
	if !errors.Is(err, errDisk) {
		t.Errorf("error %v", err)
	}
}

// TestTruncated: a file that ends anywhere is an error or has a finding,
// unless what is missing cannot be noticed.
func TestTruncated(t *testing.T) {
	for name, stride := range map[string]int{
		"plain.so": 7, "ptx80.so": 1, "object.o": 31, "archive.a": 61, "aarch64.so": 97,
		"pe.dll": 89, "pe.obj": 83, "pe.lib": 79, "rdc-linked.so": 37,
	} {
		data := fixture(t, name)
		for n := 0; n < len(data); n += stride {
			f, err := scanBytes(data[:n])
			if err != nil {
				continue
			}
			checkFile(t, f, int64(n))
			found := len(f.Findings)
			for _, o := range f.Objects {
				found += len(o.Findings)
			}
			// Behind the sections of a COFF file are symbols, whose absence
			// matters only where a record needs them; an archive that ends
			// between two members is whole.
			if found == 0 && strings.HasSuffix(name, ".so") {
				t.Errorf("%s cut to %#x of %#x bytes: nothing found", name, n, len(data))
			}
		}
	}
}

func wantFinding(t *testing.T, data []byte, part string) Object {
	t.Helper()
	o := mustScan(t, data).Objects[0]
	for _, f := range o.Findings {
		if strings.Contains(f.Message, part) {
			return o
		}
	}
	t.Errorf("no finding with %q in %v", part, o.Findings)
	return o
}

// TestOverlaps: sections that lie over each other, as only hostile files have
// them, still cover the object once, and those for device code win.
func TestOverlaps(t *testing.T) {
	var fail error
	v := view{strings.NewReader(strings.Repeat("x", 100)), 1000, 100, &fail}
	var o Object
	o.setRanges(v, []section{
		{"a", 0x500, 10, 80, true}, {".nv_fatbin", 0x700, 30, 20, false}, {"__nv_relfatbin", 0, 40, 30, false}, {"b", 0, 20, 1 << 63, false}, {"none", 0, 200, 5, false},
	})
	equal(t, "ranges", allRanges(o), ".nv_fatbin 0x406 0x14, __nv_relfatbin 0x41a 0x14, 0x3e8 0xa, a 0x3f2 0x14, a 0x42e 0x14, b 0x442 0xa")
	if len(o.Findings) != 2 || o.Ranges[4].Addr != 0x500+60 {
		t.Errorf("findings %v, address %#x", o.Findings, o.Ranges[4].Addr)
	}
	for _, r := range o.Ranges {
		if r.Host != (r.Name == "a") {
			t.Errorf("range %+v: machine code is in a alone", r)
		}
	}
}

// TestHostileTables: a thousand relocation tables that are all the same bytes
// cost no more than reading the file once.
func TestHostileTables(t *testing.T) {
	e := synthetic(fatbintest.ELF{})
	for range 1000 {
		e.Sections = append(e.Sections, fatbintest.HostSection{Name: "r", Data: []byte{0}, Type: elf.SHT_RELA})
	}
	e.Pointers = e.Pointers[:1]
	e.Overlay = make([]byte, 1<<20)
	data := e.Bytes()
	shoff, n := int(le.Uint64(data[40:])), int(le.Uint16(data[60:]))
	for i := range n {
		if h := data[shoff+64*i:]; elf.SectionType(le.Uint32(h[4:])) == elf.SHT_RELA {
			le.PutUint64(h[24:], 0)
			le.PutUint64(h[32:], uint64(len(data)))
		}
	}
	c := &counting{ReaderAt: strings.NewReader(string(data))}
	if _, err := Scan(c, int64(len(data))); err != nil {
		t.Fatal(err)
	}
	if c.bytes > 2*len(data) {
		t.Errorf("read %d bytes of a file of %d", c.bytes, len(data))
	}
}

// TestSmallReads: opening reads headers and tables, no payload.
func TestSmallReads(t *testing.T) {
	for _, name := range []string{"multi13.so", "pe.dll", "pe.obj", "mode-none.fatbin"} {
		data := fixture(t, name)
		c := &counting{ReaderAt: strings.NewReader(string(data))}
		if _, err := Scan(c, int64(len(data))); err != nil {
			t.Fatal(err)
		}
		if c.bytes > 8<<10 || c.reads > 16 {
			t.Errorf("%s: %d reads of %d bytes", name, c.reads, c.bytes)
		}
	}
}

type counting struct {
	io.ReaderAt
	reads, bytes int
}

func (c *counting) ReadAt(b []byte, off int64) (int, error) {
	c.reads, c.bytes = c.reads+1, c.bytes+len(b)
	return c.ReaderAt.ReadAt(b, off)
}
