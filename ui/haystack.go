package ui

import (
	"context"
	"slices"
	"strings"

	"fatview/fatbin"
)

// A haystack is what searching knows of a kernel: its name in both forms and
// where in the container it comes first.
type haystack struct {
	raw   string
	plain string // demangled, lower case; "" if the name is not mangled
	img   int32
	kern  int32
}

// longestHay bounds the demangled text that is kept of a name. Names of nested
// templates run to kilobytes, and the identifiers in them stand in the raw
// name as well.
const longestHay = 1024

// makeHaystack prepares a decoded container for searching. It runs in the
// worker that decoded it: demangling costs more than decoding.
func (c *cont) makeHaystack() {
	d := c.c.Decoded()
	if d == nil || c.names.Load() != nil {
		return
	}
	seen := map[string]bool{}
	var all []haystack
	for i := range d.Images {
		for k := range d.Images[i].Kernels {
			name := d.Images[i].Kernels[k].Name
			if seen[name] {
				continue
			}
			seen[name] = true
			h := haystack{raw: name, img: int32(i), kern: int32(k)}
			if full := fatbin.FullName(name); full != name {
				if len(full) > longestHay {
					full = strings.Clone(full[:longestHay])
				}
				h.plain = strings.ToLower(full)
			}
			all = append(all, h)
		}
	}
	c.names.CompareAndSwap(nil, &all)
}

// A needle is a query made ready.
type needle struct{ raw, lower string }

func (n needle) in(h *haystack) bool {
	return h.plain != "" && strings.Contains(h.plain, n.lower) || containsFold(h.raw, n.lower)
}

// containsFold is strings.Contains for a lower-case needle, ignoring the case
// of ASCII letters, without a copy of the haystack.
func containsFold(s, lower string) bool {
	if lower == "" {
		return true
	}
	first := lower[0]
	for i := 0; i+len(lower) <= len(s); i++ {
		if low(s[i]) != first {
			continue
		}
		j := 1
		for j < len(lower) && low(s[i+j]) == lower[j] {
			j++
		}
		if j == len(lower) {
			return true
		}
	}
	return false
}

func low(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

func findAll(ctx context.Context, files [][]*cont, query string) []row {
	n := needle{query, strings.ToLower(query)}
	arch := strings.HasPrefix(n.lower, "sm_") || strings.HasPrefix(n.lower, "compute_")
	var hits []row
	for fi, conts := range files {
		for ci, c := range conts {
			if ctx.Err() != nil {
				return nil
			}
			r := row{int32(fi), int32(ci), none, none}
			if containsFold(c.c.Label(), n.lower) && c.c.Label() != "" || containsFold(c.c.Section, n.lower) {
				hits = append(hits, r)
			}
			if arch {
				for ii, im := range c.c.Images {
					if strings.HasPrefix(im.ArchName(), n.lower) {
						hits = append(hits, row{r.file, r.cont, int32(ii), none})
					}
				}
			}
			names := c.names.Load()
			if names == nil {
				continue
			}
			for i := range *names {
				if h := &(*names)[i]; n.in(h) {
					hits = append(hits, row{r.file, r.cont, h.img, h.kern})
				}
			}
		}
	}
	slices.SortFunc(hits, compareRows)
	return hits
}

func compareRows(a, b row) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}
