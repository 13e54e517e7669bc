package ui

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/collect"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
	"fatview/index"
)

// work is what runs in the background: its end, and counters that a tick
// reads. Workers never send a message for each container, because every
// message costs a frame.
type work struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	jobs   atomic.Int64 // commands that run
	done   atomic.Int64 // containers decoded
	total  int64        // containers to decode; the model's own
	search int          // searches outside of the named sections that run
}

func newWork(ctx context.Context) *work {
	w := &work{}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

func (w *work) running() bool { return w.jobs.Load() > 0 }

// run makes a command of a job that may take long. The job is counted from
// now on, and the program waits for it at its end, though not for ever.
func (w *work) run(job func(ctx context.Context) tea.Msg) tea.Cmd {
	w.jobs.Add(1)
	w.wg.Add(1)
	return func() (msg tea.Msg) {
		defer w.wg.Done()
		defer w.jobs.Add(-1)
		defer func() {
			if p := recover(); p != nil {
				msg = crashMsg{fmt.Sprint(p)}
			}
		}()
		return job(w.ctx)
	}
}

// stop cancels everything and waits a moment for it to end. It reports
// whether it did: a worker in the middle of a large payload is left behind.
func (w *work) stop(patience time.Duration) bool {
	w.cancel()
	ended := make(chan struct{})
	go func() { w.wg.Wait(); close(ended) }()
	select {
	case <-ended:
		return true
	case <-time.After(patience):
		return false
	}
}

// Messages of the background.
type (
	tickMsg   struct{}
	openedMsg struct {
		path string
		res  *collect.Result
	}
	outsideMsg struct {
		file  *file
		found []index.Found
		err   error
	}
	decodedMsg   struct{}
	inventoryMsg struct{ inv gpu.Inventory }
	judgedMsg    struct {
		results []judgedOne
		took    time.Duration
	}
	crashMsg struct{ what string }
)

type judgedOne struct {
	t    *target
	file int
	judged
}

// openNext opens the next path, one at a time so that files stay in order.
func (m *model) openNext() tea.Cmd {
	if m.opening != "" || len(m.pending) == 0 {
		return nil
	}
	path := m.pending[0]
	m.pending = m.pending[1:]
	m.opening = path
	how := m.opt.Collect
	m.coming = &collect.Progress{}
	how.Progress = m.coming
	inbox := &m.inbox
	return m.work.run(func(ctx context.Context) tea.Msg {
		res := collect.Run(ctx, []string{path}, how, inbox.put)
		return openedMsg{path, res}
	})
}

func (m *model) detect() tea.Cmd {
	detect := m.opt.Detect
	return m.work.run(func(ctx context.Context) tea.Msg { return inventoryMsg{detect(ctx)} })
}

// outside looks for containers outside of the named sections.
func (m *model) outside(f *file) tea.Cmd {
	m.work.search++
	return m.work.run(func(ctx context.Context) tea.Msg {
		found, err := f.f.Outside(ctx)
		if err == nil {
			err = f.f.LookForeign(ctx)
		}
		return outsideMsg{f, found, err}
	})
}

type decodeJob struct {
	f *index.File
	c *cont
}

// decode decodes containers with a worker for each processor. The list is
// made here, on the model's goroutine, because the files' own may grow.
func (m *model) decode(jobs []decodeJob) tea.Cmd {
	if len(jobs) == 0 {
		return nil
	}
	w := m.work
	w.total += int64(len(jobs))
	return w.run(func(ctx context.Context) tea.Msg {
		index.Each(ctx, len(jobs), func(i int, dec *fatbin.Decoder) {
			jobs[i].run(ctx, dec)
			w.done.Add(1)
		})
		return decodedMsg{}
	})
}

func (j decodeJob) run(ctx context.Context, dec *fatbin.Decoder) {
	// Names are data from strangers, and the recovery of a command does not
	// reach its workers.
	defer func() {
		if p := recover(); p != nil {
			j.c.names.CompareAndSwap(nil, &[]haystack{}) // searched, nothing found
		}
	}()
	j.f.Decode(ctx, j.c.c, dec)
	j.c.makeHaystack()
}

// want decodes one container now, because someone looks at it.
func (m *model) want(r row) tea.Cmd {
	f, c := m.at(r)
	if c == nil || c.asked || c.c.Decoded() != nil {
		return nil
	}
	c.asked = true
	j := decodeJob{f.f, c}
	return m.work.run(func(ctx context.Context) tea.Msg {
		var dec fatbin.Decoder
		defer dec.Close()
		j.run(ctx, &dec)
		return decodedMsg{}
	})
}

// stale tells whether a verdict is older than what it was made from.
func (m *model) stale() bool {
	for _, t := range m.gpus {
		if t.problem != "" {
			continue
		}
		for i, f := range m.files {
			if f.f != nil && (i >= len(t.verdicts) || t.verdicts[i].fileRev != f.rev || t.verdicts[i].targRev != t.rev) {
				return true
			}
		}
	}
	return false
}

// judge makes the verdicts that are stale, those of the chosen GPU first. It
// works on slices that nobody changes. After a long round it rests, so that
// verdicts for many GPUs do not take the processor from the decoding that
// makes them stale again.
func (m *model) judge() tea.Cmd {
	if m.judging || m.now().Before(m.judgeNext) || !m.stale() {
		return nil
	}
	type job struct {
		t       *target
		file    int
		cov     []coverage.FileContainer
		rules   coverage.Target
		fileRev int
		targRev int
	}
	var jobs []job
	add := func(t *target) {
		if t == nil || t.problem != "" {
			return
		}
		for len(t.verdicts) < len(m.files) {
			t.verdicts = append(t.verdicts, judged{})
		}
		for i, f := range m.files {
			if v := t.verdicts[i]; f.f != nil && (v.fileRev != f.rev || v.targRev != t.rev) {
				jobs = append(jobs, job{t, i, f.cov, t.rules(), f.rev, t.rev})
			}
		}
	}
	add(m.chosenGPU())
	for i, t := range m.gpus {
		if i != m.gpu {
			add(t)
		}
	}
	m.judging = true
	now := m.now
	const slice = 40 * time.Millisecond
	return m.work.run(func(ctx context.Context) tea.Msg {
		start := now()
		var out judgedMsg
		for _, j := range jobs {
			res := coverage.JudgeFile(j.cov, j.rules)
			out.results = append(out.results, judgedOne{j.t, j.file, judged{&res, j.fileRev, j.targRev}})
			if now().Sub(start) > slice || ctx.Err() != nil {
				break
			}
		}
		out.took = now().Sub(start)
		return out
	})
}
