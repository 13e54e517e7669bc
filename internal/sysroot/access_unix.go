//go:build linux || darwin

package sysroot

import "syscall"

// access asks the kernel, which knows of groups, access lists and read-only
// mounts. The numbers are R_OK and W_OK of POSIX.
func access(path string, write bool) error {
	mode := uint32(4)
	if write {
		mode = 6
	}
	return syscall.Access(path, mode)
}
