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
