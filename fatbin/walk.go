package fatbin

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// Walk reads the containers that stand one after another in a section made
// for them, from off up to end. Between them there is zero padding to a
// multiple of eight. Bytes that are neither are reported once and skipped up
// to the next magic number. Walk calls yield for each container in order and
// stops when that returns false or ctx is done. The problems it returns are
// those between containers; a container has its own.
func Walk(ctx context.Context, r io.ReaderAt, off, end int64, yield func(*Container) bool) []Problem {
	var problems []Problem
	report := func(off int64, msg string) {
		if len(problems) < maxProblems {
			problems = append(problems, Problem{Off: off, Msg: msg})
		}
	}
	w := window{r: r, end: end}
	for p := off; ; {
		p = w.skipZeros(ctx, p)
		if w.end-p < containerHeaderSize || ctx.Err() != nil {
			if w.err != nil {
				report(w.end, "section ends early: "+w.err.Error())
			}
			return problems
		}
		c, err := ReadContainer(r, p, end)
		if err == nil {
			if !yield(c) {
				return problems
			}
			p = min(p+c.Size, end)
			continue
		}
		var bad *FormatError
		msg := err.Error()
		if errors.As(err, &bad) && bad.Off == p {
			msg = "bytes that are no container at offset " + hex(uint64(p))
		}
		report(p, msg)
		p = w.nextMagic(ctx, p+4)
	}
}

// Sizes of reads in Walk: most containers end with a few bytes of padding or
// none, so the first read is small; reads that follow on double.
const (
	minWindow = 128
	maxWindow = 1 << 16
)

// window reads a file forwards and keeps the bytes it read last, so that
// looking for something many times over costs as much as looking once.
type window struct {
	r   io.ReaderAt
	end int64
	off int64 // of buf in the file
	buf []byte
	err error // why the bytes from end on cannot be had
}

// at returns the bytes from p on: at least n, unless fewer are left before
// end or cannot be read.
func (w *window) at(p int64, n int) []byte {
	size := minWindow
	if last := w.off + int64(len(w.buf)); p >= w.off && p <= last {
		if last-p >= int64(n) || last >= w.end {
			return w.buf[p-w.off:]
		}
		size = min(max(2*len(w.buf), minWindow), maxWindow)
	}
	size = int(max(0, min(int64(size), w.end-p)))
	if cap(w.buf) < size {
		w.buf = make([]byte, size)
	}
	w.off, w.buf = p, w.buf[:size]
	if got, err := w.r.ReadAt(w.buf, p); got < size {
		w.err, w.end, w.buf = shortRead(err), p+int64(got), w.buf[:got]
	}
	return w.buf
}

// skipZeros returns the offset of the first byte from p on that is not zero,
// or the end.
func (w *window) skipZeros(ctx context.Context, p int64) int64 {
	for p < w.end && ctx.Err() == nil {
		b := w.at(p, 1)
		rest := bytes.TrimLeft(b, "\x00")
		p += int64(len(b) - len(rest))
		if len(rest) > 0 {
			return p
		}
	}
	return p
}

// nextMagic returns the offset of the next container magic from p on, or the
// end.
func (w *window) nextMagic(ctx context.Context, p int64) int64 {
	for p < w.end && ctx.Err() == nil {
		b := w.at(p, len(magicBytes))
		if i := bytes.Index(b, magicBytes[:]); i >= 0 {
			return p + int64(i)
		}
		if len(b) < len(magicBytes) {
			break
		}
		p += int64(len(b)) - 3
	}
	return w.end
}
