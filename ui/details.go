package ui

import (
	"fmt"
	"strings"

	"fatview/coverage"
	"fatview/index"
	"fatview/report"
)

// A detailsCache keeps the lines for as long as nothing they tell of changes:
// they are made from whole files, and drawn with every frame.
type detailsCache struct {
	detailsKey
	lines []detLine
}

type detailsKey struct {
	sel     row
	gpu, w  int
	rev     int // of the file, for what sums it up
	judged  int
	res     *coverage.FileResult
	decoded *index.Decoded
}

// detailLines returns what is told of the selection, wrapped.
func (m *model) detailLines() []detLine {
	w := m.lay.details.w - 1
	r, ok := m.selected()
	if !ok || w < 1 {
		return nil
	}
	f, c := m.at(r)
	k := detailsKey{sel: r, gpu: m.gpu, w: w, res: m.result(m.chosenGPU(), int(r.file))}
	if c != nil {
		k.decoded = c.c.Decoded()
	} else {
		k.rev, k.judged = f.rev, m.verdictCount
	}
	if k != m.details.detailsKey {
		m.details = detailsCache{k, m.describe(r, w, false)}
	}
	return m.details.lines
}

// drawDetails draws the visible lines, indented.
func (m *model) drawDetails(out []string, h, indent int) []string {
	lines := m.detailLines()
	w := m.lay.details.w
	m.detTop = max(0, min(m.detTop, len(lines)-h))
	for i := range h {
		l := newLine(w + indent)
		l.space(indent)
		if at := m.detTop + i; at < len(lines) {
			for _, s := range lines[at] {
				l.put(s.paint, s.text)
			}
		}
		out = append(out, l.String())
	}
	return out
}

// describe tells what there is to tell of a row. page asks for more, on a
// page of its own.
func (m *model) describe(r row, w int, page bool) []detLine {
	t := &teller{w: w, th: &m.th}
	switch r.kind() {
	case kindFile:
		m.tellFile(t, r)
	case kindContainer:
		m.tellContainer(t, r)
	case kindImage:
		m.tellImage(t, r, page)
	case kindKernel:
		m.tellKernel(t, r)
	}
	return t.lines
}

// tellGPU names the GPU that the verdict below is for, or says why there is
// no verdict.
func (m *model) tellGPU(t *teller, fi int) (*target, *coverage.FileResult) {
	g := m.chosenGPU()
	switch {
	case g == nil:
		t.para(t.th.accent, "No GPU to judge for: a adds one.")
		t.para(t.th.dim, sentence(m.gpuProblem))
		return nil, nil
	case g.problem != "":
		t.para(t.th.bad, gpuTitle(g)+": no verdict. "+sentence(g.problem))
		return g, nil
	}
	res := m.result(g, fi)
	if res == nil {
		t.para(t.th.dim, gpuTitle(g)+": judging …")
	}
	return g, res
}

func (m *model) tellFile(t *teller, r row) {
	f, _ := m.at(r)
	if f.err != nil {
		t.para(t.th.bad, "This could not be opened: "+t.safe(f.err.Error())+".")
		t.gap()
		t.field("path", t.safe(f.path))
		return
	}
	if len(f.conts) == 0 {
		text := "No device code: the file holds no fat binary, cubin or PTX."
		if len(f.f.Foreign()) > 0 {
			text = "No CUDA device code, but that of another vendor, which is named and not judged."
		}
		if !f.searched {
			text = "No device code in the usual sections; the rest of the file is being searched."
		}
		t.para(paint{}, text)
	} else {
		m.tellFileVerdict(t, r, f)
	}
	if m.gpuNote != "" {
		t.gap()
		t.para(t.th.dim, sentence(m.gpuNote))
	}
	m.tellFindings(t, f)
	t.title("file")
	t.field("path", t.safe(f.path))
	t.field("belongs to", f.owner)
	t.field("format", fmt.Sprintf("%s, %d-bit, %s", formatTitle(f.f.Format, f.f.Machine), f.f.Bits, report.Bytes(f.f.Size)))
	for _, x := range f.f.Foreign() {
		t.field("not CUDA", t.safe(x.String()))
	}
	t.field("bare cubins", t.safe(report.BareText(report.Bare(f.f))))
	for _, p := range f.f.Copies() {
		t.field("same content", t.safe(p))
	}
	if len(f.f.Needed) > 0 {
		t.field("links to", t.safe(strings.Join(m.needed(f), ", ")))
	}
}

