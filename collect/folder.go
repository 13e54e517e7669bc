package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"fatview/dist"
	"fatview/index"
	"fatview/pack"
)

// A listing is a folder's entries, read ahead where someone is free to.
type listing struct {
	dir, rel string // rel is "" for the argument itself
	entries  []entry
	err      error
	excluded int64
	started  bool
	done     chan struct{}
}

type entry struct {
	name string
	typ  fs.FileMode
	sub  *listing

	hidden bool // looked at in another way
}

// ahead bounds how many entries are listed before their turn.
const (
	maxListers = 4
	maxAhead   = 200_000
)

// lister reads folders ahead of their turn.
type lister struct {
	tokens chan struct{}
	ahead  atomic.Int64
	filter filter
}

func newLister(f filter) *lister {
	return &lister{tokens: make(chan struct{}, maxListers), filter: f}
}

// start returns a listing that is read in the background if that is possible,
// else when it is waited for.
func (l *lister) start(ctx context.Context, dir, rel string) *listing {
	x := &listing{dir: dir, rel: rel, done: make(chan struct{})}
	if l.ahead.Load() > maxAhead || ctx.Err() != nil {
		return x
	}
	select {
	case l.tokens <- struct{}{}:
		x.started = true
		go func() {
			defer close(x.done)
			defer func() { <-l.tokens }()
			l.read(ctx, x)
		}()
	default:
	}
	return x
}

// wait returns when the listing has been read.
func (l *lister) wait(ctx context.Context, x *listing) {
	if x.started {
		<-x.done
		return
	}
	l.read(ctx, x)
}

// read lists a folder in the order of paths: a folder stands where its name
// with a slash does.
func (l *lister) read(ctx context.Context, x *listing) {
	des, err := os.ReadDir(x.dir) // what was read before an error comes with it
	x.err = err
	for _, d := range des {
		e := entry{name: d.Name(), typ: d.Type()}
		if e.typ.IsDir() && !l.filter.enters(x.below(e.name)) {
			x.excluded++
			continue
		}
		x.entries = append(x.entries, e)
	}
	slices.SortFunc(x.entries, func(a, b entry) int { return strings.Compare(a.key(), b.key()) })
	l.ahead.Add(int64(len(x.entries)))
	for i := range x.entries {
		if e := &x.entries[i]; e.typ.IsDir() {
			e.sub = l.start(ctx, filepath.Join(x.dir, e.name), x.below(e.name))
		}
	}
}

func (e entry) key() string {
	if e.typ.IsDir() {
		return e.name + "/"
	}
	return e.name
}

func (x *listing) below(name string) string {
	if x.rel == "" {
		return name
	}
	return x.rel + "/" + name
}

// folder walks a folder and gives each file to a worker; results are slots of
// seq in the order of paths.
func (a *argWalk) folder(ctx context.Context, dir, rel string, seq *sequence) {
	l := newLister(a.filter)
	a.walk(ctx, l, l.start(ctx, dir, rel), seq)
}

// walk goes through a listing. The stack is its own, because folders can be
// nested deeper than a goroutine's should be.
func (a *argWalk) walk(ctx context.Context, l *lister, top *listing, seq *sequence) {
	type level struct {
		x    *listing
		next int
	}
	stack := []level{{x: top}}
	for len(stack) > 0 {
		at := &stack[len(stack)-1]
		if at.next == 0 {
			if ctx.Err() != nil {
				return
			}
			l.wait(ctx, at.x)
			a.entered(ctx, at.x, seq)
		}
		if at.next >= len(at.x.entries) {
			l.ahead.Add(-int64(len(at.x.entries)))
			stack = stack[:len(stack)-1]
			continue
		}
		e := at.x.entries[at.next]
		at.next++
		if e.hidden {
			if e.sub != nil {
				l.wait(ctx, e.sub)
				l.ahead.Add(-int64(len(e.sub.entries)))
			}
			continue
		}
		if e.sub != nil {
			at.x.entries[at.next-1].sub = nil
			stack = append(stack, level{x: e.sub})
			continue
		}
		if ctx.Err() != nil {
			return
		}
		a.entry(ctx, at.x, e, seq)
	}
}

