package report

import (
	"io"

	"fatview/internal/atomicfile"
)

// ErrExists means that the file is there and was not to be overwritten.
var ErrExists = atomicfile.ErrExists

// Save writes r to a file, which appears whole or not at all. Without overwrite
// an existing file is left alone and the error is ErrExists.
func Save(path, format string, r *Report, overwrite bool) error {
	return atomicfile.Write(path, overwrite, func(w io.Writer) error { return Write(w, format, r) })
}

// SaveFunc is Save for any writer.
func SaveFunc(path string, overwrite bool, write func(io.Writer) error) error {
	return atomicfile.Write(path, overwrite, write)
}
