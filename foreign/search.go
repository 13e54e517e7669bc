package foreign

import (
	"context"
	"strings"

	"fatview/elfscan"
)

// takers are the beginnings of names of libraries that are handed SPIR-V.
var takers = []string{
	"libsycl", "sycl", "libze_loader", "ze_loader", "libopencl", "opencl", "libur_", "ur_", "libomptarget", "libvulkan", "vulkan",
}

func takesSPIRV(needed []string) bool {
	for _, n := range needed {
		n = strings.ToLower(n)
		for _, t := range takers {
			if strings.HasPrefix(n, t) {
				return true
			}
		}
	}
	return false
}

// searchSPIRV looks for modules anywhere in an object, by magic number and
// checked header.
func (s *scanner) searchSPIRV(ctx context.Context, v view, o *elfscan.Object) ([]Code, error) {
	var ranges []elfscan.Range
	for _, r := range o.Ranges {
		if r.Kind == elfscan.KindOther {
			ranges = append(ranges, r)
		}
	}
	var out []Code
	i, items := 0, 0
	magic := le.AppendUint32(nil, spirvMagic)
	err := elfscan.Search(ctx, v.r, ranges, magic, 1, func(off int64) int64 {
		// Hits come in the order of the ranges.
		for off < ranges[i].Offset || off >= ranges[i].Offset+ranges[i].Size {
			i++
		}
		r := ranges[i]
		size, target, ok := readSPIRV(v.from(off).cut(r.Offset + r.Size - off))
		if *v.fail != nil || items >= maxItems || !s.spend(itemCost) {
			return r.Offset + r.Size
		}
		if !ok {
			return 0
		}
		items++
		c := Code{Vendor: vendorKhronos, Kind: KindSPIRV, Section: r.Name, Offset: off, Size: size, Count: 1}
		if target != "" {
			c.Targets = []string{target}
		}
		if len(out) < maxSections {
			out = merge(out, c)
		}
		return off + size
	})
	if err == nil {
		err = *v.fail
	}
	return out, err
}
