package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fatview/elfscan"
	"fatview/index"
)

// thin opens the members of a thin archive, which are files beside it. Names
// are those of the archive's maker, so only regular files are opened, below the
// folder that is the argument if one is, and only objects among them are shown;
// the sizes must agree.
func (a *argWalk) thin(ctx context.Context, out *outcome, members []elfscan.ThinMember) (files []*index.File) {
	if out.st == nil {
		out.find(index.Error, out.place, fmt.Sprintf("a thin archive inside of a package: its %d members are other files and are not read", len(members)))
		return nil
	}
	seen := map[string]int{}
	for _, m := range members {
		if ctx.Err() != nil {
			return files
		}
		fs, err := a.thinMember(ctx, out.place, m, seen)
		if err != nil {
			out.find(index.Error, out.place+"!"+m.Name, err.Error())
		}
		files = append(files, fs...)
	}
	return files
}

// inside tells whether a path may be read: below the folder that is the
// argument, links resolved; anywhere if the argument is the archive itself.
func (a *argWalk) inside(path string) bool {
	if a.arg.Kind != "folder" {
		return true
	}
	root, err := filepath.EvalSymlinks(a.arg.Path)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = filepath.Clean(path) // it is missing, and that is told
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return false
	}
	if real, err = filepath.Abs(real); err != nil {
		return false
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(rel)
}

func (a *argWalk) thinMember(ctx context.Context, place string, m elfscan.ThinMember, seen map[string]int) ([]*index.File, error) {
	if m.Name == "" || strings.ContainsRune(m.Name, 0) {
		return nil, errors.New("the thin archive gives no name for this member")
	}
	path := filepath.FromSlash(m.Name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(filepath.FromSlash(place)), path)
	}
	if !a.inside(path) {
		return nil, fmt.Errorf("member of a thin archive: %s lies outside of the folder that is looked at", path)
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("member of a thin archive is missing: no file %s", path)
	case err != nil:
		return nil, fmt.Errorf("member of a thin archive: %w", err)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("member of a thin archive: %s is not a regular file", path)
	}
	h := &handle{pool: a.files, path: path, st: st}
	var r io.ReaderAt = h
	size := st.Size()
	if m.Offset > 0 {
		// The header of a member there, of the size that ar(5) gives.
		const header = 60
		if m.Offset > size-header || m.Size > size-header-m.Offset {
			return nil, fmt.Errorf("member of a thin archive lies at %#x, which is not in %s", m.Offset, path)
		}
		r, size = io.NewSectionReader(h, m.Offset+header, m.Size), m.Size
	} else if m.Size != size {
		return nil, fmt.Errorf("member of a thin archive changed: %s has %d bytes, not %d", path, size, m.Size)
	}
	name := place + "!" + m.Name
	if seen[name]++; seen[name] > 1 {
		name = fmt.Sprintf("%s#%d", name, seen[name])
	}
	files, err := index.Read(ctx, name, r, size, h)
	if err != nil {
		h.Close()
		if errors.Is(err, index.ErrUnknown) || errors.Is(err, index.ErrEmpty) {
			return nil, nil // a text or bitcode, as in any archive
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), name+": "))
	}
	return files, nil
}
