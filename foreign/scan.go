package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"fatview/elfscan"
)

// maxSections bounds how many sections of device code are looked into. An
// object has a handful; a damaged table may name the same one a million times.
const maxSections = 4096

// A scanner has the memory that reading one object takes, and what it may
// still do.
type scanner struct {
	zstd      *zstd.Decoder
	in, out   []byte
	allowance int64
}

// What a scan may do is counted in bytes that come out of compressed tables;
// other steps count as if they were that many, which is about what they take.
// Tables that overlap or name the same bytes a thousand times could otherwise
// make a small file take hours. A scan may unpack as many bytes as the file has
// and 64 MiB, which is 500 tables of 128 KiB.
const (
	minAllowance = 64 << 20
	itemCost     = 2048 // a bundle, an image, a place that looked like one
	stepCost     = 128  // an entry, a string, a block
)

// spend tells whether there was something left.
func (s *scanner) spend(n int64) bool {
	if s.allowance <= 0 {
		return false
	}
	s.allowance -= n
	return true
}

func newScanner(size int64) *scanner { return &scanner{allowance: minAllowance + max(0, size)} }

func (s *scanner) close() {
	if s.zstd != nil {
		s.zstd.Close()
	}
}

// Scan names the device code of other vendors in an object that elfscan found
// in r. It goes by the names of sections; an object without such sections
// costs nothing, and one with them some reads of headers and tables. Only an
// object that asks for a library that takes SPIR-V (SYCL, Level Zero, OpenCL,
// Vulkan, OpenMP offloading) and has none of the sections is searched for it,
// which reads the whole object; there, modules in little-endian order are
// found.
//
// Codes are in the order of the ranges, one for each vendor, kind and name of
// a section. Memory is bounded by some MiB. The error is that of ctx or of
// the reader, and then nothing else is returned; damage to device code gives no
// error, but a Code that says less.
func Scan(ctx context.Context, r io.ReaderAt, o *elfscan.Object) ([]Code, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var fail error
	s := newScanner(o.Size)
	defer s.close()
	out, err := s.object(ctx, view{r, 0, o.Offset + o.Size, &fail}, o)
	if err == nil {
		err = fail
	}
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, ctx.Err()) && ctx.Err() != nil:
		return nil, err
	}
	return nil, fmt.Errorf("reading device code of other vendors at offset 0x%x: %w", o.Offset, err)
}

func (s *scanner) object(ctx context.Context, v view, o *elfscan.Object) ([]Code, error) {
	switch {
	case o.Format == elfscan.FormatELF && (o.Machine == fmt.Sprint("machine ", emAMDGPU) || o.Machine == fmt.Sprint("machine ", emIntelGT)):
		c, _, ok := readELF(v.from(o.Offset))
		if !ok {
			return nil, nil
		}
		c.Offset, c.Size = o.Offset, o.Size
		return []Code{c}, nil
	case o.Format != elfscan.FormatELF && o.Format != elfscan.FormatPE && o.Format != elfscan.FormatCOFF:
		return nil, nil
	}
	var out []Code
	seen := 0
	for _, rg := range o.Ranges {
		role := roleOf(rg.Name)
		if role == nil {
			continue
		}
		if seen++; seen > maxSections {
			break
		}
		codes, err := role(s, ctx, v.from(rg.Offset).cut(rg.Size), Code{Section: rg.Name, Offset: rg.Offset, Size: rg.Size})
		if err != nil {
			return nil, err
		}
		for _, c := range codes {
			out = merge(out, c)
		}
	}
	out = tidy(out)
	if len(out) == 0 && takesSPIRV(o.Needed) {
		return s.searchSPIRV(ctx, v, o)
	}
	return out, nil
}

// A role reads a section of one kind. like has the place.
type role func(s *scanner, ctx context.Context, v view, like Code) ([]Code, error)

