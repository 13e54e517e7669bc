package collect

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"fatview/dist"
)

// pass hands out an outcome of a stream and keeps nothing of it.
func (t *taker) pass(out outcome) {
	a := t.arg
	b := Batch{Arg: t.index, Place: out.place, Packed: out.packed, LinkOf: out.copyOf, Ended: out.pkg && !out.packed}
	b.Owner = ownerIn(out.dists, a.Dists)
	for _, f := range out.files {
		b.Rel = append(b.Rel, out.rel+strings.TrimPrefix(f.Path, out.place))
	}
	b.Files = out.files
	a.Files += len(out.files)
	switch {
	case t.emit == nil:
		for _, f := range out.files {
			f.Close()
		}
	case len(b.Files) > 0 || b.LinkOf != "" || b.Ended:
		t.emit(b)
	}
}

// ownerIn asks sets in order: the nearest answer counts, and what lies in a
// package is nearer than what lies around it.
func ownerIn(sets ...*dist.Set) func(string) *dist.Dist {
	return func(rel string) *dist.Dist {
		for _, s := range sets {
			if s == nil {
				continue
			}
			if d := s.Owner(rel); d != nil {
				return d
			}
		}
		return nil
	}
}

// manifestsAhead reads the manifests that lie in a folder as files, before
// anything else of it: they come after the files they list as often as before
// them, and what a stream has handed out it cannot name later. What cannot be
// listed is told when its turn comes.
func (a *argWalk) manifestsAhead(ctx context.Context, dir string, seq *sequence) {
	s := newSlot()
	s.out = outcome{place: filepath.ToSlash(dir)}
	defer func() {
		close(s.ready)
		a.add(ctx, seq, s)
	}()
	type folder struct{ dir, rel string }
	todo := []folder{{dir, ""}}
	for len(todo) > 0 && ctx.Err() == nil {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		entries, _ := os.ReadDir(x.dir)
		for _, e := range entries {
			l := listing{rel: x.rel}
			rel, path := l.below(e.Name()), filepath.Join(x.dir, e.Name())
			switch {
			case ctx.Err() != nil:
				return
			case e.IsDir() && a.filter.enters(rel):
				todo = append(todo, folder{path, rel})
			case e.Type().IsRegular() && dist.IsManifest(rel):
				a.manifestAhead(path, rel, &s.out)
			}
		}
	}
}

func (a *argWalk) manifestAhead(path, rel string, out *outcome) {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
		return
	}
	one := outcome{place: filepath.ToSlash(path), rel: rel}
	a.manifestFile(path, st, &one)
	for _, f := range one.findings {
		out.find(f.Severity, f.Path, f.Message)
	}
}
