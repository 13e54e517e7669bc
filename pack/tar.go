package pack

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// walkTarOrImage hands out the members of a tar, or the files of the images in
// it. src is the tar itself, unpacked.
func (w *walker) walkTarOrImage(pl place, f Format, src source) error {
	head, err := src.peek()
	if err != nil && len(head) == 0 {
		return err
	}
	if imageLike(head) {
		if src.at == nil {
			// The manifest may be last, and layers are read from the last to
			// the first: an image must be readable at random.
			b, err := w.unpackTar(pl, src)
			if err != nil {
				return err
			}
			defer b.release()
			src = b.source()
		}
		images, kind, err := w.findImages(src)
		switch {
		case w.halted != nil:
			return w.halted
		case err != nil:
			w.find(SeverityWarning, pl.pkg, "looks like an image and is read as a tar: %v", err)
		case kind != "":
			w.setFormat(pl, kind)
			return w.walkImages(pl, images)
		}
	}
	w.setFormat(pl, f)
	return w.walkTar(pl.pkg, src, w.tarMember(pl, nil))
}

// unpackTar puts a compressed tar where it can be read at random. Damage ends
// it: what comes before can be used.
func (w *walker) unpackTar(pl place, src source) (*backing, error) {
	soft := &softEnd{r: src.r}
	src.r = soft
	b, err := w.unpack(pl.pkg, src)
	if err != nil {
		if w.halted != nil {
			return nil, w.halted
		}
		return nil, fmt.Errorf("the image in it cannot be read: %w", err)
	}
	if soft.err != nil {
		w.find(SeverityError, pl.pkg, "content is damaged after %d bytes: %v", b.size, soft.err)
	}
	return b, nil
}

// A softEnd ends where its reader fails.
type softEnd struct {
	r   io.Reader
	err error
}

func (s *softEnd) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err, err = err, io.EOF
	}
	return n, err
}

// transparent hands out the members of a tar inside a package as if they were
// the package's own. rename makes their names.
func (w *walker) transparent(pl place, full string, src source, rename func(string) string) error {
	err := w.transparentTar(full, src, w.tarMember(pl, rename))
	if w.halted != nil {
		return w.halted
	}
	if err != nil {
		w.find(SeverityError, full, "%v", err)
	}
	return nil
}

var errNoTar = errors.New("not a tar in a known compression")

// transparentTar walks a tar that may be compressed. path is for findings.
func (w *walker) transparentTar(path string, src source, fn tarFunc) error {
	head, err := src.peek()
	if err != nil && len(head) == 0 {
		return noEOF(err)
	}
	if f := compression(head); f != "" {
		stream, done, err := w.unpackStream(f, src)
		defer done()
		if err != nil {
			return fmt.Errorf("%s is damaged: %w", f, noEOF(err))
		}
		src = stream
		if head, err = src.peek(); err != nil && len(head) == 0 {
			return fmt.Errorf("%s is damaged: %w", f, noEOF(err))
		}
	}
	if !isTar(head) {
		if len(bytes.Trim(head, "\x00")) == 0 && len(head) >= tarBlock {
			return nil // nothing but the end
		}
		return errNoTar
	}
	return w.walkTar(path, src, fn)
}

// A tarFunc is called for each entry. An error of it ends the walk.
type tarFunc func(*tar.Header, source) error

// walkTar reads the headers of a tar. Where src can be read at random, members
// are windows of it and what is between headers is not read.
func (w *walker) walkTar(path string, src source, fn tarFunc) error {
	in := &tarInput{r: src.reader(), packed: src.packed}
	if s, ok := in.r.(io.Seeker); ok && src.at != nil {
		in.seeker = s
		in.packed = in.offset
	}
	var r io.Reader = in
	if in.seeker != nil {
		r = seekInput{in}
	}
	tr := tar.NewReader(r)
	for n := 0; ; n++ {
		hdr, err := tr.Next()
		if w.halted != nil {
			return w.halted
		}
		if err == io.EOF {
			if in.ended && in.zeros < tarBlock {
				w.find(SeverityWarning, path, "tar ends without its closing blocks after %d entries, it may be cut off", n)
			}
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			if err == io.ErrUnexpectedEOF {
				err = errCut
			}
			return fmt.Errorf("tar is damaged after %d entries, at offset %#x: %w", n, in.n, err)
		}
		if err := w.entry(1); err != nil {
			return err
		}
		if err := fn(hdr, w.tarSource(src, hdr, tr, in)); err != nil {
			return err
		}
	}
}

// tarSource is where the content of an entry is.
func (w *walker) tarSource(src source, hdr *tar.Header, tr *tar.Reader, in *tarInput) source {
	if in.seeker == nil {
		s := source{r: tr, packed: in.packed, size: hdr.Size}
		if isSparse(hdr) {
			s.r = &meter{w, tr} // holes come out of no decompressor
		}
		return s
	}
	if isSparse(hdr) {
		return source{r: &meter{w, tr}, packed: in.packed, size: hdr.Size}
	}
	return src.window(in.n, hdr.Size)
}

func isSparse(hdr *tar.Header) bool {
	if hdr.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range hdr.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// tarMember is the tarFunc that delivers members. rename, if there is one,
// makes names from cleaned ones.
func (w *walker) tarMember(pl place, rename func(string) string) tarFunc {
	name := func(raw string) string {
		s := w.clean(pl, raw)
		if rename != nil {
			s = rename(s)
		}
		return s
	}
	return func(hdr *tar.Header, src source) error {
		switch hdr.Typeflag {
		case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
			return w.deliver(pl, name(hdr.Name), src)
		case tar.TypeLink:
			target, _ := cleanName(hdr.Linkname)
			if rename != nil {
				target = rename(target)
			}
			return w.deliverLink(pl, name(hdr.Name), target)
		case tar.TypeSymlink:
			w.sum.Skipped.Links++
		case tar.TypeDir, tar.TypeXGlobalHeader:
		default:
			w.sum.Skipped.Devices++
		}
		return nil
	}
}

// deliverLink hands out a hard link.
func (w *walker) deliverLink(pl place, name, target string) error {
	w.delivered++
	return w.visit(&Member{
		Path: w.names.take(pl.prefix + name), Package: pl.pkg, Layer: pl.layer,
		LinkOf: w.names.latest(pl.prefix + target),
	})
}

// A tarInput knows where it is, and how many zero bytes it gave last: two
// blocks of them close a tar.
type tarInput struct {
	r      io.Reader
	seeker io.Seeker
	packed func() int64
	n      int64 // offset
	ended  bool
	zeros  int
}

func (t *tarInput) offset() int64 { return t.n }

func (t *tarInput) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	tail := n - len(bytes.TrimRight(p[:n], "\x00"))
	if tail < n {
		t.zeros = 0
	}
	t.zeros = min(t.zeros+tail, tarBlock)
	t.ended = t.ended || err == io.EOF
	return n, err
}

// A seekInput lets the tar package skip content.
type seekInput struct{ *tarInput }

func (t seekInput) Seek(off int64, whence int) (int64, error) {
	n, err := t.seeker.Seek(off, whence)
	if err == nil && n != t.n {
		t.n, t.zeros = n, 0
	}
	return n, err
}
