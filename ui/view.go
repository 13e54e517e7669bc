package ui

import (
	"fmt"
	"strings"

	"fatview/coverage"
)

// View draws the screen: exactly as many lines as it has, none wider than it
// is. Only what is visible is touched.
func (m *model) View() string {
	if m.w == 0 || m.h == 0 {
		return ""
	}
	if m.lay.tooSmall {
		return m.drawTooSmall()
	}
	out := make([]string, 0, m.h)
	out = m.drawHeader(out)
	out = append(out, m.drawGPUs())
	switch {
	case m.help != nil:
		out = m.drawHelp(out)
	case m.text != nil:
		out = m.drawText(out)
	case len(m.rows) == 0:
		out = m.drawEmpty(out)
	case m.shownView() != nil && !(m.lay.single && m.focus == paneDetails):
		out = m.drawView(out, m.shownView())
	case m.lay.wide:
		out = m.drawWide(out)
	case m.lay.single && m.focus == paneDetails:
		out = append(out, m.rule(m.w, "details", m.detailsPlace(), true))
		out = m.drawDetails(out, m.lay.details.h, 1)
	default:
		out = append(out, m.titleRule(m.w, m.treePlace()))
		for i := range m.lay.tree.h {
			out = append(out, m.drawRow(m.top+i, m.lay.tree.w))
		}
		if !m.lay.single {
			out = append(out, m.rule(m.w, "details", m.detailsPlace(), m.focus == paneDetails))
			out = m.drawDetails(out, m.lay.details.h, 1)
		}
	}
	last := m.h - 1 - m.lay.panel.h
	for len(out) < last {
		out = append(out, spaces(m.w))
	}
	out = m.drawPanel(out[:last])
	return strings.Join(append(out, m.drawFooter()), "\n")
}

func (m *model) drawTooSmall() string {
	out := make([]string, m.h)
	text := []string{"too small", fmt.Sprintf("%d×%d, fatview", m.w, m.h), fmt.Sprintf("needs %d×%d", leastWidth, leastHeight), "q quits"}
	for i := range out {
		if i < len(text) {
			out[i] = cut(text[i], m.w)
		}
	}
	return strings.Join(out, "\n")
}

func (m *model) drawWide(out []string) []string {
	l := &m.lay
	left := m.titleRule(l.treeTitle.w, m.treePlace())
	right := m.rule(l.detailsTitle.w-1, "details", m.detailsPlace(), m.focus == paneDetails)
	out = append(out, left+m.th.dim.s("┬")+right)
	bar := m.th.dim.s("│") + " "
	details := m.drawDetails(nil, l.details.h, 0)
	for i := range l.tree.h {
		out = append(out, m.drawRow(m.top+i, l.tree.w)+bar+details[i])
	}
	return out
}

// rule draws a line with a title, and at its right end where in the list one
// is. The title of the pane that keys go to stands in brackets.
func (m *model) rule(w int, title, place string, focus bool) string {
	p, before, after := m.th.dim, " ", " "
	if focus {
		p, before, after = m.th.title, "[", "]"
	}
	left := []seg{{"─", m.th.dim}, {before + cut(title, max(8, w-width(place)-10)) + after, p}}
	if place != "" {
		place = " " + place + " "
	}
	right := []seg{{place, m.th.dim}, {"─", m.th.dim}}
	if n := w - segsWidth(left) - segsWidth(right); n > 0 {
		left = append(left, seg{strings.Repeat("─", n), m.th.dim})
	}
	return ends(w, left, right)
}

// titleRule is the rule above the tree or a view: the bar of views, and where
// in what is shown one is.
func (m *model) titleRule(w int, place string) string {
	left := append([]seg{{"─", m.th.dim}}, m.viewBar(barRoom(w, place), m.focus == paneTree)...)
	if place != "" {
		place = " " + place + " "
	}
	right := []seg{{place, m.th.dim}, {"─", m.th.dim}}
	if n := w - segsWidth(left) - segsWidth(right); n > 0 {
		left = append(left, seg{strings.Repeat("─", n), m.th.dim})
	}
	return ends(w, left, right)
}

// drawView draws a view over the width, and the details below where there is
// room.
func (m *model) drawView(out []string, v view) []string {
	out = append(out, m.titleRule(m.w, v.place(m)))
	out = append(out, v.draw(m, m.lay.tree.w, m.lay.tree.h)...)
	if m.lay.single {
		return out
	}
	out = append(out, m.rule(m.w, "details", m.detailsPlace(), m.focus == paneDetails))
	return m.drawDetails(out, m.lay.details.h, 1)
}

func (m *model) treePlace() string {
	var parts []string
	if m.find.query != "" {
		parts = append(parts, "/"+cut(cleanTo(m.find.query, 24), 24)+" "+m.findState())
	}
	if m.filter {
		parts = append(parts, "not served")
	}
	if n := len(m.rows); n > m.lay.tree.h || len(parts) == 0 {
		parts = append(parts, coverage.Number(min(m.cur+1, n))+"/"+coverage.Number(n))
	}
	return strings.Join(parts, " · ")
}

func (m *model) detailsPlace() string {
	n, h := len(m.detailLines()), m.lay.details.h
	if n <= h || h == 0 {
		return ""
	}
	last := min(m.detTop+h, n)
	if last == n {
		return "end"
	}
	return fmt.Sprintf("%d%%", last*100/n)
}

// drawEmpty is the screen before anything is open.
func (m *model) drawEmpty(out []string) []string {
	out = append(out, m.titleRule(m.w, ""), spaces(m.w))
	text := "nothing open: o opens a library, an executable or an object file"
	if m.opening != "" {
		text = "opening " + clean(m.opening) + " …"
	}
	for _, l := range wrap(text, m.w-4) {
		out = append(out, fill(m.w, seg{"  " + l, paint{}}))
	}
	return out
}
