// Package atomicfile writes files that appear whole or not at all: under a
// temporary name in the same folder, which is then moved. An existing file is
// left alone unless its overwriting is asked for.
//
// Files are written through a Folder, so that the same code serves a path
// anywhere and a name below an os.Root, out of which no link leads.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// ErrExists means that the file is there and was not to be overwritten.
var ErrExists = errors.New("file exists")

// A Folder is where files are written: an *os.Root, or what Write uses.
type Folder interface {
	OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error)
	Lstat(name string) (fs.FileInfo, error)
	Link(from, to string) error
	Rename(from, to string) error
	Remove(name string) error
}

// Write writes to a path. What a link at the path points to is written, not
// the link. Errors name the path.
func Write(path string, overwrite bool, write func(io.Writer) error) error {
	to := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		to = target
	}
	err := WriteIn(disk{}, to, overwrite, write)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// WriteIn writes to a name in a folder. A link of that name is never followed:
// it exists, or it is replaced. Errors do not name the file.
func WriteIn(in Folder, name string, overwrite bool, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0o666) // less the umask
	if st, serr := in.Lstat(name); serr == nil {
		if !overwrite {
			return ErrExists
		}
		switch {
		case st.Mode().IsRegular():
			mode = st.Mode().Perm()
		case st.Mode()&fs.ModeSymlink == 0:
			return errors.New("is not a regular file")
		}
	}
	tmp, tmpName, err := createBeside(in, name, mode)
	if err != nil {
		return reason(err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			in.Remove(tmpName)
		}
	}()
	b := bufio.NewWriterSize(tmp, 1<<16)
	if err := write(b); err != nil {
		return reason(err)
	}
	if err := b.Flush(); err != nil {
		return reason(err)
	}
	if err := tmp.Close(); err != nil {
		return reason(err)
	}
	if overwrite {
		return reason(in.Rename(tmpName, name))
	}
	return reason(moveNew(in, tmpName, name))
}

// createBeside makes a new file in the folder of name.
func createBeside(in Folder, name string, mode fs.FileMode) (*os.File, string, error) {
	for try := 0; ; try++ {
		tmp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".fatview-%08x", rand.Uint32()))
		f, err := in.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil || !errors.Is(err, fs.ErrExist) || try > 100 {
			return f, tmp, err
		}
	}
}

// moveNew moves without replacing a file that appeared meanwhile, where the
// file system has hard links.
func moveNew(in Folder, from, to string) error {
	err := in.Link(from, to)
	switch {
	case err == nil:
		return in.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	}
	if _, err := in.Lstat(to); err == nil {
		return ErrExists
	}
	return in.Rename(from, to)
}

// reason takes the temporary name out of an error: nobody knows it.
func reason(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// disk is the Folder of paths that are taken as they are.
type disk struct{}

func (disk) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
func (disk) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (disk) Link(from, to string) error             { return os.Link(from, to) }
func (disk) Rename(from, to string) error           { return os.Rename(from, to) }
func (disk) Remove(name string) error               { return os.Remove(name) }
