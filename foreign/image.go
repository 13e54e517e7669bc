package foreign

import (
	"context"
	"strconv"
	"strings"
)

const arMagic = "!<arch>\n"

// imageAt reads one SYCL device image at an offset of v. Images are stored as
// they are or each in a zstd frame.
func (s *scanner) imageAt(v view, at int64) (vendor string, targets []string, end int64, ok bool) {
	if !s.spend(itemCost) {
		return "", nil, 0, false
	}
	v = v.from(at)
	if !v.begins(0, zstdMagic) {
		vendor, targets, size, ok := readImage(v)
		return vendor, targets, at + size, ok
	}
	f, ok := s.readZstd(v)
	if !ok {
		return "", nil, 0, false
	}
	vendor, targets, _, _ = readImage(s.memory(s.unpack(v, methodZstd, maxBlocks)))
	return vendor, targets, at + f.size, true
}

// readImage reads an image that is not compressed, or the beginning of one.
func readImage(v view) (vendor string, targets []string, size int64, ok bool) {
	if size, target, ok := readSPIRV(v); ok {
		if target != "" {
			targets = []string{target}
		}
		return vendorKhronos, targets, size, true
	}
	if c, size, ok := readELF(v); ok {
		return c.Vendor, c.Targets, size, true
	}
	if targets, size, ok := readOcloc(v); ok {
		return vendorIntel, targets, size, true
	}
	return "", nil, 0, false
}

// readOcloc reads an archive of Intel's offline compiler: ar, with a member
// "<32 or 64>.<product>" for each GPU, whose product is a version such as
// 12.60.7 or a short name, "generic_ir" with SPIR-V, and paddings. What DPC++
// calls the target is made from the member's name.
func readOcloc(v view) (targets []string, size int64, ok bool) {
	if !v.begins(0, arMagic) {
		return nil, 0, false
	}
	size = int64(len(arMagic))
	for range maxEntries {
		var h [60]byte
		if !v.full(h[:], size) || h[58] != '`' || h[59] != '\n' {
			break
		}
		length, err := strconv.ParseUint(strings.TrimRight(string(h[48:58]), " "), 10, 40)
		if err != nil {
			break
		}
		name := strings.TrimSuffix(strings.TrimRight(string(h[:16]), " "), "/")
		bits, product, cut := strings.Cut(name, ".")
		switch {
		case cut && (bits == "32" || bits == "64"):
			targets = append(targets, "intel_gpu_"+strings.ReplaceAll(product, ".", "_"))
			ok = true
		case name == "generic_ir":
			targets = append(targets, name)
		case strings.HasPrefix(name, "pad_"):
		default:
			return nil, 0, false // an archive of something else
		}
		end := size + int64(len(h)) + int64(length)
		size = end + end&1
	}
	return targets, min(size, v.size), ok
}

// images reads the SYCL images of a section. id is what the section's name
// says, "" where the name was cut.
func (s *scanner) images(ctx context.Context, v view, id string, t *tally) error {
	_, idVendor, idTarget := splitID(id)
	for at := int64(0); t.items < maxItems; {
		if err := ctx.Err(); err != nil {
			return err
		}
		at = v.skipZeros(at, maxGap)
		vendor, targets, end, ok := s.imageAt(v, at)
		if !ok {
			break
		}
		t.items++
		if idVendor != "" {
			vendor = idVendor
		}
		if len(targets) == 0 {
			targets = []string{idTarget}
		}
		for _, target := range targets {
			t.add(vendor, target)
		}
		at = end
	}
	if t.items == 0 && id != "" {
		// Native code of a CPU, a fat binary, bitcode: one at least.
		t.items++
		t.add(idVendor, idTarget)
	}
	return *v.fail
}
