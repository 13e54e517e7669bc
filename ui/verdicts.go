package ui

import (
	"fatview/coverage"
)

// unserved tells whether a container or kernel belongs to what is not served
// on the chosen GPU. A container counts too when kernels are missing from the
// image that serves it.
func (m *model) unserved(r row) bool {
	res := m.result(m.chosenGPU(), int(r.file))
	if res == nil || int(r.cont) >= len(res.Results) {
		return false
	}
	v := res.Results[r.cont]
	switch v.Verdict {
	case coverage.Missing, coverage.Driver, coverage.Specialised:
		return true
	case coverage.Native, coverage.JIT:
	default:
		return false
	}
	if v.Relink || v.Image < 0 {
		return false
	}
	if r.kern >= 0 {
		return m.verdict(r) == coverage.Missing
	}
	set := m.files[r.file].cov[r.cont].Kernels
	return set != nil && set.In[v.Image] < set.Total
}

// verdict returns the verdict of a row on the chosen GPU. For an image it is
// the container's if it is the one taken, and Unknown if not.
func (m *model) verdict(r row) coverage.Verdict {
	res := m.result(m.chosenGPU(), int(r.file))
	if res == nil {
		return coverage.Unknown
	}
	if r.kind() == kindFile {
		if len(res.Results) == 0 {
			return coverage.Unknown
		}
		return res.Verdict
	}
	if int(r.cont) >= len(res.Results) {
		return coverage.Unknown
	}
	v := &res.Results[r.cont]
	switch r.kind() {
	case kindContainer:
		return v.Verdict
	case kindImage:
		switch {
		case v.Image != int(r.img):
			return coverage.Unknown
		case v.Steps[v.Image].Refusal == coverage.HoldsNoKernel:
			return coverage.Empty
		}
		return v.Verdict
	}
	served := v.Verdict == coverage.Native || v.Verdict == coverage.JIT || v.Verdict == coverage.Driver
	if !served || v.Relink || v.Image < 0 || v.Image == int(r.img) {
		return v.Verdict
	}
	if k := m.kernel(r); k != nil && m.chosen.holds(m, r, v.Image, k.Name) {
		return v.Verdict
	}
	return coverage.Missing
}

// A chosenCache remembers the names of the kernels of images that serve
// containers, for as long as they are looked at.
type chosenCache struct {
	sets map[row]map[string]bool
}

// holds tells whether image img of r's container holds a kernel.
func (c *chosenCache) holds(m *model, r row, img int, name string) bool {
	id := row{r.file, r.cont, int32(img), none}
	set, ok := c.sets[id]
	if !ok {
		ct := m.contents(id)
		if ct == nil {
			return false
		}
		set = make(map[string]bool, len(ct.Kernels))
		for i := range ct.Kernels {
			set[ct.Kernels[i].Name] = true
		}
		const most = 4096
		if c.sets == nil || len(c.sets) > most {
			c.sets = map[row]map[string]bool{}
		}
		c.sets[id] = set
	}
	return set[name]
}
