package elfscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

var le = binary.LittleEndian

// Scan tells what r is and where in it device code may be. It reads headers
// and tables only.
//
// The error is ErrEmpty, ErrUnknown (possibly wrapped), a *FormatError, or one
// of the reader's. Damage that leaves something to look at is a Finding.
func Scan(r io.ReaderAt, size int64) (*File, error) {
	if size <= 0 {
		return nil, ErrEmpty
	}
	var fail error
	v := view{r, 0, size, &fail}
	f, err := scan(v)
	if fail != nil {
		return nil, fmt.Errorf("reading headers: %w", fail)
	}
	return f, err
}

func scan(v view) (*File, error) {
	head := v.bytes(0, sniffSize)
	switch {
	case bytes.HasPrefix(head, []byte(arMagic)):
		return scanAR(v, false)
	case bytes.HasPrefix(head, []byte(arThinMagic)):
		return scanAR(v, true)
	}
	o, err := scanObject(v, head)
	if err != nil {
		return nil, err
	}
	return &File{Format: o.Format, Objects: []Object{*o}}, nil
}

// sniffSize is enough to tell every format but PTX with a long comment first.
const sniffSize = 512

// scanObject reads anything but an archive. head is the beginning of v.
func scanObject(v view, head []byte) (*Object, error) {
	switch {
	case bytes.HasPrefix(head, []byte(elfMagic)):
		return scanELF(v, head)
	case bytes.HasPrefix(head, []byte(dosMagic)):
		return scanPE(v, head)
	case isFatbin(head):
		return looseObject(v, FormatFatbin), nil
	}
	if h, err := coffHeaderOf(v, head); err != nil {
		return nil, err
	} else if h != nil {
		return scanCOFF(v, h)
	}
	if isPTX(v, head) {
		return looseObject(v, FormatPTX), nil
	}
	return nil, ErrUnknown
}

func looseObject(v view, format Format) *Object {
	return &Object{
		Offset: v.base, Size: v.size, Format: format, Machine: "cuda",
		Ranges: []Range{{Kind: KindLoose, Offset: v.base, Size: v.size}},
	}
}
