package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
)

// A keyMap holds every key that does something. The help and the hints at the
// foot of the screen are made from it, so they cannot disagree with what keys
// do.
type keyMap struct {
	Up, Down, PageUp, PageDown, HalfUp, HalfDown, Top, Bottom key.Binding
	Right, Left, Enter, Space, OpenAll, FoldAll, Tab          key.Binding
	Search, Next, Previous, Filter                            key.Binding
	GPULeft, GPURight, AddGPU, Driver                         key.Binding
	View, Export, Open, Views                                 key.Binding
	Help, Back, Quit, Interrupt, Suspend                      key.Binding
}

func bind(name, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, does))
}

func newKeys() keyMap {
	return keyMap{
		Down:      bind("j ↓", "down", "j", "down"),
		Up:        bind("k ↑", "up", "k", "up"),
		PageDown:  bind("pgdn", "a page down", "pgdown", "ctrl+f"),
		PageUp:    bind("pgup", "a page up", "pgup", "ctrl+b"),
		HalfDown:  bind("ctrl+d", "half a page down", "ctrl+d"),
		HalfUp:    bind("ctrl+u", "half a page up", "ctrl+u"),
		Top:       bind("g", "to the top", "g", "home"),
		Bottom:    bind("G", "to the end", "G", "end"),
		Right:     bind("l →", "unfold, then go in", "l", "right"),
		Left:      bind("h ←", "fold, then go out", "h", "left"),
		Enter:     bind("enter", "fold or unfold; text of PTX", "enter"),
		Space:     bind("space", "fold or unfold", " "),
		OpenAll:   bind("+", "unfold all", "+", "="),
		FoldAll:   bind("-", "fold all", "-"),
		Tab:       bind("tab", "tree or details", "tab", "shift+tab"),
		Search:    bind("/", "search names", "/"),
		Next:      bind("n", "next match", "n"),
		Previous:  bind("N", "previous match", "N"),
		Filter:    bind("u", "only what is not served", "u"),
		GPULeft:   bind("[", "previous GPU", "["),
		GPURight:  bind("]", "next GPU", "]"),
		AddGPU:    bind("a", "add a GPU", "a"),
		Driver:    bind("d", "what-if driver", "d"),
		Views:     bind("1 … 5", "another view", "1", "2", "3", "4", "5"),
		View:      bind("v", "text of the image", "v"),
		Export:    bind("e", "export a report", "e"),
		Open:      bind("o", "open a file", "o"),
		Help:      bind("?", "help", "?"),
		Back:      bind("esc", "back", "esc"),
		Quit:      bind("q", "quit", "q"),
		Interrupt: bind("ctrl+c", "interrupt", "ctrl+c"),
		Suspend:   bind("ctrl+z", "suspend", "ctrl+z"),
	}
}

// A keyGroup is a part of the help.
type keyGroup struct {
	title string
	keys  []key.Binding
}

func (k *keyMap) groups() []keyGroup {
	return []keyGroup{
		{"Move", []key.Binding{k.Down, k.Up, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp, k.Top, k.Bottom, k.Tab, k.Views}},
		{"Tree", []key.Binding{k.Right, k.Left, k.Enter, k.Space, k.OpenAll, k.FoldAll, k.Filter}},
		{"Search", []key.Binding{k.Search, k.Next, k.Previous}},
		{"GPUs", []key.Binding{k.GPULeft, k.GPURight, k.AddGPU, k.Driver}},
		{"Files", []key.Binding{k.View, k.Export, k.Open}},
		{"Program", []key.Binding{k.Help, k.Back, k.Quit, k.Interrupt, k.Suspend}},
	}
}

// hint is "q quit", with other words where the place asks for them.
func hint(b key.Binding, does string) string {
	name := b.Help().Key
	if first, _, ok := strings.Cut(name, " "); ok && !strings.Contains(name, "ctrl") {
		name = first
	}
	if does == "" {
		does = b.Help().Desc
	}
	return name + " " + does
}

// hints are the keys worth a word here and now, the most useful first.
func (m *model) hints() []string {
	k := &m.keys
	switch {
	case m.help != nil:
		return []string{hint(k.Down, "down"), hint(k.Up, "up"), hint(k.Back, "back"), hint(k.Quit, "")}
	case m.text != nil:
		h := []string{hint(k.Back, ""), hint(k.Search, "search"), hint(k.Down, "down"), hint(k.HalfDown, "half a page"), "h l sideways", hint(k.Bottom, "end")}
		if m.text.query != "" {
			h = append([]string{hint(k.Next, ""), hint(k.Previous, "")}, h...)
		}
		return h
	case len(m.files) == 0:
		return []string{hint(k.Open, ""), hint(k.AddGPU, ""), hint(k.Help, ""), hint(k.Quit, "")}
	}
	var h []string
	if v := m.shownView(); v != nil && m.focus == paneTree {
		h = v.hints(m)
	}
	if m.find.query != "" {
		h = append(h, hint(k.Next, "next"), hint(k.Previous, "previous"), hint(k.Back, "end search"))
	} else if m.focus == paneDetails {
		h = append(h, hint(k.Down, "scroll"), hint(k.Tab, "tree"))
	}
	if m.focus == paneTree && m.look == viewBrowse {
		switch r, ok := m.selected(); {
		case ok && r.kind() == kindKernel:
			if m.isPTX(r) {
				h = append(h, hint(k.View, "PTX text"))
			}
		case ok && m.open[r]:
			h = append(h, hint(k.Enter, "fold"))
		case ok && m.foldable(r):
			h = append(h, hint(k.Enter, "unfold"))
		}
		if ok := m.lay.single; ok {
			h = append(h, hint(k.Tab, "details"))
		}
	}
	if m.find.query == "" {
		h = append(h, hint(k.Search, "search"))
	}
	if len(m.gpus) > 1 {
		h = append(h, "[ ] GPU")
	}
	if len(m.gpus) == 0 {
		h = append(h, hint(k.AddGPU, ""))
	} else if m.filter {
		h = append(h, hint(k.Filter, "show all"))
	} else {
		h = append(h, hint(k.Filter, "unserved"))
	}
	h = append(h, hint(k.Export, "export"), hint(k.Help, ""), hint(k.Quit, ""))
	if !m.lay.single && m.focus == paneTree {
		h = append(h, hint(k.Tab, "details"))
	}
	return append(h, hint(k.AddGPU, ""), hint(k.Driver, "driver"), hint(k.Open, "open"))
}
