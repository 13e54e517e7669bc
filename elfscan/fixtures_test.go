package elfscan

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const fixtures = "../testdata/fixtures"

// wantObject is what readelf -SW, readelf -rW, readelf -dW and objdump -x say.
// Lines of ranges are "name offset size"; those of records "offset version
// container". Offsets of archive members have the member's own added, which
// ar tO prints.
type wantObject struct {
	member, machine string
	format          Format
	rel             bool
	ranges          string // for device code, in order
	records         string
	needed          string
}

const gnuNeeded = "libstdc++.so.6 libgcc_s.so.1 libc.so.6"

var fixtureTable = map[string][]wantObject{
	"multi13.so": {{machine: "x86_64", format: FormatELF, needed: gnuNeeded,
		ranges: ".nv_fatbin 0x30c0 0x23798", records: "0x28090 1 0x30c0, 0x280a8 1 0xf608"}},
	"multi12.so": {{machine: "x86_64", format: FormatELF, needed: "libc.so.6",
		ranges: ".nv_fatbin 0x20c0 0x16d88", records: "0x1a070 1 0x20c0, 0x1a088 1 0x9638"}},
	"multi11.so": {{machine: "x86_64", format: FormatELF, needed: "libc.so.6",
		ranges: ".nv_fatbin 0x20c0 0x14b60", records: "0x18070 1 0x20c0, 0x18088 1 0x8a50"}},
	"mixed.so": {{machine: "x86_64", format: FormatELF, needed: gnuNeeded,
		ranges: ".nv_fatbin 0x30d8 0xdf70", records: "0x12090 1 0x30d8, 0x120a8 1 0x9ba8, 0x120c0 1 0x101f8"}},
	"sass86.so": {{machine: "x86_64", format: FormatELF, needed: gnuNeeded,
		ranges: ".nv_fatbin 0x2050 0x19f8", records: "0x5080 1 0x2050"}},
	"aarch64.so": {{machine: "aarch64", format: FormatELF,
		ranges: ".nv_fatbin 0x1c0 0x4ef0", records: "0x10000 1 0x1c0"}},
	"rdc-linked.so": {{machine: "x86_64", format: FormatELF, needed: gnuNeeded,
		ranges:  "__nv_relfatbin 0x20a8 0x24b8, .nv_fatbin 0x4580 0x4eb0",
		records: "0xa098 1 0x20a8, 0xa0b0 1 0x32a8, 0xa0c8 2 0x4580"}},
	"rdc-object.o": {{machine: "x86_64", format: FormatELF, rel: true,
		ranges: "__nv_relfatbin 0x420 0x1200", records: "0x1620 1 0x420"}},
	"lto-object.o": {{machine: "x86_64", format: FormatELF, rel: true,
		ranges: "__nv_relfatbin 0x380 0xdd8", records: "0x1158 1 0x380"}},
	"object.o": {{machine: "x86_64", format: FormatELF, rel: true,
		ranges: ".nv_fatbin 0xa48 0x6ad0", records: "0x7518 1 0xa48"}},
	"archive.a": {
		{member: "v.o", machine: "x86_64", format: FormatELF, rel: true,
			ranges: ".nv_fatbin 0xc60 0x6ad0", records: "0x7730 1 0xc60"},
		{member: "r.o", machine: "x86_64", format: FormatELF, rel: true,
			ranges: ".nv_fatbin 0xa13c 0x6650", records: "0x1078c 1 0xa13c"},
		{member: "t.o", machine: "x86_64", format: FormatELF, rel: true,
			ranges: ".nv_fatbin 0x12bf0 0xe50", records: "0x13a40 1 0x12bf0"},
	},
	"embedded.so": {{machine: "x86_64", format: FormatELF}},
	"plain.so":    {{machine: "x86_64", format: FormatELF}},
	"pe.dll": {{machine: "x86_64", format: FormatPE, needed: "KERNEL32.dll msvcrt.dll",
		ranges: ".nv_fatb 0x2200 0x14168", records: "0x1a00 1 0x2200, 0x1a18 1 0x12f10"}},
	"pe.exe": {{machine: "x86_64", format: FormatPE, needed: "KERNEL32.dll msvcrt.dll",
		ranges: ".nv_fatb 0x2a00 0x14168", records: "0x1e00 1 0x2a00, 0x1e18 1 0x13710"}},
	"pe.obj": {{machine: "x86_64", format: FormatCOFF, rel: true,
		ranges: ".nv_fatb 0xdc 0x14168", records: "0x14244 1 0xdc, 0x1425c 1 0x10dec"}},
	"pe.lib": {
		{member: "w.obj", machine: "x86_64", format: FormatCOFF, rel: true,
			ranges: ".nv_fatb 0x176 0x14168", records: "0x142de 1 0x176, 0x142f6 1 0x10e86"},
		{member: "h.obj", machine: "x86_64", format: FormatCOFF, rel: true},
	},
	"mode-none.fatbin":   {{machine: "cuda", format: FormatFatbin, ranges: " 0x0 0x13238"}},
	"debug.fatbin":       {{machine: "cuda", format: FormatFatbin, ranges: " 0x0 0x1288"}},
	"raw-sm_80.cubin":    {{machine: "cuda", format: FormatCubin, ranges: " 0x0 0x32e0"}},
	"raw-sm_35.cubin":    {{machine: "cuda", format: FormatCubin, ranges: " 0x0 0x20e0"}},
	"raw-compute_80.ptx": {{machine: "cuda", format: FormatPTX, ranges: " 0x0 0x32b5"}},
}

