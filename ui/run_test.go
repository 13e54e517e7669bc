//go:build unix

package ui

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"fatview/collect"
	"fatview/index"
)

// A screen is a pseudo terminal with what was written to it.
type screen struct {
	t       *testing.T
	user    *os.File // the user's end
	program *os.File
	mu      sync.Mutex
	out     bytes.Buffer
	ended   chan struct{}
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	user, program, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminal here: " + err.Error())
	}
	if err := pty.Setsize(user, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, user: user, program: program, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		b := make([]byte, 4096)
		for {
			n, err := user.Read(b)
			s.mu.Lock()
			s.out.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// wait waits until the program has written a text.
func (s *screen) wait(text string) {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if bytes.Contains([]byte(s.text()), []byte(text)) {
			return
		}
	}
	s.t.Fatalf("%q never came: %q", text, s.text())
}

// wantClean checks that everything that was switched on is off again.
func (s *screen) wantClean() {
	s.t.Helper()
	s.wait("\x1b[?1049l")
	s.program.Close()
	s.user.Close()
	<-s.ended
	out := s.text()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1002h": "\x1b[?1002l", "\x1b[?2004h": "\x1b[?2004l"} {
		if bytes.LastIndex([]byte(out), []byte(on)) > bytes.LastIndex([]byte(out), []byte(off)) {
			s.t.Errorf("%q is left on: %q", on, out)
		}
	}
	if bytes.Contains([]byte(out), []byte("\x1b]")) || bytes.Contains([]byte(out), []byte("\x1b[6n")) {
		s.t.Errorf("the terminal was asked something: %q", out)
	}
}

func TestRunLeavesTheTerminalClean(t *testing.T) {
	slow := func(ctx context.Context, path string) ([]*index.File, error) {
		<-ctx.Done() // as long as it takes
		return nil, ctx.Err()
	}
	for _, c := range []struct {
		name string
		open func(context.Context, string) ([]*index.File, error)
		keys string
		stop bool // end the context
		want error
	}{
		{name: "q", keys: "q"},
		{name: "q while opening", open: slow, keys: "q"},
		{name: "ctrl+c", keys: "\x03", want: ErrInterrupted},
		{name: "ctrl+c in a prompt", keys: "/ab\x03", want: ErrInterrupted},
		{name: "context", open: slow, stop: true, want: ErrInterrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				done <- Run(ctx, Options{Paths: []string{fixtures + "mixed.so"}, Collect: collect.Options{Named: c.open}, In: s.program, Out: s.program})
			}()
			if s.wait("fatview"); c.open == nil {
				s.wait("3 containers")
			}
			if c.stop {
				cancel()
			}
			for _, k := range c.keys {
				time.Sleep(20 * time.Millisecond)
				if _, err := s.user.WriteString(string(k)); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case err := <-done:
				if !errors.Is(err, c.want) {
					t.Errorf("error %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("it does not end")
			}
			s.wantClean()
		})
	}
}
