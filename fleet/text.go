package fleet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// capped fails where io.LimitReader would end, so that a part of a fleet does
// not pass for the whole of it.
type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		// Only what is there to be read is too much.
		var one [1]byte
		n, err := c.r.Read(one[:])
		if n > 0 {
			return 0, ErrLarge
		}
		return 0, err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// newText returns an input as UTF-8 without a byte order mark. Windows
// PowerShell writes what it redirects into a file as UTF-16.
func newText(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	mark, _ := in.Peek(3) // what ended it early is told by the next read
	switch {
	case len(mark) == 3 && mark[0] == 0xEF && mark[1] == 0xBB && mark[2] == 0xBF:
		in.Discard(3)
	case len(mark) >= 2 && mark[0] == 0xFF && mark[1] == 0xFE:
		in.Discard(2)
		return &utf16Text{in: in, order: binary.LittleEndian}
	case len(mark) >= 2 && mark[0] == 0xFE && mark[1] == 0xFF:
		in.Discard(2)
		return &utf16Text{in: in, order: binary.BigEndian}
	}
	return in
}

// utf16Text turns UTF-16 into UTF-8. Halves of pairs become U+FFFD.
type utf16Text struct {
	in    *bufio.Reader
	order binary.ByteOrder
	high  rune // the first half of a pair, 0 none
	ready []byte
	err   error
}

func (t *utf16Text) Read(p []byte) (int, error) {
	for len(t.ready) < len(p) && t.err == nil {
		var two [2]byte
		if _, t.err = io.ReadFull(t.in, two[:]); t.err != nil {
			break
		}
		t.rune(rune(t.order.Uint16(two[:])))
	}
	n := copy(p, t.ready)
	t.ready = append(t.ready[:0], t.ready[n:]...)
	if n > 0 || t.err == nil {
		return n, nil
	}
	if errors.Is(t.err, io.ErrUnexpectedEOF) {
		return 0, io.EOF // half a character at the end
	}
	return 0, t.err
}

func (t *utf16Text) rune(r rune) {
	if t.high != 0 {
		if pair := utf16.DecodeRune(t.high, r); pair != utf8.RuneError {
			t.ready, t.high = utf8.AppendRune(t.ready, pair), 0
			return
		}
		t.ready, t.high = utf8.AppendRune(t.ready, utf8.RuneError), 0
	}
	if r >= 0xD800 && r < 0xDC00 {
		t.high = r
		return
	}
	t.ready = utf8.AppendRune(t.ready, r)
}

// eachLine calls f with every line, its end removed, and its number from 1. It
// ends at the first error.
func eachLine(r io.Reader, f func(n int, line string) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	n := 0
	for s.Scan() {
		n++
		if err := f(n, s.Text()); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d is longer than %d bytes: %w", n+1, maxLine, ErrLarge)
	}
	return s.Err()
}

// allowance bounds how much may be read until the next time it is renewed, so
// that one value of a stream cannot fill the memory.
type allowance struct {
	r         io.Reader
	max, left int
}

func (a *allowance) renew() { a.left = a.max }

func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, fmt.Errorf("one piece of it is longer than %d bytes: %w", a.max, ErrLarge)
	}
	n, err := a.r.Read(p[:min(len(p), a.left)])
	a.left -= n
	return n, err
}
