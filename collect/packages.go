package collect

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"fatview/dist"
	"fatview/index"
	"fatview/pack"
)

// pkg walks a package; its members become slots of s.sub.
func (a *argWalk) pkg(ctx context.Context, place, rel string, r io.ReaderAt, size int64, keep *keeper, s *slot) {
	defer keep.Close()
	if a.arg.Dists == nil {
		a.arg.Dists = &dist.Set{} // only of an argument that is a package itself
	}
	sum, err := pack.Walk(ctx, r, size, place, a.opt.Limits, func(m *pack.Member) error {
		return a.member(ctx, place, rel, m, keep, s)
	})
	a.walked(ctx, place, sum, err, s)
}

// A keeper closes a package when the last of those that read it has: members
// that lie in it as they are are windows of it.
type keeper struct {
	users atomic.Int64
	c     io.Closer
}

func newKeeper(c io.Closer) *keeper {
	k := &keeper{c: c}
	k.users.Store(1)
	return k
}

func (k *keeper) Close() error {
	if k.users.Add(-1) == 0 && k.c != nil {
		return k.c.Close()
	}
	return nil
}

// window is a member that keeps its package open.
type window struct {
	*pack.Blob
	keep *keeper
	once sync.Once
}

func (w *window) Close() error {
	err := w.Blob.Close()
	w.once.Do(func() { w.keep.Close() })
	return err
}

// layout walks an OCI image layout that lies in a folder.
func (a *argWalk) layout(ctx context.Context, dir fs.FS, place, rel string, s *slot) {
	sum, err := pack.WalkLayout(ctx, dir, a.opt.Limits, func(m *pack.Member) error {
		return a.member(ctx, place, rel, m, newKeeper(nil), s)
	})
	a.walked(ctx, place, sum, err, s)
}

// walked notes how a walk ended.
func (a *argWalk) walked(ctx context.Context, place string, sum *pack.Summary, err error, s *slot) {
	if sum != nil {
		if s.out.named {
			a.arg.Kind = string(sum.Format) // it may be an image in what looked like a tar
		}
		s.out.counts.Links += int64(sum.Skipped.Links + sum.Skipped.Devices)
		for _, f := range sum.Findings {
			s.out.find(Severity(f.Severity.String()), inside(place, f.Path), f.Message)
		}
	}
	switch {
	case err == nil || ctx.Err() != nil:
	case s.out.named:
		s.out.err = errors.New(place + ": " + err.Error())
	default:
		s.out.find(index.Warning, place, err.Error())
	}
}

// inside is the path of a member of what lies at place, or place itself.
func inside(place, member string) string {
	if member == "" {
		return place
	}
	return place + "!" + member
}

// member looks at a member of a package: manifests are read, binaries opened.
func (a *argWalk) member(ctx context.Context, place, rel string, m *pack.Member, keep *keeper, s *slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a.progress.Entries.Add(1)
	x := newSlot()
	x.out = outcome{place: place + "!" + m.Path, rel: relTo(rel, m.Path)}
	x.out.counts.Entries = 1
	done := func() {
		s.sub.add(x)
		close(x.ready)
	}
	switch {
	case a.inner != "" && !a.wants(m.Path):
		x.out.counts.Entries = 0
		done()
		return nil
	case dist.IsManifest(x.out.rel):
		a.manifest(m, &x.out)
		done()
		return nil
	case !a.filter.takes(x.out.rel):
		x.out.counts.Excluded = 1
		done()
		return nil
	case m.LinkOf != "":
		x.out.copyOf = place + "!" + m.LinkOf
		done()
		return nil
	case !promising(m.Head, m.Size):
		done()
		return nil
	}
	blob, err := m.Open()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.out.find(index.Error, x.out.place, err.Error())
		done()
		return nil
	}
	s.sub.add(x)
	out := x.out
	keep.users.Add(1)
	w := &window{Blob: blob, keep: keep}
	a.pool.offer(func() {
		a.opened(ctx, out.place, out.rel, w, w.Size(), w, nil, false, x)
	})
	return nil
}

// manifest reads a file that names a distribution.
func (a *argWalk) manifest(m *pack.Member, out *outcome) {
	if m.Size > dist.MaxManifest {
		out.find(index.Warning, out.place, "too big to be read as the manifest of a distribution")
		return
	}
	blob, err := m.Open()
	if err == nil {
		defer blob.Close()
		var b []byte
		if b, err = io.ReadAll(io.NewSectionReader(blob, 0, blob.Size())); err == nil {
			err = a.arg.Dists.Add(out.rel, b)
		}
	}
	if err != nil {
		out.find(index.Warning, out.place, err.Error())
	}
}

// defaultWorkers is how many files are looked at at a time.
func defaultWorkers() int { return runtime.GOMAXPROCS(0) }
