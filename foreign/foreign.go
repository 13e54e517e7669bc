// Package foreign names device code that is not CUDA's, so that a library
// without CUDA code can be told from one for AMD, Intel or other GPUs. It reads
// headers and tables of targets; what is compiled it never looks at.
//
// The layouts, all little-endian unless a line says otherwise:
//
//	clang offload bundle      24 bytes "__CLANG_OFFLOAD_BUNDLE__", u64 count, then per entry
//	                          u64 offset, u64 size, u64 length of the id, the id
//	compressed bundle         "CCOB", u16 version, u16 method (0 zlib, 1 zstd), then
//	                          version 1: u32 unpacked size; 2: u32 stored, u32 unpacked;
//	                          3: u64 stored, u64 unpacked; then u64 hash and the data.
//	                          The stored size counts the header.
//	clang offload binary      10 FF 10 AD, u32 version, u64 size, u64 offset of the entries,
//	                          u64 their count (version 1: their size, there is one), and in
//	                          version 3 u64 unpacked size, 0 if not compressed
//	SPIR-V module             u32 0x07230203 in either byte order, u32 version, u32 tool,
//	                          u32 bound of ids, u32 0, then instructions
//	AMD GPU code object       ELF, machine 224; the GPU is in e_flags
//	Intel GPU code object     ELF, machine 205 (zebin); the GPU is in .note.intelgt.compat
//	Metal library             "MTLB", u64 size of the file at 16
//	DirectX container         "DXBC", u32 size at 24, u32 count of parts at 28
//
// Sources: "Clang Offload Bundler" and "Clang Linker Wrapper" of the clang
// documentation, LLVM's OffloadBundle and OffloadBinary headers and readers,
// "User Guide for AMDGPU Backend" and LLVM's test of every e_flags value, the
// SPIR-V specification sections 2.3 and 2.4, Intel's zebin specification in the
// graphics compiler, DPC++'s list of -fsycl-targets, and LLVM's DXContainer
// page. Metal's format has no public description; its header is that which
// others found. How SYCL images lie in libraries was read off bitsandbytes for
// XPU on Linux and Windows: sections __CLANG_OFFLOAD_BUNDLE__sycl-<target>, in
// PE files cut to __CLANG_, that hold the images one after another, each a zstd
// frame, a SPIR-V module, or an archive that Intel's offline compiler made.
//
// Sections that are known by their names alone: .rocm_kpack_ref (.kpackrf in
// PE), by which ROCm's packages refer to code in separate files; .mt_fatbin of
// Moore Threads' MUSA; .aicore_binary of Huawei's Ascend.
//
// Not promised: that nothing else is there. Code inside compressed resources,
// in sections with other names, or behind a loader of its own is not seen.
package foreign

import (
	"slices"
	"strconv"
	"strings"
)

// The kinds.
const (
	KindHIP        = "HIP fat binary"
	KindHIPRecord  = "HIP registration record" // the code itself was not found
	KindKpack      = "reference to HIP code in separate files"
	KindBundle     = "clang offload bundle"
	KindCompressed = "compressed clang offload bundle"
	KindBinary     = "clang offload binary"
	KindSYCL       = "SYCL device image"
	KindSPIRV      = "SPIR-V module"
	KindAMD        = "AMD GPU code object"
	KindIntel      = "Intel GPU code object (zebin)"
	KindIntelAr    = "Intel GPU archive (ocloc)"
	KindMUSA       = "MUSA fat binary"
	KindAscend     = "Ascend AI Core binary"
	KindMetal      = "Metal library"
	KindDXIL       = "DirectX shader container"
)

// The vendors.
const (
	vendorAMD       = "AMD"
	vendorIntel     = "Intel"
	vendorNVIDIA    = "NVIDIA"
	vendorKhronos   = "Khronos" // SPIR-V whose taker is unknown
	vendorApple     = "Apple"
	vendorMicrosoft = "Microsoft"
	vendorHuawei    = "Huawei"
	vendorMoore     = "Moore Threads"
)

// maxTargets bounds what one Code lists. Libraries name a few dozen.
const maxTargets = 256

// Code is what was found of one kind, for one vendor, in one section.
type Code struct {
	Vendor string // "AMD", "Intel", …, "NVIDIA" for CUDA code in clang's containers; "" if nothing tells
	Kind   string // one of the constants

	// Targets are processors or, where the format names none, the
	// architecture: "gfx90a:sramecc+:xnack-", "sm_80", "intel_gpu_12_60_7",
	// "spir64". Unique, sorted, at most 256, at most 256 bytes each, as stored:
	// text from a file that is not fit for a terminal. Empty if the code names
	// none or could not be read.
	Targets []string

	Section string // as stored, at most 256 bytes; "" for a whole file
	Offset  int64  // in the reader, of the section or of the first module
	Size    int64  // bytes of the sections of that name, or of the modules

	// Count is the number of bundles, binaries, images or modules that hold
	// code for the vendor, at most 65536. 0 means that the name of the section
	// tells the kind and that its content could not be read.
	Count int
}

// shownTargets is how many targets String lists.
const shownTargets = 12

// String is one line for people: "HIP fat binary for gfx90a, gfx942 (AMD)".
// Targets are as stored.
func (c Code) String() string {
	var b strings.Builder
	b.WriteString(c.Kind)
	if n := len(c.Targets); n > 0 {
		b.WriteString(" for ")
		b.WriteString(strings.Join(c.Targets[:min(n, shownTargets)], ", "))
		if n > shownTargets {
			b.WriteString(" and " + strconv.Itoa(n-shownTargets) + " more")
		}
	}
	if c.Vendor != "" {
		b.WriteString(" (" + c.Vendor + ")")
	}
	return b.String()
}

// A tally gathers what one section holds, vendor by vendor.
type tally struct {
	fallback string // vendor of items that do not tell
	items    int    // bundles, binaries, images or modules that were read
	groups   []*group
}

type group struct {
	vendor  string
	targets map[string]bool
	count   int
	last    int // item that was counted last
}

// add notes a target of the item that is being read. An empty target only
// counts.
func (t *tally) add(vendor, target string) {
	i := slices.IndexFunc(t.groups, func(g *group) bool { return g.vendor == vendor })
	if i < 0 {
		i = len(t.groups)
		t.groups = append(t.groups, &group{vendor: vendor, targets: map[string]bool{}, last: -1})
	}
	g := t.groups[i]
	if g.last != t.items {
		g.count, g.last = g.count+1, t.items
	}
	if target != "" && len(g.targets) < maxTargets {
		g.targets[target] = true
	}
}

// codes turns the groups into codes, in the order in which vendors appeared.
func (t *tally) codes(like Code) []Code {
	var out []Code
	for _, g := range t.groups {
		c := like
		c.Vendor, c.Count = g.vendor, g.count
		for name := range g.targets {
			c.Targets = append(c.Targets, name)
		}
		slices.Sort(c.Targets)
		out = append(out, c)
	}
	return out
}
