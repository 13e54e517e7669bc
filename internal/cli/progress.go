package cli

import (
	"fmt"
	"time"

	"fatview/collect"
	"fatview/coverage"
	"fatview/report"
)

// progress says on standard error how far the reading is, if that is a
// terminal and the reading takes longer than a moment. The function returned
// ends it and leaves the line empty.
func (a *app) progress(o *collect.Options) (stop func()) {
	if !a.env.Progress {
		return func() {}
	}
	p := &collect.Progress{}
	o.Progress = p
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-ended:
				if shown {
					fmt.Fprint(a.env.Stderr, "\r\x1b[K")
				}
				return
			case <-tick.C:
				if p.Entries.Load() > 1 || p.Binaries.Load() > 0 {
					shown = true
					fmt.Fprintf(a.env.Stderr, "\r\x1b[K%s files, %s binaries of %s, %s with device code", number(p.Entries.Load()), number(p.Binaries.Load()), report.Bytes(p.Bytes.Load()), number(p.Found.Load()))
				}
			}
		}
	}()
	return func() { close(ended); <-gone }
}

func number(n int64) string { return coverage.Number(int(n)) }
