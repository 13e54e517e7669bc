package index

import (
	"context"
	"fmt"
	"slices"

	"fatview/arch"
	"fatview/elfscan"
	"fatview/fatbin"
)

// Search looks for device code outside of the named sections: containers by
// magic number and checked header, and PTX and cubins that have none around
// them. It reads what Open did not, so it comes after the first answer.
// Search must not run at the same time as anything that ranges over
// Containers.
func (f *File) Search(ctx context.Context) error {
	found, err := f.Outside(ctx)
	if err != nil {
		return err // and it can be tried again
	}
	f.Adopt(found)
	return nil
}

// Found is something from outside of the named sections: a container, a
// finding, or the number of false magic numbers.
type Found struct {
	c           *fatbin.Container
	rg          elfscan.Range
	bare        bool // a cubin without a fat binary around it
	finding     *Finding
	falseMagics int
}

// Bare is a cubin outside of any fat binary, which the program hands to the
// driver by itself.
type Bare struct {
	Section string
	Offset  int64
	Bytes   int64
	Arch    arch.Arch
}

// Adopt adds what was found outside of the named sections.
//
// A program with cubins beside its fat binaries chooses among them by itself:
// the attention kernels of TensorRT that ONNX Runtime carries are tried by
// capability and left alone where none fits. So they are listed, and have no
// part in verdicts. Where a file has nothing but such cubins, they are its
// device code.
func (f *File) Adopt(found []Found) {
	f.searched = true
	more := true
	other := len(f.Containers) > 0 || slices.ContainsFunc(found, func(x Found) bool { return x.c != nil && !x.bare })
	for _, x := range found {
		if x.bare && other {
			im := x.c.Images[0]
			f.Bare = append(f.Bare, Bare{x.rg.Name, x.c.Offset, x.c.Size, im.Arch})
			continue
		}
		f.budget.falseMagics += x.falseMagics
		if x.finding != nil {
			f.find(x.finding.Severity, x.finding.Offset, x.finding.Message)
		}
		if x.c != nil && more {
			more = f.add(x.c, x.rg)
		}
	}
}

// Searched tells whether Search or Adopt has returned.
func (f *File) Searched() bool { return f.searched }

// FalseMagics returns how many times the bytes that begin a fat binary, a gzip
// stream or an ELF file stand outside of the named sections and begin no device
// code: by chance, or because they begin something else. It is 0 until Search
// or Adopt has returned.
func (f *File) FalseMagics() int { return f.budget.falseMagics }

// TellFalseMagics makes a finding of them, for those who want to know.
func (f *File) TellFalseMagics() {
	if n := f.FalseMagics(); n > 0 {
		f.find(Info, -1, fmt.Sprintf("%d magic numbers that begin no device code", n))
	}
}
