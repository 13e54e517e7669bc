package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/coverage"
	"fatview/gpu"
	"fatview/report"
)

// askFormat begins an export.
func (m *model) askFormat() {
	switch {
	case m.exporting:
		m.fail("the last export is still being written")
		return
	case len(m.openFiles()) == 0:
		m.fail("nothing to export yet: o opens a file")
		return
	}
	p := &prompt{kind: askFormat, label: "export as", choices: report.Formats(), hint: "h l choose, enter takes it, esc ends"}
	for i, f := range p.choices {
		p.about = append(p.about, report.About(f))
		if f == m.exportAs {
			p.pick = i
		}
	}
	m.prompt = p
	m.arrange()
}

// formatKey chooses a format: by arrows, by number or by first letter.
func (m *model) formatKey(name string) {
	p := m.prompt
	n := len(p.choices)
	switch name {
	case "left", "h", "up", "k", "shift+tab":
		p.pick = (max(p.pick, 0) + n - 1) % n
		return
	case "right", "l", "down", "tab", " ":
		p.pick = (p.pick + 1) % n
		return
	}
	if len(name) != 1 {
		return
	}
	if i := int(name[0]) - '1'; i >= 0 && i < n {
		p.pick = i
		return
	}
	for i := range n {
		if at := (max(p.pick, 0) + 1 + i) % n; p.choices[at][0] == name[0] {
			p.pick = at
			return
		}
	}
}

// askSavePath asks where to write, with a name made from the file's.
func (m *model) askSavePath(format string) {
	m.exportAs = format
	name := "fatview"
	if r, ok := m.selected(); ok && m.files[r.file].f != nil {
		name = m.files[r.file].path
	} else if files := m.openFiles(); len(files) > 0 {
		name = files[0].Path
	}
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r == '!' || r == '#' {
			return '_'
		}
		return r
	}, clean(base(name)))
	m.prompt = newPrompt(askSavePath, "write "+format+" to", name+".fatview"+report.Ending(format), "enter writes, esc ends")
}

type savedMsg struct {
	path   string
	format string
	err    error
	open   int // containers whose kernels were not known
}

// export writes the report in the background. Until it is written no file
// may take in more containers, because the report ranges over them.
func (m *model) export(path string, overwrite bool) tea.Cmd {
	format := m.exportAs
	if f, ok := report.FormatOf(path); ok {
		format = f // the ending says more clearly what is wanted
	}
	files := m.openFiles()
	targets := make([]gpu.Target, len(m.gpus))
	for i, t := range m.gpus {
		targets[i] = t.Target
	}
	save := m.save
	m.exporting = true
	m.say("writing " + clean(path))
	return tea.Batch(m.work.run(func(context.Context) tea.Msg {
		msg := savedMsg{path: path, format: format}
		for _, f := range files {
			for _, c := range f.Containers {
				if c.Decoded() == nil {
					msg.open++
				}
			}
		}
		msg.err = save(path, format, report.Build(files, targets), overwrite)
		return msg
	}), m.wake())
}

// saved tells where the report was written, or asks about a file in the way.
func (m *model) saved(msg savedMsg) tea.Cmd {
	m.exporting = false
	switch {
	case errors.Is(msg.err, report.ErrExists):
		m.message = ""
		m.prompt = &prompt{kind: askOverwrite, label: clean(base(msg.path)) + " exists: overwrite it? (y/n)", path: msg.path}
		m.arrange()
	case msg.err != nil:
		m.fail("not written: " + clean(msg.err.Error()))
	default:
		at := msg.path
		if abs, err := filepath.Abs(at); err == nil {
			at = abs
		}
		text := " (" + msg.format + ")"
		if msg.open > 0 {
			text += fmt.Sprintf("; kernels of %s not known yet", counted(msg.open, "container"))
		}
		m.say("wrote " + cutMiddle(clean(at), max(20, m.w-6-width(text))) + text)
	}
	var cmds []tea.Cmd
	for _, h := range m.held {
		cmds = append(cmds, m.adopt(h))
	}
	m.held = nil
	return tea.Batch(cmds...)
}

// overwriteKey answers whether to overwrite; only y is yes.
func (m *model) overwriteKey(name string) tea.Cmd {
	p := m.prompt
	if name == "y" || name == "Y" {
		m.prompt = nil
		m.arrange()
		return m.export(p.path, true)
	}
	return m.leavePrompt()
}

// base is the last part of a path by either kind of separator: files of one
// system are looked at on another.
func base(path string) string {
	trimmed := strings.TrimRight(path, `/\`)
	if i := strings.LastIndexAny(trimmed, `/\`); i >= 0 {
		return trimmed[i+1:]
	}
	return trimmed
}

// home replaces a leading ~/, which no shell does for us here.
func home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, rest)
		}
	}
	return path
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return coverage.Number(n) + " " + noun + "s"
}
