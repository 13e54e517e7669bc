package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/coverage"
)

// textKey handles a key while a text is shown.
func (m *model) textKey(name string) tea.Cmd {
	t, h := m.text, m.textHeight()
	k := &m.keys
	switch {
	case is(name, k.Down):
		t.scroll(t.top+1, h)
	case is(name, k.Up):
		t.scroll(t.top-1, h)
	case is(name, k.PageDown), is(name, k.Space):
		t.scroll(t.top+h-1, h)
	case is(name, k.PageUp):
		t.scroll(t.top-h+1, h)
	case is(name, k.HalfDown):
		t.scroll(t.top+h/2, h)
	case is(name, k.HalfUp):
		t.scroll(t.top-h/2, h)
	case is(name, k.Top):
		t.scroll(0, h)
	case is(name, k.Bottom):
		t.scroll(len(t.starts), h)
	case is(name, k.Right):
		t.x = min(t.x+8, 1<<16)
	case is(name, k.Left):
		t.x = max(0, t.x-8)
	case is(name, k.Search):
		if t.loading || t.err != "" {
			m.fail("there is no text to search")
			return nil
		}
		t.from = t.top
		m.prompt = newPrompt(askTextSearch, "search text", "", "")
		m.arrange()
	case is(name, k.Next), is(name, k.Previous):
		if t.query == "" {
			m.fail("nothing searched yet: / searches")
		} else if !t.next(is(name, k.Next)) {
			m.fail("no match for “" + cleanTo(t.query, 60) + "”")
		}
		t.scrollToMark(h)
	case is(name, k.Back), is(name, k.View):
		if t.query != "" && is(name, k.Back) {
			t.from = t.top
			t.forget()
			return nil
		}
		m.text = nil
		m.arrange()
	case is(name, k.Help):
		m.openHelp()
	case is(name, k.Quit):
		return tea.Quit
	default:
		m.fail("that key does nothing here: esc goes back to the tree")
	}
	return nil
}

func (t *textView) scrollToMark(h int) {
	if t.marked >= 0 {
		t.top = window(t.top, t.marked, h, len(t.starts), h/4)
	}
}

// drawText draws the text's title and its visible lines.
func (m *model) drawText(out []string) []string {
	t, w := m.text, m.w
	right := "line " + coverage.Number(min(t.top+1, len(t.starts))) + " of " + coverage.Number(len(t.starts))
	if t.query != "" {
		state := "no match"
		if t.at >= 0 {
			state = coverage.Number(t.at+1) + " of " + coverage.Number(t.hits)
		}
		right = "/" + cleanTo(t.query, 20) + " " + state + " · " + right
	}
	if t.loading {
		right = ""
	}
	out = append(out, m.rule(w, t.title, right, true))
	h := m.textHeight()
	switch {
	case t.loading:
		out = append(out, fill(w, seg{"  reading …", m.th.dim}))
	case t.err != "":
		for _, l := range wrap(clean(t.err), w-4) {
			out = append(out, fill(w, seg{"  " + l, m.th.bad}))
		}
	default:
		q := lowerASCII(t.query)
		for i := t.top; i < min(t.top+h, len(t.starts)); i++ {
			out = append(out, m.drawTextLine(t, i, q))
		}
	}
	return out
}

func (m *model) drawTextLine(t *textView, i int, q string) string {
	l := newLine(m.w)
	if i == t.marked {
		l.put(m.th.accent, "> ")
	} else {
		l.space(2)
	}
	s := t.line(i)
	s = strings.ReplaceAll(s[:min(len(s), 8*(m.w+t.x)+4096)], "\t", "    ")
	if t.x > 0 {
		s = string([]rune(s)[min(t.x, len([]rune(s))):])
	}
	s = cleanTo(s, m.w)
	if q != "" {
		if at := strings.Index(lowerASCII(s), q); at >= 0 {
			l.put(paint{}, s[:at])
			l.put(m.th.hit, s[at:at+len(q)])
			l.put(paint{}, s[at+len(q):])
			return l.String()
		}
	}
	if !t.ptx {
		l.put(paint{}, s)
		return l.String()
	}
	code, comment := s, ""
	if at := strings.Index(s, "//"); at >= 0 {
		code, comment = s[:at], s[at:]
	}
	indent := len(code) - len(strings.TrimLeft(code, " "))
	l.put(paint{}, code[:indent])
	code = code[indent:]
	switch {
	case strings.HasPrefix(code, "."):
		word, rest, _ := strings.Cut(code, " ")
		l.put(m.th.accent, word)
		if rest != "" {
			l.put(paint{}, " "+rest)
		}
	case strings.HasPrefix(code, "$"), strings.HasSuffix(strings.TrimSpace(code), ":"):
		l.put(m.th.strong, code)
	default:
		l.put(paint{}, code)
	}
	l.put(m.th.dim, comment)
	return l.String()
}
