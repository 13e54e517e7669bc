package extract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fatview/internal/atomicfile"
)

// Schema names the JSON form of the manifest. Fields are only ever added.
const Schema = "fatview/extract/1"

// A Manifest is what was written, and what was not.
type Manifest struct {
	Schema  string    `json:"schema"`
	Out     string    `json:"out"`
	Files   []Written `json:"files"`
	Skipped []Skipped `json:"skipped"`
	Count   int       `json:"count"`
	Bytes   int64     `json:"bytes"`
}

// Written is one file that was written.
type Written struct {
	File       string  `json:"file"` // name below out; "" for standard output
	Path       string  `json:"path"` // that it was taken from
	Container  int     `json:"container"`
	Image      *int    `json:"image"` // null: the whole container
	Kind       string  `json:"kind"`  // fatbin: a container; code: of one kernel
	Arch       string  `json:"arch"`
	Kernel     *string `json:"kernel"`       // mangled name, where it is code of one
	Offset     int64   `json:"offset"`       // of the stored bytes in the file
	Stored     int64   `json:"stored_bytes"` // in the file, compressed as they may be
	InCubin    *int64  `json:"cubin_offset"` // of a kernel's code in the cubin
	Bytes      int64   `json:"bytes"`        // written
	SHA256     string  `json:"sha256"`       // of what was written
	Kernels    *int    `json:"kernels"`      // in it, null where nobody can tell
	Restored   *string `json:"version_restored"`
	Obfuscated bool    `json:"obfuscated"`
	Verified   bool    `json:"verified"`

	names []string // of its kernels
}

// Skipped is an item that could not be read.
type Skipped struct {
	Path      string `json:"path"`
	Container int    `json:"container"`
	Image     *int   `json:"image"`
	Reason    string `json:"reason"`
}

// NewManifest returns a manifest of nothing.
func NewManifest(out string) *Manifest {
	return &Manifest{Schema: Schema, Out: out, Files: []Written{}, Skipped: []Skipped{}}
}

// A Writer puts items into a folder.
type Writer struct {
	Root      *os.Root
	Overwrite bool
	Verify    bool
	Manifest  *Manifest
	// Tell is called with what a user should know of an item. It may be nil.
	Tell func(string)
}

// ErrExists means that a file is there and was not to be overwritten.
var ErrExists = atomicfile.ErrExists

// Check returns ErrExists, with a name, if any of the items' files is there, so
// that nothing is written where something would be left out.
func (w *Writer) Check(items []Item) error {
	if w.Overwrite {
		return nil
	}
	for _, it := range items {
		if _, err := w.Root.Lstat(it.Name); err == nil {
			return fmt.Errorf("%s: %w", it.Name, ErrExists)
		}
	}
	return nil
}

// Write writes items, each whole or not at all. One that cannot be read is
// skipped and told; an error is one of writing, or that of ctx, and ends it.
func (w *Writer) Write(ctx context.Context, items []Item) error {
	var src source
	defer src.close()
	for i := range items {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.one(ctx, &items[i], &src); err != nil {
			return fmt.Errorf("%s: %w", items[i].Name, err)
		}
	}
	return nil
}

// unreadable is an error of the source, which leaves the others to be written.
type unreadable struct{ err error }

func (u unreadable) Error() string { return u.err.Error() }

func (w *Writer) one(ctx context.Context, it *Item, src *source) error {
	rec, send, err := it.prepare(src)
	if err == nil {
		sum := newSum()
		err = atomicfile.WriteIn(w.Root, it.Name, w.Overwrite, func(to io.Writer) error {
			return send(io.MultiWriter(until{ctx, to}, sum))
		})
		rec.File, rec.Bytes, rec.SHA256 = it.Name, sum.n, sum.hex()
	}
	var bad unreadable
	if errors.As(err, &bad) {
		w.skip(it, bad.err)
		return nil
	}
	if err != nil {
		return err
	}
	if w.Verify {
		if err := w.verify(it, rec); err != nil {
			return fmt.Errorf("was written and is not what was read: %w", err)
		}
		rec.Verified = true
	}
	w.Manifest.add(rec)
	w.tell(it, rec)
	return nil
}

// Send writes one item to a stream, such as standard output.
func (w *Writer) Send(it *Item, to io.Writer) error {
	var src source
	defer src.close()
	rec, send, err := it.prepare(&src)
	if err == nil {
		sum := newSum()
		err = send(io.MultiWriter(to, sum))
		rec.Bytes, rec.SHA256 = sum.n, sum.hex()
	}
	var bad unreadable
	if errors.As(err, &bad) {
		w.skip(it, bad.err)
		return nil
	}
	if err != nil {
		return err
	}
	w.Manifest.add(rec)
	w.tell(it, rec)
	return nil
}

