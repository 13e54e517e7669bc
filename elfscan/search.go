package elfscan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
)

// Search calls visit with the offset of each occurrence of pattern inside a
// range, in the order of the ranges and of the offsets. Only occurrences at a
// multiple of align count; sections of COFF objects and of archive members are
// not aligned in the file, so use 1 there. visit returns the offset at which to
// go on in the same range, such as the end of a container, or 0 to go on with
// the next byte.
//
// Memory is bounded whatever the ranges. It ends early with the error of ctx,
// or of the reader; a file that ends inside a range gives io.ErrUnexpectedEOF.
func Search(ctx context.Context, r io.ReaderAt, ranges []Range, pattern []byte, align int64, visit func(off int64) (skipTo int64)) error {
	p, err := NewPatterns(Pattern{Bytes: pattern, Align: align})
	if err != nil {
		return err
	}
	return p.Search(ctx, r, ranges, func(_, _ int, off int64) int64 { return visit(off) })
}

// Search is the function of the same name for several patterns in one reading.
// visit is told which pattern was found and in which range, both by index;
// where two begin at the same byte, the one that was named first is told
// first. What visit skips is skipped for all of them.
//
// r is read by several goroutines at once, as io.ReaderAt allows; visit is
// called by the caller's, and none is left when Search returns.
func (p *Patterns) Search(ctx context.Context, r io.ReaderAt, ranges []Range, visit func(pattern, rng int, off int64) (skipTo int64)) error {
	s := &searcher{ctx: ctx, r: r, patterns: p, ranges: ranges}
	for _, rg := range ranges {
		if rg.Offset < 0 || rg.Size < 0 || rg.Offset+rg.Size < 0 {
			return &FormatError{rg.Offset, "range is not in a file", rg.Size}
		}
	}
	if len(ranges) > 0 {
		s.pos = ranges[0].Offset
	}
	defer s.drain()
	return s.run(visit)
}

// searchBuffer is what fits a second-level cache: the bytes are still there
// when they are searched.
const searchBuffer = 256 << 10

// longJob is how many bytes a job covers that runs beside others: with shorter
// ones, handing them out costs as much as they do.
const longJob = 1 << 20

// maxGap is how many bytes between two ranges are read for nothing to spare a
// read: objects may have thousands of tiny sections.
const maxGap = 16 << 10

// A stretch is the part of a range that one job looks at: occurrences that
// begin from from on and before cut. The bytes up to end are needed for that.
type stretch struct {
	rng            int
	from, cut, end int64
}

// A job reads some bytes of the file once and finds what begins in them.
type job struct {
	buf       [searchBuffer]byte
	stretches []stretch
	hits      []hit
	err       error         // stopped the job after its hits
	done      chan struct{} // of one that runs beside others
}

type hit struct {
	rng, pattern int
	off          int64
}

var jobs = sync.Pool{New: func() any { return new(job) }}

// A searcher plans jobs ahead and takes in their results in order. While
// occurrences are rare, jobs run beside each other, and what one skips is read
// for nothing at most as far as they go; after a long skip it begins with one
// again.
type searcher struct {
	ctx      context.Context
	r        io.ReaderAt
	patterns *Patterns
	ranges   []Range
	rng      int   // where the next job begins
	pos      int64 // in the file
	running  []*job
}

func (s *searcher) run(visit func(pattern, rng int, off int64) int64) error {
	most := min(runtime.GOMAXPROCS(0)+1, 8)
	depth := 1
	skipped, to := -1, int64(0) // the range in which visit skipped last, and how far
	for {
		for len(s.running) < depth {
			size := int64(searchBuffer)
			if depth > 1 {
				size = longJob
			}
			j := s.plan(size)
			if j == nil {
				break
			}
			s.start(j, depth > 1)
		}
		if len(s.running) == 0 {
			return s.ctx.Err()
		}
		j := s.running[0]
		if j.done != nil {
			<-j.done
		}
		for _, h := range j.hits {
			if h.rng == skipped && h.off < to {
				continue
			}
			if t := visit(h.pattern, h.rng, h.off); t > h.off {
				skipped, to = h.rng, t
			}
			if err := s.ctx.Err(); err != nil {
				return err
			}
		}
		if j.err != nil {
			return j.err
		}
		depth = min(depth*2, most)
		if last := j.stretches[len(j.stretches)-1]; skipped == last.rng && to > last.end {
			s.skip(skipped, to)
			if to-last.end > longJob {
				depth = 1
			}
		}
		s.running = s.running[1:]
		j.release()
	}
}

