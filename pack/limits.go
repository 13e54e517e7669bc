package pack

import "math"

// Limits bounds what a walk may unpack, keep and hand out. A zero or negative
// field means its default.
type Limits struct {
	Memory    int64   // bytes; a member up to this size is unpacked to memory, a larger one to a temporary file. 8 MiB
	MemoryAll int64   // bytes of all members in memory together; beyond it they go to temporary files. 128 MiB
	Total     int64   // bytes that one outermost package may unpack to, nested ones included. 256 GiB
	Ratio     int64   // unpacked bytes per packed byte of a member of more than 64 MiB. 300
	Entries   int     // entries of one outermost package of any kind, nested ones included. 1,000,000
	Depth     int     // packages within packages. 4
	Together  *Memory // shared by walks that MemoryAll is to bound together; nil for each by itself
	TempDir   string  // where temporary files go; "" means os.TempDir()

	// Enter, if set, tells whether a nested package is to be opened; one that
	// is not is passed over without a word.
	Enter func(path string) bool

	ratioFloor int64 // bytes; a smaller member may be of any ratio
}

const (
	defaultMemory     = 8 << 20
	defaultMemoryAll  = 128 << 20
	defaultTotal      = 256 << 30
	defaultRatio      = 300
	defaultEntries    = 1_000_000
	defaultDepth      = 4
	defaultRatioFloor = 64 << 20

	// ratioSlack is how many packed bytes a decompressor may have read before
	// the member that they belong to began. Without it, a member that follows
	// a small one would look as if it came from nothing.
	ratioSlack = 256 << 10
)

func (l Limits) withDefaults() Limits {
	orDefault(&l.Memory, defaultMemory)
	orDefault(&l.MemoryAll, defaultMemoryAll)
	orDefault(&l.Total, defaultTotal)
	orDefault(&l.Ratio, defaultRatio)
	orDefault(&l.Entries, defaultEntries)
	orDefault(&l.Depth, defaultDepth)
	orDefault(&l.ratioFloor, defaultRatioFloor)
	l.Total = min(l.Total, math.MaxInt64-1) // room for the one byte that shows there is more
	return l
}

func orDefault[T int | int64](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

// tooDense tells whether a member of n bytes came from so few packed bytes
// that the bound on the ratio is hit.
func (l Limits) tooDense(n, packed int64) bool {
	return n > l.ratioFloor && n/l.Ratio > max(packed, 0)+ratioSlack
}
