package report

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

// Save writes r to a file. The file appears whole or not at all: it is
// written under a temporary name in the same folder and then moved. Without
// overwrite an existing file is left alone and the error is ErrExists.
func Save(path, format string, r *Report, overwrite bool) error {
	return SaveFunc(path, overwrite, func(w io.Writer) error { return Write(w, format, r) })
}

// SaveFunc is Save for any writer.
func SaveFunc(path string, overwrite bool, write func(io.Writer) error) (err error) {
	if to, lerr := filepath.EvalSymlinks(path); lerr == nil {
		path = to // write what a link points to, not over the link
	}
	mode := fs.FileMode(0o666) // less the umask
	if st, serr := os.Stat(path); serr == nil {
		if !st.Mode().IsRegular() {
			return fmt.Errorf("%s: is not a regular file", path)
		}
		if !overwrite {
			return fmt.Errorf("%s: %w", path, ErrExists)
		}
		mode = st.Mode().Perm()
	}
	tmp, err := createBeside(path, mode)
	if err != nil {
		return saveError(path, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	b := bufio.NewWriter(tmp)
	if err := write(b); err != nil {
		return saveError(path, err)
	}
	if err := b.Flush(); err != nil {
		return saveError(path, err)
	}
	if err := tmp.Close(); err != nil {
		return saveError(path, err)
	}
	if overwrite {
		err = os.Rename(tmp.Name(), path)
	} else {
		err = moveNew(tmp.Name(), path)
	}
	return saveError(path, err)
}

// createBeside makes a new file in the folder of path.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".fatview-%08x", rand.Uint32()))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil || !errors.Is(err, fs.ErrExist) || try > 100 {
			return f, err
		}
	}
}

// moveNew moves without replacing a file that appeared meanwhile, where the
// file system has hard links.
func moveNew(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	}
	return os.Rename(from, to)
}

func saveError(path string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
