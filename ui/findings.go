package ui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/index"
)

// findingsView lists what fatview found wrong or worth a word, over all files,
// folders and packages.
type findingsView struct {
	table
	made stamp
	rows []findingRow
}

type findingRow struct {
	severity index.Severity
	offset   int64 // in the file, -1 where there is none
	where    string
	text     string
	row      row // what it is about; of a folder or package that of no file
}

var findingColumns = []tableColumn{
	{title: "severity", w: 8},
	{title: "file", w: 20},
	{title: "offset", w: 10, right: true},
	{title: "finding", w: 20, grow: true},
}

func (v *findingsView) name() string { return "findings" }

func (v *findingsView) refresh(m *model, s stamp) tea.Cmd {
	s.verdicts, s.gpu, s.gpus, s.targets, s.filter = len(m.scanFindings), 0, 0, 0, false
	if s == v.made && v.cols != nil {
		return nil
	}
	sel, had := v.selected(m)
	v.made, v.cols, v.sorted, v.fixed = s, findingColumns, -1, 1
	v.rows = v.rows[:0]
	for fi, f := range m.files {
		id := row{int32(fi), none, none, none}
		if f.err != nil {
			v.rows = append(v.rows, findingRow{index.Error, -1, f.name, clean(f.err.Error()), id})
			continue
		}
		if f.findings == 0 {
			continue
		}
		for _, x := range f.f.Findings() {
			v.rows = append(v.rows, findingRow{x.Severity, x.Offset, f.name, clean(x.Message), f.under(id, x.Offset)})
		}
	}
	for _, x := range m.scanFindings {
		v.rows = append(v.rows, findingRow{x.Severity, -1, clean(x.Path), clean(x.Message), row{none, none, none, none}})
	}
	v.n = len(v.rows)
	if had {
		v.choose(m, sel)
	}
	v.clamp()
	return nil
}

// under returns the row of the container that an offset lies in, or the
// file's.
func (f *file) under(id row, offset int64) row {
	for ci, c := range f.conts {
		if offset >= c.c.Offset && offset < c.c.Offset+c.c.Size {
			id.cont = int32(ci)
			break
		}
	}
	return id
}

func (v *findingsView) place(*model) string {
	if v.n == 0 {
		return "none"
	}
	return v.table.place()
}

func (v *findingsView) draw(m *model, w, h int) []string {
	if v.n == 0 {
		out := []string{spaces(w), fill(w, seg{"  nothing found that is worth a word", m.th.dim})}
		for len(out) < h {
			out = append(out, spaces(w))
		}
		return out[:h]
	}
	return v.table.draw(m, w, h, func(i, col int) cell {
		x := &v.rows[i]
		switch col {
		case 0:
			if x.severity == index.Info {
				return cell{string(x.severity), m.th.dim}
			}
			return cell{string(x.severity), m.th.bad}
		case 1:
			return cell{cutMiddle(x.where, v.width(1)), m.th.accent}
		case 2:
			if x.offset < 0 {
				return cell{}
			}
			return cell{fmt.Sprintf("%#x", x.offset), m.th.dim}
		}
		return cell{x.text, paint{}}
	})
}

func (v *findingsView) key(m *model, name string) (tea.Cmd, bool) {
	return nil, v.table.key(m, name)
}

func (v *findingsView) click(m *model, x, y int) tea.Cmd {
	v.table.click(m, x, y)
	return nil
}

func (v *findingsView) selected(*model) (row, bool) {
	if v.cur < 0 || v.cur >= len(v.rows) || v.rows[v.cur].row.file < 0 {
		return row{none, none, none, none}, false
	}
	return v.rows[v.cur].row, true
}

// choose goes to the first finding of what r is or lies in.
func (v *findingsView) choose(_ *model, r row) {
	best := -1
	for i := range v.rows {
		x := v.rows[i].row
		switch {
		case x.file != r.file:
			continue
		case x.cont == r.cont && x.cont >= 0:
			v.cur = i
			return
		case best < 0:
			best = i
		}
	}
	if best >= 0 {
		v.cur = best
	}
}

func (v *findingsView) hints(m *model) []string {
	return []string{hint(m.keys.Enter, "to its place")}
}
