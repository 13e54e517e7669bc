package fatbin

import (
	"errors"
	"fmt"
	"strconv"
)

// A FormatError says where the bytes stopped making sense.
type FormatError struct {
	Off int64  // offset in the file, or in the payload where Msg says so
	Msg string // what is wrong, lower case
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s at offset %s", e.Msg, hex(uint64(e.Off)))
}

// Errors that a caller can act on.
var (
	// ErrOldContainer means a container of CUDA 5 or older, which is not
	// readable.
	ErrOldContainer = errors.New("container of CUDA 5 or older, which fatview cannot read")
	// ErrCompression means the payload is compressed in a way nobody has met.
	ErrCompression = errors.New("unknown compression")
	// ErrObfuscated means the payload is scrambled, as LTO IR is. The entry
	// carries the key; the algorithm is NVIDIA's.
	ErrObfuscated = errors.New("obfuscated payload")
	// ErrTooLarge means the declared size is beyond what fatview decompresses,
	// or cannot come from so few bytes.
	ErrTooLarge = errors.New("declared size is implausible")
)

func formatErr(off int64, msg string, args ...any) error {
	return &FormatError{Off: off, Msg: fmt.Sprintf(msg, args...)}
}

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
