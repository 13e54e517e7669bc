package ui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Update takes in a key, a mouse event or news from the background.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	return m, m.update(msg)
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	cmd := m.handle(msg)
	if more := m.refreshView(); more != nil {
		return tea.Batch(cmd, more, m.wake())
	}
	return cmd
}

func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.arrange()
		return nil
	case tea.KeyMsg:
		if msg.Type == tea.KeyRunes && len(msg.Runes) > 1 && !msg.Paste && !msg.Alt {
			// Keys that arrive together, as over a slow line, come as one message.
			var cmds []tea.Cmd
			for _, r := range msg.Runes {
				cmds = append(cmds, m.onKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
			}
			return tea.Batch(cmds...)
		}
		return m.onKey(msg)
	case tea.MouseMsg:
		return m.onMouse(msg)
	case tickMsg:
		m.tickOn = false
		return tea.Batch(m.settle(), m.wake())
	case openedMsg:
		return m.opened(msg)
	case outsideMsg:
		return m.outsideDone(msg)
	case decodedMsg:
		return m.settle()
	case inventoryMsg:
		return m.detected(msg)
	case judgedMsg:
		m.judgedDone(msg)
		return m.settle()
	case foundMsg:
		return m.found(msg)
	case textMsg:
		m.loaded(msg)
		return nil
	case savedMsg:
		return m.saved(msg)
	case tea.ResumeMsg:
		// bubbletea brings back all but the mouse.
		return tea.EnableMouseCellMotion
	case crashMsg:
		m.fail("something went wrong in the background: " + clean(msg.what))
		m.opening, m.judging, m.exporting, m.detecting = "", false, false, false
		m.find.running = false
		return m.openNext()
	}
	return nil
}

// settle takes in what workers have decoded and starts what follows from it:
// verdicts, and the search that is on.
func (m *model) settle() tea.Cmd {
	arrived := m.takeIn()
	changed, redraw := false, false
	for fi, f := range m.files {
		for _, ci := range f.refresh() {
			changed = true
			redraw = redraw || m.open[row{int32(fi), int32(ci), none, none}]
		}
	}
	if redraw {
		m.rebuild()
	}
	var cmds []tea.Cmd
	if m.find.query != "" && (changed || m.find.again) {
		m.find.again = true
		if !m.find.running && (m.now().Sub(m.find.since) > time.Second || m.decodedAll()) {
			cmds = append(cmds, m.startFind(m.find.query))
		}
	}
	return tea.Batch(append(cmds, arrived, m.judge(), m.wake())...)
}

// outsideDone takes in containers that were found outside of the named
// sections, after the export that may be ranging over the file.
func (m *model) outsideDone(msg outsideMsg) tea.Cmd {
	m.work.search--
	msg.file.searched = true
	if m.exporting {
		m.held = append(m.held, msg)
		return nil
	}
	return tea.Batch(m.adopt(msg), m.settle())
}

func (m *model) adopt(msg outsideMsg) tea.Cmd {
	f := msg.file
	before := len(f.conts)
	f.f.Adopt(msg.found)
	if msg.err != nil && m.ctx.Err() == nil && !errors.Is(msg.err, context.Canceled) {
		m.fail(f.name + ": searching it ended early: " + clean(msg.err.Error()))
	}
	if len(msg.found) == 0 {
		return nil
	}
	f.extend()
	m.rebuild()
	if m.opt.NoKernels {
		return nil
	}
	var jobs []decodeJob
	for _, c := range f.conts[before:] {
		jobs = append(jobs, decodeJob{f.f, c})
	}
	return m.decode(jobs)
}

// detected takes in the GPUs of this machine, before those given by name.
func (m *model) detected(msg inventoryMsg) tea.Cmd {
	m.detecting = false
	m.gpuProblem, m.gpuNote = clean(msg.inv.Problem), clean(msg.inv.Note)
	chosen := m.chosenGPU()
	named := m.gpus
	m.gpus = nil
	for _, t := range msg.inv.Targets {
		m.addTarget(t)
	}
	m.gpus = append(m.gpus, named...)
	m.gpu = max(0, slices.Index(m.gpus, chosen))
	m.arrange()
	return m.settle()
}

func (m *model) judgedDone(msg judgedMsg) {
	m.judging = false
	m.judgeNext = m.now().Add(3 * msg.took)
	m.verdictCount += len(msg.results)
	redraw := false
	for _, r := range msg.results {
		if r.file < len(r.t.verdicts) {
			r.t.verdicts[r.file] = r.judged
			redraw = redraw || m.filter && r.t == m.chosenGPU()
		}
	}
	if redraw {
		m.rebuild()
		m.find.again = true // hits are those that the filter lets pass
	}
}

// forgetVerdicts drops what was drawn from verdicts that no longer hold.
func (m *model) forgetVerdicts() {
	m.details.sel = row{-2, -2, -2, -2}
	if m.filter {
		m.rebuild()
	}
}

// chooseGPU makes a GPU the one that verdicts are shown for.
func (m *model) chooseGPU(i int) {
	if i < 0 || i >= len(m.gpus) {
		return
	}
	m.gpu = i
	m.detTop = 0
	if m.filter {
		m.rebuild()
		m.find.again = true
	}
}

// arrange computes the layout anew.
func (m *model) arrange() {
	panel := 0
	if m.prompt != nil {
		panel = m.prompt.lines()
	}
	m.lay = arrange(m.w, m.h, m.focus, panel, m.look != viewBrowse)
	m.scrollTree()
	if m.text != nil {
		m.text.scroll(m.text.top, m.textHeight())
	}
}