// prepare reads an item, and returns what is known of it and what sends it.
func (it *Item) prepare(src *source) (*Written, func(io.Writer) error, error) {
	rec := &Written{Path: it.File.Path, Container: it.Container.ID, Kind: it.Kind, Arch: it.Arch}
	if it.Image < 0 {
		rec.Offset, rec.Stored = it.Container.Offset, it.Container.Size
		return rec, func(w io.Writer) error { return split(it.copy, w) }, nil
	}
	c, err := src.read(it)
	if err != nil {
		return nil, nil, unreadable{err}
	}
	image := it.Image
	rec.Image, rec.Offset, rec.Stored, rec.Obfuscated = &image, c.Offset, c.Stored, c.Obfuscated
	if it.Kernel >= 0 {
		symbol, at := it.Symbol, c.InCubin
		rec.Kernel, rec.InCubin = &symbol, &at
	}
	if c.Kernels != nil {
		n := len(c.Kernels)
		rec.Kernels = &n
		rec.names = c.Kernels
	}
	if c.Restored != "" {
		rec.Restored = &c.Restored
	}
	return rec, func(w io.Writer) error { _, err := w.Write(c.Bytes); return err }, nil
}

// split tells errors of writing from those of the source.
func split(send func(io.Writer) error, to io.Writer) error {
	m := &mark{w: to}
	err := send(m)
	if err != nil && m.err == nil {
		return unreadable{err}
	}
	return err
}

// mark remembers whether writing failed.
type mark struct {
	w   io.Writer
	err error
}

func (m *mark) Write(b []byte) (int, error) {
	n, err := m.w.Write(b)
	if err != nil {
		m.err = err
	}
	return n, err
}

// until ends writing with its context, in pieces of a megabyte.
type until struct {
	ctx context.Context
	w   io.Writer
}

func (u until) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		if err := u.ctx.Err(); err != nil {
			return n, err
		}
		m, err := u.w.Write(b[:min(len(b), 1<<20)])
		n += m
		if err != nil {
			return n, err
		}
		b = b[m:]
	}
	return n, nil
}

// sum counts and hashes what is written to it.
type sum struct {
	h hash.Hash
	n int64
}

func newSum() *sum { return &sum{h: sha256.New()} }

func (s *sum) Write(b []byte) (int, error) {
	s.n += int64(len(b))
	return s.h.Write(b)
}

func (s *sum) hex() string { return hex.EncodeToString(s.h.Sum(nil)) }

// verify reads a file again and compares hash, size and contents with what was
// read from the source.
func (w *Writer) verify(it *Item, rec *Written) error {
	f, err := w.Root.Open(it.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := newSum()
	var all bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(sum, &all), f); err != nil {
		return err
	}
	switch {
	case sum.n != rec.Bytes:
		return fmt.Errorf("it has %d bytes, not %d", sum.n, rec.Bytes)
	case sum.hex() != rec.SHA256:
		return errors.New("its SHA-256 differs")
	case it.Image < 0:
		return sameContainer(all.Bytes(), it.Container)
	case it.Kernel < 0 && rec.names != nil:
		return sameKernels(all.Bytes(), rec.names)
	}
	return nil
}

func (w *Writer) skip(it *Item, err error) {
	s := Skipped{Path: it.File.Path, Container: it.Container.ID, Reason: err.Error()}
	if it.Image >= 0 {
		image := it.Image
		s.Image = &image
	}
	w.Manifest.Skipped = append(w.Manifest.Skipped, s)
	for _, x := range it.File.Findings() {
		if strings.Contains(x.Message, s.Reason) {
			return // told with the file's findings
		}
	}
	w.say(fmt.Sprintf("%s: %s: %v", it.File.Path, it.place(), err))
}

// place names an item as the command line does.
func (it *Item) place() string {
	if it.Image < 0 {
		return fmt.Sprintf("container %d", it.Container.ID)
	}
	return fmt.Sprintf("image %d.%d", it.Container.ID, it.Image)
}

// tell says what a user would not expect of an item.
func (w *Writer) tell(it *Item, rec *Written) {
	if rec.Restored != nil {
		w.say(fmt.Sprintf("%s: .version %s was restored from the entry header", it.place(), *rec.Restored))
	}
	if rec.Obfuscated {
		w.say(it.place() + ": is obfuscated; written as it is stored, for NVIDIA's tools alone")
	}
}

func (w *Writer) say(s string) {
	if w.Tell != nil {
		w.Tell(s)
	}
}

func (m *Manifest) add(rec *Written) {
	m.Files = append(m.Files, *rec)
	m.Count++
	m.Bytes += rec.Bytes
}

// OpenFolder makes the folder where it is not there yet, and opens it. undo
// removes it again, if it was made and is empty.
func OpenFolder(path string) (root *os.Root, undo func(), err error) {
	undo = func() {}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return nil, undo, err
		}
		undo = func() { os.Remove(filepath.Clean(path)) } // fails if there is something in it
	}
	root, err = os.OpenRoot(path)
	return root, undo, err
}
