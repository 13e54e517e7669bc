package ui

import (
	"fmt"
	"strings"

	"fatview/coverage"
	"fatview/fatbin"
	"fatview/report"
)

// A row of the tree stands as
//
//	> ▾ ● N name                          facts
//
// with two columns of indentation for each level.
const (
	markWidth  = 2
	levelWidth = 2
	foldWidth  = 2
)

// foldColumn is where a row's fold glyph stands, for drawing and mouse.
func foldColumn(r row) int { return markWidth + levelWidth*int(r.kind()) }

func (m *model) drawRow(i, w int) string {
	if i >= len(m.rows) {
		return spaces(w)
	}
	r := m.rows[i]
	l := newLine(w)
	mark := "  "
	if i == m.cur {
		mark = "> "
		l.over = &m.th.cursor
		if m.focus != paneTree {
			l.over = &m.th.strong
		}
	}
	l.put(m.th.accent, mark)
	l.space(levelWidth * int(r.kind()))
	switch {
	case m.open[r] && r.kind() != kindKernel:
		l.put(m.th.dim, "▾ ")
	case m.foldable(r):
		l.put(m.th.dim, "▸ ")
	default:
		l.space(foldWidth)
	}
	s := m.rowSign(r)
	l.put(s.paint, s.glyph)
	l.space(1)
	l.put(s.paint, s.letter)
	l.space(1)
	name, facts := m.rowText(r)
	share := 45
	if r.kind() == kindKernel {
		share = 22
		name[0].text = fitName(name[0].text, l.left-segsWidth(name[1:])-12)
	}
	m.drawNameFacts(l, name, facts, share, l.left)
	return l.String()
}

// drawNameFacts gives the facts at the right what the name does not need, and
// a share of the room (in percent) in any case. The first fact stands
// outermost, so that the same facts of all rows make a column.
func (m *model) drawNameFacts(l *line, name []seg, facts []string, share, room int) {
	n := segsWidth(name)
	most := max(room-n-2, room*share/100)
	text := ""
	for _, f := range facts {
		next := f
		if text != "" {
			next = f + " · " + text
		}
		if width(next) > most {
			break
		}
		text = next
	}
	left := room - width(text)
	if text != "" {
		left -= 2
	}
	used := 0
	for _, s := range name {
		t := cut(s.text, left-used)
		used += width(t)
		l.put(s.paint, t)
		if t != s.text {
			break
		}
	}
	if text != "" {
		l.space(room - used - width(text))
		l.put(m.th.dim, text)
	}
}

// rowSign is what stands for a row's verdict on the chosen GPU.
func (m *model) rowSign(r row) sign {
	f, _ := m.at(r)
	if f.err != nil {
		return sign{"!", " ", "", m.th.bad}
	}
	v := m.verdict(r)
	if v == coverage.Unknown && r.kind() == kindImage {
		if res := m.result(m.chosenGPU(), int(r.file)); res != nil && int(r.cont) < len(res.Results) {
			if steps := res.Results[r.cont].Steps; int(r.img) < len(steps) {
				switch step := steps[r.img]; {
				case step.Fits && step.Refusal == coverage.NeedsDriver:
					return m.th.sign(coverage.Driver)
				case step.Fits:
					return sign{"+", " ", "", m.th.dim}
				}
				return sign{"-", " ", "", m.th.dim}
			}
		}
	}
	return m.th.sign(v)
}

// rowText is a row's name and its facts, the most important first.
func (m *model) rowText(r row) (name []seg, facts []string) {
	f, c := m.at(r)
	switch r.kind() {
	case kindFile:
		name = []seg{{f.name, m.th.strong}}
		if f.err != nil {
			return []seg{{f.name, m.th.strong}, {"  " + cleanTo(f.err.Error(), 200), m.th.bad}}, nil
		}
		if len(f.conts) == 0 {
			if f.searched {
				return name, append(facts, m.codelessShort(f))
			}
			return name, []string{"searching"}
		}
		if f.decoded > 0 {
			facts = append(facts, column(f.kernels, "kernel"))
		}
		facts = append(facts, counted(len(f.conts), "container"))
		if f.owner != "" {
			facts = append(facts, f.owner)
		}
		return name, facts
	case kindContainer:
		return m.containerText(r, c), m.containerFacts(c)
	case kindImage:
		return m.imageText(r)
	}
	return m.kernelText(r)
}

// codelessShort is codeless for a row.
func (m *model) codelessShort(f *file) string {
	if codes := f.f.Foreign(); len(codes) > 0 {
		return cleanTo(codes[0].Kind, 60) + ", not CUDA"
	}
	return "no device code"
}

