package ui

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// is tells whether a key is one of a binding's.
func is(name string, b key.Binding) bool { return slices.Contains(b.Keys(), name) }

// onKey handles a key.
func (m *model) onKey(msg tea.KeyMsg) tea.Cmd {
	name := msg.String()
	if m.prompt != nil {
		cmd := m.promptKey(msg)
		if m.prompt != nil && m.prompt.kind == askTextSearch && m.text != nil {
			m.text.scrollToMark(m.textHeight())
		}
		return tea.Batch(cmd, m.wake())
	}
	if msg.Paste {
		// Pasted text is not meant as commands.
		m.fail("nowhere to paste: / searches, o opens a file")
		return nil
	}
	m.message, m.bad = "", false
	switch {
	case is(name, m.keys.Interrupt):
		return tea.Interrupt
	case is(name, m.keys.Suspend):
		return tea.Suspend
	case m.help != nil:
		return m.helpKey(name)
	case m.text != nil:
		return tea.Batch(m.textKey(name), m.wake())
	}
	return tea.Batch(m.mainKey(name), m.lookAt(), m.wake())
}

// lookAt decodes what the cursor is on, if nobody has yet.
func (m *model) lookAt() tea.Cmd {
	r, ok := m.selected()
	if !ok || r.cont < 0 {
		return nil
	}
	if m.opt.NoKernels && !m.open[r] && r.kind() == kindContainer {
		return nil // only what is unfolded was asked for
	}
	return m.want(r)
}

// mainKey handles a key of the tree and the details.
func (m *model) mainKey(name string) tea.Cmd {
	k := &m.keys
	switch {
	case is(name, k.Quit):
		return tea.Quit
	case is(name, k.Help):
		m.openHelp()
	case is(name, k.Tab):
		if m.focus == paneTree {
			m.focus = paneDetails
		} else {
			m.focus = paneTree
		}
		m.arrange()
	case is(name, k.Back):
		m.back()
	case is(name, k.Search):
		if len(m.openFiles()) == 0 {
			m.fail("nothing to search yet: o opens a file")
			return nil
		}
		m.endFind()
		m.find.live = true
		m.find.from, _ = m.selected()
		m.find.fromTop = m.top
		m.focus = paneTree
		m.prompt = newPrompt(askSearch, "search", "", "")
		m.arrange()
	case is(name, k.Next), is(name, k.Previous):
		m.nextHit(is(name, k.Next))
	case is(name, k.Filter):
		m.toggleFilter()
		return m.settle()
	case is(name, k.GPULeft), is(name, k.GPURight):
		m.turnGPU(is(name, k.GPURight))
		return m.settle()
	case is(name, k.AddGPU):
		m.askGPU()
		m.arrange()
	case is(name, k.Driver):
		m.askDriver()
		m.arrange()
	case is(name, k.Export):
		m.askFormat()
	case is(name, k.Open):
		m.askPath()
		m.arrange()
	case is(name, k.View):
		return m.viewText()
	case is(name, k.Views):
		to := viewID(name[0] - '1')
		if int(to) > len(m.views) {
			m.fail("there are only " + counted(len(m.views)+1, "view"))
			return nil
		}
		return m.switchView(to)
	case m.focus == paneDetails:
		m.detailsKey(name)
	case m.shownView() != nil:
		return m.viewKey(m.shownView(), name)
	case is(name, k.OpenAll), is(name, k.FoldAll):
		m.openAll(is(name, k.OpenAll))
	default:
		return m.treeKey(name)
	}
	return nil
}

func (m *model) turnGPU(right bool) {
	switch n := len(m.gpus); {
	case n == 0:
		m.fail("no GPU to choose: a adds one")
	case n == 1:
		m.fail("this is the only GPU: a adds another")
	case right:
		m.chooseGPU((m.gpu + 1) % n)
	default:
		m.chooseGPU((m.gpu + n - 1) % n)
	}
}

func (m *model) toggleFilter() {
	t := m.chosenGPU()
	switch {
	case m.filter:
		m.filter = false
	case t == nil:
		m.fail("what is not served depends on a GPU: a adds one")
		return
	case t.problem != "":
		m.fail(clean(t.problem))
		return
	default:
		m.filter = true
	}
	m.rebuild()
	m.detTop = 0
	if !m.filter {
		m.say("showing all")
	} else if n := m.shownContainers(); n == 0 {
		m.say("everything is served on " + gpuName(t) + ": u shows all again")
	} else {
		m.say(counted(n, "container") + " not fully served on " + gpuName(t))
	}
	m.find.again = true
}

func (m *model) shownContainers() int {
	n := 0
	for fi, f := range m.files {
		for ci := range f.conts {
			if m.unserved(row{int32(fi), int32(ci), none, none}) {
				n++
			}
		}
	}
	return n
}

