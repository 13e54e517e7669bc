package ui

import (
	"slices"

	"fatview/fatbin"
	"fatview/index"
)

// A row is a line of the tree by what it shows: numbers of file, container,
// image and kernel, none where it stands for something above. It is also the
// identity that fold state and searches keep, because numbers never change:
// files and containers are only ever added.
type row struct{ file, cont, img, kern int32 }

const none = -1

type kind uint8

const (
	kindFile kind = iota
	kindContainer
	kindImage
	kindKernel
)

func (r row) kind() kind {
	switch {
	case r.cont < 0:
		return kindFile
	case r.img < 0:
		return kindContainer
	case r.kern < 0:
		return kindImage
	}
	return kindKernel
}

// parent returns the row that r lies under; a file is its own.
func (r row) parent() row {
	switch r.kind() {
	case kindKernel:
		r.kern = none
	case kindImage:
		r.img = none
	case kindContainer:
		r.cont = none
	}
	return r
}

// before orders rows as the unfolded tree does.
func (r row) before(s row) bool {
	switch {
	case r.file != s.file:
		return r.file < s.file
	case r.cont != s.cont:
		return r.cont < s.cont
	case r.img != s.img:
		return r.img < s.img
	}
	return r.kern < s.kern
}

// at returns the file and container of a row, nil where it has none.
func (m *model) at(r row) (*file, *cont) {
	if r.file < 0 || int(r.file) >= len(m.files) {
		return nil, nil
	}
	f := m.files[r.file]
	if r.cont < 0 || int(r.cont) >= len(f.conts) {
		return f, nil
	}
	return f, f.conts[r.cont]
}

func (m *model) image(r row) *fatbin.Image {
	_, c := m.at(r)
	if c == nil || r.img < 0 {
		return nil
	}
	return c.c.Images[r.img]
}

// contents returns what an image's payload says, nil while unknown.
func (m *model) contents(r row) *index.Contents {
	_, c := m.at(r)
	if c == nil || r.img < 0 {
		return nil
	}
	if d := c.c.Decoded(); d != nil {
		return &d.Images[r.img]
	}
	return nil
}

func (m *model) kernel(r row) *fatbin.Kernel {
	ct := m.contents(r)
	if ct == nil || r.kern < 0 || int(r.kern) >= len(ct.Kernels) {
		return nil
	}
	return &ct.Kernels[r.kern]
}

func (m *model) isPTX(r row) bool {
	im := m.image(r)
	return im != nil && (im.Kind == fatbin.KindPTX || im.Kind == fatbin.KindRelocatablePTX)
}

// selected returns what the cursor is on, in whatever view is shown.
func (m *model) selected() (row, bool) {
	if v := m.shownView(); v != nil {
		return v.selected(m)
	}
	return m.treeSelected()
}

// treeSelected returns the row under the tree's cursor.
func (m *model) treeSelected() (row, bool) {
	if m.cur < 0 || m.cur >= len(m.rows) {
		return row{none, none, none, none}, false
	}
	return m.rows[m.cur], true
}

// foldable tells whether there is, or may turn out to be, something under a
// row.
func (m *model) foldable(r row) bool {
	f, c := m.at(r)
	switch r.kind() {
	case kindFile:
		return f != nil && len(f.conts) > 0
	case kindContainer:
		return c != nil && len(c.c.Images) > 0
	case kindImage:
		ct := m.contents(r)
		if ct == nil {
			k := m.image(r).Kind
			return k == fatbin.KindCubin || k == fatbin.KindPTX || k == fatbin.KindRelocatablePTX
		}
		return len(ct.Kernels) > 0
	}
	return false
}

// rebuild makes the list of visible rows anew and keeps the cursor on its row,
// or on what that lies under.
func (m *model) rebuild() {
	sel, had := m.treeSelected()
	m.rows = m.rows[:0]
	for fi := range m.files {
		m.rows = m.appendFile(m.rows, int32(fi))
	}
	if had {
		m.cur = m.place(sel)
	}
	m.cur = max(0, min(m.cur, len(m.rows)-1))
	m.scrollTree()
}

func (m *model) appendFile(rows []row, fi int32) []row {
	f := m.files[fi]
	id := row{fi, none, none, none}
	rows = append(rows, id)
	if !m.open[id] {
		return rows
	}
	for ci, c := range f.conts {
		id := row{fi, int32(ci), none, none}
		if m.filter && !m.unserved(id) {
			continue
		}
		rows = append(rows, id)
		if !m.open[id] {
			continue
		}
		for ii := range c.c.Images {
			id := row{fi, int32(ci), int32(ii), none}
			rows = append(rows, id)
			if !m.open[id] {
				continue
			}
			ct := m.contents(id)
			if ct == nil {
				continue
			}
			for ki := range ct.Kernels {
				id.kern = int32(ki)
				if !m.filter || m.unserved(id) {
					rows = append(rows, id)
				}
			}
		}
	}
	return rows
}

// place returns the place of a row, or of the nearest visible one above it.
func (m *model) place(r row) int {
	i, ok := slices.BinarySearchFunc(m.rows, r, func(a, b row) int {
		switch {
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		}
		return 0
	})
	if !ok && r.kind() != kindFile {
		return m.place(r.parent())
	}
	return i
}

// shortName is the name of a kernel for a row, clean.
func (m *model) shortName(raw string) string {
	if s, ok := m.short[raw]; ok {
		return s
	}
	const longest, most = 16 << 10, 20000
	s := raw
	if len(s) <= longest {
		s = fatbin.ShortName(raw)
	}
	s = cleanTo(s, 512)
	if len(m.short) > most {
		clear(m.short)
	}
	m.short[raw] = s
	return s
}

// openAll unfolds every row there is, or folds all but the files.
func (m *model) openAll(open bool) {
	clear(m.open)
	for fi, f := range m.files {
		id := row{int32(fi), none, none, none}
		m.open[id] = true
		if !open {
			continue
		}
		for ci, c := range f.conts {
			id := row{int32(fi), int32(ci), none, none}
			m.open[id] = true
			for ii := range c.c.Images {
				id.img = int32(ii)
				m.open[id] = true
			}
		}
	}
	m.rebuild()
}

// scrollTree keeps the cursor in the window.
func (m *model) scrollTree() {
	m.top = window(m.top, m.cur, max(m.lay.tree.h, 1), len(m.rows), 2)
}

// move puts the cursor on a row by number.
func (m *model) move(to int) {
	m.cur = max(0, min(to, len(m.rows)-1))
	m.scrollTree()
	m.detTop = 0
}

// show unfolds everything above a row and puts the cursor on it. It returns
// what it had to unfold.
func (m *model) show(r row) (opened []row) {
	for p := r; p.kind() != kindFile; {
		if p = p.parent(); !m.open[p] {
			m.open[p] = true
			opened = append(opened, p)
		}
	}
	m.rebuild()
	m.move(m.place(r))
	return opened
}
