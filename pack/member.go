package pack

import (
	"errors"
	"io"
)

// A Member is one file of a package.
type Member struct {
	Path    string // relative, with slashes; of a nested package "inner.whl!lib/x.so"
	Package string // path of the innermost package that it lies in; "" is the outermost
	Size    int64  // bytes, as the package declares them; -1 if it does not
	Head    []byte // its first bytes, up to 4096; valid during the visit, not to be changed
	Layer   string // of an image: digest of its layer, or the layer's file if the image names no digest

	// LinkOf is set on a hard link of a tar. It is the path of the member or
	// nested package that the link is another name of. A link has no content:
	// Head is nil and Open fails.
	LinkOf string

	w    *walker
	src  source
	kept *backing // what Open unpacked
	err  error    // of Open
	over bool     // the visit has ended
}

var errOver = errors.New("a member can be opened during its visit only")

// Open unpacks the member if need be. Each call gives a blob of its own, which
// the caller closes; the content is unpacked once.
//
// It fails when the content is damaged, when it unpacks to too much, when no
// temporary file can be written, when ctx ended, and after the visit. Damage
// and bounds are findings of the walk already: a visitor passes on to the next
// member by returning nil.
func (m *Member) Open() (*Blob, error) {
	switch {
	case m.over:
		return nil, errOver
	case m.LinkOf != "":
		return nil, errors.New("a hard link has no content of its own")
	case m.err != nil:
		return nil, m.err
	}
	if m.src.at != nil && m.src.have == m.src.size {
		return &Blob{sec: m.src.section(), keep: m.src.keep.retain()}, nil
	}
	if m.kept == nil {
		if m.kept, m.err = m.w.unpack(m.Path, m.src); m.err != nil {
			return nil, m.err
		}
	}
	return m.kept.blob(), nil
}

// end closes the door after a visit.
func (m *Member) end() {
	m.over = true
	m.kept.release()
}

// unpack puts a source where it can be read at random. A failure is a finding,
// unless it ends the walk.
func (w *walker) unpack(path string, src source) (*backing, error) {
	if w.halted != nil {
		return nil, w.halted
	}
	if src.at != nil {
		err := src.cutError()
		w.find(SeverityError, path, "%v", err)
		return nil, err
	}
	packed := src.packed
	if packed == nil {
		packed = func() int64 { return 0 }
	}
	start := packed()
	b, err := w.store.put(src.r, func(n int64) error {
		if src.packed != nil && w.lim.tooDense(n, packed()-start) {
			return errDense
		}
		return nil
	})
	switch {
	case w.halted != nil:
		b.release()
		return nil, w.halted
	case errors.Is(err, errDense):
		w.find(SeverityError, path, "left out: it %v, more than %d bytes for each packed one", err, w.lim.Ratio)
	case errors.Is(err, errTemp):
		w.find(SeverityError, path, "left out: %v", err)
	case err != nil:
		if err == io.ErrUnexpectedEOF {
			err = errCut
		}
		w.find(SeverityError, path, "content is damaged: %v", err)
	}
	return b, err
}

var errCut = errors.New("it is cut off")
