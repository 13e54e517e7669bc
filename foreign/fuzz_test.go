package foreign

import (
	"bytes"
	"context"
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"fatview/elfscan"
	"fatview/internal/fatbintest"
)

// check holds a code against what its documentation promises.
func check(t *testing.T, c Code, size int64) {
	t.Helper()
	if c.Offset < 0 || c.Size < 0 || c.Offset+c.Size > size || c.Count < 0 || c.Count > maxItems || c.Kind == "" {
		t.Fatalf("place or count: %+v of %d", c, size)
	}
	if len(c.Targets) > maxTargets || !slices.IsSorted(c.Targets) || len(slices.Compact(slices.Clone(c.Targets))) != len(c.Targets) {
		t.Fatalf("targets: %q", c.Targets)
	}
	for _, s := range c.Targets {
		if s == "" || len(s) > 256 {
			t.Fatalf("target: %q", s)
		}
	}
	_ = c.String()
}

// fuzzSection gives data as the content of a section.
func fuzzSection(f *testing.F, name string, needed []string) {
	f.Fuzz(func(t *testing.T, data []byte) {
		o := &elfscan.Object{Format: elfscan.FormatELF, Size: int64(len(data)), Machine: "x86_64", Needed: needed,
			Ranges: []elfscan.Range{{Name: name, Size: int64(len(data))}}}
		got, err := Scan(context.Background(), bytes.NewReader(data), o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Scan(context.Background(), bytes.NewReader(data), o)
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("two answers: %v, %v, %v", got, again, err)
		}
		for _, c := range got {
			check(t, c, int64(len(data)))
		}
	})
}

func FuzzBundles(f *testing.F) {
	b := bundle(9, hipID("gfx90a"), "cuda-nvptx64-nvidia-cuda--sm_80")
	f.Add(b)
	for version := range uint16(3) {
		f.Add(compressed(version+1, 0, b))
		f.Add(compressed(version+1, 1, b))
	}
	fuzzSection(f, ".hip_fatbin", nil)
}

func FuzzOffloadBinaries(f *testing.F) {
	e := offEntry{1, 4, 0, "amdgcn-amd-amdhsa", "gfx942"}
	f.Add(cat(offload(1, e), offload(2, e, e), offload(3, e)))
	f.Add(packBinary(offload(3, e), deflate))
	f.Add(packBinary(offload(3, e), fatbintest.CompressZstd))
	fuzzSection(f, ".llvm.offloading", nil)
}

func FuzzImages(f *testing.F) {
	f.Add(cat(align(spirv(binary.LittleEndian, 2), 16), ocloc("64.12.60.7", "generic_ir")))
	f.Add(cat(align(fatbintest.CompressZstd(spirv(binary.LittleEndian, 2)), 16), intelELF(12<<22|60<<14|7)))
	f.Add(amdELF(0xE3F, 64, 2))
	fuzzSection(f, "__CLANG_", nil)
}

func FuzzSearch(f *testing.F) {
	f.Add(cat("xyz", spirv(binary.LittleEndian, 2), u32(spirvMagic), spirv(binary.LittleEndian, 0)))
	fuzzSection(f, ".rodata", []string{"libsycl.so.8"})
}

// FuzzLoose: besides what is promised, a file is something only if it begins
// with the magic of that.
func FuzzLoose(f *testing.F) {
	f.Add(bundle(9, hipID("gfx90a")))
	f.Add(compressed(3, 1, bundle(9, hipID("gfx90a"))))
	f.Add(offload(2, offEntry{1, 4, 0, "amdgcn-amd-amdhsa", "gfx942"}))
	f.Add(amdELF(0xE3F, 64, 2))
	f.Add(intelELF(12<<22 | 60<<14 | 7))
	f.Add(ocloc("64.12.60.7"))
	f.Add(spirv(binary.BigEndian, 1))
	f.Add(padTo(cat("MTLB", make([]byte, 12), u64(99)), 99))
	f.Add(cat("DXBC", make([]byte, 16), u32(1), u32(48), u32(1), u32(36), "DXIL", u32(4), u32(0)))
	magics := map[string][]string{
		KindBundle: {bundleMagic}, KindCompressed: {"CCOB"}, KindBinary: {binaryMagic}, KindAMD: {"\x7fELF"}, KindIntel: {"\x7fELF"},
		KindIntelAr: {arMagic}, KindSPIRV: {"\x03\x02\x23\x07", "\x07\x23\x02\x03"}, KindMetal: {"MTLB"}, KindDXIL: {"DXBC"},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := loose(data)
		again, ok2 := loose(data)
		if ok != ok2 || !reflect.DeepEqual(c, again) {
			t.Fatalf("two answers: %v, %v", c, again)
		}
		if !ok {
			if !reflect.DeepEqual(c, Code{}) {
				t.Fatalf("not found, but %+v", c)
			}
			return
		}
		check(t, c, int64(len(data)))
		if !slices.ContainsFunc(magics[c.Kind], func(m string) bool { return bytes.HasPrefix(data, []byte(m)) }) {
			t.Fatalf("%+v begins with %x", c, data[:min(24, len(data))])
		}
	})
}
