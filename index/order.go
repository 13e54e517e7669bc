package index

import (
	"context"
	"sync"

	"fatview/fatbin"
)

// A Place is a container and the file that it is in.
type Place struct {
	File      *File
	Number    int // of the file in the list given
	Container *Container
}

// Places returns the containers of files, in order.
func Places(files []*File) []Place {
	var out []Place
	for i, f := range files {
		for _, c := range f.Containers {
			out = append(out, Place{f, i, c})
		}
	}
	return out
}

// InOrder calls do for 0 to n-1 on a worker for each processor, and take with
// what do returned, one at a time and in order. A worker waits with its result
// until its turn, so that there are never more results than workers. It returns
// the first error of take, after which neither is called any more, or that of
// ctx.
func InOrder[T any](ctx context.Context, n int, do func(i int, dec *fatbin.Decoder) T, take func(i int, v T) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	turn := sync.NewCond(&mu)
	next := 0
	Each(ctx, n, func(i int, dec *fatbin.Decoder) {
		v := do(i, dec)
		mu.Lock()
		defer mu.Unlock()
		// Whoever has a lower number is at work and will come here.
		for next < i {
			turn.Wait()
		}
		if ctx.Err() == nil {
			if err := take(i, v); err != nil {
				stop(err)
			}
		}
		next++
		turn.Broadcast()
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