func (m *model) tellFileVerdict(t *teller, r row, f *file) {
	g, res := m.tellGPU(t, int(r.file))
	if res != nil {
		t.verdictLine(res.Verdict, g)
		t.para(paint{}, sentence(res.Reason(f.cov[:len(res.Results)], g.rules())))
		if f.decoded < len(f.conts) {
			text := "From headers alone for " + counted(len(f.conts)-f.decoded, "container") + ": an image that turns out to hold no kernels may change it."
			t.para(t.th.dim, text)
		}
		t.gap()
		t.field("containers", m.counts(res.Containers))
		if res.Inputs > 0 {
			t.field("", counted(res.Inputs, "relocatable input")+" counted nowhere")
		}
		if k := m.counts(res.Kernels); k != "" {
			if !res.KernelsKnown {
				k += " (so far)"
			}
			t.field("kernels", k)
		} else if m.opt.NoKernels {
			t.field("kernels", "not decoded; open an image to see its own")
		}
		t.tellLeast(res.Needs)
		t.tellAdvice(f.cov[:len(res.Results)], g.rules(), *res)
	}
	if len(m.gpus) > 1 {
		t.title("on every GPU")
		for i, x := range m.gpus {
			mark := "  "
			if i == m.gpu {
				mark = "> "
			}
			name := pad(cut(gpuTitle(x), max(12, t.w-24)), min(26, max(12, t.w-24)))
			line := detLine{{mark, t.th.accent}}
			switch res := m.result(x, int(r.file)); {
			case x.problem != "":
				line = append(line, seg{pad("! no verdict", 14), t.th.bad}, seg{name, paint{}})
			case res != nil:
				s := t.th.sign(res.Verdict)
				line = append(line, seg{pad(s.glyph+" "+s.word, 14), s.paint}, seg{name, paint{}})
				if n := res.Containers.Total(); n > 0 {
					served := res.Containers.Native + res.Containers.JIT
					line = append(line, seg{fmt.Sprintf(" %s/%s", coverage.Number(served), coverage.Number(n)), t.th.dim})
				}
			default:
				line = append(line, seg{pad("  judging", 14), t.th.dim}, seg{name, paint{}})
			}
			t.add(line...)
		}
		t.indented("  ", t.th.dim, "numbers: containers served, of those with kernels")
	}
	t.title("architectures")
	const format = "%7s %8s %10s"
	t.add(seg{spaces(19) + fmt.Sprintf(format, "images", "kernels", "stored"), t.th.dim})
	for _, a := range archSums(f) {
		kernels := "?"
		if a.known {
			kernels = coverage.Number(a.kernels)
		}
		t.add(seg{pad(cut(a.name, 19), 19), paint{}}, seg{fmt.Sprintf(format, coverage.Number(a.images), kernels, report.Bytes(a.stored)), paint{}})
	}
}

// counts says "39 missing · 250 native", the worst first.
func (m *model) counts(c coverage.Counts) string {
	var parts []string
	for _, x := range []struct {
		n int
		v coverage.Verdict
	}{
		{c.Missing, coverage.Missing}, {c.Driver, coverage.Driver}, {c.Native, coverage.Native},
		{c.JIT, coverage.JIT}, {c.Specialised, coverage.Specialised}, {c.Empty, coverage.Empty},
	} {
		if x.n > 0 {
			parts = append(parts, coverage.Number(x.n)+" "+x.v.String())
		}
	}
	return strings.Join(parts, " · ")
}

type archSum struct {
	name            string
	images, kernels int
	stored          int64
	known           bool
}

// archSums adds up the images by what they are called, machine code first and
// each kind by architecture.
func archSums(f *file) []archSum {
	at := map[string]int{}
	var sums []archSum
	for _, c := range f.conts {
		d := c.c.Decoded()
		for i, im := range c.c.Images {
			name := imageName(im)
			k, ok := at[name]
			if !ok {
				k = len(sums)
				at[name] = k
				sums = append(sums, archSum{name: name, known: true})
			}
			s := &sums[k]
			s.images++
			s.stored += im.StoredBytes
			if d != nil && d.Images[i].Known {
				s.kernels += len(d.Images[i].Kernels)
			} else {
				s.known = false
			}
		}
	}
	sortArchSums(sums)
	return sums
}

func (m *model) tellFindings(t *teller, f *file) {
	all := f.f.Findings()
	if len(all) == 0 {
		return
	}
	t.title(counted(len(all), "finding"))
	const most = 40
	for i, x := range all {
		if i == most {
			t.para(t.th.dim, fmt.Sprintf("and %d more: export a report to see all", len(all)-most))
			break
		}
		text := string(x.Severity) + ": " + t.safe(x.Message)
		if x.Offset >= 0 {
			text += fmt.Sprintf(" (offset %#x)", x.Offset)
		}
		p := paint{}
		if x.Severity != index.Info {
			p = t.th.bad
		}
		t.para(p, text)
	}
}

// needed lists what a file links to; libraries of GPU computing are called by
// name and version as well.
func (m *model) needed(f *file) []string {
	var out []string
	known := map[string]string{}
	for _, n := range report.Needs(f.f.Needed) {
		known[n.Name] = n.String()
	}
	for _, n := range f.f.Needed {
		if s, ok := known[n]; ok {
			n = s
		}
		out = append(out, n)
	}
	return out
}
