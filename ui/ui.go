// Package ui is the terminal explorer: a tree of files, containers, images and
// kernels, coloured by what the chosen GPU can run, and a pane that explains
// each verdict.
//
// All state lives in one model, which belongs to the goroutine of Update and
// View. What is slow (opening, searching, decoding, judging, exporting) runs in
// commands; workers publish through atomic values, and a tick of a tenth of a
// second takes in what they did. Text from files reaches the screen only
// through clean, because names may hold escape sequences.
//
// It is the only package that imports charmbracelet's.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/collect"
	"fatview/gpu"
)

// Options is what the explorer starts with. The zero value asks for a path.
type Options struct {
	Paths     []string                                // looked at in the background, in order
	Collect   collect.Options                         // how they are
	Targets   []gpu.Target                            // GPUs by name, with the drivers they are judged for
	Detect    func(ctx context.Context) gpu.Inventory // nil: no detection
	NoKernels bool                                    // decode nothing on its own
	In        io.Reader                               // nil: the terminal
	Out       io.Writer                               // nil: the terminal
	Version   string
}

// ErrInterrupted means that the user, or whoever runs the program, ended it
// with an interrupt.
var ErrInterrupted = errors.New("interrupted")

// Run shows the explorer until it is quit. The terminal is left as it was
// found, whatever happens. The error is nil after q, and ErrInterrupted after
// ctrl+c, an interrupt signal or the end of ctx.
func Run(ctx context.Context, o Options) error {
	out := o.Out
	if out == nil {
		out = os.Stdout
	}
	return show(ctx, newModel(ctx, o, newTheme(out)), o.In, out)
}

// show runs a model as the program on a terminal.
//
// An interrupt is made an ordinary end: bubbletea's own handling of it, and of
// a context that ends, gives the terminal back while its input is still being
// read.
func show(ctx context.Context, m *model, in io.Reader, out io.Writer) error {
	opts := []tea.ProgramOption{
		tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithOutput(out), tea.WithoutSignalHandler(),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			if _, ok := msg.(tea.InterruptMsg); ok {
				m.interrupted = true
				return tea.QuitMsg{}
			}
			return msg
		}),
	}
	if in != nil {
		opts = append(opts, tea.WithInput(in))
	}
	p := tea.NewProgram(m, opts...)
	defer context.AfterFunc(ctx, func() { p.Send(tea.InterruptMsg{}) })()
	_, err := p.Run()
	if m.work.stop(time.Second) {
		// Only when nobody reads them any more.
		for _, f := range m.openFiles() {
			f.Close()
		}
	}
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the explorer failed, which is a mistake in fatview: %w", err)
	case m.interrupted, ctx.Err() != nil:
		return ErrInterrupted
	}
	return err
}
