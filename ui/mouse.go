package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// onMouse handles the wheel and clicks by the same geometry as drawing.
func (m *model) onMouse(msg tea.MouseMsg) tea.Cmd {
	if m.lay.tooSmall {
		return nil
	}
	by := 0
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		by = -3
	case tea.MouseButtonWheelDown:
		by = 3
	case tea.MouseButtonLeft:
		if msg.Action == tea.MouseActionPress && m.prompt == nil && m.help == nil && m.text == nil {
			return tea.Batch(m.click(msg.X, msg.Y), m.lookAt(), m.wake())
		}
		return nil
	default:
		return nil
	}
	switch {
	case m.help != nil:
		m.help.scroll(m.help.top+by, m.lay.body.h-1)
	case m.text != nil:
		m.text.scroll(m.text.top+by, m.textHeight())
	case m.lay.details.has(msg.X, msg.Y):
		m.scrollDetails(by)
	case m.lay.tree.has(msg.X, msg.Y):
		if v := m.shownView(); v != nil {
			v.wheel(m, by)
			return nil
		}
		m.wheelTree(by)
	}
	return nil
}

// wheelTree scrolls the window and takes the cursor along at its edge.
func (m *model) wheelTree(by int) {
	h := max(1, m.lay.tree.h)
	top := max(0, min(m.top+by, len(m.rows)-h))
	if top == m.top {
		return
	}
	m.top = top
	margin := min(2, (h-1)/2)
	low, high := top+margin, top+h-1-margin
	if top == 0 {
		low = 0
	}
	if top+h >= len(m.rows) {
		high = len(m.rows) - 1
	}
	if cur := max(low, min(m.cur, high)); cur != m.cur {
		m.cur = cur
		m.detTop = 0
	}
}

func (m *model) click(x, y int) tea.Cmd {
	m.message = ""
	switch {
	case m.lay.gpus.has(x, y):
		if i := m.gpuUnder(x); i >= 0 {
			m.chooseGPU(i)
			return m.settle()
		}
	case m.lay.details.has(x, y) || m.lay.detailsTitle.has(x, y):
		m.focus = paneDetails
		m.arrange()
	case m.lay.treeTitle.has(x, y):
		m.focus = paneTree
		m.arrange()
		if to, ok := m.viewUnder(x - m.lay.treeTitle.x); ok && to != m.look {
			return m.switchView(to)
		}
	case m.lay.tree.has(x, y) && m.shownView() != nil:
		m.focus = paneTree
		m.arrange()
		return m.shownView().click(m, x-m.lay.tree.x, y-m.lay.tree.y)
	case m.lay.tree.has(x, y):
		i := m.top + y - m.lay.tree.y
		if i >= len(m.rows) {
			return nil
		}
		m.focus = paneTree
		m.arrange()
		m.cur = i
		m.detTop = 0
		r := m.rows[i]
		if at := m.lay.tree.x + foldColumn(r); x >= at-1 && x <= at+1 && m.foldable(r) {
			m.toggle()
		}
		m.scrollTree()
	}
	return nil
}
