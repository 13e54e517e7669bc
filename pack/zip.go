package pack

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	zipEncrypted = 1 << 0 // general purpose flag
	zipEntrySig  = "PK\x01\x02"

	// spareEntries is by how many a directory may exceed Limits.Entries and
	// still be read, so that the members within the bound are handed out.
	spareEntries = 1 << 16
	// dirEntrySize is how many bytes of directory each entry may take.
	dirEntrySize = 256
)

// walkZip hands out the members of a zip in the order of its directory. Of a
// conda package the two tars inside are handed out instead.
func (w *walker) walkZip(pl place, src source) error {
	zr, count, err := w.openZip(src)
	if err != nil {
		return err
	}
	conda := isConda(zr.File)
	if conda {
		w.setFormat(pl, FormatConda)
	} else {
		w.setFormat(pl, FormatZip)
	}
	if err := w.zipPrefix(pl, src, zr.File); err != nil {
		return err
	}
	files := zr.File
	room := w.lim.Entries - w.entries
	over := len(files) > room
	if over {
		files = files[:room]
	}
	if err := w.entry(len(files)); err != nil {
		return err
	}
	for _, f := range files {
		if err := w.alive(); err != nil {
			return err
		}
		if err := w.zipMember(pl, src, f, count, conda); err != nil {
			return err
		}
	}
	if over {
		return w.entry(1)
	}
	return nil
}

// openZip reads the directory. The reader it counts is the one that members
// are unpacked from.
func (w *walker) openZip(src source) (*zip.Reader, *zipInput, error) {
	spare := int64(max(w.lim.Entries-w.entries, 0)) + spareEntries
	in := &zipInput{r: src.section(), entries: spare, left: spare*dirEntrySize + 1<<20}
	zr, err := zip.NewReader(in, src.have)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if in.err != nil {
			err = in.err
		}
		return nil, nil, fmt.Errorf("directory of the zip cannot be read, it may be cut off: %w", err)
	}
	in.entries, in.left = math.MaxInt64, math.MaxInt64
	zr.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(1<<62)))
	return zr, in, nil
}

// A zipInput counts what is read, and bounds it while the directory is: the
// zip package keeps all entries in memory.
type zipInput struct {
	r       io.ReaderAt
	n       int64 // bytes read
	entries int64
	left    int64
	err     error
}

func (z *zipInput) ReadAt(p []byte, off int64) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.r.ReadAt(p, off)
	z.n += int64(n)
	if z.left != math.MaxInt64 {
		z.left -= int64(n)
		z.entries -= int64(bytes.Count(p[:n], []byte(zipEntrySig)))
		if z.left < 0 || z.entries < 0 {
			z.err = errors.New("it has too many entries")
			return 0, z.err
		}
	}
	return n, err
}

// zipPrefix hands out what lies in front of a zip: the program that unpacks it.
func (w *walker) zipPrefix(pl place, src source, files []*zip.File) error {
	var magic [len(zipLocalMagic)]byte
	if _, err := fill(src.section(), magic[:]); err != nil || string(magic[:2]) == zipLocalMagic[:2] {
		return nil
	}
	first := src.have
	for _, f := range files {
		if off, err := f.DataOffset(); err == nil {
			first = min(first, off)
		}
	}
	if first == src.have || first <= 0 {
		return nil
	}
	if err := w.entry(1); err != nil {
		return err
	}
	// The local header of the first member, of unknown length, is in the
	// window too. It does no harm.
	return w.deliver(pl, singleName(pl.base), src.window(0, first))
}

func (w *walker) zipMember(pl place, src source, f *zip.File, count *zipInput, conda bool) error {
	// Writers of some systems set odd modes: what has content is a file.
	switch mode := f.Mode(); {
	case strings.HasSuffix(f.Name, "/"):
		if f.UncompressedSize64 != 0 {
			w.find(SeverityError, pl.prefix+w.clean(pl, f.Name), "left out: a folder with content")
		}
		return nil
	case mode&fs.ModeSymlink != 0:
		w.sum.Skipped.Links++
		return nil
	case !mode.IsRegular() && f.UncompressedSize64 == 0:
		if !mode.IsDir() {
			w.sum.Skipped.Devices++
		}
		return nil
	}
	name := w.clean(pl, f.Name)
	full := pl.prefix + name
	if f.Flags&zipEncrypted != 0 {
		w.find(SeverityError, full, "left out: it is encrypted")
		return nil
	}
	if f.UncompressedSize64 > math.MaxInt64-1 || f.CompressedSize64 > math.MaxInt64-1 {
		w.find(SeverityError, full, "its size is damaged")
		return nil
	}
	inner, done, err := w.zipSource(src, f, count)
	defer done()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			err = fmt.Errorf("compression method %d is not known", f.Method)
		}
		w.find(SeverityError, full, "left out: %v", err)
		return nil
	}
	if conda && isCondaTar(f.Name) {
		return w.transparent(pl, full, inner, func(name string) string { return name })
	}
	return w.deliver(pl, name, inner)
}

// zipSource is where the content of a member is. A stored one is a window.
func (w *walker) zipSource(src source, f *zip.File, count *zipInput) (s source, done func(), err error) {
	done = func() {}
	off, err := f.DataOffset()
	if err != nil {
		return s, done, fmt.Errorf("its header is damaged: %w", err)
	}
	if f.Method == zip.Store {
		if f.CompressedSize64 != f.UncompressedSize64 {
			return s, done, errors.New("it is stored and has two sizes")
		}
		if off > src.have {
			return s, done, errors.New("it lies outside the zip")
		}
		return src.window(off, int64(f.UncompressedSize64)), done, nil
	}
	rc, err := f.Open()
	if err != nil {
		return s, done, err
	}
	done = func() { rc.Close() }
	return source{r: &meter{w, rc}, packed: func() int64 { return count.n }, size: int64(f.UncompressedSize64)}, done, nil
}

// isConda tells a .conda package by what is in it: metadata.json and the tars
// of files and of information.
func isConda(files []*zip.File) bool {
	meta, tar := false, false
	for _, f := range files {
		meta = meta || f.Name == "metadata.json"
		tar = tar || isCondaTar(f.Name) && strings.HasPrefix(f.Name, "pkg-")
	}
	return meta && tar
}

func isCondaTar(name string) bool {
	ok, _ := path.Match("pkg-*.tar.zst", name)
	info, _ := path.Match("info-*.tar.zst", name)
	return ok || info
}
