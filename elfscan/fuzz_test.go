package elfscan

import (
	"bytes"
	"context"
	"debug/elf"
	"reflect"
	"slices"
	"testing"

	"fatview/internal/fatbintest"
)

// FuzzScan: no panic, the invariants of checkFile, and the same answer for the
// same bytes.
func FuzzScan(f *testing.F) {
	for _, name := range []string{"ptx80.so", "rdc-object.o", "lto-object.o", "raw-sm_35.cubin", "debug.fatbin", "text.txt"} {
		f.Add(fixture(f, name))
	}
	for _, e := range []fatbintest.ELF{{}, {REL: true}, {Type: elf.ET_REL}, {Bits: 32, BigEndian: true, Needed: []string{"libc.so.6"}}} {
		f.Add(synthetic(e).Bytes())
	}
	object := syntheticCOFF(false)
	f.Add(object)
	f.Add(syntheticCOFF(true))
	f.Add(fatbintest.PE{
		Sections: []fatbintest.HostSection{{Name: ".nv_fatbin", Data: code(64)}, {Name: ".nvFatBinSegment", Data: twoRecords(64, le)}},
		Imports:  []string{"a.dll"}, DelayImports: []string{"b.dll"}, LongNames: true,
	}.Bytes())
	for _, build := range []func(...fatbintest.ArMember) []byte{fatbintest.ArGNU, fatbintest.ArBSD, fatbintest.ArMS} {
		f.Add(build(fatbintest.ArMember{Name: "a_name_of_many_letters.obj", Data: object}, fatbintest.ArMember{Name: "x", Data: object}))
	}
	f.Add([]byte("// c\n.version 8.0\n.target sm_80\n"))
	f.Add(fatbintest.ArThinMembers(fatbintest.ThinMember{Name: "a.o", Size: 1}, fatbintest.ThinMember{Name: "b/c.a", Offset: 170, Size: 9}))
	for _, name := range []string{"ptx80.so", "rdc-linked.so"} {
		f.Add(sstrip(fixture(f, name)))
	}
	for _, e := range []fatbintest.ELF{{}, {REL: true}, {Bits: 32, Soname: "a", NoRelocs: true}, {BigEndian: true}} {
		e.NoTable = true
		f.Add(synthetic(e).Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := scanBytes(data)
		again, err2 := scanBytes(data)
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(got, again) {
			t.Fatalf("two answers: %v %v, %v %v", got, err, again, err2)
		}
		if err == nil {
			checkFile(t, got, int64(len(data)))
		}
	})
}

// FuzzSearch: the same occurrences as a search without chunks finds.
func FuzzSearch(f *testing.F) {
	f.Add([]byte("\x50\xed\x55\xba\x50\xed\x55\xba"), []byte("\x50\xed\x55\xba"), uint16(0), uint16(8), uint8(4), uint8(0))
	f.Add(bytes.Repeat([]byte("ab"), 9000), []byte("abab"), uint16(3), uint16(5000), uint8(1), uint8(5))
	f.Fuzz(func(t *testing.T, data, pattern []byte, off, size uint16, align, skip uint8) {
		if len(pattern) == 0 || len(pattern) > 64 {
			return
		}
		start := min(int64(off), int64(len(data)))
		mid := min(int64(size), int64(len(data))-start)
		ranges := []Range{{Offset: start, Size: mid}, {Offset: start + mid, Size: int64(len(data)) - start - mid}, {Size: start}}
		a := max(1, int64(align))
		got := search(t, data, ranges, pattern, a, int64(skip))
		if want := naive(data, ranges, pattern, a, int64(skip)); !slices.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if Search(ctx, bytes.NewReader(data), ranges, pattern, a, func(int64) int64 { return 0 }) == nil {
			t.Fatal("cancelled search gave no error")
		}
	})
}

// FuzzPatterns: several patterns together are found where each is found alone.
func FuzzPatterns(f *testing.F) {
	f.Add(bytes.Repeat([]byte("ab\x1f\x8b\x08.version\x7fELF"), 9), []byte("ab"), []byte("\x1f\x8b\x08"), []byte(".version"), uint8(7))
	f.Add(bytes.Repeat([]byte("a"), 100), []byte("a"), []byte("aa"), []byte("aaaa"), uint8(50))
	f.Fuzz(func(t *testing.T, data, a, b, c []byte, split uint8) {
		list := []Pattern{{Bytes: a}, {Bytes: b, Data: true}, {Bytes: c, Align: 2}}
		p, err := NewPatterns(list...)
		if err != nil {
			return
		}
		at := min(int64(split), int64(len(data)))
		ranges := []Range{{Size: at, Host: true}, {Offset: at, Size: int64(len(data)) - at}}
		got := make([][]int64, len(list))
		last := int64(-1)
		err = p.Search(context.Background(), bytes.NewReader(data), ranges, func(pattern, rng int, off int64) int64 {
			if r := ranges[rng]; off < last || off < r.Offset || off >= r.Offset+r.Size {
				t.Fatalf("%d in range %d after %d", off, rng, last)
			}
			last = off
			got[pattern] = append(got[pattern], off)
			return 0
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range list {
			where := ranges
			if n.Data {
				where = ranges[1:]
			}
			if want := naive(data, where, n.Bytes, max(1, n.Align), 0); !slices.Equal(got[i], want) {
				t.Fatalf("pattern %d: got %v, want %v", i, got[i], want)
			}
		}
	})
}
