// Package stream goes from arguments to lines of a report, one for each file
// and GPU, and keeps nothing of a file once its lines are written: any number
// of files can pass, in memory that does not grow with them.
//
// Files are decoded several at a time and leave in order. Lines of files that
// lie on disk are written at once. Lines of a package wait until it was read,
// in a temporary file if they are many, because the manifest that names the
// distribution comes last in a wheel.
package stream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"fatview/collect"
	"fatview/gpu"
	"fatview/index"
	"fatview/report"
)

// Options say what to read and what for.
type Options struct {
	Paths     []string
	Collect   collect.Options // how the paths are looked at; Stream is set by Run
	Targets   []gpu.Target
	NoKernels bool // read headers only
}

// maxBytes is how many bytes of files are decoded at a time, if more than one
// file is: what decoding yields is about a tenth of a library.
const maxBytes = 256 << 20

// Run writes the lines of everything that the paths name to w, in whole lines,
// as it is read. The result tells what became of the arguments and holds no
// files; unreadable tells whether some part of a file could not be read. The
// error is that of w, of the temporary file, or of ctx.
func Run(ctx context.Context, w io.Writer, o Options) (res *collect.Result, unreadable bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &sink{ctx: ctx, w: w, paths: o.Paths, temp: o.Collect.Limits}
	defer s.close()
	q := newQueue(2*runtime.GOMAXPROCS(0), maxBytes)
	written := make(chan error, 1)
	go func() {
		var failed error
		for j := range q.jobs {
			<-j.done
			if failed == nil && ctx.Err() == nil {
				if failed = s.take(j); failed != nil {
					cancel() // nobody reads on for nothing
				}
			}
			q.finish(j)
		}
		written <- failed
	}()
	o.Collect.Stream = true
	res = collect.Run(ctx, o.Paths, o.Collect, func(b collect.Batch) {
		q.start(b, func(j *job) { o.read(ctx, j) })
	})
	close(q.jobs)
	if err = <-written; err == nil {
		err = ctx.Err()
	}
	return res, s.unreadable, err
}

// A job is a batch on its way to its lines.
type job struct {
	collect.Batch
	size  int64
	lines [][]report.Line // of each file
	paths []string        // of the files, which are let go
	done  chan struct{}
}

// read decodes the files of a job, makes their lines and lets them go.
func (o *Options) read(ctx context.Context, j *job) {
	defer close(j.done)
	scan := o.Paths[j.Arg]
	for _, f := range j.Files {
		j.paths = append(j.paths, f.Path)
	}
	defer func() {
		for _, f := range j.Files {
			f.Close()
		}
		j.Files = nil
		if p := recover(); p != nil {
			j.lines = nil
			for _, path := range j.paths {
				msg := fmt.Sprintf("reading it failed, which is a mistake in fatview: %v", p)
				j.lines = append(j.lines, []report.Line{report.ErrorLine(path, scan, msg)})
			}
		}
	}()
	if !o.NoKernels {
		index.DecodeAll(ctx, j.Files, nil)
	}
	for _, f := range j.Files {
		if ctx.Err() != nil {
			return // half decoded: its lines would be wrong, and are not written
		}
		j.lines = append(j.lines, report.FileLines(f, scan, o.Targets))
	}
}

// A queue bounds how much is decoded at a time and keeps the order.
type queue struct {
	jobs chan *job

	mu       sync.Mutex
	room     sync.Cond
	n, most  int
	bytes    int64
	maxBytes int64
}

func newQueue(most int, maxBytes int64) *queue {
	q := &queue{jobs: make(chan *job, most), most: most, maxBytes: maxBytes}
	q.room.L = &q.mu
	return q
}

// start begins with a batch when there is room for it; do closes done.
func (q *queue) start(b collect.Batch, do func(*job)) {
	j := &job{Batch: b, done: make(chan struct{})}
	for _, f := range b.Files {
		j.size += f.Size
	}
	q.mu.Lock()
	for q.n >= q.most || q.n > 0 && q.bytes+j.size > q.maxBytes {
		q.room.Wait()
	}
	q.n++
	q.bytes += j.size
	q.mu.Unlock()
	go do(j)
	q.jobs <- j // it holds as many as there is room for
}

func (q *queue) finish(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n--
	q.bytes -= j.size
	q.room.Signal()
}

// encode appends lines to b.
func encode(b *bytes.Buffer, lines []report.Line) error {
	for i := range lines {
		if err := report.EncodeLine(b, &lines[i]); err != nil {
			return err
		}
	}
	return nil
}
