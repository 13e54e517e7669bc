package collect

import (
	"context"
	"sync"

	"fatview/dist"
)

// A slot is a place in the order of results. Whoever works on it fills in what
// it yields and closes ready. One that may be a package has a sequence for its
// members from the start, and that is ended before ready is closed.
type slot struct {
	ready chan struct{}
	out   outcome
	sub   *sequence
	dists *dist.Set // what the manifests of a package are added to
}

func newSlot() *slot { return &slot{ready: make(chan struct{})} }

// A sequence is a list of slots that grows while it is read.
type sequence struct {
	mu    sync.Mutex
	more  sync.Cond
	slots []*slot
	ended bool
	held  int // slots that were added and are not done with; the gate's
}

func newSequence() *sequence {
	s := &sequence{}
	s.more.L = &s.mu
	return s
}

func (s *sequence) add(x *slot) {
	s.mu.Lock()
	s.slots = append(s.slots, x)
	s.mu.Unlock()
	s.more.Signal()
}

func (s *sequence) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.more.Signal()
}

// next waits for the next slot; it returns nil when the sequence has ended.
// What was handed out is let go.
func (s *sequence) next() *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.slots) == 0 && !s.ended {
		s.more.Wait()
	}
	if len(s.slots) == 0 {
		return nil
	}
	x := s.slots[0]
	s.slots[0] = nil
	s.slots = s.slots[1:]
	return x
}

// each calls do with the outcomes in order, and waits for each; it returns
// when the sequence has ended.
func (s *sequence) each(g *gate, do func(outcome)) {
	for {
		g.attend(s)
		x := s.next()
		if x == nil {
			return
		}
		if x.sub != nil {
			x.sub.each(g, do) // as they come, before the package has ended
		}
		<-x.ready
		do(x.out)
		g.leave(s)
	}
}

// workers bounds how much is done at a time.
type workers struct {
	tokens chan struct{}
	wg     sync.WaitGroup
}

func newWorkers(n int) *workers { return &workers{tokens: make(chan struct{}, n)} }

// run does a job on a worker, and waits for one to be free. It reports whether
// the job was taken: not if ctx ended first.
func (w *workers) run(ctx context.Context, job func()) bool {
	select {
	case w.tokens <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	w.start(job)
	return true
}

// offer does a job on a worker if one is free, else here: those who call it
// hold a worker already, and waiting for another could be for ever.
func (w *workers) offer(job func()) {
	select {
	case w.tokens <- struct{}{}:
		w.start(job)
	default:
		job()
	}
}

func (w *workers) start(job func()) {
	w.wg.Add(1)
	go func() {
		defer w.wg.Done()
		defer func() { <-w.tokens }()
		job()
	}()
}
