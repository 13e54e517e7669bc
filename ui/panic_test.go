//go:build unix && !race

// Not with the race detector: after a panic bubbletea gives the terminal back
// while its own goroutine reads it.

package ui

import (
	"errors"
	"os"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

func TestRunLeavesTheTerminalCleanAfterAPanic(t *testing.T) {
	s := newScreen(t)
	m := newModel(t.Context(), Options{Paths: []string{fixtures + "mixed.so"}}, newTheme(s.program))
	m.tick = func() tea.Cmd { return func() tea.Msg { panic("boom") } }
	stdout, stderr := os.Stdout, os.Stderr // bubbletea prints the stack there
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	os.Stdout, os.Stderr = null, null
	err = show(t.Context(), m, s.program, s.program)
	os.Stdout, os.Stderr = stdout, stderr
	if err == nil || errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	s.wantClean()
}
