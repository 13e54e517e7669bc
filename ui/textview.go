package ui

import (
	"bytes"
	"context"
	"errors"
	"sort"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/fatbin"
)

// A textView shows the text of an image, or what can be told instead. The
// text is kept as it is; only the lines on the screen are cut and cleaned.
type textView struct {
	title   string
	of      row
	loading bool
	err     string
	ptx     bool // colour it as PTX

	text   string
	lower  string // for searching; made by the worker that loads
	starts []int  // offset of each line
	top, x int

	query  string
	hits   int // matches in all
	at     int // number of the match that is shown, from 0; -1
	atOff  int // its offset
	from   int // top when the search began
	marked int // line under the mark, -1
}

type textMsg struct {
	of   row
	text *textView
}

func newText(title, text string) *textView {
	const longest = 64 << 20 // more is kept twice and searched while someone waits
	if len(text) > longest {
		text, title = text[:longest], title+" (the first 64 MiB)"
	}
	t := &textView{title: title, at: -1, marked: -1}
	t.set(text)
	return t
}

func (t *textView) set(text string) {
	t.text = text
	t.lower = lowerASCII(text)
	t.starts = append(t.starts[:0], 0)
	for i := 0; ; {
		j := strings.IndexByte(text[i:], '\n')
		if j < 0 {
			break
		}
		i += j + 1
		t.starts = append(t.starts, i)
	}
	if n := len(t.starts); n > 1 && t.starts[n-1] == len(text) {
		t.starts = t.starts[:n-1] // the text ends with its last line
	}
}

// lowerASCII keeps every offset, which strings.ToLower does not.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = low(c)
	}
	return string(b)
}

func (t *textView) line(i int) string {
	end := len(t.text)
	if i+1 < len(t.starts) {
		end = t.starts[i+1]
	}
	return strings.TrimRight(t.text[t.starts[i]:end], "\r\n")
}

// lineAt returns the line of an offset.
func (t *textView) lineAt(off int) int {
	return sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > off }) - 1
}

func (t *textView) scroll(to, h int) { t.top = max(0, min(to, len(t.starts)-h)) }

// seek searches from where the search began, as the query is typed.
func (t *textView) seek(query string) {
	t.query = query
	q := lowerASCII(query)
	t.at, t.marked, t.hits = -1, -1, 0
	if q == "" {
		t.top = t.from
		return
	}
	t.hits = strings.Count(t.lower, q)
	if t.hits == 0 || len(t.starts) == 0 {
		return
	}
	start := t.starts[min(t.from, len(t.starts)-1)]
	off := strings.Index(t.lower[start:], q)
	if off >= 0 {
		off += start
	} else {
		off = strings.Index(t.lower, q)
	}
	t.at = strings.Count(t.lower[:off], q)
	t.goTo(off)
}

func (t *textView) goTo(off int) {
	t.atOff = off
	t.marked = t.lineAt(off)
}

// next goes to the next or previous match, round the ends.
func (t *textView) next(forward bool) bool {
	q := lowerASCII(t.query)
	if q == "" || t.hits == 0 {
		return false
	}
	if forward {
		from := t.atOff + len(q)
		if off := strings.Index(t.lower[min(from, len(t.lower)):], q); off >= 0 {
			t.at++
			t.goTo(from + off)
		} else {
			t.at = 0
			t.goTo(strings.Index(t.lower, q))
		}
		return true
	}
	if off := strings.LastIndex(t.lower[:t.atOff], q); off >= 0 {
		t.at--
		t.goTo(off)
	} else {
		t.at = t.hits - 1
		t.goTo(strings.LastIndex(t.lower, q))
	}
	return true
}

func (t *textView) forget() {
	t.query, t.hits, t.at, t.marked = "", 0, -1, -1
	t.top = t.from
}

// viewText opens the text of the image under the cursor, or says why it has
// none.
func (m *model) viewText() tea.Cmd {
	r, ok := m.selected()
	if !ok {
		m.fail("nothing open to view")
		return nil
	}
	im := m.image(r)
	switch {
	case im == nil:
		m.fail("only images have text: unfold a container and choose one")
		return nil
	case m.isPTX(r):
		return m.loadPTX(r)
	case im.Kind == fatbin.KindCubin:
		var b strings.Builder
		b.WriteString("SASS text needs NVIDIA's nvdisasm. What can be told without it:\n\n")
		for _, l := range m.describe(r, 100, true) {
			b.WriteString(l.text() + "\n")
		}
		m.text = newText(m.imageTitle(r), b.String())
		m.text.of = r
		m.arrange()
		return nil
	}
	m.fail(clean(im.Kind.Title()) + " is no text that can be shown")
	return nil
}

// loadPTX reads and decompresses the image in the background. For a kernel
// the view opens at its entry.
func (m *model) loadPTX(r row) tea.Cmd {
	im := m.image(r)
	entry := ""
	if k := m.kernel(r); k != nil {
		entry = k.Name
	}
	title := m.imageTitle(r)
	m.text = &textView{title: title, of: r, loading: true, at: -1, marked: -1}
	m.arrange()
	return tea.Batch(m.work.run(func(context.Context) tea.Msg {
		b, err := im.Payload()
		if err != nil {
			t := newText(title, "")
			t.err = "this text cannot be read: " + err.Error()
			if errors.Is(err, fatbin.ErrTooLarge) {
				t.err += " (the payload is not decompressed)"
			}
			return textMsg{r, t}
		}
		b = bytes.TrimRight(b, "\x00")
		t := newText(title, string(b))
		t.ptx = true
		if p, err := fatbin.ParsePTX(b); err == nil && entry != "" {
			for _, e := range p.Entries {
				if e.Name == entry {
					t.marked = t.lineAt(e.Offset)
					break
				}
			}
		}
		return textMsg{r, t}
	}), m.wake())
}

// loaded takes in a text, unless the view has been left meanwhile.
func (m *model) loaded(msg textMsg) {
	if m.text == nil || !m.text.loading || m.text.of != msg.of {
		return
	}
	msg.text.of = msg.of
	m.text = msg.text
	if m.text.marked > 0 {
		m.text.scroll(m.text.marked-min(2, m.textHeight()/4), m.textHeight())
	}
	m.text.from = m.text.top
}

func (m *model) textHeight() int { return max(1, m.lay.body.h-1-m.lay.panel.h) }
