//go:build !linux && !darwin

package sysroot

import (
	"io/fs"
	"os"
)

// access knows the read-only attribute alone, which is all that can be told
// here without opening anything.
func access(path string, write bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if write && info.Mode()&0o200 == 0 {
		return fs.ErrPermission
	}
	return nil
}
