package index

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"fatview/fatbin"
)

// Results come in order, never more of them wait than there are workers, and an
// error ends it.
func TestInOrder(t *testing.T) {
	const n = 200
	var waiting, most atomic.Int64
	last := -1
	err := InOrder(context.Background(), n, func(i int, _ *fatbin.Decoder) int {
		if i%7 == 0 {
			time.Sleep(time.Millisecond)
		}
		waiting.Add(1)
		return i * i
	}, func(i, v int) error {
		most.Store(max(most.Load(), waiting.Load()))
		waiting.Add(-1)
		if i != last+1 || v != i*i {
			t.Errorf("%d with %d after %d", i, v, last)
		}
		last = i
		return nil
	})
	if err != nil || last != n-1 {
		t.Errorf("ended at %d: %v", last, err)
	}
	if most.Load() > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d results waited", most.Load())
	}

	want := errors.New("disk full")
	taken := 0
	err = InOrder(context.Background(), n, func(i int, _ *fatbin.Decoder) int { return i }, func(i, _ int) error {
		if taken++; i == 5 {
			return want
		}
		return nil
	})
	if !errors.Is(err, want) || taken != 6 {
		t.Errorf("%d taken, %v", taken, err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	err = InOrder(ctx, n, func(i int, _ *fatbin.Decoder) int { return i }, func(i, _ int) error {
		if i == 3 {
			cancel()
		}
		if i > 3 {
			t.Errorf("%d taken after the end", i)
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
