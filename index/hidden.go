package index

import (
	"context"
	"errors"
	"sync"

	"fatview/elfscan"
	"fatview/fatbin"
)

// What device code outside of the named sections begins with, in the order of
// hiddenPatterns.
const (
	hiddenContainer = iota
	hiddenOld
	hiddenGzip
	hiddenELF
	hiddenPTX
)

// hiddenPatterns are made once; they do not change. Fat binaries are looked
// for everywhere: compilers of other languages put data beside code.
var hiddenPatterns = sync.OnceValues(func() (*elfscan.Patterns, error) {
	return elfscan.NewPatterns(
		elfscan.Pattern{Bytes: fatbin.Magic()},
		elfscan.Pattern{Bytes: fatbin.OldMagic(), Data: true},
		elfscan.Pattern{Bytes: fatbin.GzipMagic(), Data: true},
		elfscan.Pattern{Bytes: []byte("\x7fELF"), Data: true},
		elfscan.Pattern{Bytes: []byte(".version"), Data: true},
	)
})

// A hunt is one search of a file.
type hunt struct {
	f       *File
	ranges  []elfscan.Range
	prober  *fatbin.Prober
	head    [80]byte
	out     []Found
	found   int          // containers in out
	told    int          // findings in out
	false   int          // magic numbers that began nothing
	rng     int          // range of the last container
	end     int64        // where that ends
	refused map[int]bool // patterns that are not looked into any more
}

// Outside does the reading of Search and changes nothing, so that it can run
// beside other readers; Adopt adds what it found.
func (f *File) Outside(ctx context.Context) ([]Found, error) {
	if f.searched {
		return nil, nil
	}
	patterns, err := hiddenPatterns()
	if err != nil {
		return nil, err
	}
	h := &hunt{f: f, prober: fatbin.NewProber(f.r, f.object.Size), rng: -1, refused: map[int]bool{}}
	for _, rg := range f.object.Ranges {
		if rg.Kind == elfscan.KindOther {
			h.ranges = append(h.ranges, rg)
		}
	}
	err = patterns.Search(ctx, f.r, h.ranges, h.visit)
	if h.false > 0 {
		h.out = append(h.out, Found{falseMagics: h.false})
	}
	return h.out, err
}

// visit looks at one magic number, and returns where to go on.
func (h *hunt) visit(pattern, rng int, off int64) int64 {
	rg := h.ranges[rng]
	limit := rg.Offset + rg.Size
	if h.found > maxContainers {
		return limit // Adopt says that there are more
	}
	if h.refused[pattern] || pattern == hiddenELF && off == h.f.object.Offset {
		return 0
	}
	low := rg.Offset
	if rng == h.rng {
		low = max(low, h.end)
	}
	c, err := h.look(pattern, off, low, limit)
	var damage *fatbin.FormatError
	switch {
	case err == nil:
		h.found++
		h.rng, h.end = rng, c.Offset+c.Size
		h.out = append(h.out, Found{c: c, rg: rg, bare: pattern == hiddenELF})
		return h.end
	case errors.Is(err, fatbin.ErrOldContainer):
		h.tell(Error, off, rg, err)
	case errors.Is(err, fatbin.ErrEffort):
		h.refused[pattern] = true
		h.tell(Warning, off, rg, err)
	case pattern == hiddenPTX: // a word, no magic number
	case errors.As(err, &damage):
		h.tell(Error, off, rg, err)
	default:
		h.false++
	}
	return 0
}

// tell keeps a finding, unless there are more than anyone is told.
func (h *hunt) tell(s Severity, off int64, rg elfscan.Range, err error) {
	if h.told++; h.told > maxFindings {
		return
	}
	msg := err.Error()
	if rg.Name != "" {
		msg = rg.Name + ": " + msg
	}
	h.out = append(h.out, Found{finding: &Finding{s, off, msg}})
}

var errFalse = errors.New("not device code")

// look tells what stands at a magic number.
func (h *hunt) look(pattern int, off, low, limit int64) (*fatbin.Container, error) {
	switch pattern {
	case hiddenGzip:
		return h.prober.Gzip(off, limit)
	case hiddenELF:
		return h.prober.Cubin(off, limit)
	case hiddenPTX:
		return h.prober.PTX(off, low, limit)
	}
	n, _ := h.f.r.ReadAt(h.head[:min(int64(len(h.head)), limit-off)], off)
	head := h.head[:max(0, n)]
	if pattern == hiddenOld {
		if !fatbin.OldContainer(head) {
			return nil, errFalse
		}
		return nil, fatbin.ErrOldContainer
	}
	if !fatbin.CheckHeader(head, off, limit) {
		return nil, errFalse
	}
	c, err := fatbin.ReadContainer(h.f.r, off, limit)
	if err != nil || len(c.Images) == 0 {
		return nil, errFalse
	}
	return c, nil
}