// codeless says what a file without CUDA device code holds.
func (m *model) codeless(f *file) string {
	if codes := f.f.Foreign(); len(codes) > 0 {
		return "not CUDA: " + cleanTo(codes[0].String(), 120)
	}
	return "no device code"
}

// containerName is the translation unit, or a number.
func containerName(c *cont) string {
	if l := c.c.Label(); l != "" {
		return cleanTo(base(l), 200)
	}
	return fmt.Sprintf("container %d", c.c.ID)
}

// containerText is the name; one without a translation unit is told apart by
// its first kernels.
func (m *model) containerText(r row, c *cont) []seg {
	name := []seg{{containerName(c), paint{}}}
	d := c.c.Decoded()
	if d == nil || d.Label != "" {
		return name
	}
	for i := range d.Images {
		if ks := d.Images[i].Kernels; len(ks) > 0 {
			text := m.shortName(ks[0].Name)
			if d.Set.Total > 1 {
				text += " …"
			}
			return append(name, seg{"  " + text, m.th.dim})
		}
	}
	return name
}

func (m *model) containerFacts(c *cont) []string {
	var facts []string
	if d := c.c.Decoded(); d != nil {
		facts = append(facts, column(d.Set.Total, "kernel"))
	}
	facts = append(facts, column(len(c.c.Images), "image"))
	if c.c.Linkage != "registered" {
		facts = append(facts, string(c.c.Linkage))
	}
	if s := c.c.Section; s != "" && s != ".nv_fatbin" && s != ".nv_fatb" { // PE keeps eight characters
		facts = append(facts, cleanTo(c.c.Section, 40))
	}
	return facts
}

// imageName is the architecture, with what it is if not machine code.
func imageName(im *fatbin.Image) string {
	name := im.ArchName()
	switch im.Kind {
	case fatbin.KindCubin:
		return name
	case fatbin.KindPTX:
		return name + " PTX " + im.PTXISA().String()
	}
	return name + " " + clean(im.Kind.Title())
}

func (m *model) imageText(r row) (name []seg, facts []string) {
	im := m.image(r)
	name = []seg{{imageName(im), paint{}}}
	if ct := m.contents(r); ct != nil {
		switch {
		case ct.Err != nil && !ct.Known:
			name = append(name, seg{"  unreadable", m.th.bad})
		case ct.Known:
			facts = append(facts, column(len(ct.Kernels), "kernel"))
		}
		if ct.Relocatable {
			name = append(name, seg{"  relocatable", m.th.dim})
		}
	}
	if im.Compression == fatbin.CompressionNone {
		return name, append(facts, report.Bytes(im.Bytes))
	}
	return name, append(facts, report.Bytes(im.StoredBytes)+" → "+report.Bytes(im.Bytes), im.Compression.String())
}

func (m *model) kernelText(r row) (name []seg, facts []string) {
	k := m.kernel(r)
	if k == nil {
		return []seg{{"?", m.th.dim}}, nil
	}
	name = []seg{{m.shortName(k.Name), paint{}}}
	if m.isPTX(r) {
		return name, nil
	}
	facts = append(facts, fmt.Sprintf("%3d regs", k.Registers))
	if k.Shared > 0 {
		facts = append(facts, report.Bytes(int64(k.Shared))+" shared")
	}
	if k.Stack > 0 {
		facts = append(facts, report.Bytes(int64(k.Stack))+" stack")
	}
	return name, append(facts, report.Bytes(int64(k.Code))+" code")
}

// column is counted for a column of them: one is as wide as many.
func column(n int, noun string) string {
	s := counted(n, noun)
	if n == 1 {
		s += " "
	}
	return s
}

// fitName leaves out the namespaces of a name that is too long with them: of
// a hundred kernels of one library they are all the same.
func fitName(name string, w int) string {
	if width(name) <= w || !strings.Contains(name, "::") {
		return name
	}
	var b strings.Builder
	word := 0 // where the identifier being written begins
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case strings.HasPrefix(name[i:], "::"):
			kept := b.String()[:word]
			b.Reset()
			b.WriteString(kept)
			i++
		case strings.HasPrefix(name[i:], "(anonymous namespace)::"):
			i += len("(anonymous namespace)::") - 1
		default:
			b.WriteByte(c)
			if !(c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80) {
				word = b.Len()
			}
		}
	}
	return b.String()
}

// imageTitle names an image or kernel and what it lies in, the innermost
// first: the end is what a narrow screen cuts.
func (m *model) imageTitle(r row) string {
	f, c := m.at(r)
	title := imageName(m.image(r)) + " · " + containerName(c) + " · " + f.name
	if k := m.kernel(r); k != nil {
		title = fitName(m.shortName(k.Name), 40) + " · " + title
	}
	return title
}
