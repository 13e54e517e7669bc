package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"fatview/collect"
	"fatview/pack"
	"fatview/report"
)

// Bounds on what a package may make the sink keep in memory.
const (
	maxWaiting = 1 << 20 // bytes of lines; more go to a temporary file
	maxLinks   = 100_000 // hard links
	maxWrite   = 1 << 16 // bytes of lines that are gathered before they are written
)

// A sink writes lines in order, and keeps those of a package until it ended.
// One goroutine uses it at a time.
type sink struct {
	ctx        context.Context
	w          io.Writer
	paths      []string
	temp       pack.Limits // where temporary files go
	unreadable bool

	waiting  *spool
	links    map[string][]string // places of hard links, by what they are links of
	numLinks int
}

// waits is what is kept of a file of a package. Names are bytes, because those
// of a file need not be text and JSON would change them.
type waits struct {
	Place, Rel []byte
	Suffix     []byte // of a member of a static library, "!x.o"
	Lines      []report.Line
}

// take takes in what became of a batch.
func (s *sink) take(j *job) error {
	var out bytes.Buffer
	for i, lines := range j.lines {
		for k := range lines {
			s.unreadable = s.unreadable || lines[k].Error != nil
		}
		if j.Packed {
			x := waits{[]byte(j.Place), []byte(j.Rel[i]), []byte(strings.TrimPrefix(j.paths[i], j.Place)), lines}
			if err := s.wait(x); err != nil {
				return err
			}
			continue
		}
		own(lines, j.Batch, j.Rel[i])
		if err := encode(&out, lines); err != nil {
			return err
		}
	}
	switch {
	case j.LinkOf != "":
		s.link(j.LinkOf, j.Place)
	case j.Ended:
		if err := s.write(&out); err != nil {
			return err
		}
		return s.ended(j.Batch)
	case j.Done != nil:
		if err := encode(&out, report.ArgLines(j.Done)); err != nil {
			return err
		}
	}
	return s.write(&out)
}

// own names the distribution that a file belongs to.
func own(lines []report.Line, b collect.Batch, rel string) {
	if d := b.Owner(rel); d != nil {
		for i := range lines {
			lines[i].Distribution, lines[i].Version, lines[i].Kind = d.Name, d.Version, d.Kind
		}
	}
}

func (s *sink) write(b *bytes.Buffer) error {
	if b.Len() == 0 {
		return nil
	}
	_, err := s.w.Write(b.Bytes())
	b.Reset()
	return err
}

func (s *sink) wait(x waits) error {
	if s.waiting == nil {
		s.waiting = newSpool(s.ctx, s.temp)
	}
	return s.waiting.add(x)
}

func (s *sink) link(of, place string) {
	if s.numLinks++; s.numLinks > maxLinks {
		return
	}
	if s.links == nil {
		s.links = map[string][]string{}
	}
	s.links[of] = append(s.links[of], place)
}

// ended writes the lines of a package.
func (s *sink) ended(b collect.Batch) error {
	var out bytes.Buffer
	if s.waiting != nil {
		err := s.waiting.each(func(x waits) error {
			own(x.Lines, b, string(x.Rel))
			if links := s.links[string(x.Place)]; len(links) > 0 {
				copies := []string{}
				for _, l := range links {
					copies = append(copies, l+string(x.Suffix))
				}
				for i := range x.Lines {
					x.Lines[i].Copies = copies
				}
			}
			if err := encode(&out, x.Lines); err != nil || out.Len() < maxWrite {
				return err
			}
			return s.write(&out)
		})
		s.waiting = nil
		if err != nil {
			return err
		}
	}
	if s.numLinks > maxLinks {
		s.unreadable = true
		msg := fmt.Sprintf("more than %d hard links: what the others are names of is not told", maxLinks)
		if err := encode(&out, []report.Line{report.ErrorLine(b.Place, s.paths[b.Arg], msg)}); err != nil {
			return err
		}
	}
	s.links, s.numLinks = nil, 0
	return s.write(&out)
}

// close drops what still waits.
func (s *sink) close() {
	if s.waiting != nil {
		s.waiting.drop()
		s.waiting = nil
	}
}

// A spool keeps what waits in memory, and in a temporary file without a name
// where it is much.
type spool struct {
	in   *io.PipeWriter
	enc  *json.Encoder
	blob *pack.Blob // valid when done is closed
	err  error
	done chan struct{}
}

func newSpool(ctx context.Context, lim pack.Limits) *spool {
	lim = pack.Limits{Memory: maxWaiting, Total: 1 << 50, TempDir: lim.TempDir}
	r, w := io.Pipe()
	s := &spool{in: w, enc: json.NewEncoder(w), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.blob, s.err = pack.Spool(ctx, r, lim)
		r.CloseWithError(s.err) // add gets it; nil is "closed"
	}()
	return s
}

func (s *spool) add(x waits) error {
	if err := s.enc.Encode(x); err != nil {
		return fmt.Errorf("keeping lines until their package ends: %w", err)
	}
	return nil
}

// each calls do with everything that was added, in order, and ends the spool.
func (s *spool) each(do func(waits) error) error {
	s.in.Close()
	<-s.done
	if s.err != nil {
		return fmt.Errorf("keeping lines until their package ends: %w", s.err)
	}
	defer s.blob.Close()
	d := json.NewDecoder(io.NewSectionReader(s.blob, 0, s.blob.Size()))
	for {
		var x waits
		switch err := d.Decode(&x); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading lines that waited: %w", err)
		}
		if err := do(x); err != nil {
			return err
		}
	}
}

// drop ends the spool.
func (s *spool) drop() {
	s.in.CloseWithError(context.Canceled)
	<-s.done
	if s.blob != nil {
		s.blob.Close()
	}
}
