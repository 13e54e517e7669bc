package ui

import (
	"fatview/coverage"
)

// A tableColumn is one column: a title, and how wide it is drawn.
type tableColumn struct {
	title string
	w     int  // columns of the screen; of a growing one the least
	grow  bool // takes what is left; at most one
	right bool // flush right, for numbers
}

// A cell is what a table draws at a place: clean text in one paint.
type cell struct {
	text  string
	paint paint
}

// A table draws rows under a line of titles and moves a cursor over them. It
// asks only for what is visible. The first columns, up to fixed, stay where
// they are while the others scroll sideways.
type table struct {
	cols  []tableColumn
	fixed int
	n     int // rows
	cur   int
	top   int
	left  int // columns that are scrolled out at the left, after the fixed ones

	sorted int  // the column that rows are in the order of, -1 none
	desc   bool // downwards

	h     int        // rows that were visible when last drawn
	spans []cellSpan // where the columns stood when last drawn, for the mouse
}

type cellSpan struct{ col, from, to int }

// layout chooses the columns that fit into w, with a blank between two.
func (t *table) layout(w int) []cellSpan {
	t.left = max(0, min(t.left, len(t.cols)-t.fixed-1))
	used := markWidth
	var shown []int
	for i := range t.cols {
		if i >= t.fixed && i < t.fixed+t.left {
			continue
		}
		if used+t.cols[i].w+1 > w && len(shown) > 0 {
			break
		}
		used += t.cols[i].w + 1
		shown = append(shown, i)
	}
	spans := t.spans[:0]
	x := markWidth
	for _, i := range shown {
		n := t.cols[i].w
		if t.cols[i].grow {
			n += max(0, w-used)
		}
		n = min(n, w-x)
		spans = append(spans, cellSpan{i, x, x + n})
		x += n + 1
	}
	t.spans = spans
	return spans
}

// draw draws the titles and h-1 rows, each w wide. cell yields what stands in
// a column of a row.
func (t *table) draw(m *model, w, h int, cellAt func(row, col int) cell) []string {
	spans := t.layout(w)
	t.h = max(1, h-1)
	t.clamp()
	out := make([]string, 0, h)
	head := newLine(w)
	head.space(markWidth)
	x := markWidth
	for _, s := range spans {
		c := t.cols[s.col]
		title, p := c.title, m.th.dim
		if s.col == t.sorted {
			p = m.th.title
			if t.desc {
				title += "↓"
			} else {
				title += "↑"
			}
		}
		head.space(s.from - x)
		putCell(head, s, c.right, cell{title, p})
		x = s.to
	}
	out = append(out, head.String())
	for i := t.top; len(out) < h; i++ {
		if i >= t.n {
			out = append(out, spaces(w))
			continue
		}
		l := newLine(w)
		mark := "  "
		if i == t.cur {
			mark = "> "
			l.over = &m.th.cursor
			if m.focus != paneTree {
				l.over = &m.th.strong
			}
		}
		l.put(m.th.accent, mark)
		x := markWidth
		for _, s := range spans {
			l.space(s.from - x)
			putCell(l, s, t.cols[s.col].right, cellAt(i, s.col))
			x = s.to
		}
		out = append(out, l.String())
	}
	return out
}

// putCell draws a cell at its width.
func putCell(l *line, s cellSpan, right bool, c cell) {
	w := s.to - s.from
	text := cut(c.text, w)
	gap := w - width(text)
	if right {
		l.space(gap)
	}
	l.put(c.paint, text)
	if !right {
		l.space(gap)
	}
}

func (t *table) clamp() {
	t.cur = max(0, min(t.cur, t.n-1))
	t.top = window(t.top, t.cur, max(1, t.h), t.n, 2)
}

// move puts the cursor on a row.
func (t *table) move(m *model, to int) {
	t.cur = to
	t.clamp()
	m.detTop = 0
}

// key moves the cursor and scrolls sideways; false: not one of its keys.
func (t *table) key(m *model, name string) bool {
	k := &m.keys
	page := max(1, t.h-1)
	step := func(to int, end string) {
		if to < 0 || to >= t.n {
			m.say(end)
			return
		}
		t.move(m, to)
	}
	switch {
	case is(name, k.Down):
		step(t.cur+1, "this is the last row")
	case is(name, k.Up):
		step(t.cur-1, "this is the first row")
	case is(name, k.PageDown):
		t.move(m, t.cur+page)
	case is(name, k.PageUp):
		t.move(m, t.cur-page)
	case is(name, k.HalfDown):
		t.move(m, t.cur+max(1, page/2))
	case is(name, k.HalfUp):
		t.move(m, t.cur-max(1, page/2))
	case is(name, k.Top):
		t.move(m, 0)
	case is(name, k.Bottom):
		t.move(m, t.n-1)
	case is(name, k.Right):
		if n := len(t.spans); n == 0 || t.spans[n-1].col == len(t.cols)-1 {
			m.say("this is the last column")
		} else {
			t.left++
		}
	case is(name, k.Left):
		if t.left == 0 {
			m.say("this is the first column")
		} else {
			t.left--
		}
	default:
		return false
	}
	return true
}

// wheel scrolls and takes the cursor along at the edge.
func (t *table) wheel(m *model, by int) {
	h := max(1, t.h)
	top := max(0, min(t.top+by, t.n-h))
	if top == t.top {
		return
	}
	t.top = top
	margin := min(2, (h-1)/2)
	low, high := top+margin, top+h-1-margin
	if top == 0 {
		low = 0
	}
	if top+h >= t.n {
		high = t.n - 1
	}
	if cur := max(low, min(t.cur, high)); cur != t.cur {
		t.cur = cur
		m.detTop = 0
	}
}

// click puts the cursor on the row at y, counted from the titles, and returns
// the column at x: -1 for none. title: the titles were hit.
func (t *table) click(m *model, x, y int) (col int, title bool) {
	col = -1
	for _, s := range t.spans {
		if x >= s.from && x < s.to {
			col = s.col
		}
	}
	if y == 0 {
		return col, true
	}
	if i := t.top + y - 1; i < t.n {
		t.move(m, i)
	}
	return col, false
}

// place is where the cursor is: "3/57".
func (t *table) place() string {
	return coverage.Number(min(t.cur+1, t.n)) + "/" + coverage.Number(t.n)
}

// width is how wide a column was drawn last.
func (t *table) width(col int) int {
	for _, s := range t.spans {
		if s.col == col {
			return s.to - s.from
		}
	}
	return t.cols[col].w
}
