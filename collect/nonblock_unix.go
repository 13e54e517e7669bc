//go:build unix

package collect

import "syscall"

// nonBlocking keeps opening a pipe that took a file's place from waiting for
// its writer.
const nonBlocking = syscall.O_NONBLOCK
