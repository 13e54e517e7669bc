package index

import (
	"fmt"
	"io"

	"fatview/fatbin"
)

// Payload returns an image's bytes, decompressed and without padding, within
// the file's bounds. They stay valid until dec is used again. An obfuscated
// payload is returned as it is in the file: it is scrambled after it was
// compressed, so nothing can be made of it.
func (f *File) Payload(im *fatbin.Image, dec *fatbin.Decoder) (b []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			b, err = nil, fmt.Errorf("reading this image failed: %v", p)
		}
	}()
	switch {
	case im.Flags&fatbin.FlagObfuscated != 0:
		return dec.Stored(im)
	case !im.Plausible():
		return dec.Payload(im) // its own error says more
	}
	if f.budget.bytes.Add(-im.Bytes) < 0 {
		f.budget.bytes.Add(im.Bytes)
		return nil, errBudget
	}
	return dec.Payload(im)
}

// Bytes reads the container as it is in the file, header and all.
func (f *File) Bytes(c *Container) *io.SectionReader {
	return io.NewSectionReader(f.r, c.Offset, c.Size)
}
