package ui

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/arch"
	"fatview/collect"
	"fatview/coverage"
	"fatview/gpu"
	"fatview/index"
	"fatview/report"
)

// A file is a path that was opened, or that could not be.
type file struct {
	name  string // as shown, clean
	path  string
	owner string      // the distribution that it belongs to, clean; "" none, or not known yet
	f     *index.File // nil if opening failed
	err   error
	conts []*cont

	cov      []coverage.FileContainer // what the rules see; replaced, never changed inside
	rev      int                      // counts changes of cov
	images   int
	kernels  int // different ones, over the decoded containers
	decoded  int // containers
	archs    []string
	searched bool
	findings int
}

// A cont is a container with what the screen needs beside it.
type cont struct {
	c     *index.Container
	seen  bool                       // what was decoded is in the file's numbers
	asked bool                       // a worker is decoding it, on its own
	names atomic.Pointer[[]haystack] // for searching; written by workers
}

// A target is a GPU with its verdicts.
type target struct {
	gpu.Target
	detected gpu.Driver // what the machine said, to come back to
	rev      int        // counts changes of the driver
	problem  string     // why GPU and driver cannot go together
	verdicts []judged   // by file
}

// judged is a file's verdict and what it was made from.
type judged struct {
	res              *coverage.FileResult
	fileRev, targRev int
}

func (t *target) local() bool {
	return t.Source == gpu.SourceNVML || t.Source == gpu.SourceSMI || t.Source == gpu.SourceDeviceTree
}

func (t *target) rules() coverage.Target { return report.Target(t.Target) }

// A model is the state of the screen. Everything in it belongs to the
// goroutine of Update and View; workers reach it by messages and through
// atomic values only.
type model struct {
	ctx  context.Context
	opt  Options
	keys keyMap
	th   theme
	work *work

	// What tests replace.
	now  func() time.Time
	tick func() tea.Cmd
	save func(path, format string, r *report.Report, overwrite bool) error

	w, h int
	lay  layout

	files   []*file
	pending []string // paths still to open
	opening string
	inbox   inbox             // what the path that is being looked at has yielded
	coming  *collect.Progress // how far that is
	wanted  string            // the path that was asked for by hand: its file is shown

	gpus       []*target
	gpu        int // the chosen one
	gpuTop     int // the first that is drawn
	detecting  bool
	gpuProblem string
	gpuNote    string

	views        []view
	look         viewID // the view that is shown
	scanFindings []collect.Finding

	rows   []row
	cur    int
	top    int
	open   map[row]bool // what is unfolded
	filter bool
	focus  pane

	details detailsCache
	detTop  int
	chosen  chosenCache
	short   map[string]string

	find   find
	prompt *prompt
	text   *textView
	help   *pager

	message string
	bad     bool // the message tells of something that failed

	interrupted  bool // the program ends by an interrupt
	tickOn       bool
	judging      bool
	judgeNext    time.Time
	verdictCount int // verdicts taken in so far, to know when they changed
	exporting    bool
	held         []outsideMsg // containers that wait for the export to end
	exportAs     string
}

func newModel(ctx context.Context, o Options, th theme) *model {
	o.Collect.Eager = true
	m := &model{
		ctx: ctx, opt: o, keys: newKeys(), th: th, work: newWork(ctx),
		now: time.Now, save: report.Save,
		views: newViews(), open: map[row]bool{}, short: map[string]string{}, pending: o.Paths, exportAs: "md",
	}
	m.tick = func() tea.Cmd {
		return tea.Tick(100*time.Millisecond, func(time.Time) tea.Msg { return tickMsg{} })
	}
	m.details.sel = row{-2, -2, -2, -2}
	for _, t := range o.Targets {
		m.addTarget(t)
	}
	return m
}

// Init opens the first path and looks for GPUs; the first frame comes before
// either has an answer.
func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.openNext()}
	if m.opt.Detect != nil {
		m.detecting = true
		cmds = append(cmds, m.detect())
	}
	if len(m.opt.Paths) == 0 {
		m.askPath()
	}
	return tea.Batch(append(cmds, m.wake())...)
}

