package index

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"fatview/elfscan"
	"fatview/foreign"
)

// LookForeign looks for device code of other vendors. It may read the whole
// file, so it comes after the first answer.
func (f *File) LookForeign(ctx context.Context) error {
	if f.object.Format == "" {
		return nil
	}
	codes, err := foreign.Scan(ctx, f.r, &f.object)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.foreign = codes
	return err
}

// Foreign returns the device code of other vendors that LookForeign found.
func (f *File) Foreign() []foreign.Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.foreign)
}

// readForeign opens a file that is another vendor's code as a whole, or
// returns nil.
func readForeign(path string, r io.ReaderAt, size int64, closer io.Closer) *File {
	code, ok := foreign.ScanLoose(r, size)
	if !ok {
		return nil
	}
	f := &File{
		Path: path, Format: "foreign", Size: size, r: r, closer: &sharedCloser{c: closer},
		foreign: []foreign.Code{code}, searched: true,
	}
	f.closer.users.Store(1)
	return f
}

// AddCopy notes the path of another file of the same content.
func (f *File) AddCopy(path string) {
	const most = 10_000
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n := len(f.copies); {
	case n < most:
		f.copies = append(f.copies, path)
	case n == most:
		f.copies = append(f.copies, fmt.Sprintf("further copies (more than %d)", most))
	}
}

// Copies returns the paths of files of the same content, in the order in which
// they were met.
func (f *File) Copies() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.copies)
}

// MemberSuffix is the part of the path that names a member of a static library,
// "!dilate.o"; "" for a file of its own.
func (f *File) MemberSuffix() string {
	if f.object.Member == "" {
		return ""
	}
	return strings.TrimPrefix(f.Path, f.outer)
}

// StandForLibrary makes a member that holds no device code stand for its static
// library, none of whose members does.
func (f *File) StandForLibrary() {
	if f.object.Member != "" {
		f.Path, f.Format, f.Machine, f.object.Member = f.outer, string(elfscan.FormatAR), "", ""
	}
}