// back is esc: out of whatever is the innermost.
func (m *model) back() {
	switch {
	case m.find.query != "":
		m.endFind()
	case m.focus == paneDetails:
		m.focus = paneTree
		m.arrange()
	case m.look != viewBrowse:
		m.switchView(viewBrowse)
	case m.filter:
		m.toggleFilter()
	default:
		m.say("nothing to go back from: q quits")
	}
}

func (m *model) treeKey(name string) tea.Cmd {
	k := &m.keys
	page := max(1, m.lay.tree.h-1)
	switch {
	case is(name, k.Down):
		m.step(m.cur+1, "this is the last row")
	case is(name, k.Up):
		m.step(m.cur-1, "this is the first row")
	case is(name, k.PageDown):
		m.move(m.cur + page)
	case is(name, k.PageUp):
		m.move(m.cur - page)
	case is(name, k.HalfDown):
		m.move(m.cur + max(1, page/2))
	case is(name, k.HalfUp):
		m.move(m.cur - max(1, page/2))
	case is(name, k.Top):
		m.move(0)
	case is(name, k.Bottom):
		m.move(len(m.rows) - 1)
	case is(name, k.Right):
		m.goIn()
	case is(name, k.Left):
		m.goOut()
	case is(name, k.Enter):
		r, ok := m.selected()
		if ok && r.img >= 0 && (m.isPTX(r) || r.kind() == kindKernel) {
			return m.viewText()
		}
		m.toggle()
	case is(name, k.Space):
		m.toggle()
	default:
		m.fail(fmt.Sprintf("%s does nothing here: ? lists the keys", keyName(name)))
	}
	return nil
}

func keyName(name string) string {
	if name == " " {
		return "space"
	}
	return cleanTo(name, 20)
}

func (m *model) step(to int, end string) {
	if to < 0 || to >= len(m.rows) {
		m.say(end)
		return
	}
	m.move(to)
}

// toggle folds or unfolds the row under the cursor.
func (m *model) toggle() {
	r, ok := m.selected()
	switch {
	case !ok:
		m.fail("nothing is open: o opens a file")
	case r.kind() == kindKernel:
		m.fail("a kernel has nothing inside; h goes to its image")
	case !m.foldable(r):
		m.fail(m.nothingInside(r))
	default:
		if m.open[r] {
			delete(m.open, r)
		} else {
			m.open[r] = true
		}
		m.rebuild()
	}
}

// nothingInside says why a row cannot be unfolded.
func (m *model) nothingInside(r row) string {
	f, _ := m.at(r)
	switch {
	case f.err != nil:
		return "this file could not be opened"
	case r.kind() == kindFile && !f.searched:
		return "nothing found yet: still searching"
	case r.kind() == kindFile:
		return "no device code in this file"
	case r.kind() == kindImage && m.contents(r) != nil && m.contents(r).Err != nil:
		return "this image could not be read: see its details"
	case r.kind() == kindImage && m.contents(r) != nil && m.contents(r).Known:
		return "this image holds no kernels"
	}
	return "nothing inside that fatview can show"
}

func (m *model) goIn() {
	r, ok := m.selected()
	switch {
	case !ok:
		m.fail("nothing is open: o opens a file")
	case !m.foldable(r) || r.kind() == kindKernel:
		m.toggle()
	case !m.open[r]:
		m.toggle()
	case m.cur+1 < len(m.rows) && m.rows[m.cur+1].parent() == r:
		m.move(m.cur + 1)
	}
}

func (m *model) goOut() {
	r, ok := m.selected()
	switch {
	case !ok:
		m.fail("nothing is open: o opens a file")
	case m.open[r]:
		m.toggle()
	case r.kind() == kindFile:
		m.say("already folded")
	default:
		m.move(m.place(r.parent()))
	}
}

func (m *model) detailsKey(name string) {
	k := &m.keys
	h := max(1, m.lay.details.h)
	switch {
	case is(name, k.Down):
		m.scrollDetails(1)
	case is(name, k.Up):
		m.scrollDetails(-1)
	case is(name, k.PageDown), is(name, k.Space):
		m.scrollDetails(h - 1)
	case is(name, k.PageUp):
		m.scrollDetails(1 - h)
	case is(name, k.HalfDown):
		m.scrollDetails(h / 2)
	case is(name, k.HalfUp):
		m.scrollDetails(-h / 2)
	case is(name, k.Top):
		m.detTop = 0
	case is(name, k.Bottom):
		m.scrollDetails(1 << 20)
	case is(name, k.Left):
		m.focus = paneTree
		m.arrange()
	default:
		m.fail(fmt.Sprintf("%s does nothing in the details: tab goes to the tree", keyName(name)))
	}
}

func (m *model) scrollDetails(by int) {
	n := len(m.detailLines())
	m.detTop = max(0, min(m.detTop+by, n-m.lay.details.h))
}