// roleOf tells what a section is by its name. Names in PE images are cut to
// eight characters, and COFF has had its own limits.
func roleOf(name string) role {
	named := func(kind, vendor string, count int) role {
		return func(_ *scanner, _ context.Context, _ view, like Code) ([]Code, error) {
			like.Kind, like.Vendor, like.Count = kind, vendor, count
			return []Code{like}, nil
		}
	}
	switch name {
	case "":
		return nil
	case ".hip_fatbin", ".hip_fat":
		return (*scanner).hip
	case ".hipFatBinSegment", ".hipFatB":
		return (*scanner).hipRecords
	case ".rocm_kpack_ref", ".kpackrf":
		return named(KindKpack, vendorAMD, 1)
	case ".mt_fatbin":
		return named(KindMUSA, vendorMoore, 1)
	case ".aicore_binary":
		return named(KindAscend, vendorHuawei, 1)
	case ".llvm.of":
		return (*scanner).offloading
	case bundleMagic[:8]:
		return (*scanner).bundled
	}
	switch {
	case strings.HasPrefix(name, ".llvm.offloadin"):
		return (*scanner).offloading
	case strings.HasPrefix(name, bundleMagic):
		return (*scanner).bundled
	}
	return nil
}

func (s *scanner) hip(ctx context.Context, v view, like Code) ([]Code, error) {
	t := tally{fallback: vendorAMD}
	err := s.bundles(ctx, v, &t)
	like.Kind = KindHIP
	out := t.codes(like)
	if len(out) == 0 {
		like.Vendor = vendorAMD
		out = []Code{like}
	}
	for i := range out {
		if out[i].Vendor == vendorNVIDIA {
			out[i].Kind = KindBundle
		}
	}
	return out, err
}

// hipRecordMagic is that of __hipRegisterFatBinary's argument, 0x48495046.
const hipRecordMagic = "FPIH"

func (s *scanner) hipRecords(_ context.Context, v view, like Code) ([]Code, error) {
	if !v.begins(v.skipZeros(0, 64), hipRecordMagic) {
		return nil, nil
	}
	like.Kind, like.Vendor, like.Count = KindHIPRecord, vendorAMD, 1
	return []Code{like}, nil
}

func (s *scanner) offloading(ctx context.Context, v view, like Code) ([]Code, error) {
	if like.Section == ".llvm.of" && !v.begins(v.skipZeros(0, maxGap), binaryMagic) {
		return nil, nil // the name was cut too short to tell
	}
	var t tally
	err := s.binaries(ctx, v, &t)
	like.Kind = KindBinary
	out := t.codes(like)
	if len(out) == 0 && t.items == 0 {
		out = []Code{like}
	}
	return out, err
}

// bundled reads a section that clang's bundler named after the code in it.
func (s *scanner) bundled(ctx context.Context, v view, like Code) ([]Code, error) {
	id := strings.TrimPrefix(like.Section, bundleMagic)
	if id == like.Section {
		id = ""
	}
	var t tally
	kind, vendor, target := splitID(id)
	switch {
	case kind == "host":
		return nil, nil // one byte, so that the section exists
	case kind == "sycl" || id == "":
		err := s.images(ctx, v, id, &t)
		like.Kind = KindSYCL
		if t.items == 0 {
			like.Kind = KindBundle
			return []Code{like}, err
		}
		return t.codes(like), err
	}
	t.add(vendor, target)
	like.Kind = KindBundle
	return t.codes(like), nil
}

// merge adds a code to those found before.
func merge(all []Code, c Code) []Code {
	i := slices.IndexFunc(all, func(o Code) bool {
		return o.Vendor == c.Vendor && o.Kind == c.Kind && o.Section == c.Section
	})
	if i < 0 {
		return append(all, c)
	}
	o := &all[i]
	o.Size += c.Size
	o.Count = min(o.Count+c.Count, maxItems)
	o.Targets = append(o.Targets, c.Targets...)
	slices.Sort(o.Targets)
	o.Targets = slices.Compact(o.Targets)
	o.Targets = o.Targets[:min(len(o.Targets), maxTargets)]
	return all
}

// tidy drops what other codes say better: records where the code was found, and
// a section that was emptied because its code is in separate files.
func tidy(all []Code) []Code {
	has := func(kind string) bool {
		return slices.ContainsFunc(all, func(c Code) bool { return c.Kind == kind })
	}
	moved, found := has(KindKpack), has(KindHIP)
	return slices.DeleteFunc(all, func(c Code) bool {
		return c.Kind == KindHIPRecord && (found || moved) || c.Kind == KindHIP && moved && c.Count == 0
	})
}
