package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// ErrNotPackage means that the content is of no format that pack opens.
var ErrNotPackage = errors.New("not a package")

// errBound ends a walk that reached Limits.Total or Limits.Entries. The
// finding has been made.
var errBound = errors.New("a bound is reached")

// A walker is one walk over one outermost package.
type walker struct {
	ctx   context.Context
	lim   Limits
	store *store
	fn    func(*Member) error
	sum   Summary
	names names

	halted      error // why the walk ends; sticky
	entries     int   // of every kind
	delivered   int   // members that were told from their package, visited or not
	renamed     int
	unsaidWorst Severity
	unsaid      int // findings beyond the list
	merged      int // paths, see maxMerged
}

// A place is where members come from.
type place struct {
	prefix string // "" or "inner.whl!"
	pkg    string // "" or "inner.whl"
	base   string // last element of the package's own name
	depth  int
	layer  string
}

// Walk opens the package in r and calls visit for each member, in the order in
// which they lie in it. Packages among them are opened in turn instead of being
// visited; one that only looks like a package is visited. name is what the file
// is called: it names what a single packed file holds and is not opened.
//
// The order of layers of an image is from the last to the first. If there are
// several images, each is handed out as a package of its own, named by its tag
// and platform, and layers that they share with the first of them only.
//
// The error is ErrNotPackage or about the package if nothing of it can be told,
// and wraps that of ctx or visit if those ended the walk; the summary is then
// what was met before. Anything else is a Finding.
func Walk(ctx context.Context, r io.ReaderAt, size int64, name string, lim Limits, visit func(*Member) error) (*Summary, error) {
	w := newWalker(ctx, lim, visit)
	defer w.store.file.done()
	src := source{at: r, have: max(size, 0), size: max(size, 0)}
	head, err := src.peek()
	if err != nil {
		return nil, fmt.Errorf("reading the first bytes of %d: %w", size, err)
	}
	kind := headKind(head)
	if kind == "" && endsInZip(src) {
		kind = FormatZip
	}
	if kind == "" {
		return nil, ErrNotPackage
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	return w.finish(w.open(place{base: base}, kind, src))
}

func newWalker(ctx context.Context, lim Limits, visit func(*Member) error) *walker {
	lim = lim.withDefaults()
	return &walker{ctx: ctx, lim: lim, store: newStore(lim), fn: visit, names: newNames()}
}

// finish turns how the outermost package ended into what Walk returns.
func (w *walker) finish(err error) (*Summary, error) {
	switch {
	case w.halted != nil && !errors.Is(w.halted, errBound):
		w.closeFindings()
		return &w.sum, w.halted
	case w.halted == nil && err != nil:
		if w.delivered == 0 && w.entries == 0 {
			return nil, err
		}
		w.find(SeverityError, "", "%v", err)
	}
	w.closeFindings()
	return &w.sum, nil
}

// alive returns why the walk ends, if it does.
func (w *walker) alive() error {
	if w.halted == nil {
		if err := w.ctx.Err(); err != nil {
			w.halted = err
		}
	}
	return w.halted
}

// stop ends the walk by a bound. Its finding is not subject to their number.
func (w *walker) stop(format string, args ...any) error {
	if w.halted == nil {
		w.halted = errBound
		w.sum.Findings = append(w.sum.Findings, Finding{"", fmt.Sprintf(format, args...), SeverityError})
	}
	return w.halted
}

func (w *walker) stopTotal() error {
	return w.stop("the bound of %d unpacked bytes is reached; the rest is not read", w.lim.Total)
}

// entry counts entries of any kind, before they are looked at.
func (w *walker) entry(n int) error {
	if err := w.alive(); err != nil {
		return err
	}
	if n > w.lim.Entries-w.entries {
		return w.stop("the bound of %d entries is reached; the rest is not read", w.lim.Entries)
	}
	w.entries += n
	return nil
}

// deliver hands out one member, or what is in it if it is a package. The error
// is that of a walk that ends.
func (w *walker) deliver(pl place, name string, src source) error {
	if err := w.alive(); err != nil {
		return err
	}
	w.delivered++
	full := w.names.take(pl.prefix + name)
	head, err := src.peek()
	if w.halted != nil {
		return w.halted
	}
	if err != nil && len(head) == 0 {
		w.find(SeverityError, full, "cannot be read: %v", err)
		return nil
	}
	if kind := headKind(head); kind != "" {
		if w.lim.Enter != nil && !w.lim.Enter(full) {
			return nil
		}
		if pl.depth >= w.lim.Depth {
			w.find(SeverityError, full, "left out: packages are opened to a depth of %d", w.lim.Depth)
			return nil
		}
		if (kind == FormatZip || kind == FormatDeb) && src.at == nil {
			b, err := w.unpack(full, src)
			if err != nil {
				return w.halted // nil if it is a finding
			}
			defer b.release()
			src = b.source()
		}
		plain, err := w.nested(pl, full, kind, src)
		if err != nil || !plain {
			return err
		}
	}
	return w.visit(&Member{Path: full, Package: pl.pkg, Size: src.size, Head: head, Layer: pl.layer, src: src})
}

// visit calls the visitor.
func (w *walker) visit(m *Member) error {
	if m.src.at != nil {
		if m.src.have > w.lim.Total-w.sum.Bytes {
			return w.stopTotal()
		}
		w.sum.Bytes += m.src.have
	}
	m.w = w
	w.sum.Members++
	err := w.fn(m)
	m.end()
	if err != nil && w.halted == nil {
		w.halted = err
	}
	return w.halted
}

// nested opens a package within a package. plain tells that it could not be
// read as one and that nothing is lost by visiting it as it is.
func (w *walker) nested(pl place, full string, kind Format, src source) (plain bool, err error) {
	before := w.delivered
	inner := place{prefix: full + "!", pkg: full, base: path.Base(full[len(pl.prefix):]), depth: pl.depth + 1, layer: pl.layer}
	err = w.open(inner, kind, src)
	switch {
	case w.halted != nil:
		return false, w.halted
	case err == nil:
		w.sum.Packages++
		return false, nil
	case w.delivered == before && src.at != nil:
		w.find(SeverityWarning, full, "looks like %s but cannot be opened: %v", kind, err)
		return true, nil
	}
	w.find(SeverityError, full, "%v", err)
	return false, nil
}

// open reads one package. The error is about the package, unless w.halted is
// set.
func (w *walker) open(pl place, kind Format, src source) error {
	switch kind {
	case FormatZip:
		return w.walkZip(pl, src)
	case FormatDeb:
		return w.walkDeb(pl, src)
	case FormatTar:
		return w.walkTarOrImage(pl, FormatTar, src)
	}
	stream, done, err := w.unpackStream(kind, src)
	defer done()
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", kind, noEOF(err))
	}
	head, err := stream.peek()
	if w.halted != nil {
		return w.halted
	}
	if isTar(head) {
		return w.walkTarOrImage(pl, tarOf(kind), stream)
	}
	if err != nil && len(head) == 0 {
		return fmt.Errorf("%s is damaged: %w", kind, err)
	}
	w.setFormat(pl, kind)
	if err := w.entry(1); err != nil {
		return err
	}
	return w.deliver(pl, singleName(pl.base), stream)
}

// setFormat notes the format of the outermost package.
func (w *walker) setFormat(pl place, f Format) {
	if pl.depth == 0 && w.sum.Format == "" {
		w.sum.Format = f
	}
}
