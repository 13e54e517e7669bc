package collect

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"fatview/dist"
	"fatview/index"
	"fatview/pack"
)

// pkg walks a package; its members become slots of s.sub. behind says that it is
// a zip behind a program, which may turn out to be none.
func (a *argWalk) pkg(ctx context.Context, place, rel string, r io.ReaderAt, size int64, keep *keeper, behind bool, s *slot) {
	defer keep.Close()
	a.enter(s)
	v := &visitor{argWalk: a, place: place, rel: rel, keep: keep, s: s}
	if behind {
		v.program = base(place)
	}
	sum, err := pack.Walk(ctx, r, size, place, v.limits(), func(m *pack.Member) error { return v.member(ctx, m) })
	if behind && sum == nil {
		return
	}
	v.walked(ctx, sum, err)
	if s.out.named && sum != nil && !behind {
		a.arg.Kind = string(sum.Format) // it may be an image in what looked like a tar
	}
}

// layout walks an OCI image layout that lies in a folder, and tells whether it
// is one.
func (a *argWalk) layout(ctx context.Context, dir fs.FS, place, rel string, s *slot) bool {
	a.enter(s)
	v := &visitor{argWalk: a, place: place, rel: rel, keep: newKeeper(nil), s: s}
	sum, err := pack.WalkLayout(ctx, dir, v.limits(), func(m *pack.Member) error { return v.member(ctx, m) })
	v.walked(ctx, sum, err)
	return err == nil
}

// enter prepares a package's slot: it says where what its manifests tell goes.
// A stream forgets that with the package, else a mirror's would add up; what
// they list lies in the package, so no other place can miss it.
func (a *argWalk) enter(s *slot) {
	s.out.pkg = true
	switch {
	case s.dists != nil: // that of the package around it
	case a.opt.Stream:
		s.dists = &dist.Set{}
	default:
		if a.arg.Dists == nil {
			a.arg.Dists = &dist.Set{} // only of an argument that is a package itself
		}
		s.dists = a.arg.Dists
	}
	s.out.dists = s.dists
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

// A visitor takes in the members of one package. Its walk is one goroutine,
// which alone writes the package's own outcome.
type visitor struct {
	*argWalk
	place, rel string
	program    string // base name of a program that the package stands behind
	keep       *keeper
	s          *slot
	refused    map[string]bool // members that may hold device code and were not asked for
}

// limits are the bounds of the walk, and which packages in it are opened.
func (v *visitor) limits() pack.Limits {
	lim := v.opt.Limits
	lim.Together = v.memory
	lim.Enter = func(path string) bool {
		if v.inner != "" && !v.wants(path) {
			return false
		}
		if !v.filter.enters(relTo(v.rel, path)) {
			v.s.out.counts.Excluded++
			return false
		}
		return true
	}
	return lim
}

// walked notes how a walk ended.
func (v *visitor) walked(ctx context.Context, sum *pack.Summary, err error) {
	out := &v.s.out
	if sum != nil {
		out.counts.Links += int64(sum.Skipped.Links + sum.Skipped.Devices)
		for _, f := range sum.Findings {
			out.find(Severity(f.Severity.String()), inside(v.place, f.Path), f.Message)
		}
	}
	switch {
	case err == nil || ctx.Err() != nil:
	case out.named:
		out.err = errors.New(v.place + ": " + err.Error())
	default:
		out.find(index.Error, v.place, err.Error())
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
// What is of no interest leaves nothing but a count.
func (v *visitor) member(ctx context.Context, m *pack.Member) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.progress.Entries.Add(1)
	place, rel := v.place+"!"+m.Path, relTo(v.rel, m.Path)
	counts := &v.s.out.counts
	switch {
	case v.inner != "" && !v.wants(m.Path):
		v.refuse(m)
		return nil
	case v.program != "" && m.Path == v.program:
		return nil // what stands before the zip; it is read as a file
	}
	counts.Entries++
	switch {
	case dist.IsManifest(rel):
		v.manifest(m, place, rel)
		return nil
	case !v.filter.takes(rel):
		counts.Excluded++
		v.refuse(m)
		return nil
	case m.LinkOf != "" && v.refused[m.LinkOf]:
		v.s.out.find(index.Warning, place, "is a hard link of "+m.LinkOf+", which was left out; ask for that one")
		return nil
	case m.LinkOf == "" && !promising(m.Head, m.Size):
		return nil
	}
	x := newSlot()
	x.out = outcome{place: place, rel: rel, packed: true}
	x.dists = v.s.dists
	if m.LinkOf != "" {
		x.out.copyOf = v.place + "!" + m.LinkOf
		v.add(ctx, v.s.sub, x)
		close(x.ready)
		return nil
	}
	blob, err := m.Open()
	if err != nil {
		return ctx.Err() // the walk has a finding of it
	}
	v.add(ctx, v.s.sub, x)
	v.keep.users.Add(1)
	w := &window{Blob: blob, keep: v.keep}
	v.pool.offer(func() {
		v.opened(ctx, place, rel, w, w.Size(), w, nil, false, x)
	})
	return nil
}

// refuse remembers a member that was not asked for, because a hard link of it
// may be.
func (v *visitor) refuse(m *pack.Member) {
	const most = 10_000
	if m.LinkOf == "" && len(v.refused) < most && promising(m.Head, m.Size) {
		if v.refused == nil {
			v.refused = map[string]bool{}
		}
		v.refused[m.Path] = true
	}
}

// manifest reads a file that names a distribution.
func (v *visitor) manifest(m *pack.Member, place, rel string) {
	out := &v.s.out
	if m.Size > dist.MaxManifest {
		out.find(index.Warning, place, "too big to be read as the manifest of a distribution")
		return
	}
	blob, err := m.Open()
	if err != nil {
		return // the walk has a finding of it
	}
	defer blob.Close()
	b, err := io.ReadAll(io.NewSectionReader(blob, 0, min(blob.Size(), dist.MaxManifest)))
	if err == nil {
		err = v.s.dists.Add(rel, b)
	}
	if err != nil {
		out.find(index.Warning, place, err.Error())
	}
}

// base is the last part of a place.
func base(place string) string { return place[strings.LastIndexAny(place, "/!")+1:] }

// defaultWorkers is how many files are looked at at a time.
func defaultWorkers() int { return runtime.GOMAXPROCS(0) }
