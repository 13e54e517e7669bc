package foreign

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"fatview/elfscan"
	"fatview/internal/fatbintest"
)

// brief is vendor, kind, targets and count.
func brief(codes []Code) string {
	var lines []string
	for _, c := range codes {
		lines = append(lines, fmt.Sprintf("%s|%s|%s|%d", c.Vendor, c.Kind, strings.Join(c.Targets, ","), c.Count))
	}
	return strings.Join(lines, "; ")
}

func expect(t *testing.T, data []byte, want string) {
	t.Helper()
	if got := brief(scanAll(t, data)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSections(t *testing.T) {
	two := bundle(5000, hipID("gfx90a:sramecc+:xnack-"), hipID("gfx942"))
	hip := "AMD|HIP fat binary|gfx90a:sramecc+:xnack-,gfx942|1"
	cuda := bundle(100, "cuda-nvptx64-nvidia-cuda--sm_80")
	mixed := bundle(100, "openmp-amdgcn-amd-amdhsa--gfx906", "openmp-nvptx64-nvidia-cuda--sm_70")
	zstdImage := func(b []byte) []byte { return align(fatbintest.CompressZstd(b), 16) }
	spv := spirv(binary.LittleEndian, 2)
	for _, c := range []struct {
		name, section string
		data          []byte
		want          string
	}{
		{"plain bundle", ".hip_fatbin", two, hip},
		{"two, aligned", ".hip_fatbin", cat(align(two, 4096), bundle(10, hipID("gfx1100"))), "AMD|HIP fat binary|gfx1100,gfx90a:sramecc+:xnack-,gfx942|2"},
		{"far apart", ".hip_fatbin", cat(two, noise(100<<10), bundle(10, hipID("gfx1100"))), "AMD|HIP fat binary|gfx1100,gfx90a:sramecc+:xnack-,gfx942|2"},
		{"after padding", ".hip_fatbin", cat(make([]byte, 200<<10), two), hip},
		{"zlib v1", ".hip_fatbin", compressed(1, 0, two), hip},
		{"zstd v1", ".hip_fatbin", compressed(1, 1, two), hip},
		{"zlib v2", ".hip_fatbin", compressed(2, 0, two), hip},
		{"zstd v2", ".hip_fatbin", compressed(2, 1, two), hip},
		{"zlib v3", ".hip_fatbin", compressed(3, 0, two), hip},
		{"zstd v3", ".hip_fatbin", compressed(3, 1, two), hip},
		{"many kinds", ".hip_fatbin", cat(
			align(compressed(3, 1, bundle(9, hipID("gfx908"))), 4096), align(bundle(9, hipID("gfx900")), 4096),
			align(compressed(1, 0, bundle(9, hipID("gfx901"))), 4096), align(compressed(2, 1, bundle(9, hipID("gfx902"))), 4096)),
			"AMD|HIP fat binary|gfx900,gfx901,gfx902,gfx908|4"},
		{"old id without environment", ".hip_fatbin", bundle(9, "hip-amdgcn-amd-amdhsa-gfx906"), "AMD|HIP fat binary|gfx906|1"},
		{"generic processor", ".hip_fatbin", bundle(9, hipID("gfx9-4-generic:xnack+")), "AMD|HIP fat binary|gfx9-4-generic:xnack+|1"},
		{"spir-v for amd", ".hip_fatbin", bundle(9, "hip-spirv64-amd-amdhsa--amdgcnspirv"), "AMD|HIP fat binary|amdgcnspirv|1"},
		{"nvidia in it", ".hip_fatbin", cuda, "NVIDIA|clang offload bundle|sm_80|1"},
		{"two vendors", ".hip_fatbin", mixed, "AMD|HIP fat binary|gfx906|1; NVIDIA|clang offload bundle|sm_70|1"},
		{"host alone", ".hip_fatbin", bundle(9), "AMD|HIP fat binary||0"},
		{"emptied", ".hip_fatbin", make([]byte, 5000), "AMD|HIP fat binary||0"},
		{"noise", ".hip_fatbin", noise(5000), "AMD|HIP fat binary||0"},
		{"kpack", ".rocm_kpack_ref", noise(50), "AMD|reference to HIP code in separate files||1"},
		{"record alone", ".hipFatBinSegment", cat(u32(0x48495046), u32(1), u64(0), u64(0)), "AMD|HIP registration record||1"},
		{"no record", ".hipFatBinSegment", make([]byte, 24), ""},
		{"musa", ".mt_fatbin", noise(50), "Moore Threads|MUSA fat binary||1"},
		{"ascend", ".aicore_binary", noise(50), "Huawei|Ascend AI Core binary||1"},

		{"section of clang's bundler", bundleMagic + "hip-amdgcn-amd-amdhsa--gfx906", noise(9), "AMD|clang offload bundle|gfx906|1"},
		{"that of the host", bundleMagic + "host-x86_64-unknown-linux", []byte{0}, ""},
		{"sycl, packed", bundleMagic + "sycl-spir64", cat(zstdImage(spv), zstdImage(spv)), "Khronos|SYCL device image|spir64|2"},
		{"sycl, plain", bundleMagic + "sycl-spir64", cat(align(spv, 16), align(spv, 16), spv), "Khronos|SYCL device image|spir64|3"},
		{"sycl for intel", bundleMagic + "sycl-spir64_gen", cat(zstdImage(ocloc("64.12.60.7", "64.12.70.4", "generic_ir")), align(ocloc("64.tgllp"), 16)),
			"Intel|SYCL device image|generic_ir,intel_gpu_12_60_7,intel_gpu_12_70_4,intel_gpu_tgllp|2"},
		{"sycl, zebin", bundleMagic + "sycl-spir64_gen", cat(align(intelELF(12<<22|60<<14|7), 16), zstdImage(intelELF(20<<22|1<<14|4))),
			"Intel|SYCL device image|intel_gpu_12_60_7,intel_gpu_20_1_4|2"},
		{"sycl for amd", bundleMagic + "sycl-amdgcn-amd-amdhsa-gfx90a", amdELF(0x3F, 64, 2), "AMD|SYCL device image|gfx90a|1"},
		{"sycl for nvidia", bundleMagic + "sycl-nvptx64-nvidia-cuda-sm_80", noise(99), "NVIDIA|SYCL device image|sm_80|1"},
		{"sycl for a cpu", bundleMagic + "sycl-native_cpu", noise(99), "|SYCL device image|native_cpu|1"},
		{"name cut", "__CLANG_", cat(zstdImage(spv), zstdImage(ocloc("64.12.60.7"))), "Khronos|SYCL device image|spir64|1; Intel|SYCL device image|intel_gpu_12_60_7|1"},
		{"name cut, unknown", "__CLANG_", noise(99), "|clang offload bundle||0"},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, section(c.section, c.data), c.want) })
	}
}

