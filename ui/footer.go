package ui

import (
	"fmt"
	"strings"

	"fatview/coverage"
)

// drawPanel draws what a prompt needs above its line.
func (m *model) drawPanel(out []string) []string {
	h := m.lay.panel.h
	if m.prompt == nil || h == 0 {
		return out
	}
	p := m.prompt
	var lines []string
	if p.err != "" {
		for i, l := range wrap(p.err, m.w-2) {
			if i < 2 {
				lines = append(lines, fill(m.w, seg{"  " + l, m.th.bad}))
			}
		}
	}
	chosen := -1
	for i, c := range p.choices {
		mark, paint := "  ", m.th.accent
		if i == p.pick {
			mark, paint = "> ", m.th.cursor
			chosen = len(lines)
		}
		lines = append(lines, fill(m.w, seg{mark, m.th.accent}, seg{clean(c), paint}, seg{about(p, i), m.th.dim}))
	}
	if p.hint != "" {
		lines = append(lines, fill(m.w, seg{"  " + p.hint, m.th.dim}))
	}
	for len(lines) < h {
		lines = append([]string{m.th.dim.s(strings.Repeat("─", m.w))}, lines...)
	}
	first := len(lines) - h
	if chosen >= 0 && chosen < first {
		first = chosen // little room: the choice stays in view
	}
	return append(out, lines[first:first+h]...)
}

func about(p *prompt, i int) string {
	if i < len(p.about) {
		return "  " + p.about[i]
	}
	return ""
}

// drawFooter is the prompt's line, a message, or hints.
func (m *model) drawFooter() string {
	switch {
	case m.prompt != nil:
		return m.drawPrompt()
	case m.message != "":
		p := m.th.accent
		if m.bad {
			p = m.th.bad
		}
		return fill(m.w, seg{cut(m.message, m.w), p})
	}
	hints := m.hints()
	const gap = "  "
	fixed := hint(m.keys.Help, "") + gap + hint(m.keys.Quit, "")
	l := newLine(m.w)
	for _, h := range hints {
		if strings.Contains(fixed, h) {
			continue
		}
		if width(h)+len(gap) > l.left-width(fixed) {
			continue
		}
		key, does, _ := strings.Cut(h, " ")
		if strings.HasPrefix(h, "[ ]") || strings.HasPrefix(h, "h l") {
			key, does = h[:3], h[4:]
		}
		l.put(m.th.accent, key)
		l.put(m.th.dim, " "+does+gap)
	}
	l.space(l.left - width(fixed))
	l.put(m.th.dim, fixed)
	return l.String()
}

// drawPrompt draws the input with a cursor that needs no colours.
func (m *model) drawPrompt() string {
	p := m.prompt
	label := p.label
	switch p.kind {
	case askOverwrite:
		return fill(m.w, seg{label + " ", m.th.title}, seg{"▏", m.th.accent})
	case askFormat:
		return fill(m.w, seg{label + ": ", m.th.title}, seg{p.choices[max(p.pick, 0)], m.th.strong}, seg{"▏", m.th.accent})
	}
	state := ""
	switch p.kind {
	case askSearch:
		state = m.findState()
	case askTextSearch:
		if t := m.text; t != nil && t.query != "" {
			state = "no match"
			if t.at >= 0 {
				state = fmt.Sprintf("%s of %s", coverage.Number(t.at+1), coverage.Number(t.hits))
			}
		}
	}
	if state != "" {
		state = "  " + state
	}
	value := []rune(p.in.Value())
	at := min(p.in.Position(), len(value))
	before, after := clean(string(value[:at])), clean(string(value[at:]))
	room := m.w - width(label) - 2 - 1 - width(state)
	if n := width(before); n > room-1 && room > 4 {
		before = "…" + cutLeft(before, room-2)
	}
	return ends(m.w, []seg{{label + ": ", m.th.title}, {before, paint{}}, {"▏", m.th.accent}, {cut(after, max(0, room-width(before))), paint{}}}, []seg{{state, m.th.dim}})
}
