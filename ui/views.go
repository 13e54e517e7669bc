package ui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
)

// A viewID numbers the views as they are drawn; the key of each is its number
// and one.
type viewID uint8

const viewBrowse viewID = 0

// A view is one way of looking at what is open. The tree, browse, is not one:
// it was there first and is drawn by itself. A view fills the width of the
// screen, has the details of its selection below it, and belongs to the
// goroutine of Update and View.
type view interface {
	// name is what the bar of views calls it, one word.
	name() string
	// refresh brings its rows up to date. It is called after every message, so
	// it must cost nothing when the stamp is the same; what takes long goes into
	// the command.
	refresh(m *model, s stamp) tea.Cmd
	// place says where the cursor is and what the rows are limited to.
	place(m *model) string
	// draw draws exactly h lines of w columns.
	draw(m *model, w, h int) []string
	// key handles a key; false: it is not one of the view's.
	key(m *model, name string) (tea.Cmd, bool)
	// click and wheel handle the mouse, counted from the view's first line.
	click(m *model, x, y int) tea.Cmd
	wheel(m *model, by int)
	// selected is what the details tell of.
	selected(m *model) (row, bool)
	// choose puts the cursor on r, or on what it lies in or what lies in it.
	choose(m *model, r row)
	// hints are the keys worth a word.
	hints(m *model) []string
}

// A stamp changes whenever what a view may be made from does.
type stamp struct {
	files, revs, verdicts, gpus, targets, gpu int
	filter                                    bool
}

func (m *model) stamp() stamp {
	s := stamp{files: len(m.files), verdicts: m.verdictCount, gpus: len(m.gpus), gpu: m.gpu, filter: m.filter}
	for _, f := range m.files {
		s.revs += f.rev
	}
	for _, t := range m.gpus {
		s.targets += t.rev
	}
	return s
}

// newViews makes the views after browse, in the order of their keys.
func newViews() []view {
	return []view{&findingsView{}}
}

// shownView returns the view that is shown, nil for the tree.
func (m *model) shownView() view {
	if m.look == viewBrowse || int(m.look) > len(m.views) {
		return nil
	}
	return m.views[m.look-1]
}

// refreshView brings the view that is shown up to date.
func (m *model) refreshView() tea.Cmd {
	if v := m.shownView(); v != nil {
		return v.refresh(m, m.stamp())
	}
	return nil
}

// switchView shows another view and carries the selection over.
func (m *model) switchView(to viewID) tea.Cmd {
	if to == m.look {
		m.say("this is " + m.viewName(to) + " already")
		return nil
	}
	r, ok := m.selected()
	m.look = to
	m.focus = paneTree
	m.detTop = 0
	m.arrange()
	cmd := m.refreshView()
	if ok {
		m.goTo(r)
	}
	return cmd
}

// goTo puts the cursor of what is shown on r.
func (m *model) goTo(r row) {
	if v := m.shownView(); v != nil {
		v.choose(m, r)
		return
	}
	m.show(r)
}

func (m *model) viewName(v viewID) string {
	if v == viewBrowse {
		return "browse"
	}
	return m.views[v-1].name()
}

// barRoom is how wide the bar of views may be on a rule of w columns that says
// a place.
func barRoom(w int, place string) int {
	if place == "" {
		return w - 3
	}
	return w - width(place) - 5
}

// viewBar is the title of what is shown, with the other views and their keys.
// Where there is no room for their names their numbers stand.
func (m *model) viewBar(w int, focus bool) []seg {
	before, after := "(", ")"
	if focus {
		before, after = "[", "]"
	}
	bar := func(names bool) []seg {
		var out []seg
		for i := viewBrowse; int(i) <= len(m.views); i++ {
			text := fmt.Sprint(i + 1)
			if i == m.look {
				out = append(out, seg{before + text + " " + m.viewName(i) + after, m.th.title})
				continue
			}
			if names {
				text += " " + m.viewName(i)
			}
			out = append(out, seg{" " + text + " ", m.th.dim})
		}
		return out
	}
	if long := bar(true); segsWidth(long) <= w {
		return long
	}
	return bar(false)
}

// viewUnder returns the view whose name in the bar is at x.
func (m *model) viewUnder(x int) (viewID, bool) {
	place := m.treePlace()
	if v := m.shownView(); v != nil {
		place = v.place(m)
	}
	at := 1
	for i, s := range m.viewBar(barRoom(m.lay.treeTitle.w, place), m.focus == paneTree) {
		n := width(s.text)
		if x >= at && x < at+n {
			return viewID(i), true
		}
		at += n
	}
	return 0, false
}

// viewKey handles a key of the shown view.
func (m *model) viewKey(v view, name string) tea.Cmd {
	if cmd, ok := v.key(m, name); ok {
		return cmd
	}
	k := &m.keys
	switch {
	case is(name, k.Enter), is(name, k.Space):
		r, ok := v.selected(m)
		if !ok {
			m.fail("nothing is here to go to")
			return nil
		}
		cmd := m.switchView(viewBrowse)
		m.goTo(r)
		return cmd
	}
	m.fail(fmt.Sprintf("%s does nothing here: ? lists the keys", keyName(name)))
	return nil
}
