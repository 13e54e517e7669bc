package ui

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/gpu"
	"fatview/index"
)

var update = flag.Bool("update", false, "write the golden files anew")

const fixtures = "../testdata/fixtures/"

// A driver sits where the user does: it presses keys and reads the screen.
// Commands run to their end before the next key, so stories are the same every
// time. After every message it checks what must hold always: the screen has
// its height, and no line is wider than it.
type driver struct {
	t           *testing.T
	m           *model
	quit        bool
	interrupted bool
	suspended   bool
	hold        bool // keep commands instead of running them
	held        []tea.Cmd
}

type option func(*Options, *model)

// gpus names GPUs as --gpu does.
func gpus(spec string) option {
	return func(o *Options, _ *model) {
		targets, err := gpu.Parse(spec)
		if err != nil {
			panic(err)
		}
		o.Targets = targets
	}
}

func noKernels(o *Options, _ *model) { o.NoKernels = true }

func inventory(inv gpu.Inventory) option {
	return func(o *Options, _ *model) { o.Detect = func(context.Context) gpu.Inventory { return inv } }
}

func opener(open func(context.Context, string) ([]*index.File, error)) option {
	return func(o *Options, _ *model) { o.Collect.Named = open }
}

// newDriver opens files on a screen; paths are separated by commas and named
// within the fixtures unless they are absolute.
func newDriver(t *testing.T, w, h int, paths string, opts ...option) *driver {
	t.Helper()
	d := unstarted(t, w, h, paths, opts...)
	d.run(d.m.Init())
	return d
}

func unstarted(t *testing.T, w, h int, paths string, opts ...option) *driver {
	t.Helper()
	o := Options{Version: "test"}
	for _, p := range strings.Split(paths, ",") {
		switch {
		case p == "":
		case filepath.IsAbs(p):
			o.Paths = append(o.Paths, p)
		default:
			o.Paths = append(o.Paths, fixtures+p)
		}
	}
	for _, f := range opts {
		f(&o, nil)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m := newModel(ctx, o, newTheme(io.Discard))
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	m.now = func() time.Time { return clock }
	m.tick = func() tea.Cmd { return nil }
	t.Cleanup(func() {
		cancel()
		for _, f := range m.openFiles() {
			f.Close()
		}
	})
	d := &driver{t: t, m: m}
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

// run runs a command to its end, and what follows from it.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if d.hold {
		d.held = append(d.held, cmd)
		return
	}
	d.take(cmd())
}

func (d *driver) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.quit = true
	case tea.InterruptMsg:
		d.interrupted = true
	case tea.SuspendMsg:
		d.suspended = true
	default:
		d.send(msg)
	}
}

// release runs what was held back.
func (d *driver) release() *driver {
	d.hold = false
	held := d.held
	d.held = nil
	for _, c := range held {
		d.run(c)
	}
	return d
}

func (d *driver) send(msg tea.Msg) *driver {
	d.t.Helper()
	_, cmd := d.m.Update(msg)
	d.check()
	d.run(cmd)
	return d
}

// check asserts what must hold after every message.
func (d *driver) check() {
	d.t.Helper()
	lines := strings.Split(d.m.View(), "\n")
	if len(lines) != d.m.h {
		d.t.Fatalf("the screen has %d lines, not %d:\n%s", len(lines), d.m.h, d.m.View())
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > d.m.w {
			d.t.Fatalf("line %d is %d wide, the screen %d: %q", i, n, d.m.w, l)
		}
	}
}

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
	"right": tea.KeyRight, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU,
	"ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ, "backspace": tea.KeyBackspace, "home": tea.KeyHome, "end": tea.KeyEnd,
}

// Press presses keys by name, one after another.
func (d *driver) Press(names ...string) *driver {
	d.t.Helper()
	for _, n := range names {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(n)}
		if t, ok := keyTypes[n]; ok {
			msg = tea.KeyMsg{Type: t}
		} else if n == " " {
			msg = tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(n)}
		}
		if got := msg.String(); got != n {
			d.t.Fatalf("no key is called %q", n)
		}
		d.send(msg)
	}
	return d
}

// Type types a text, letter by letter.
func (d *driver) Type(text string) *driver {
	d.t.Helper()
	for _, r := range text {
		d.Press(string(r))
	}
	return d
}

