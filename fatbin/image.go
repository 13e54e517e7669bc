package fatbin

import (
	"io"

	"fatview/arch"
)

// An Image is one entry of a container: code for one architecture. Its fields
// come from the entry header alone.
type Image struct {
	Kind   Kind
	Offset int64 // of the entry header in the file
	// PayloadOffset and StoredBytes give the bytes in the file, which lie
	// inside the container. Padding counts only where the payload is stored
	// raw, because nothing tells the exact size then. For a cubin inside a
	// concatenated entry the offset is that of the whole blob and StoredBytes
	// is this image's share of it; shares add up to the blob.
	PayloadOffset int64
	StoredBytes   int64
	Bytes         int64 // size after decompression, as declared
	Arch          arch.Arch
	Major, Minor  uint16 // PTX ISA version of PTX; 1.7 or 1.8 for cubins
	Flags         Flags
	Compression   Compression
	Options       string // option text of PTX and LTO IR
	Compat        []byte // copy of .nv.compat on cubins of sm_100 and later
	Identifier    string // source name or library part, mostly empty
	Key           uint64 // obfuscation key

	r      io.ReaderAt
	cut    bool // StoredBytes is less than declared: see entry.stored
	concat *concat
	within int64 // offset in the concatenated blob
}

// concat is a blob, mostly compressed, that holds several cubins.
type concat struct {
	payloadOffset int64
	stored, bytes int64
	cut           bool // as Image.cut
	compression   Compression
}

// Concatenated reports whether the image lies inside a concatenated entry, of
// the kind that nvcc -concat of CUDA 13 writes.
func (im *Image) Concatenated() bool { return im.concat != nil }

// PTXISA returns the PTX ISA version of the header for PTX, else zero.
func (im *Image) PTXISA() arch.Version {
	if im.Kind != KindPTX && im.Kind != KindRelocatablePTX {
		return arch.Version{}
	}
	return arch.Version{Major: int(im.Major), Minor: int(im.Minor)}
}

// ArchName returns sm_N for machine code and compute_N for everything that
// still has to be compiled.
func (im *Image) ArchName() string {
	if im.Kind == KindCubin || im.Kind == KindOldCubin {
		return im.Arch.SASS()
	}
	return im.Arch.PTX()
}