func TestFixtures(t *testing.T) {
	for name, want := range fixtureTable {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			f := mustScan(t, data)
			if len(f.Objects) != len(want) {
				t.Fatalf("%d objects, want %d", len(f.Objects), len(want))
			}
			if len(f.Findings) > 0 || f.Skipped > 0 {
				t.Errorf("findings %v, skipped %d", f.Findings, f.Skipped)
			}
			for i, o := range f.Objects {
				w := want[i]
				if o.Member != w.member || o.Machine != w.machine || o.Format != w.format || o.Relocatable != w.rel {
					t.Errorf("object %q %s %s relocatable %v", o.Member, o.Machine, o.Format, o.Relocatable)
				}
				equal(t, "ranges", codeRanges(o), w.ranges)
				equal(t, "records", records(o), w.records)
				equal(t, "needed", strings.Join(o.Needed, " "), w.needed)
				if len(o.Findings) > 0 {
					t.Errorf("findings %v", o.Findings)
				}
				for _, r := range o.Records {
					if r.Container < 0 || le.Uint32(data[r.Container:]) != fatbinMagic {
						t.Errorf("record at %#x points to %#x, where no container is", r.Offset, r.Container)
					}
				}
			}
		})
	}
}

// TestOtherRanges pins all ranges of one file of each kind, gaps included.
func TestOtherRanges(t *testing.T) {
	// aarch64.so, from readelf -SW: sections touch or leave gaps for alignment.
	equal(t, "aarch64.so", allRanges(mustScan(t, fixture(t, "aarch64.so")).Objects[0]),
		".nv_fatbin 0x1c0 0x4ef0, 0x0 0x120, .hash 0x120 0x18, .gnu.hash 0x138 0x1c, 0x154 0x4, .dynsym 0x158 0x48, "+
			".dynstr 0x1a0 0x1, 0x1a1 0x7, .rela.dyn 0x1a8 0x18, 0x50b0 0xae40, .dynamic 0xfef0 0xf0, .got 0xffe0 0x8, "+
			".got.plt 0xffe8 0x18, .nvFatBinSegment 0x10000 0x18, .symtab 0x10018 0x1b0, .strtab 0x101c8 0x2c, "+
			".shstrtab 0x101f4 0x72, 0x10266 0x382")
	// pe.obj, from objdump -h; what follows is relocations, symbols and names.
	equal(t, "pe.obj", allRanges(mustScan(t, fixture(t, "pe.obj")).Objects[0]),
		".nv_fatb 0xdc 0x14168, 0x0 0xdc, .nvFatBi 0x14244 0x30, 0x14274 0x114")
	rodata := slices.IndexFunc(mustScan(t, fixture(t, "embedded.so")).Objects[0].Ranges, func(r Range) bool {
		return r == Range{Name: ".rodata", Kind: KindOther, Offset: 0x2000, Size: 0x3458, Addr: 0x2000}
	})
	if rodata < 0 {
		t.Error("embedded.so: .rodata is not among the ranges")
	}
	dll := mustScan(t, fixture(t, "pe.dll")).Objects[0]
	if got := (Range{Name: ".nv_fatb", Kind: KindFatbin, Offset: 0x2200, Size: 0x14168, Addr: 0x21b056000}); dll.Ranges[0] != got {
		t.Errorf("pe.dll: %+v", dll.Ranges[0])
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func scanBytes(data []byte) (*File, error) {
	return Scan(bytes.NewReader(data), int64(len(data)))
}

// mustScan also checks what holds for every file.
func mustScan(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := scanBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, f, int64(len(data)))
	return f
}

func equal(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}

func codeRanges(o Object) string {
	var out []string
	for _, r := range o.Ranges {
		if r.Kind != KindOther {
			out = append(out, fmt.Sprintf("%s %#x %#x", r.Name, r.Offset, r.Size))
		}
	}
	return strings.Join(out, ", ")
}

func allRanges(o Object) string {
	var out []string
	for _, r := range o.Ranges {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %#x %#x", r.Name, r.Offset, r.Size)))
	}
	return strings.Join(out, ", ")
}

func records(o Object) string {
	var out []string
	for _, r := range o.Records {
		out = append(out, fmt.Sprintf("%#x %d %#x", r.Offset, r.Version, r.Container))
	}
	return strings.Join(out, ", ")
}

// checkFile asserts the invariants: all offsets inside the file, ranges that
// cover each object once, objects that do not overlap.
func checkFile(t testing.TB, f *File, size int64) {
	t.Helper()
	inside := func(what string, off, n, from, to int64) {
		if off < from || n < 0 || off > to-n {
			t.Errorf("%s [%#x, +%#x) is outside [%#x, %#x)", what, off, n, from, to)
		}
	}
	last := int64(0)
	for _, o := range f.Objects {
		inside("object", o.Offset, o.Size, last, size)
		last = o.Offset + o.Size
		sum := int64(0)
		sorted := slices.Clone(o.Ranges)
		sortRanges(sorted)
		pos := o.Offset
		for _, r := range sorted {
			inside("range "+r.Name, r.Offset, r.Size, pos, last)
			if r.Size == 0 || len(r.Name) > maxName || strings.Contains(r.Name, "\x00") {
				t.Errorf("range %+v", r)
			}
			pos, sum = r.Offset+r.Size, sum+r.Size
		}
		if sum != o.Size {
			t.Errorf("ranges cover %#x of %#x bytes", sum, o.Size)
		}
		others := false
		for i, r := range o.Ranges {
			if others && r.Kind != KindOther {
				t.Errorf("range %d for device code comes after others", i)
			}
			others = others || r.Kind == KindOther
		}
		for _, r := range o.Records {
			inside("record", r.Offset, 16, o.Offset, last)
			if r.Container != -1 {
				inside("container", r.Container, 1, o.Offset, last)
			}
		}
		for _, d := range o.Findings {
			if d.Offset != -1 {
				inside("finding", d.Offset, 0, o.Offset, last)
			}
		}
	}
	for _, d := range f.Findings {
		if d.Offset != -1 {
			inside("finding", d.Offset, 0, 0, size)
		}
	}
}
