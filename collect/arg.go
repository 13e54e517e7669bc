package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fatview/dist"
	"fatview/index"
	"fatview/pack"
)

// stdinPath is the argument that stands for standard input.
const stdinPath = "-"

// argWalk is what is known of an argument while it is looked at.
type argWalk struct {
	*walker
	arg   *Arg
	inner string // what was asked for inside of a package or library, "" all
}

// split separates "dir/x.whl!lib/y.so" into the file on disk and what was asked
// for in it. A file whose name has a "!" goes before.
func split(path string) (base, inner string) {
	if _, err := os.Lstat(path); err == nil {
		return path, ""
	}
	for i := 0; i < len(path); i++ {
		if path[i] != '!' || i == 0 || i == len(path)-1 {
			continue
		}
		if st, err := os.Stat(path[:i]); err == nil && st.Mode().IsRegular() {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

// wants tells whether something inside of the argument was asked for, or holds
// or lies in what was.
func (a *argWalk) wants(member string) bool {
	return a.inner == "" || within(member, a.inner) || within(a.inner, member)
}

// within tells whether a member lies in another, or is it.
func within(member, outer string) bool {
	rest, ok := strings.CutPrefix(member, outer)
	return ok && (rest == "" || rest[0] == '!' || rest[0] == '/' || strings.HasSuffix(outer, "/"))
}

// run looks at the argument and fills seq.
func (a *argWalk) run(ctx context.Context, seq *sequence) {
	path := a.arg.Path
	if path == stdinPath {
		a.stdin(ctx, seq)
		return
	}
	if a.opt.Named != nil {
		if files, err := a.opt.Named(ctx, path); err != nil || files != nil {
			a.arg.Kind = "file"
			s := newSlot()
			s.out = outcome{place: path, files: files, err: err}
			if err == nil {
				a.look(ctx, &s.out, !a.opt.Eager)
			}
			a.add(ctx, seq, s)
			close(s.ready)
			return
		}
	}
	base := path
	base, a.inner = split(path)
	st, err := os.Stat(base)
	switch {
	case err != nil:
		a.fail(ctx, seq, index.PathError(path, err))
	case st.IsDir():
		a.arg.Kind = "folder"
		a.arg.Dists = &dist.Set{}
		if a.opt.Stream {
			a.manifestsAhead(ctx, base, seq)
		}
		a.folder(ctx, base, "", seq)
	case !st.Mode().IsRegular():
		a.fail(ctx, seq, fmt.Errorf("%s: is not a regular file", path))
	default:
		s := newSlot()
		s.sub = newSequence()
		a.add(ctx, seq, s)
		a.arg.Kind = "file"
		if !a.pool.run(ctx, func() { a.file(ctx, base, "", st, true, s) }) {
			a.cancelled(ctx, s)
		}
	}
}

// fail ends an argument of which nothing can be told.
func (a *argWalk) fail(ctx context.Context, seq *sequence, err error) {
	s := newSlot()
	s.out = outcome{place: a.arg.Path, err: err}
	a.add(ctx, seq, s)
	close(s.ready)
}

// cancelled ends a slot that nobody will work on.
func (a *argWalk) cancelled(ctx context.Context, s *slot) {
	if s.sub != nil {
		s.sub.end()
	}
	s.out.err = ctx.Err()
	close(s.ready)
}

// stdin reads standard input to its end, to memory or a temporary file.
func (a *argWalk) stdin(ctx context.Context, seq *sequence) {
	s := newSlot()
	s.sub = newSequence()
	a.add(ctx, seq, s)
	a.arg.Kind = "file"
	if a.opt.Stdin == nil || a.stdinRead {
		s.sub.end()
		s.out = outcome{place: stdinPath, err: errors.New("-: standard input is not there, or was read already")}
		close(s.ready)
		return
	}
	a.stdinRead = true
	blob, err := a.spool(ctx)
	if err != nil {
		s.sub.end()
		s.out = outcome{place: stdinPath, err: fmt.Errorf("standard input: %w", err)}
		close(s.ready)
		return
	}
	a.opened(ctx, stdinPath, "", blob, blob.Size(), blob, nil, true, s)
}

// spool reads standard input, and leaves it when ctx ends: the read that waits
// for more goes on by itself.
func (a *argWalk) spool(ctx context.Context) (*pack.Blob, error) {
	type result struct {
		blob *pack.Blob
		err  error
	}
	done := make(chan result, 1)
	go func() {
		blob, err := pack.Spool(ctx, a.opt.Stdin, a.opt.Limits)
		done <- result{blob, err}
	}()
	select {
	case r := <-done:
		return r.blob, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.blob != nil {
				r.blob.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// file looks at a file on disk; s is filled and closed.
func (a *argWalk) file(ctx context.Context, path, rel string, st fs.FileInfo, named bool, s *slot) {
	h := &handle{pool: a.files, path: path, st: st}
	a.opened(ctx, filepath.ToSlash(path), rel, h, st.Size(), h, st, named, s)
}

// relTo joins a path below the argument with a member of what lies there.
func relTo(rel, member string) string {
	if rel == "" {
		return member
	}
	return rel + "!" + member
}
