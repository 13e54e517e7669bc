package ui

import (
	"strings"

	"fatview/gpu"
)

// gpuName is a GPU's name without the words that every one carries.
func gpuName(t *target) string {
	name := cleanTo(t.Name, 60)
	for _, brand := range []string{"NVIDIA ", "GeForce "} {
		name = strings.TrimPrefix(name, brand)
	}
	return name
}

// gpuTitle is the name with the capability, unless the name says it already,
// and how many there are.
func gpuTitle(t *target) string {
	name, cc := gpuName(t), t.CC.String()
	if !strings.HasSuffix(name, cc) {
		name += " " + cc
	}
	return gpu.Target{Name: name, Count: t.Count}.Title()
}

// driverTitle says which driver a GPU has.
func driverTitle(d gpu.Driver) string {
	switch {
	case !d.Known():
		return "driver unknown"
	case d.Version != "":
		return "driver " + cleanTo(d.Version, 24) + " (CUDA " + d.CUDA.String() + ")"
	}
	return "a driver for CUDA " + d.CUDA.String()
}

// driverShort is driverTitle for the GPU bar: "R535" or "535.104", "CUDA 12.2".
func driverShort(d gpu.Driver) string {
	switch {
	case !d.Known():
		return ""
	case d.Version != "":
		return cleanTo(d.Version, 16)
	}
	return "CUDA " + d.CUDA.String()
}

// shownFile is the file that the GPU bar and the header speak of: the one
// under the cursor.
func (m *model) shownFile() int {
	if r, ok := m.selected(); ok {
		return int(r.file)
	}
	return -1
}

// gpuSegs draws one GPU of the bar. The chosen one stands in brackets. Short
// means the verdict's letter for its word, and no driver.
func (m *model) gpuSegs(i, fi int, short bool) []seg {
	t := m.gpus[i]
	before, after := " ", " "
	if i == m.gpu {
		before, after = "[", "]"
	}
	s := m.th.sign(0)
	switch res := m.result(t, fi); {
	case t.problem != "":
		s = sign{"!", "?", "no verdict", m.th.bad}
	case res != nil && len(res.Results) > 0:
		s = m.th.sign(res.Verdict)
		if f := m.files[fi]; f.decoded < len(f.conts) && !m.opt.NoKernels {
			s.word += "?" // an image may yet turn out to be empty
		}
	}
	if short {
		s.word = s.letter
	}
	segs := []seg{{before, m.th.strong}}
	if s.glyph != " " {
		segs = append(segs, seg{s.glyph + " " + s.word, s.paint}, seg{" ", paint{}})
	}
	name := m.th.dim
	if i == m.gpu {
		name = m.th.strong
	}
	segs = append(segs, seg{gpuTitle(t), name})
	if t.local() {
		segs = append(segs, seg{" here", m.th.dim})
	}
	if d := driverShort(t.Driver); d != "" && (!short || i == m.gpu) {
		segs = append(segs, seg{" " + d, m.th.dim})
	}
	return append(segs, seg{after, m.th.strong})
}

// gpuCells returns the GPUs that the bar shows, from which on, and where each
// begins. The chosen one is always among them. Words give way to letters
// where not all GPUs fit with them.
func (m *model) gpuCells(w int) (cells [][]seg, first int, starts []int) {
	fi := m.shownFile()
	widths := make([]int, len(m.gpus))
	all := make([][]seg, len(m.gpus))
	for _, short := range []bool{false, true} {
		sum := 0
		for i := range m.gpus {
			all[i] = m.gpuSegs(i, fi, short)
			widths[i] = segsWidth(all[i])
			sum += widths[i]
		}
		if sum <= w {
			break
		}
	}
	m.gpuTop = scrollCells(widths, m.gpuTop, m.gpu, w)
	x := 0
	for i := m.gpuTop; i < len(all) && (x+widths[i] <= w || i == m.gpuTop); i++ {
		cells = append(cells, all[i])
		starts = append(starts, x)
		x += widths[i]
	}
	return cells, m.gpuTop, append(starts, x)
}

// scrollCells returns the first of cells of these widths to draw on w columns
// so that cell cur is whole, staying near top.
func scrollCells(widths []int, top, cur, w int) int {
	if len(widths) == 0 {
		return 0
	}
	top = max(0, min(top, len(widths)-1))
	cur = max(0, min(cur, len(widths)-1))
	if cur < top {
		return cur
	}
	sum := 0
	for i := top; i <= cur; i++ {
		sum += widths[i]
	}
	for top < cur && sum > w {
		sum -= widths[top]
		top++
	}
	// Let no room stand empty at the end while something is hidden before.
	for rest := cur + 1; rest < len(widths); rest++ {
		sum += widths[rest]
	}
	for top > 0 && sum+widths[top-1] <= w {
		top--
		sum += widths[top]
	}
	return top
}

const (
	gpuLabel = "GPU "
	gpuMore  = 2 // columns at either end of the bar for ‹ and ›
)

// gpuBarSpan is where the cells of the bar stand.
func (m *model) gpuBarSpan() (x, w int) {
	x = len(gpuLabel) + gpuMore
	return x, m.w - x - gpuMore
}

// drawGPUs draws the bar, or says why there is nothing in it.
func (m *model) drawGPUs() string {
	if len(m.gpus) == 0 {
		text := "none named: a adds one"
		switch {
		case m.detecting:
			return fill(m.w, seg{gpuLabel, m.th.dim}, seg{"looking for GPUs …", m.th.dim})
		case m.gpuProblem != "":
			text = m.gpuProblem
		}
		hint := ""
		if m.gpuProblem != "" {
			hint = "  a adds one"
		}
		room := m.w - len(gpuLabel) - len(hint)
		return fill(m.w, seg{gpuLabel, m.th.dim}, seg{cut(text, room), m.th.accent}, seg{hint, m.th.dim})
	}
	_, w := m.gpuBarSpan()
	cells, first, _ := m.gpuCells(w)
	l := newLine(m.w)
	l.put(m.th.dim, gpuLabel)
	if first > 0 {
		l.put(m.th.dim, "‹ ")
	} else {
		l.space(gpuMore)
	}
	in := newLine(w)
	for _, c := range cells {
		for _, s := range c {
			in.put(s.paint, s.text)
		}
	}
	body := in.String()
	more := "  "
	if first+len(cells) < len(m.gpus) {
		more = " ›"
	}
	return l.b.String() + body + m.th.dim.s(more)
}

// gpuUnder returns the GPU at a column of the bar, -1 if none.
func (m *model) gpuUnder(x int) int {
	left, w := m.gpuBarSpan()
	if len(m.gpus) == 0 {
		return -1
	}
	_, first, starts := m.gpuCells(w)
	for i := 0; i+1 < len(starts); i++ {
		if x-left >= starts[i] && x-left < starts[i+1] {
			return first + i
		}
	}
	return -1
}