func TestOffloadBinaries(t *testing.T) {
	amd := offEntry{1, 4, 0, "amdgcn-amd-amdhsa", "gfx942"}
	cuda := offEntry{3, 2, 0, "nvptx64-nvidia-cuda", "sm_90"}
	spv := offEntry{6, 8, 0, "spirv64-unknown-unknown", ""}
	intel := offEntry{1, 8, 0, "spirv64-intel-unknown", "generic"}
	bare := offEntry{1, 4, 0, "", "gfx90a"}
	meta := offEntry{1, 4, 1, "amdgcn-amd-amdhsa", "gfx1"}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"v1", offload(1, amd), "AMD|clang offload binary|gfx942|1"},
		{"v2", offload(2, amd, cuda), "AMD|clang offload binary|gfx942|1; NVIDIA|clang offload binary|sm_90|1"},
		{"v3", offload(3, spv, meta), "Khronos|clang offload binary|spirv64|1"},
		{"triples and arches", offload(2, intel, bare), "Intel|clang offload binary|spirv64|1; AMD|clang offload binary|gfx90a|1"},
		{"one after another", cat(offload(1, amd), offload(2, spv), offload(3, cuda)),
			"AMD|clang offload binary|gfx942|1; Khronos|clang offload binary|spirv64|1; NVIDIA|clang offload binary|sm_90|1"},
		{"packed with zlib", cat(packBinary(offload(3, amd), deflate), offload(1, bare)), "AMD|clang offload binary|gfx90a,gfx942|2"},
		{"packed with zstd", packBinary(offload(3, amd, cuda), fatbintest.CompressZstd), "AMD|clang offload binary|gfx942|1; NVIDIA|clang offload binary|sm_90|1"},
		{"v4", cat(binaryMagic, u32(4), make([]byte, 90)), "|clang offload binary||0"},
		{"cut", offload(2, amd)[:100], "|clang offload binary||0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, section(".llvm.offloading", c.data), c.want)
			expect(t, fatbintest.COFF{Sections: []fatbintest.HostSection{{Name: ".llvm.offloadin", Data: c.data}}}.Bytes(), c.want)
		})
	}
	expect(t, fatbintest.PE{Sections: []fatbintest.HostSection{{Name: ".llvm.offloading", Data: offload(1, amd)}}}.Bytes(), "AMD|clang offload binary|gfx942|1")
	expect(t, fatbintest.PE{Sections: []fatbintest.HostSection{{Name: ".llvm.other", Data: noise(50)}}}.Bytes(), "")
}

