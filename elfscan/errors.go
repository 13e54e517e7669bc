package elfscan

import (
	"errors"
	"fmt"
	"strconv"
)

// Errors that a caller can act on.
var (
	// ErrUnknown means the content is of no format that fatview reads.
	ErrUnknown = errors.New("not a library, an object or device code")
	// ErrEmpty means the file has no bytes.
	ErrEmpty = errors.New("file is empty")
)

// A FormatError says where a file stopped making sense. It is returned only
// when nothing of the file can be told; other damage is a Finding.
type FormatError struct {
	Off int64  // in the file
	Msg string // what is wrong, lower case
	Val any    // the value to blame, or nil
}

func (e *FormatError) Error() string {
	s := e.Msg
	if e.Val != nil {
		s += fmt.Sprintf(" (%v)", e.Val)
	}
	return s + " at offset " + hex(e.Off)
}

func hex(v int64) string { return "0x" + strconv.FormatInt(v, 16) }

func hexU(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
