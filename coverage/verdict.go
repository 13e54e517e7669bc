// Package coverage decides what runs where: a container's images, a GPU and a
// driver in, a verdict with its reasons out. All of it is pure functions over
// small values; nothing here reads a file or asks a device.
//
// The rules are those of NVIDIA's programming guide, compatibility guides,
// release notes and PTX ISA manual, and of NVIDIA's linker and assembler as
// they behaved when tried; each is named in rules.go with its sources and
// with how well it is confirmed. Where a verdict leans on a rule that nobody
// confirmed, the result says so.
package coverage

// Verdict is the answer for a kernel, a container or a file on one GPU.
type Verdict uint8

// The verdicts. Native, JIT and Driver are answers for everything; Missing,
// Specialised and Empty for containers (the first two for kernels as well);
// None, Partial and Mixed for files.
const (
	Unknown     Verdict = iota
	Native              // machine code that fits
	JIT                 // PTX that fits, compiled by the driver at first use
	Driver              // would be native or jit with a newer driver
	Missing             // general code that leaves this GPU out
	Specialised         // looks built for other hardware on purpose
	Empty               // holds no kernels on any architecture
	None                // nothing in the file serves the GPU
	Partial             // some containers are missing or wait for a driver
	Mixed               // all served, some native and some jit
)

var verdictWords = [...]string{"unknown", "native", "jit", "driver", "missing", "specialised", "empty", "none", "partial", "mixed"}

// String returns the verdict's word, as reports and screens show it.
func (v Verdict) String() string {
	if int(v) < len(verdictWords) {
		return verdictWords[v]
	}
	return "unknown"
}

// Served reports whether kernels run with this verdict.
func (v Verdict) Served() bool { return v == Native || v == JIT || v == Mixed }

// Counts is a number for each verdict that a container or kernel can have.
type Counts struct {
	Native, JIT, Driver, Missing, Specialised, Empty int
}

// Add counts n of a verdict.
func (c *Counts) Add(v Verdict, n int) {
	switch v {
	case Native:
		c.Native += n
	case JIT:
		c.JIT += n
	case Driver:
		c.Driver += n
	case Missing:
		c.Missing += n
	case Specialised:
		c.Specialised += n
	case Empty:
		c.Empty += n
	}
}

// Total is the number of all that hold code.
func (c Counts) Total() int {
	return c.Native + c.JIT + c.Driver + c.Missing + c.Specialised
}

// FileVerdict is the verdict of a file, or of several together, whose containers
// have these.
func (c Counts) FileVerdict() Verdict {
	served := c.Native + c.JIT
	switch {
	case served == 0 && c.Driver > 0:
		return Driver
	case served == 0:
		return None
	case c.Missing > 0 || c.Driver > 0:
		return Partial
	case c.JIT == 0:
		return Native
	case c.Native == 0:
		return JIT
	}
	return Mixed
}
