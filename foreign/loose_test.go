package foreign

import (
	"bytes"
	"encoding/binary"
	"testing"

	"fatview/internal/fatbintest"
)

func loose(data []byte) (Code, bool) { return ScanLoose(bytes.NewReader(data), int64(len(data))) }

func TestLoose(t *testing.T) {
	two := bundle(500, hipID("gfx90a"), hipID("gfx942"))
	metal := func(size uint64) []byte { return padTo(cat("MTLB", make([]byte, 12), u64(size)), 100) }
	dx := func(part string) []byte {
		return cat("DXBC", make([]byte, 16), u16(1), u16(0), u32(60), u32(2), u32(40), u32(52), "HASH", u32(4), u32(0), part, u32(0))
	}
	word := func(at int, v uint32) []byte {
		b := spirv(binary.LittleEndian, 2)
		le.PutUint32(b[at:], v)
		return b
	}
	zebin := amdELF(0, 0, 0)
	le.PutUint16(zebin[16:], 0xFF12)
	le.PutUint16(zebin[18:], 1)
	for _, c := range []struct {
		name string
		data []byte
		want string // "" for nothing
	}{
		{"bundle", two, "AMD|clang offload bundle|gfx90a,gfx942|1"},
		{"compressed", compressed(3, 1, two), "AMD|compressed clang offload bundle|gfx90a,gfx942|1"},
		{"compressed with zlib", compressed(2, 0, two), "AMD|compressed clang offload bundle|gfx90a,gfx942|1"},
		{"compressed, unreadable", ccobOf(3, 1, 9999, cat(zstdMagic, noise(99))), "|compressed clang offload bundle||1"},
		{"bundle for cuda", bundle(9, "cuda-nvptx64-nvidia-cuda--sm_80"), "NVIDIA|clang offload bundle|sm_80|1"},
		{"bundle for sycl", bundle(9, "sycl-spir64-unknown-unknown"), "Khronos|clang offload bundle|spir64|1"},
		{"bundle for the host", bundle(9), "|clang offload bundle||0"},
		{"bundle, cut", two[:40], ""},
		{"binary", offload(2, offEntry{6, 8, 0, "spirv64-intel-unknown", ""}), "Intel|clang offload binary|spirv64|1"},
		{"binary, cut", offload(2, offEntry{})[:60], ""},
		{"archive for intel", ocloc("64.12.60.7", "32.dg2"), "Intel|Intel GPU archive (ocloc)|intel_gpu_12_60_7,intel_gpu_dg2|1"},
		{"archive of objects", fatbintest.ArGNU(fatbintest.ArMember{Name: "a.o", Data: noise(9)}), ""},
		{"spir-v", spirv(binary.LittleEndian, 2), "Khronos|SPIR-V module|spir64|1"},
		{"spir-v, 32 bit", spirv(binary.LittleEndian, 1), "Khronos|SPIR-V module|spir|1"},
		{"spir-v, big endian", spirv(binary.BigEndian, 0), "Khronos|SPIR-V module|spirv|1"},
		{"spir-v 2.0", word(4, 0x00020000), ""},
		{"spir-v 0.99", word(4, 0x00006300), ""},
		{"spir-v 1.99", word(4, 0x00016300), ""},
		{"spir-v, version in other bytes", word(4, 0x01010401), ""},
		{"spir-v, no ids", word(12, 0), ""},
		{"spir-v, too many ids", word(12, 1<<22), ""},
		{"spir-v, schema", word(16, 1), ""},
		{"spir-v, no capability", word(20, 2<<16|18), ""},
		{"spir-v, header alone", spirv(binary.LittleEndian, 2)[:20], ""},
		{"zebin", intelELF(12<<22 | 55<<14 | 8), "Intel|Intel GPU code object (zebin)|intel_gpu_12_55_8|1"},
		{"zebin, old", zebin, "Intel|Intel GPU code object (zebin)||1"},
		{"library", section(".hip_fatbin", two), ""},
		{"metal", metal(100), "Apple|Metal library||1"},
		{"metal, longer than the file", metal(101), ""},
		{"metal, size 0", metal(0), ""},
		{"dxil", dx("DXIL"), "Microsoft|DirectX shader container|dxil|1"},
		{"dxbc", dx("SHEX"), "Microsoft|DirectX shader container|dxbc|1"},
		{"dxbc without a program", dx("RTS0"), ""},
		{"dxbc, cut", dx("DXIL")[:50], ""},
		{"nothing", nil, ""},
		{"noise", noise(1000), ""},
		{"ptx", []byte(".version 8.0\n.target sm_80\n.address_size 64\n"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := loose(c.data)
			if ok != (c.want != "") || ok && brief([]Code{got}) != c.want {
				t.Errorf("got %s %v, want %s", brief([]Code{got}), ok, c.want)
			}
			if ok && (got.Section != "" || got.Offset != 0 || got.Size != int64(len(c.data))) {
				t.Errorf("place: %+v", got)
			}
		})
	}
}

