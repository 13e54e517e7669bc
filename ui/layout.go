package ui

// The least screen that fatview draws on; below it says so.
const (
	leastWidth  = 40
	leastHeight = 10
	wideWidth   = 100 // from here on the panes stand side by side
	tallHeight  = 22  // from here on a narrow screen has both panes
)

type pane uint8

const (
	paneTree pane = iota
	paneDetails
)

type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool {
	return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h
}

// A layout says where everything is. Drawing and mouse share it.
type layout struct {
	w, h     int
	tooSmall bool
	wide     bool // panes side by side
	single   bool // one pane at a time

	header, gpus  rect
	treeTitle     rect // the rule above the tree
	tree          rect
	detailsTitle  rect
	details       rect
	body          rect // from the first rule to the footer, for what covers the panes
	panel, footer rect // panel: lines that a prompt needs above the footer
}

// arrange computes the layout of a screen. focus matters where only one pane
// has room; panel is the number of lines that a prompt asks for; a table takes
// the whole width.
func arrange(w, h int, focus pane, panel int, table bool) layout {
	l := layout{w: w, h: h}
	if w < leastWidth || h < leastHeight {
		l.tooSmall = true
		return l
	}
	head := 2
	if h < 16 {
		head = 1
	}
	l.header = rect{0, 0, w, head}
	l.gpus = rect{0, head, w, 1}
	top := head + 1
	l.footer = rect{0, h - 1, w, 1}
	l.body = rect{0, top, w, h - 1 - top}
	panel = min(panel, l.body.h-3)
	l.panel = rect{0, h - 1 - panel, w, panel}
	room := h - 1 - top - panel // for titles and panes
	switch {
	case w >= wideWidth && !table:
		l.wide = true
		left := max(52, w*48/100)
		l.treeTitle = rect{0, top, left, 1}
		l.tree = rect{0, top + 1, left, room - 1}
		l.detailsTitle = rect{left, top, w - left, 1}
		l.details = rect{left + 2, top + 1, w - left - 2, room - 1}
	case h >= tallHeight && room >= 10:
		upper := (room - 2) / 2
		if table {
			upper = (room - 2) * 3 / 5
		}
		l.treeTitle = rect{0, top, w, 1}
		l.tree = rect{0, top + 1, w, upper}
		l.detailsTitle = rect{0, top + 1 + upper, w, 1}
		l.details = rect{1, top + 2 + upper, w - 1, room - 2 - upper}
	default:
		l.single = true
		title, area := rect{0, top, w, 1}, rect{0, top + 1, w, room - 1}
		if focus == paneTree {
			l.treeTitle, l.tree = title, area
		} else {
			area.x, area.w = 1, w-1
			l.detailsTitle, l.details = title, area
		}
	}
	return l
}

// window moves top so that the line at cur is among the h visible of n, with
// a margin where there is room for one.
func window(top, cur, h, n, margin int) int {
	margin = max(0, min(margin, (h-1)/2))
	if cur < top+margin {
		top = cur - margin
	}
	if cur >= top+h-margin {
		top = cur - h + 1 + margin
	}
	return max(0, min(top, n-h))
}
