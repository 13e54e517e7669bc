package collect

import (
	"context"
	"sync"
)

// A slot is a place in the order of results. Whoever works on it fills in what
// it yields and closes ready. One that may be a package has a sequence for its
// members from the start, and that is ended before ready is closed.
type slot struct {
	ready chan struct{}
	out   outcome
	sub   *sequence
}

func newSlot() *slot { return &slot{ready: make(chan struct{})} }

// A sequence is a list of slots that grows while it is read.
type sequence struct {
	mu    sync.Mutex
	more  sync.Cond
	slots []*slot
	ended bool
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

// each calls do with the outcomes in order, and waits for each; it returns
// when the sequence has ended. What was handed out is let go.
func (s *sequence) each(do func(outcome)) {
	for i := 0; ; i++ {
		s.mu.Lock()
		for i >= len(s.slots) && !s.ended {
			s.more.Wait()
		}
		if i >= len(s.slots) {
			s.mu.Unlock()
			return
		}
		x := s.slots[i]
		s.slots[i] = nil
		s.mu.Unlock()
		if x.sub != nil {
			x.sub.each(do) // as they come, before the package has ended
		}
		<-x.ready
		do(x.out)
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
