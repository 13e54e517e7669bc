package collect

import (
	"context"
	"crypto/sha256"
	"io"
	"strings"
)

// twins finds files that equal one that was handed out, by a digest that the
// workers made, and hard links inside of packages by what the package says.
type twins struct {
	off      bool
	byDigest map[digest]outcome
	byPlace  map[string]outcome
}

type digest [sha256.Size]byte

func newTwins(off bool) twins {
	return twins{off: off, byDigest: map[digest]outcome{}, byPlace: map[string]outcome{}}
}

// same tells whether out equals something that was handed out, which then
// carries its name as well.
func (t *twins) same(out outcome) (old outcome, ok bool) {
	if t.off || out.digest == (digest{}) {
		t.byPlace[out.place] = out.light()
		return out, false
	}
	if old, ok = t.byDigest[out.digest]; ok {
		name(old, out.place)
		t.byPlace[out.place] = old
		return old, true
	}
	t.byPlace[out.place] = out.light()
	t.byDigest[out.digest] = out.light()
	return out, false
}

// link notes a hard link inside of a package.
func (t *twins) link(out outcome) (old outcome, ok bool) {
	if old, ok = t.byPlace[out.copyOf]; ok {
		name(old, out.place)
	}
	return old, ok
}

// name gives the files at a place a further name.
func name(old outcome, place string) {
	for _, f := range old.files {
		f.AddCopy(place + strings.TrimPrefix(f.Path, old.place))
	}
}

// light keeps what twins ask for.
func (o outcome) light() outcome { return outcome{place: o.place, rel: o.rel, files: o.files} }

// digestOf reads a file's content, which has just been searched and is in
// memory mostly. It is zero if the content cannot be read or ctx ends: such a
// file equals no other.
func digestOf(ctx context.Context, r io.ReaderAt, size int64) (d digest) {
	h := sha256.New()
	b := make([]byte, min(size, 1<<20))
	for off := int64(0); off < size; {
		n := min(int64(len(b)), size-off)
		k, err := r.ReadAt(b[:n], off)
		if ctx.Err() != nil || int64(k) < n || err != nil && err != io.EOF {
			return digest{}
		}
		h.Write(b[:n])
		off += n
	}
	h.Sum(d[:0])
	return d
}
