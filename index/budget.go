package index

import (
	"errors"
	"sync/atomic"

	"fatview/fatbin"
)

// Bounds on what one file may make fatview hold or do. The biggest libraries
// known have three thousand containers and a million kernels over all images,
// in a gigabyte that decompresses to eight.
const (
	maxContainers = 20_000
	maxObjects    = 10_000 // of an archive
)

// A budget keeps a small file from costing as much as a big one: what its
// payloads may come to follows from its size.
type budget struct {
	bytes, rows atomic.Int64 // left
	falseMagics int          // counted by Search
}

func (b *budget) of(size int64) {
	b.bytes.Store(256<<20 + 64*size)
	b.rows.Store(1<<16 + size/32)
}

var errBudget = errors.New("the file declares more code than one of its size can hold: not read")

// read reads an image's payload within the file's budget. What is refused is
// not charged, so that one lying size does not keep the others from being
// read.
func (f *File) read(ct *Contents, im *fatbin.Image, dec *fatbin.Decoder, names interner) (label string) {
	if !im.Plausible() { // its own error says more
		return ct.read(im, dec, names)
	}
	if f.budget.bytes.Add(-im.Bytes) < 0 {
		f.budget.bytes.Add(im.Bytes)
		ct.Err = errBudget
		return ""
	}
	label = ct.read(im, dec, names)
	rows := int64(len(ct.Kernels) + len(ct.Functions))
	if f.budget.rows.Add(-rows) < 0 {
		f.budget.rows.Add(rows)
		*ct = Contents{Err: errBudget}
	}
	return label
}