// Flags are those of the table in "User Guide for AMDGPU Backend".
func TestAMDFlags(t *testing.T) {
	for _, c := range []struct {
		flags      uint32
		osabi, abi byte
		want       string
	}{
		{0x2F, 64, 1, "gfx906"},
		{0x12F, 64, 1, "gfx906:xnack+"},
		{0x330, 64, 1, "gfx908:sramecc+:xnack+"},
		{0x33F, 64, 2, "gfx90a:xnack+"},
		{0xD3F, 64, 2, "gfx90a:sramecc+"}, // xnack any
		{0xE3F, 64, 2, "gfx90a:sramecc+:xnack-"},
		{0x64C, 64, 3, "gfx942:xnack-"},
		{0x041, 64, 3, "gfx1100"},
		{0x01000054, 64, 4, "gfx11-generic"},
		{0x0100055F, 64, 4, "gfx9-4-generic"},
		{0x049, 64, 4, "gfx1250"},
		{0x03, 64, 0, ""}, // version 2: other flags
		{0xFF, 64, 4, ""},
		{0xE3F, 65, 0, "gfx90a"}, // PAL
		{0x0D, 0, 0, "barts"},
	} {
		got, ok := loose(amdELF(c.flags, c.osabi, c.abi))
		want := "AMD|AMD GPU code object|" + c.want + "|1"
		if !ok || brief([]Code{got}) != want {
			t.Errorf("%#x: got %s, want %s", c.flags, brief([]Code{got}), want)
		}
	}
}

func TestIDs(t *testing.T) {
	for id, want := range map[string][3]string{
		"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-": {"hipv4", "AMD", "gfx90a:sramecc+:xnack-"},
		"hip-amdgcn-amd-amdhsa-gfx906":                    {"hip", "AMD", "gfx906"},
		"openmp-nvptx64-nvidia-cuda-sm_70":                {"openmp", "NVIDIA", "sm_70"},
		"openmp-nvptx64-nvidia-cuda--":                    {"openmp", "NVIDIA", "nvptx64"},
		"cuda-nvptx64-nvidia-cuda--sm_90a":                {"cuda", "NVIDIA", "sm_90a"},
		"hip-amdgcn-amd-amdhsa--gfx12-generic":            {"hip", "AMD", "gfx12-generic"},
		"host-x86_64-unknown-linux-gnu-":                  {"host", "", "x86_64"},
		"sycl-spir64-unknown-unknown":                     {"sycl", "Khronos", "spir64"},
		"sycl-spir64_gen":                                 {"sycl", "Intel", "spir64_gen"},
		"sycl-spir64_x86_64-unknown-unknown":              {"sycl", "Intel", "spir64_x86_64"},
		"openmp-x86_64-pc-linux-gnu-":                     {"openmp", "", "x86_64"},
		"":                                                {"", "", ""},
		"----------":                                      {"", "", "-----"},
	} {
		if kind, vendor, target := splitID(id); [3]string{kind, vendor, target} != want {
			t.Errorf("%q: %q %q %q, want %q", id, kind, vendor, target, want)
		}
	}
}
