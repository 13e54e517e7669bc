package ui

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/collect"
	"fatview/index"
)

// An inbox holds what was found since the last look into it: a folder yields
// hundreds of files, and each message would cost a frame.
type inbox struct {
	mu      sync.Mutex
	batches []collect.Batch
}

func (b *inbox) put(x collect.Batch) {
	b.mu.Lock()
	b.batches = append(b.batches, x)
	b.mu.Unlock()
}

func (b *inbox) take() []collect.Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.batches
	b.batches = nil
	return out
}

// takeIn adds the files that have arrived.
func (m *model) takeIn() tea.Cmd {
	batches := m.inbox.take()
	if len(batches) == 0 {
		return nil
	}
	first := len(m.files)
	var cmds []tea.Cmd
	var jobs []decodeJob
	for _, b := range batches {
		unfold := len(b.Files) <= 20 && b.Place == m.opening // not each file of a folder
		for _, x := range b.Files {
			m.addFile(x, m.opening)
			f := m.files[len(m.files)-1]
			if unfold {
				m.open[row{int32(len(m.files) - 1), none, none, none}] = true
			}
			if x.Searched() {
				f.searched = true
			} else {
				cmds = append(cmds, m.outside(f))
			}
			for _, c := range f.conts {
				jobs = append(jobs, decodeJob{f.f, c})
			}
		}
	}
	if !m.opt.NoKernels {
		cmds = append(cmds, m.decode(jobs))
	}
	m.rebuild()
	if m.opening == m.wanted && m.wanted != "" && first < len(m.files) {
		m.wanted = ""
		m.show(row{int32(first), none, none, none})
	}
	return tea.Batch(cmds...)
}

// opened ends a path: what is still to be taken in, why it yielded nothing,
// and what its files belong to. Then the next path is looked at.
func (m *model) opened(msg openedMsg) tea.Cmd {
	cmds := []tea.Cmd{m.takeIn()}
	m.opening = ""
	m.coming = nil
	if m.ctx.Err() != nil {
		return nil
	}
	arg := msg.res.Args[0]
	switch {
	case arg.Err != nil:
		m.failedToOpen(msg.path, arg.Err)
	case arg.Files == 0:
		text := "no device code in " + counted(int(arg.Counts.Entries), "file")
		if n := len(arg.Findings); n > 0 {
			text += "; " + counted(n, "finding") + ", the first: " + arg.Findings[0].Path + ": " + arg.Findings[0].Message
		}
		m.failedToOpen(msg.path, errors.New(text))
	case arg.Kind != "file":
		m.say(scanned(arg))
	}
	m.nameOwners(msg.res)
	m.scanFindings = append(m.scanFindings, arg.Findings...)
	return tea.Batch(append(cmds, m.openNext(), m.settle())...)
}

// failedToOpen adds a row that says why there is nothing to see.
func (m *model) failedToOpen(path string, err error) {
	// The error begins with the path, which the row shows already.
	text := strings.TrimPrefix(err.Error(), path+": ")
	m.files = append(m.files, &file{path: path, name: clean(base(path)), err: errors.New(text)})
	m.fail(clean(path + ": " + text))
	m.rebuild()
	if path == m.wanted {
		m.wanted = ""
		m.move(len(m.rows) - 1)
	}
}

// scanned says what became of a folder or package.
func scanned(arg *collect.Arg) string {
	n := arg.Counts
	text := fmt.Sprintf("%s: %s with device code among %s", clean(base(arg.Path)), counted(arg.Files, "file"), counted(int(n.Entries), "file"))
	if n.Copies > 0 {
		text += "; " + counted(int(n.Copies), "copy")
	}
	if len(arg.Findings) > 0 {
		text += "; " + counted(len(arg.Findings), "finding") + ", the first: " + clean(arg.Findings[0].Path+": "+arg.Findings[0].Message)
	}
	return text
}

// nameOwners notes which distribution each file belongs to.
func (m *model) nameOwners(res *collect.Result) {
	of := map[*index.File]*file{}
	for _, f := range m.files {
		if f.f != nil {
			of[f.f] = f
		}
	}
	for _, x := range res.Files {
		if of[x] == nil {
			continue
		}
		var names []string
		for _, d := range res.Dists(x) {
			names = append(names, clean(strings.TrimSpace(d.Name+" "+d.Version)))
		}
		of[x].owner = strings.Join(names, ", ")
	}
	m.details.sel = row{-2, -2, -2, -2}
}
