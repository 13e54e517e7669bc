package collect

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
)

// twins finds files that equal one that was handed out: hard links by what the
// file system says, copies by comparing the bytes of files of equal size and
// equal contents as far as they were read.
type twins struct {
	off     bool
	bySize  map[int64][]outcome
	byPlace map[string]outcome
}

func newTwins(off bool) twins {
	return twins{off: off, bySize: map[int64][]outcome{}, byPlace: map[string]outcome{}}
}

// same tells whether out equals something that was handed out, which then
// carries its name as well.
func (t *twins) same(ctx context.Context, out outcome) bool {
	t.byPlace[out.place] = out
	if t.off {
		return false
	}
	for _, old := range t.bySize[out.size] {
		if alike(old, out) && (linked(old, out) || equal(ctx, old, out)) {
			name(old, out.place)
			t.byPlace[out.place] = old
			return true
		}
	}
	t.bySize[out.size] = append(t.bySize[out.size], out)
	return false
}

// link notes a hard link inside of a package.
func (t *twins) link(out outcome) bool {
	old, ok := t.byPlace[out.copyOf]
	if ok {
		name(old, out.place)
	}
	return ok
}

// name gives the files at a place a further name.
func name(old outcome, place string) {
	for _, f := range old.files {
		f.AddCopy(place + strings.TrimPrefix(f.Path, old.place))
	}
}

func linked(a, b outcome) bool { return a.st != nil && b.st != nil && os.SameFile(a.st, b.st) }

// alike tells from what is known already whether two places may be equal.
func alike(a, b outcome) bool {
	if len(a.files) != len(b.files) || a.data == nil || b.data == nil {
		return false
	}
	for i, f := range a.files {
		g := b.files[i]
		if f.Size != g.Size || len(f.Containers) != len(g.Containers) || f.MemberSuffix() != g.MemberSuffix() {
			return false
		}
		for j, c := range f.Containers {
			if d := g.Containers[j]; c.Offset != d.Offset || c.Size != d.Size || len(c.Images) != len(d.Images) {
				return false
			}
		}
	}
	return true
}

// equal compares the bytes of two places. What cannot be read is not equal.
func equal(ctx context.Context, a, b outcome) bool {
	const step = 1 << 20
	x, y := make([]byte, step), make([]byte, step)
	for off := int64(0); off < a.size; off += step {
		n := min(step, a.size-off)
		if ctx.Err() != nil || !full(a.data, x[:n], off) || !full(b.data, y[:n], off) || !bytes.Equal(x[:n], y[:n]) {
			return false
		}
	}
	return true
}

func full(r io.ReaderAt, b []byte, off int64) bool {
	n, err := r.ReadAt(b, off)
	return n == len(b) && (err == nil || err == io.EOF)
}
