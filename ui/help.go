package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// A pager is the help: lines that are drawn once and scrolled.
type pager struct {
	lines []string
	top   int
}

func (p *pager) scroll(to, h int) { p.top = max(0, min(to, len(p.lines)-h)) }

// openHelp makes the help from the key map, in as many columns as fit.
func (m *model) openHelp() { m.help = &pager{} }

// helpLines lays out the key groups and the legend for a width.
func (m *model) helpLines(w int) []string {
	const keyWide, column = 9, 38
	cell := func(key, does string) []seg {
		return []seg{{"  ", paint{}}, {pad(key, keyWide), m.th.accent}, {does, paint{}}}
	}
	var blocks [][][]seg
	for _, g := range m.keys.groups() {
		block := [][]seg{{{g.title, m.th.title}}}
		for _, b := range g.keys {
			block = append(block, cell(b.Help().Key, b.Help().Desc))
		}
		blocks = append(blocks, append(block, nil))
	}
	blocks = append(blocks, [][]seg{{{"Mouse", m.th.title}}, cell("wheel", "scrolls what is under it"), cell("click", "chooses a row, a GPU, a pane"), cell("on ▸ ▾", "folds and unfolds"), nil})
	n := max(1, min(3, (w-2)/column))
	columns := make([][][]seg, n)
	for _, b := range blocks { // into the shortest column
		at := 0
		for i := range columns {
			if len(columns[i]) < len(columns[at]) {
				at = i
			}
		}
		columns[at] = append(columns[at], b...)
	}
	var lines []string
	for i := 0; ; i++ {
		l, any := newLine(w), false
		for c, col := range columns {
			part := newLine(column)
			if c == n-1 {
				part = newLine(w - 1 - column*(n-1))
			}
			if i < len(col) {
				any = true
				for _, s := range col[i] {
					part.put(s.paint, s.text)
				}
			}
			if c == 0 {
				l.space(1)
			}
			l.b.WriteString(part.String())
		}
		if !any {
			break
		}
		lines = append(lines, l.b.String())
	}
	lines = append(lines, fill(w, seg{" What stands before each row: its verdict on the chosen GPU", m.th.title}))
	for _, r := range m.th.legend() {
		lines = append(lines, fill(w, seg{"   " + r.glyph + " " + r.letter + " ", r.paint}, seg{pad(r.word, 12), r.paint}, seg{r.text, paint{}}))
	}
	return append(lines, spaces(w), fill(w, seg{" fatview " + clean(m.opt.Version), m.th.dim}))
}

func pad(s string, w int) string { return s + spaces(w-width(s)) }

func (m *model) drawHelp(out []string) []string {
	w, h := m.w, m.lay.body.h-1
	m.help.lines = m.helpLines(w)
	m.help.scroll(m.help.top, h)
	place := ""
	if len(m.help.lines) > h {
		place = "j k scroll"
	}
	out = append(out, m.rule(w, "help", place, true))
	for i := m.help.top; i < min(m.help.top+h, len(m.help.lines)); i++ {
		out = append(out, m.help.lines[i])
	}
	return out
}

func (m *model) helpKey(name string) tea.Cmd {
	p, h, k := m.help, max(1, m.lay.body.h-1), &m.keys
	switch {
	case is(name, k.Quit):
		return tea.Quit
	case is(name, k.Down):
		p.scroll(p.top+1, h)
	case is(name, k.Up):
		p.scroll(p.top-1, h)
	case is(name, k.PageDown), is(name, k.Space):
		p.scroll(p.top+h-1, h)
	case is(name, k.PageUp):
		p.scroll(p.top-h+1, h)
	case is(name, k.HalfDown):
		p.scroll(p.top+h/2, h)
	case is(name, k.HalfUp):
		p.scroll(p.top-h/2, h)
	case is(name, k.Top):
		p.scroll(0, h)
	case is(name, k.Bottom):
		p.scroll(len(p.lines), h)
	default:
		m.help = nil // any other key: enough read
	}
	return nil
}
