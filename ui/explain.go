package ui

import (
	"fmt"
	"strings"

	"fatview/arch"
	"fatview/coverage"
	"fatview/index"
	"fatview/report"
)

// verdictLine says "● native on H100 9.0, driver 535".
func (t *teller) verdictLine(v coverage.Verdict, g *target) {
	s := t.th.sign(v)
	name := gpuTitle(g)
	if d := driverShort(g.Driver); d != "" {
		name += ", driver " + strings.TrimPrefix(d, "driver ")
		if g.Driver.Version == "" {
			name = gpuTitle(g) + ", driver for " + d
		}
	}
	t.add(seg{s.glyph + " " + s.word, s.paint}, seg{" on " + name, paint{}})
}

// tellLeast says which drivers serve at least.
func (t *teller) tellLeast(needs arch.Version) {
	linux, windows := coverage.LeastDriver(needs)
	if linux == "" {
		return
	}
	text := "Linux " + linux
	if windows != "" {
		text += " · Windows " + windows
	}
	t.field("least driver", text+" (CUDA "+needs.String()+")")
}

// linkageTitle says what a linkage means.
func linkageTitle(l index.Linkage) string {
	switch l {
	case index.Registered:
		return "registered: the program registers it at start"
	case index.Linked:
		return "linked: made by the device linker"
	case index.Relocatable:
		return "relocatable: input of a device link"
	case index.Embedded:
		return "embedded: no record points to it, the program loads it itself"
	case index.Loose:
		return "loose: a file of its own"
	}
	return string(l)
}

func (m *model) tellContainer(t *teller, r row) {
	f, c := m.at(r)
	g, res := m.tellGPU(t, int(r.file))
	if res != nil && int(r.cont) < len(res.Results) {
		v := res.Results[r.cont]
		cc := f.cov[r.cont]
		if v.Verdict == coverage.Unknown {
			t.para(paint{}, sentence(v.Reason(cc.Container, g.rules())))
		} else {
			t.verdictLine(v.Verdict, g)
			t.para(paint{}, sentence(v.Reason(cc.Container, g.rules())))
			t.tellRule(v.Rule)
			t.gap()
			m.tellHeld(t, v, cc)
			t.tellLeast(v.Needs)
		}
		if len(v.Steps) > 0 {
			m.tellSteps(t, r, v, g)
			m.tellMissing(t, r, v)
		} else {
			t.listImages(c)
		}
	} else {
		t.listImages(c)
	}
	t.title("container")
	if l := c.c.Label(); l != "" {
		t.field("unit", t.safe(l))
	}
	t.field("number", fmt.Sprintf("%d of %d", r.cont+1, len(f.conts)))
	t.field("section", t.safe(c.c.Section))
	t.field("linkage", linkageTitle(c.c.Linkage))
	t.field("offset", fmt.Sprintf("%#x", c.c.Offset))
	t.field("size", report.Bytes(c.c.Size))
}

// listImages names the images where there is no verdict to explain.
func (t *teller) listImages(c *cont) {
	t.title("images")
	for _, im := range c.c.Images {
		t.add(seg{"  " + imageName(im), paint{}})
	}
}

func (t *teller) tellRule(rule coverage.Rule) {
	if rule == coverage.RuleNone {
		return
	}
	i := rule.Info()
	text := "rule " + i.ID + ": " + i.Title
	if !i.Confirmed {
		text += " (not confirmed)"
	}
	t.para(t.th.dim, text)
}

// tellHeld says how many of the container's kernels the chosen image holds.
func (m *model) tellHeld(t *teller, v coverage.Result, cc coverage.FileContainer) {
	if cc.Kernels == nil {
		t.field("kernels", "not decoded yet")
		return
	}
	total := cc.Kernels.Total
	if v.Image < 0 || v.Relink || total == 0 {
		t.field("kernels", coverage.Number(total))
		return
	}
	in := cc.Kernels.In[v.Image]
	if in == total {
		t.field("kernels", "all "+coverage.Number(total)+" in the chosen image")
		return
	}
	t.field("kernels", fmt.Sprintf("%s of %s in the chosen image", coverage.Number(in), coverage.Number(total)))
}

// tellSteps tells of every image whether it was taken, and why.
func (m *model) tellSteps(t *teller, r row, v coverage.Result, g *target) {
	_, c := m.at(r)
	cov := m.files[r.file].cov[r.cont]
	t.title("images")
	for i, s := range v.Steps {
		id := row{r.file, r.cont, int32(i), none}
		sg := m.rowSign(id)
		name := imageName(c.c.Images[i])
		why := clean(s.Why(cov.Images[i], g.rules()))
		t.add(seg{sg.glyph + " " + sg.letter + " ", sg.paint}, seg{pad(cut(name, 24), 24), paint{}}, seg{ruleName(s.Rule), t.th.dim})
		t.indented("    ", paint{}, why)
	}
}

func ruleName(r coverage.Rule) string {
	if r == coverage.RuleNone {
		return ""
	}
	return " " + r.String()
}

// tellMissing lists kernels that the chosen image leaves out.
func (m *model) tellMissing(t *teller, r row, v coverage.Result) {
	_, c := m.at(r)
	names := c.names.Load()
	d := c.c.Decoded()
	if names == nil || d == nil || v.Image < 0 || v.Relink || d.Set.In[v.Image] >= d.Set.Total {
		return
	}
	if v.Verdict != coverage.Native && v.Verdict != coverage.JIT && v.Verdict != coverage.Driver {
		return
	}
	t.title(fmt.Sprintf("missing from the chosen image: %s", counted(d.Set.Total-d.Set.In[v.Image], "kernel")))
	const most = 30
	n := 0
	for _, h := range *names {
		if m.chosen.holds(m, r, v.Image, h.raw) {
			continue
		}
		if n++; n > most {
			t.para(t.th.dim, "  and more: u shows only them")
			return
		}
		t.indented("  ", t.th.missing, m.shortName(h.raw))
	}
}
