package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

type promptKind uint8

const (
	askSearch promptKind = iota
	askTextSearch
	askGPU
	askDriver
	askFormat
	askSavePath
	askOverwrite
	askOpen
)

// A prompt asks for a line, a choice or a yes.
type prompt struct {
	kind    promptKind
	label   string
	in      textinput.Model
	hint    string   // what may be written
	err     string   // what was wrong with it
	choices []string // suggestions, or what there is to choose from
	pick    int      // the choice under the mark, -1
	path    string   // askOverwrite: the file in the way
	about   []string // a word on each choice
}

// newPrompt makes a prompt with an input line. The input's own cursor blinks
// and is invisible without colours, so it is drawn by the view.
func newPrompt(k promptKind, label, value, hint string) *prompt {
	in := textinput.New()
	in.CharLimit = 4096
	in.Cursor.SetMode(cursor.CursorHide)
	in.SetValue(value)
	in.CursorEnd()
	in.Focus()
	return &prompt{kind: k, label: label, in: in, hint: hint, pick: -1}
}

// lines is how many lines the prompt wants above its own.
func (p *prompt) lines() int {
	n := len(p.choices)
	if p.hint != "" {
		n++
	}
	if p.err != "" {
		n += 2
	}
	if n > 0 {
		n++ // a rule above
	}
	return n
}

func (m *model) askPath() {
	m.prompt = newPrompt(askOpen, "open", "", "path of a library, executable, object, archive, .fatbin, .cubin or .ptx")
}

// promptKey handles a key while a prompt is open.
func (m *model) promptKey(msg tea.KeyMsg) tea.Cmd {
	p := m.prompt
	name := msg.String()
	switch name {
	case "esc":
		return m.leavePrompt()
	case "ctrl+c":
		return tea.Interrupt
	case "enter":
		return m.acceptPrompt()
	}
	switch p.kind {
	case askOverwrite:
		return m.overwriteKey(name)
	case askFormat:
		m.formatKey(name)
		if p.kind == askFormat && strings.Contains(" 1 2 3 4 5 6 7 8 9 ", " "+name+" ") && p.pick >= 0 {
			return m.acceptPrompt()
		}
		return nil
	case askGPU:
		if m.suggestionKey(name) {
			return nil
		}
	}
	before := p.in.Value()
	p.in, _ = p.in.Update(msg)
	if p.in.Value() == before {
		return nil
	}
	p.err = ""
	switch p.kind {
	case askSearch:
		return m.startFind(p.in.Value())
	case askTextSearch:
		m.text.seek(p.in.Value())
	case askGPU:
		m.suggest()
	}
	m.arrange()
	return nil
}

// leavePrompt is esc: nothing happens, and a search goes back to where it
// began.
func (m *model) leavePrompt() tea.Cmd {
	p := m.prompt
	m.prompt = nil
	switch p.kind {
	case askSearch:
		m.showAgain(m.find.from, m.find.fromTop)
		m.endFind()
	case askTextSearch:
		m.text.forget()
	case askOverwrite:
		m.say("nothing written; " + clean(p.path) + " is as it was")
	case askFormat, askSavePath:
		m.say("nothing written")
	}
	m.arrange()
	return nil
}

// acceptPrompt is enter. A prompt with a mistake stays, with what is wrong.
func (m *model) acceptPrompt() tea.Cmd {
	p := m.prompt
	value := strings.TrimSpace(p.in.Value())
	defer m.arrange()
	switch p.kind {
	case askSearch:
		m.prompt = nil
		m.find.live, m.find.opened = false, nil
		if p.in.Value() == "" {
			m.endFind()
		} else if !m.find.running && len(m.find.hits) == 0 {
			m.tellNoHits()
		}
	case askTextSearch:
		m.prompt = nil
		if m.text.query != "" && m.text.hits == 0 {
			m.fail(fmt.Sprintf("no match for “%s”", cleanTo(m.text.query, 60)))
		}
	case askGPU:
		return m.acceptGPU(value)
	case askDriver:
		return m.acceptDriver(value)
	case askFormat:
		m.askSavePath(p.choices[max(p.pick, 0)])
	case askSavePath:
		if value == "" {
			p.err = "a file name is needed"
			return nil
		}
		m.prompt = nil
		return m.export(home(value), false)
	case askOverwrite:
		return m.overwriteKey("n")
	case askOpen:
		m.prompt = nil
		if value == "" {
			return nil
		}
		m.wanted = home(value)
		m.pending = append(m.pending, m.wanted)
		return tea.Batch(m.openNext(), m.wake())
	}
	return nil
}
