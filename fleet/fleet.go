package fleet

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"fatview/arch"
)

// The formats, which are also the Source of the targets.
const (
	Kubernetes = "kubernetes"
	SMICSV     = "nvidia-smi csv"
	SMIXML     = "nvidia-smi xml"
	DCGM       = "dcgm-exporter"
	Slurm      = "slurm"
	TOML       = "toml"
	CSV        = "csv"
)

// Bounds of what is read. No cluster comes near them.
const (
	maxInput   = 256 << 20 // bytes
	maxEntries = 1_000_000
	maxCount   = 1_000_000 // GPUs of one entry
	maxText    = 256       // bytes of a name, a host or a version
	maxLine    = 1 << 20   // bytes of a line
	maxNode    = 16 << 20  // bytes of one node of JSON
	maxTag     = 1 << 20   // bytes of one tag of XML, or of the text up to the next
	maxDepth   = 64        // nested elements of XML
	maxTOML    = 1 << 20   // bytes of a list that someone wrote by hand
	maxNames   = 2000      // different names, each of which is searched for
	maxTold    = 1000      // different problems
)

// Errors of Read that say more than that something is not as it should be.
var (
	ErrFormat = errors.New("no inventory of GPUs that is known here: give kubectl get nodes -o json, nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv, nvidia-smi -q -x, the metrics of dcgm-exporter, scontrol show node, or a list in TOML or CSV")
	ErrLarge  = errors.New("too large for an inventory of GPUs")
)

// Inventory is what one input says.
type Inventory struct {
	Name     string // of the input, as given to Read
	Format   string // Kubernetes, SMICSV, …
	Entries  []Entry
	Problems []Problem
}

// Entry is some equal GPUs of one host. All texts are as the source has them:
// data from strangers, at most 256 bytes each and not made safe to show.
type Entry struct {
	Host    string       // "" where the source does not tell it
	Name    string       // as the source has it, without a MIG profile
	Product string       // the catalogue's name, or Name if it has none
	CC      arch.CC      // never zero
	Driver  string       // version; "" unknown
	CUDA    arch.Version // newest CUDA version of the driver; zero: not told
	MIG     string       // "1g.10gb", or "MIG" for a profile that is not told; "" a whole GPU
	Count   int          // at least 1, at most 1,000,000
}

// Problem is something that a reader should know. The same message is told
// once, with the first place.
type Problem struct {
	Where   string // "node gpu-07", "line 12"; text of the source may be in it
	Message string // text of the source may be in it, quoted
	More    int    // how many other places have it too
	Left    bool   // GPUs were left out because of it
}

// String returns the place, the message and how many more there are.
func (p Problem) String() string {
	s := p.Message
	if p.Where != "" {
		s = p.Where + ": " + s
	}
	if p.More > 0 {
		s += fmt.Sprintf(" (and %d more like it)", p.More)
	}
	return s
}

// Incomplete reports whether GPUs were left out, so that an answer for the rest
// is none for the whole fleet.
func (inv *Inventory) Incomplete() bool {
	for _, p := range inv.Problems {
		if p.Left {
			return true
		}
	}
	return false
}

// Read reads an inventory; name is only for messages. What is wrong with single
// entries is in Problems, and the rest is read. The error, which begins with
// name, says that there is no telling what the rest is: an unknown format
// (ErrFormat), more than 256 MiB, 1,000,000 entries or other bounds (ErrLarge),
// or damage to the format itself. An inventory without any GPU is no error.
func Read(name string, r io.Reader) (*Inventory, error) {
	return readWithin(name, r, bounds{maxInput, maxEntries})
}

// bounds are those that tests make smaller.
type bounds struct {
	input   int64
	entries int
}

func readWithin(name string, r io.Reader, b bounds) (inv *Inventory, err error) {
	defer func() {
		if p := recover(); p != nil {
			inv, err = nil, fmt.Errorf("%s: reading failed: %v", name, p)
		}
	}()
	in := bufio.NewReaderSize(newText(&capped{r: r, left: b.input}), sampleSize)
	sample, err := in.Peek(sampleSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	format, read := recognise(sample)
	if read == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrFormat)
	}
	c := newCollector(b)
	c.format = format
	if err := read(in, c); err != nil {
		return nil, fmt.Errorf("%s: as %s: %w", name, c.format, err)
	}
	return &Inventory{Name: name, Format: c.format, Entries: c.entries, Problems: c.problems}, nil
}