// addTarget appends a GPU unless it is there; it returns its place.
func (m *model) addTarget(t gpu.Target) (at int, added bool) {
	for i, have := range m.gpus {
		// GPUs of a fleet can differ by their drivers alone.
		alike := have.Name == t.Name && have.CC == t.CC && have.UUID == t.UUID && have.Source == t.Source
		if alike && (t.Count == 0 || have.detected == t.Driver) {
			return i, false
		}
	}
	x := &target{Target: t, detected: t.Driver, rev: 1}
	x.problem = coverage.Impossible(x.rules())
	m.gpus = append(m.gpus, x)
	return len(m.gpus) - 1, true
}

// chosenGPU returns the GPU that verdicts are shown for, nil without one.
func (m *model) chosenGPU() *target {
	if m.gpu < 0 || m.gpu >= len(m.gpus) {
		return nil
	}
	return m.gpus[m.gpu]
}

// result returns a file's verdict on a GPU, nil while there is none.
func (m *model) result(t *target, fi int) *coverage.FileResult {
	if t == nil || t.problem != "" || fi < 0 || fi >= len(t.verdicts) {
		return nil
	}
	r := t.verdicts[fi].res
	if r == nil || fi >= len(m.files) || len(r.Results) > len(m.files[fi].conts) {
		return nil
	}
	return r
}

// busy tells whether anything in the background may change the screen.
func (m *model) busy() bool {
	return m.opening != "" || m.detecting || m.work.running() || m.judging || m.find.running || m.stale()
}

// wake starts the tick unless it runs.
func (m *model) wake() tea.Cmd {
	if m.tickOn || !m.busy() {
		return nil
	}
	m.tickOn = true
	return m.tick()
}

func (m *model) say(text string)  { m.message, m.bad = text, false }
func (m *model) fail(text string) { m.message, m.bad = text, true }

// openFiles returns the files that could be opened.
func (m *model) openFiles() []*index.File {
	var out []*index.File
	for _, f := range m.files {
		if f.f != nil {
			out = append(out, f.f)
		}
	}
	return out
}

// addFile takes in an opened file that was found at or below a path.
func (m *model) addFile(x *index.File, asked string) {
	f := &file{path: x.Path, name: fileName(x.Path, asked), f: x}
	m.files = append(m.files, f)
	f.extend()
}

// extend takes in containers that the file has and the model has not. The
// slices are made anew, because searches and verdicts in the background hold
// the old ones.
func (f *file) extend() {
	conts := append([]*cont(nil), f.conts...)
	cov := append([]coverage.FileContainer(nil), f.cov...)
	for _, c := range f.f.Containers[len(conts):] {
		conts = append(conts, &cont{c: c})
		cov = append(cov, c.Coverage())
		f.images += len(c.Images)
	}
	f.f.SetRuntime(cov)
	f.conts, f.cov = conts, cov
	f.archs = f.f.Archs()
	f.findings = len(f.f.Findings())
	f.rev++
}

// refresh takes in what workers have decoded since the last time and tells
// which containers changed.
func (f *file) refresh() (changed []int) {
	if f.f == nil || f.decoded == len(f.conts) {
		return nil
	}
	for i, c := range f.conts {
		if c.seen {
			continue
		}
		d := c.c.Decoded()
		if d == nil {
			continue
		}
		c.seen = true
		f.decoded++
		f.kernels += d.Set.Total
		changed = append(changed, i)
	}
	if changed == nil {
		return nil
	}
	cov := append([]coverage.FileContainer(nil), f.cov...)
	for _, i := range changed {
		cov[i] = f.conts[i].c.Coverage()
	}
	f.f.SetRuntime(cov) // what was decoded may tell the toolkit
	f.cov = cov
	f.findings = len(f.f.Findings())
	f.rev++
	return changed
}

// toolkit returns "CUDA 12.4" for the version that wrote an image.
func toolkit(v arch.Version) string {
	if v.IsZero() {
		return ""
	}
	return "CUDA " + v.String()
}

// fileName is what a path is called on the screen: without its folders, those
// below the folder that was asked for excepted, and with its member where it
// lies in an archive.
func fileName(path, asked string) string {
	if asked = filepath.ToSlash(filepath.Clean(asked)); asked == "." && !strings.HasPrefix(path, "./") {
		return clean(path)
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(asked, "/")+"/"); ok {
		return clean(rest)
	}
	if outer, member, ok := strings.Cut(path, "!"); ok && member != "" {
		return clean(base(outer) + "!" + member)
	}
	return clean(base(path))
}