func TestPlaces(t *testing.T) {
	data := bundle(50, hipID("gfx90a"))
	pe := fatbintest.PE{Sections: []fatbintest.HostSection{
		{Name: ".text", Data: noise(100)}, {Name: ".hip_fatbin", Data: data}, {Name: ".hipFatBinSegment", Data: cat("FPIH", make([]byte, 20))},
	}}.Bytes()
	at := int64(bytes.Index(pe, []byte(bundleMagic)))
	want := []Code{{Vendor: "AMD", Kind: KindHIP, Targets: []string{"gfx90a"}, Section: ".hip_fat", Offset: at, Size: int64(len(data)), Count: 1}}
	if got := scanAll(t, pe); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := want[0].String(); s != "HIP fat binary for gfx90a (AMD)" {
		t.Error(s)
	}

	// In an archive, offsets are the archive's.
	obj := section(".hip_fatbin", data)
	ar := fatbintest.ArGNU(fatbintest.ArMember{Name: "a.o", Data: section(".x", nil)}, fatbintest.ArMember{Name: "b.o", Data: obj})
	got := scanAll(t, ar)
	if len(got) != 1 || got[0].Offset != int64(bytes.Index(ar, []byte(bundleMagic))) {
		t.Errorf("got %+v", got)
	}

	// Sections of one name are one code.
	many := fatbintest.ELF{Sections: []fatbintest.HostSection{
		{Name: ".hip_fatbin", Data: bundle(50, hipID("gfx942"))}, {Name: ".hip_fatbin", Data: data},
		{Name: ".rocm_kpack_ref", Data: []byte{1}},
	}}.Bytes()
	expect(t, many, "AMD|HIP fat binary|gfx90a,gfx942|2; AMD|reference to HIP code in separate files||1")
	emptied := fatbintest.ELF{Sections: []fatbintest.HostSection{{Name: ".hip_fatbin", Data: make([]byte, 99)}, {Name: ".rocm_kpack_ref", Data: []byte{1}}}}.Bytes()
	expect(t, emptied, "AMD|reference to HIP code in separate files||1")
}

func TestDeviceELFAsObject(t *testing.T) {
	expect(t, amdELF(0x4C, 64, 4), "AMD|AMD GPU code object|gfx942|1")
	expect(t, intelELF(12<<22|71<<14|4), "Intel|Intel GPU code object (zebin)|intel_gpu_12_71_4|1")
}