// entered notes what is to be said of a folder. An OCI image layout is walked
// as the image that it is, and then as a folder without the image's parts.
func (a *argWalk) entered(ctx context.Context, x *listing, seq *sequence) {
	s := newSlot()
	s.out = outcome{place: filepath.ToSlash(x.dir), rel: x.rel}
	s.out.counts.Excluded = x.excluded
	defer close(s.ready)
	if x.err != nil {
		s.out.find(index.Error, s.out.place, strings.TrimPrefix(index.PathError(x.dir, x.err).Error(), x.dir+": "))
	}
	if x.has("oci-layout") && x.has("index.json") {
		// Through os.Root, so that links in it lead nowhere else.
		if root, err := os.OpenRoot(x.dir); err == nil {
			defer root.Close()
			if pack.IsLayout(root.FS()) {
				s.sub = newSequence()
				defer s.sub.end()
				a.add(ctx, seq, s)
				if a.layout(ctx, root.FS(), s.out.place, x.rel, s) {
					x.hide("oci-layout", "index.json", "manifest.json", "blobs")
				}
				return
			}
		}
	}
	if x.err != nil || x.excluded > 0 {
		a.add(ctx, seq, s)
	}
}

// hide takes entries out of the listing.
func (x *listing) hide(names ...string) {
	for i := range x.entries {
		if e := &x.entries[i]; slices.Contains(names, e.name) {
			e.hidden = true
		}
	}
}

func (x *listing) has(name string) bool {
	return slices.ContainsFunc(x.entries, func(e entry) bool { return e.name == name })
}

// entry looks at one file of a folder.
func (a *argWalk) entry(ctx context.Context, x *listing, e entry, seq *sequence) {
	a.progress.Entries.Add(1)
	s := newSlot()
	s.out = outcome{place: filepath.ToSlash(filepath.Join(x.dir, e.name)), rel: x.below(e.name)}
	s.out.counts.Entries = 1
	path := filepath.Join(x.dir, e.name)
	manifest := dist.IsManifest(s.out.rel)
	switch {
	case !e.typ.IsRegular():
		s.out.counts.Links = 1
	case !manifest && !a.filter.mayTake(s.out.rel):
		s.out.counts.Excluded = 1
	case manifest && a.opt.Stream: // read ahead
	default:
		s.sub = newSequence()
		a.add(ctx, seq, s)
		if !a.pool.run(ctx, func() { a.stat(ctx, path, manifest, s) }) {
			a.cancelled(ctx, s)
		}
		return
	}
	a.add(ctx, seq, s)
	close(s.ready)
}

// stat finds out about a file of a folder and looks at it.
func (a *argWalk) stat(ctx context.Context, path string, manifest bool, s *slot) {
	st, err := os.Lstat(path)
	out := s.out
	defer func() {
		if p := recover(); p != nil { // only of a manifest: opened has its own
			out.find(index.Error, out.place, fmt.Sprintf("reading it failed, which is a mistake in fatview: %v", p))
			s.out = out
			s.sub.end()
			close(s.ready)
		}
	}()
	problem := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem = "was there and is gone"
	case err != nil:
		problem = err.Error()
	case !st.Mode().IsRegular():
		problem = "was a file and is none now"
	case st.Size() == 0:
	case manifest:
		a.manifestFile(path, st, &out)
	default:
		a.file(ctx, path, out.rel, st, false, s)
		return
	}
	if problem != "" {
		out.find(index.Warning, out.place, problem)
	}
	s.out = out
	s.sub.end()
	close(s.ready)
}

func (a *argWalk) manifestFile(path string, st fs.FileInfo, out *outcome) {
	if st.Size() > dist.MaxManifest {
		out.find(index.Warning, out.place, "too big to be read as the manifest of a distribution")
		return
	}
	f, err := openRegular(path, st)
	if err == nil {
		defer f.Close()
		b := make([]byte, st.Size())
		var n int
		if n, err = f.ReadAt(b, 0); n == len(b) {
			err = a.arg.Dists.Add(out.rel, b)
		}
	}
	if err != nil {
		out.find(index.Warning, out.place, err.Error())
	}
}