// Clear empties the input of a prompt.
func (d *driver) Clear() *driver {
	d.t.Helper()
	d.m.prompt.in.SetValue("")
	return d
}

func (d *driver) Enter() *driver { d.t.Helper(); return d.Press("enter") }

func (d *driver) Resize(w, h int) *driver {
	d.t.Helper()
	return d.send(tea.WindowSizeMsg{Width: w, Height: h})
}

func (d *driver) Click(x, y int) *driver {
	d.t.Helper()
	return d.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
}

func (d *driver) Wheel(x, y int, down bool) *driver {
	d.t.Helper()
	b := tea.MouseButtonWheelUp
	if down {
		b = tea.MouseButtonWheelDown
	}
	return d.send(tea.MouseMsg{X: x, Y: y, Button: b, Action: tea.MouseActionPress})
}

// Selected returns the name of the row under the cursor.
func (d *driver) Selected() string {
	r, ok := d.m.selected()
	if !ok {
		return ""
	}
	name, _ := d.m.rowText(r)
	return name[0].text
}

func (d *driver) WantSelected(name string) *driver {
	d.t.Helper()
	if got := d.Selected(); got != name {
		d.t.Fatalf("the cursor is on %q, not on %q:\n%s", got, name, d.m.View())
	}
	return d
}

// WantScreen checks that every text stands on the screen.
func (d *driver) WantScreen(texts ...string) *driver {
	d.t.Helper()
	screen := ansi.Strip(d.m.View())
	for _, s := range texts {
		if !strings.Contains(screen, s) {
			d.t.Fatalf("the screen does not say %q:\n%s", s, screen)
		}
	}
	return d
}

func (d *driver) WantNot(texts ...string) *driver {
	d.t.Helper()
	screen := ansi.Strip(d.m.View())
	for _, s := range texts {
		if strings.Contains(screen, s) {
			d.t.Fatalf("the screen says %q:\n%s", s, screen)
		}
	}
	return d
}

// WantFoot checks the last line: message, prompt or hints.
func (d *driver) WantFoot(text string) *driver {
	d.t.Helper()
	lines := strings.Split(d.m.View(), "\n")
	if got := lines[len(lines)-1]; !strings.Contains(got, text) {
		d.t.Fatalf("the foot says %q, not %q:\n%s", got, text, d.m.View())
	}
	return d
}

// WantDetails checks what the details tell, visible or not.
func (d *driver) WantDetails(texts ...string) *driver {
	d.t.Helper()
	var b strings.Builder
	for _, l := range d.m.detailLines() {
		b.WriteString(l.text() + "\n")
	}
	all := strings.Join(strings.Fields(b.String()), " ")
	for _, s := range texts {
		if !strings.Contains(all, s) {
			d.t.Fatalf("the details do not say %q:\n%s", s, b.String())
		}
	}
	return d
}

// WantRows checks the names of the visible rows, in order.
func (d *driver) WantRows(names ...string) *driver {
	d.t.Helper()
	var got []string
	for _, r := range d.m.rows {
		name, _ := d.m.rowText(r)
		got = append(got, name[0].text)
	}
	if !reflect.DeepEqual(got, names) {
		d.t.Fatalf("rows are\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(names, "\n"))
	}
	return d
}

// WantGolden compares the screen with a golden file.
func (d *driver) WantGolden(name string) *driver {
	d.t.Helper()
	var b strings.Builder
	for _, l := range strings.Split(d.m.View(), "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	path := filepath.Join("testdata", fmt.Sprintf("%s.%dx%d.golden", name, d.m.w, d.m.h))
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			d.t.Fatal(err)
		}
		return d
	}
	want, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if b.String() != string(want) {
		d.t.Errorf("%s differs; the screen is now\n%s\nit was\n%s", path, b.String(), want)
	}
	return d
}

// takeBut is take with messages that a test keeps for later.
func (d *driver) takeBut(msg tea.Msg, keep func(any) bool) {
	if b, ok := msg.(tea.BatchMsg); ok {
		for _, c := range b {
			if c != nil {
				d.takeBut(c(), keep)
			}
		}
		return
	}
	if msg == nil || keep(msg) {
		return
	}
	_, cmd := d.m.Update(msg)
	d.check()
	if cmd != nil {
		d.takeBut(cmd(), keep)
	}
}

// pasted is a text that the terminal pasted.
func pasted(text string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}
}