// skip moves the beginning of the next job in a range forwards.
func (s *searcher) skip(rng int, to int64) {
	if rg := s.ranges[rng]; s.rng == rng && to > s.pos {
		s.pos = min(to, rg.Offset+rg.Size)
	}
}

// plan makes the next job, of size bytes at most, or returns nil at the end. It
// covers a part of one range, or several ranges that one read gets.
func (s *searcher) plan(size int64) *job {
	var j *job
	longest := int64(s.patterns.longest)
	var start, last int64
	for s.rng < len(s.ranges) {
		rg := s.ranges[s.rng]
		end := rg.Offset + rg.Size
		if s.pos >= end {
			if s.rng++; s.rng < len(s.ranges) {
				s.pos = s.ranges[s.rng].Offset
			}
			continue
		}
		if j == nil {
			j = jobs.Get().(*job)
			start, last = s.pos, s.pos
		}
		room := start + size - s.pos
		if len(j.stretches) > 0 {
			room = start + searchBuffer - s.pos
			if s.pos < last || s.pos-last > maxGap || end-s.pos > room || last-start > searchBuffer {
				return j
			}
		}
		cut := end
		if end-s.pos > room {
			// An occurrence may straddle the end of the bytes: the next job
			// begins with the first that can.
			end = s.pos + room
			cut = end - longest + 1
		}
		j.stretches = append(j.stretches, stretch{s.rng, s.pos, cut, end})
		s.pos, last = cut, end
		if cut < end {
			return j
		}
	}
	return j
}

// start runs a job, beside the others if asked.
func (s *searcher) start(j *job, beside bool) {
	s.running = append(s.running, j)
	if !beside {
		j.run(s)
		return
	}
	j.done = make(chan struct{})
	go func() {
		defer close(j.done)
		defer func() {
			if p := recover(); p != nil {
				j.err = fmt.Errorf("searching failed: %v", p)
			}
		}()
		j.run(s)
	}()
}

// drain waits for the jobs that run, and gives their memory back.
func (s *searcher) drain() {
	for _, j := range s.running {
		if j.done != nil {
			<-j.done
		}
		j.release()
	}
}

func (j *job) release() {
	if cap(j.hits) > 1<<12 {
		j.hits = nil
	}
	j.stretches, j.hits, j.err, j.done = j.stretches[:0], j.hits[:0], nil, nil
	jobs.Put(j)
}

func (j *job) run(s *searcher) {
	first, last := j.stretches[0], j.stretches[len(j.stretches)-1]
	if last.end-first.from <= searchBuffer {
		j.window(s, j.stretches, last.end)
		return
	}
	// A long part of one range.
	step := searchBuffer - int64(s.patterns.longest) + 1
	for t := first; t.from < first.cut && j.err == nil; t.from = t.cut {
		t.cut = min(t.from+step, first.cut)
		t.end = min(t.from+searchBuffer, first.end)
		j.window(s, []stretch{t}, t.end)
	}
}

// window reads the bytes of stretches up to end at once and looks at them.
func (j *job) window(s *searcher, stretches []stretch, end int64) {
	if j.err = s.ctx.Err(); j.err != nil {
		return
	}
	start := stretches[0].from
	n, err := s.r.ReadAt(j.buf[:end-start], start)
	have := start + max(0, min(int64(n), end-start))
	for _, t := range stretches {
		if t.end > have {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			j.err = fmt.Errorf("searching at offset %s: %w", hex(have), err)
			return
		}
		w := j.buf[t.from-start : t.end-start]
		known := len(j.hits)
		s.patterns.find(w, int(t.cut-t.from), s.ranges[t.rng].Host, func(pattern, i int) {
			if off := t.from + int64(i); off%s.patterns.list[pattern].Align == 0 {
				j.hits = append(j.hits, hit{t.rng, pattern, off})
			}
		})
		slices.SortFunc(j.hits[known:], func(a, b hit) int {
			return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.pattern, b.pattern))
		})
	}
}
