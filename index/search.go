package index

import (
	"context"
	"sort"

	"fatview/elfscan"
	"fatview/fatbin"
)

// Search looks for containers outside of the named sections, by magic and
// checked header. It reads what Open did not, so it comes after the first
// answer.
// Search must not run at the same time as anything that ranges over
// Containers.
func (f *File) Search(ctx context.Context) error {
	found, err := f.Outside(ctx)
	if err != nil {
		return err // and it can be tried again
	}
	f.Adopt(found)
	return nil
}

// Found is a container from outside of the named sections.
type Found struct {
	c  *fatbin.Container
	rg elfscan.Range
}

// Outside does the reading of Search and changes nothing, so that it can run
// beside other readers; Adopt adds what it found.
func (f *File) Outside(ctx context.Context) ([]Found, error) {
	if f.searched {
		return nil, nil
	}
	var found []Found
	var rest []elfscan.Range
	for _, rg := range f.object.Ranges {
		if rg.Kind == elfscan.KindOther {
			rest = append(rest, rg)
		}
	}
	head := make([]byte, 80)
	err := elfscan.Search(ctx, f.r, rest, fatbin.Magic(), 1, func(off int64) int64 {
		rg, ok := rangeAt(rest, off)
		if n, _ := f.r.ReadAt(head, off); !ok || n < len(head) {
			return 0
		}
		limit := rg.Offset + rg.Size
		if !fatbin.CheckHeader(head, off, limit) {
			return 0
		}
		c, err := fatbin.ReadContainer(f.r, off, limit)
		if err != nil || len(c.Images) == 0 {
			return 0
		}
		if found = append(found, Found{c, rg}); len(found) > maxContainers {
			return limit // Adopt says that there are more
		}
		return c.Offset + c.Size
	})
	return found, err
}

// Adopt adds containers found outside of the named sections.
func (f *File) Adopt(found []Found) {
	f.searched = true
	for _, x := range found {
		if !f.add(x.c, x.rg) {
			return
		}
	}
}

// rangeAt finds the range that holds an offset; the ranges are in file order.
func rangeAt(ranges []elfscan.Range, off int64) (elfscan.Range, bool) {
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].Offset+ranges[i].Size > off })
	if i == len(ranges) || ranges[i].Offset > off {
		return elfscan.Range{}, false
	}
	return ranges[i], true
}
