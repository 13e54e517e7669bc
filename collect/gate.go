package collect

import (
	"context"
	"sync"
)

// Bounds on how far a stream reads ahead of the one who takes its files.
const (
	maxHeld     = 32 // places that were begun and not taken
	maxHeldHead = 4  // of the sequence that is taken from, beyond maxHeld
)

// A gate keeps those who fill sequences from running ahead of the one who
// takes from them: what waits holds memory and temporary files.
//
// The sequence that is being taken from always gets a few places more. Without
// that, places further on could hold all of the room while the taker waits for
// one that is not let in.
//
// A nil gate lets everyone in.
type gate struct {
	mu   sync.Mutex
	room sync.Cond
	held int
	head *sequence
}

// newGate returns a gate that lets everyone in when ctx has ended. stop ends
// its watch over ctx.
func newGate(ctx context.Context) (g *gate, stop func() bool) {
	g = &gate{}
	g.room.L = &g.mu
	stop = context.AfterFunc(ctx, func() {
		g.mu.Lock() // nobody is between looking at ctx and waiting
		defer g.mu.Unlock()
		g.room.Broadcast()
	})
	return g, stop
}

// enter waits until s may have another slot.
func (g *gate) enter(ctx context.Context, s *sequence) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.held >= maxHeld && (s != g.head || s.held >= maxHeldHead) && ctx.Err() == nil {
		g.room.Wait()
	}
	g.held++
	s.held++
}

// attend says that s is now taken from.
func (g *gate) attend(s *sequence) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.head != s {
		g.head = s
		g.room.Broadcast()
	}
}

// leave says that a slot of s is done with.
func (g *gate) leave(s *sequence) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held--
	s.held--
	g.room.Broadcast()
}

// add adds a slot when there is room for it.
func (w *walker) add(ctx context.Context, seq *sequence, s *slot) {
	w.gate.enter(ctx, seq)
	seq.add(s)
}