func TestSearch(t *testing.T) {
	spv, logical := spirv(binary.LittleEndian, 2), spirv(binary.LittleEndian, 0)
	magic := u32(0x07230203)
	lib := func(needed string) []byte {
		return fatbintest.ELF{Needed: []string{"libc.so.6", needed}, Sections: []fatbintest.HostSection{
			{Name: ".rodata", Data: cat(noise(33), spv, noise(7), magic, noise(50), logical, spv)}, {Name: ".data", Data: spv},
		}}.Bytes()
	}
	for _, n := range []string{"libsycl.so.8", "libze_loader.so.1", "libOpenCL.so.1", "libur_loader.so.0", "libomptarget.so", "libvulkan.so.1"} {
		codes := scanAll(t, lib(n))
		if got, want := brief(codes), "Khronos|SPIR-V module|spir64,spirv|3; Khronos|SPIR-V module|spir64|1"; got != want {
			t.Errorf("%s: got %s", n, got)
			continue
		}
		at := int64(bytes.Index(lib(n), spv))
		if c := codes[0]; c.Section != ".rodata" || c.Offset != at || c.Size != int64(2*len(spv)+len(logical)) {
			t.Errorf("got %+v", c)
		}
	}
	codes, c := scanCounted(t, lib("libcudart.so.12"))
	if codes != nil || c.reads.Load() != 0 {
		t.Errorf("%v after %d reads", codes, c.reads.Load())
	}
	// A module ends with its last function, whatever follows it, and what
	// looks like one in its strings is none.
	text := cat(u32(9<<16|7), u32(3), spv[:28]) // OpString
	alone := fatbintest.ELF{Needed: []string{"libsycl.so"}, Sections: []fatbintest.HostSection{{Name: ".rodata", Data: cat(spv[:28], text, spv[28:], u32(2<<16|19), u32(1))}}}.Bytes()
	if c := scanAll(t, alone); len(c) != 1 || c[0].Count != 1 || c[0].Size != int64(len(spv)+36) {
		t.Errorf("got %+v", c)
	}
	dll := fatbintest.PE{Imports: []string{"SYCL8.dll"}, Sections: []fatbintest.HostSection{{Name: ".rdata", Data: spv}}}
	expect(t, dll.Bytes(), "Khronos|SPIR-V module|spir64|1")
	// Where a section tells, nothing is searched.
	hip := fatbintest.ELF{Needed: []string{"libOpenCL.so.1"}, Sections: []fatbintest.HostSection{{Name: ".hip_fatbin", Data: bundle(9, hipID("gfx1"))}, {Name: ".rodata", Data: spv}}}
	expect(t, hip.Bytes(), "AMD|HIP fat binary|gfx1|1")
}

// A library of CUDA and one without device code have nothing and cost nothing.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("../testdata/fixtures/*")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := ScanLoose(bytes.NewReader(data), int64(len(data))); ok {
			t.Errorf("%s: %v", name, c)
		}
		if _, err := elfscan.Scan(bytes.NewReader(data), int64(len(data))); err != nil {
			continue // text, empty
		}
		if codes, c := scanCounted(t, data); codes != nil || c.reads.Load() != 0 {
			t.Errorf("%s: %v after %d reads", name, codes, c.reads.Load())
		}
	}
}

func TestErrors(t *testing.T) {
	data := section(".hip_fatbin", cat(bundle(50, hipID("gfx90a")), noise(100)))
	f, err := elfscan.Scan(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if codes, err := Scan(ctx, bytes.NewReader(data), &f.Objects[0]); !errors.Is(err, context.Canceled) || codes != nil {
		t.Errorf("%v, %v", codes, err)
	}
	broken := errors.New("disk on fire")
	if codes, err := Scan(context.Background(), failing{broken}, &f.Objects[0]); !errors.Is(err, broken) || codes != nil {
		t.Errorf("%v, %v", codes, err)
	}
	if c, ok := ScanLoose(failing{broken}, 1000); ok {
		t.Error(c)
	}
	// A file that shrank since it was scanned.
	short := bytes.NewReader(data[:bytes.Index(data, []byte(bundleMagic))+4200])
	if _, err := Scan(context.Background(), short, &f.Objects[0]); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestString(t *testing.T) {
	c := Code{Vendor: "AMD", Kind: KindHIP}
	for i := range 15 {
		c.Targets = append(c.Targets, fmt.Sprintf("t%02d", i))
	}
	if got, want := c.String(), "HIP fat binary for t00, t01, t02, t03, t04, t05, t06, t07, t08, t09, t10, t11 and 3 more (AMD)"; got != want {
		t.Errorf("got %s", got)
	}
	if got := (Code{Kind: KindBundle}).String(); got != "clang offload bundle" {
		t.Error(got)
	}
}
