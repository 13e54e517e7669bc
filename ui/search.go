package ui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/coverage"
)

// find is the state of a search in the tree.
type find struct {
	query   string
	hits    []row // in the order of the tree
	gen     int
	running bool
	again   bool // there is more to search than when the last one began
	cancel  context.CancelFunc
	since   time.Time
	live    bool // being typed: jump as hits come
	at      int  // the hit under the cursor, -1
	from    row  // where the cursor was when the search began
	fromTop int
	opened  []row // what was unfolded for the hit that is shown while typing
}

type foundMsg struct {
	gen  int
	hits []row
}

// startFind searches all that is known for the query.
func (m *model) startFind(query string) tea.Cmd {
	if m.find.cancel != nil {
		m.find.cancel()
	}
	m.find.query = query
	m.find.gen++
	m.find.again = false
	m.find.at = -1
	if query == "" {
		m.find.hits, m.find.running = nil, false
		return nil
	}
	files := make([][]*cont, len(m.files))
	for i, f := range m.files {
		files[i] = f.conts
	}
	gen := m.find.gen
	m.find.running = true
	m.find.since = m.now()
	ctx, cancel := context.WithCancel(m.work.ctx)
	m.find.cancel = cancel
	return m.work.run(func(context.Context) tea.Msg {
		defer cancel()
		return foundMsg{gen, findAll(ctx, files, query)}
	})
}

// found takes in the hits of a search.
func (m *model) found(msg foundMsg) tea.Cmd {
	if msg.gen != m.find.gen {
		return nil
	}
	first := m.find.hits == nil
	m.find.running = false
	m.find.hits = msg.hits
	if m.filter {
		m.find.hits = slices.DeleteFunc(slices.Clone(msg.hits), func(r row) bool { return !m.passes(r) })
	}
	if m.find.live {
		m.jumpFrom(m.find.from, true)
		return nil
	}
	if first && len(m.find.hits) == 0 {
		m.tellNoHits()
	}
	m.find.at = m.hitAt()
	return nil
}

// passes tells whether a row is shown under the filter once everything above
// it is unfolded.
func (m *model) passes(r row) bool {
	c := row{r.file, r.cont, none, none}
	if !m.unserved(c) {
		return false
	}
	return r.kern < 0 || m.unserved(r)
}

// tellNoHits says that nothing was found, and why that may not be the end.
func (m *model) tellNoHits() {
	text := fmt.Sprintf("no match for “%s”", cleanTo(m.find.query, 60))
	if m.filter {
		text += " among what is not served (u shows all)"
	}
	switch {
	case m.decodedAll():
	case m.opt.NoKernels:
		text += "; kernels are unknown: they were not decoded"
	default:
		text += " so far: kernels are still being decoded"
	}
	m.fail(text)
}

func (m *model) decodedAll() bool {
	for _, f := range m.files {
		if f.decoded < len(f.conts) {
			return false
		}
	}
	return true
}

// hitAt returns which hit the cursor stands on, -1 if on none.
func (m *model) hitAt() int {
	r, ok := m.selected()
	if !ok {
		return -1
	}
	if i := m.find.at; i >= 0 && i < len(m.find.hits) && m.resolve(m.find.hits[i]) == r {
		return i
	}
	i, ok := slices.BinarySearchFunc(m.find.hits, r, compareRows)
	if ok {
		return i
	}
	return -1
}

// jumpFrom goes to the first hit at or after a row, or to the last one before
// it, round the ends.
func (m *model) jumpFrom(r row, forward bool) {
	n := len(m.find.hits)
	if n == 0 {
		m.find.at = -1
		if m.find.live {
			m.showAgain(m.find.from, m.find.fromTop)
		}
		return
	}
	i, _ := slices.BinarySearchFunc(m.find.hits, r, compareRows)
	if !forward {
		i--
	}
	m.jump((i + n) % n)
}

// jump goes to a hit by number. While the query is typed, what was unfolded
// for the last hit is folded again.
func (m *model) jump(i int) {
	m.refold()
	m.find.at = i
	if v := m.shownView(); v != nil {
		v.choose(m, m.resolve(m.find.hits[i]))
		return
	}
	opened := m.show(m.resolve(m.find.hits[i]))
	if m.find.live {
		m.find.opened = opened
	}
}

func (m *model) refold() {
	for _, r := range m.find.opened {
		delete(m.open, r)
	}
	m.find.opened = nil
}

// showAgain puts the cursor back to where it was.
func (m *model) showAgain(r row, top int) {
	m.refold()
	if v := m.shownView(); v != nil {
		v.choose(m, r)
		return
	}
	m.rebuild()
	m.move(m.place(r))
	m.top = top
	m.scrollTree()
}

// resolve chooses the image under which a kernel is shown: the one that
// serves the chosen GPU, if it holds the kernel.
func (m *model) resolve(r row) row {
	if r.kern < 0 {
		return r
	}
	res := m.result(m.chosenGPU(), int(r.file))
	k := m.kernel(r)
	if res == nil || k == nil || int(r.cont) >= len(res.Results) {
		return r
	}
	v := res.Results[r.cont]
	served := v.Verdict == coverage.Native || v.Verdict == coverage.JIT || v.Verdict == coverage.Driver
	if !served || v.Image < 0 || v.Image == int(r.img) {
		return r
	}
	to := row{r.file, r.cont, int32(v.Image), none}
	ct := m.contents(to)
	if ct == nil {
		return r
	}
	for i := range ct.Kernels {
		if ct.Kernels[i].Name == k.Name {
			to.kern = int32(i)
			return to
		}
	}
	return r
}

// nextHit goes to the next or previous hit.
func (m *model) nextHit(forward bool) {
	switch {
	case m.find.query == "":
		m.fail("nothing searched yet: / searches")
		return
	case m.find.running:
		m.say("still searching")
		return
	case len(m.find.hits) == 0:
		m.tellNoHits()
		return
	}
	n := len(m.find.hits)
	if i := m.hitAt(); i >= 0 {
		if forward {
			m.jump((i + 1) % n)
		} else {
			m.jump((i + n - 1) % n)
		}
		return
	}
	r, _ := m.selected()
	m.jumpFrom(r, forward)
}

// endFind forgets the search.
func (m *model) endFind() {
	if m.find.cancel != nil {
		m.find.cancel()
	}
	m.find = find{gen: m.find.gen + 1, at: -1}
}

// findState says where in the hits the cursor is: "3 of 57".
func (m *model) findState() string {
	switch n := len(m.find.hits); {
	case m.find.query == "":
		return ""
	case m.find.running && n == 0:
		return "searching"
	case n == 0:
		return "no match"
	default:
		if i := m.hitAt(); i >= 0 {
			return fmt.Sprintf("%s of %s", coverage.Number(i+1), coverage.Number(n))
		}
		return counted(n, "match")
	}
}
