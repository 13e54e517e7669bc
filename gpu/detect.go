package gpu

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"fatview/internal/sysroot"
)

// Inventory is what detection found on this machine.
type Inventory struct {
	Targets []Target
	Source  string // where Targets come from, the value of their Source; "" if there are none
	Driver  Driver
	Problem string    // why Targets is empty or short, and what to do; "" if all is well
	Note    string    // what else is worth knowing, such as GPUs that the environment hides
	Tried   []Attempt // every way that was tried, in order
	Seen    []Seen    // GPUs that /proc or the PCI bus told of, with those of Targets; nil if neither was asked
	// Visible lists places in Targets in the order in which CUDA programs number
	// their devices. It is nil where that is not known.
	Visible []int
	Hidden  string // what CUDA_VISIBLE_DEVICES does, part of Note; "" if it hides nothing
	Stack   Stack  // kernel module and libraries, by their files; of Linux only
}

// Attempt is one way to detect GPUs and what came of it.
type Attempt struct {
	Name   string // "libnvidia-ml.so.1", "nvidia-smi", …
	Reason string // why it was not the answer; "" if it was
}

// Options replaces what detection takes from the machine. The zero value is the
// machine.
type Options struct {
	LibraryPaths []string // NVML libraries to try instead of the usual ones
	// Root is another system, such as a container's unpacked files. FilesOnly
	// leaves out NVML and nvidia-smi, which know this machine only.
	Root      sysroot.Root
	FilesOnly bool
	Timeout   time.Duration
	Getenv    func(string) (string, bool) // instead of os.LookupEnv

	open func(path string) (library, error) // instead of openLibrary
}

// maxWait is how long the driver may take. A GPU that fell off the bus, or a
// driver that initialises eight GPUs without its persistence daemon, can keep
// NVML busy for minutes.
const maxWait = 5 * time.Second

func (o Options) withDefaults() Options {
	if o.LibraryPaths == nil {
		o.LibraryPaths = usualLibraries()
	}
	if o.Timeout <= 0 {
		o.Timeout = maxWait
	}
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.open == nil {
		o.open = openLibrary
	}
	return o
}

// Detect lists the GPUs of this machine. It never fails: what went wrong is in
// the inventory. It returns when ctx ends, and after five seconds at the
// latest, though a call into a hung driver may go on in the background.
func Detect(ctx context.Context) Inventory { return DetectWith(ctx, Options{}) }

// DetectWith is Detect for tests, for other systems, and for NVML libraries in
// unusual places.
func DetectWith(ctx context.Context, opts Options) (inv Inventory) {
	defer func() {
		if r := recover(); r != nil {
			inv.Problem = fmt.Sprintf("detecting GPUs failed: %v", r)
		}
	}()
	opts = opts.withDefaults()
	limited, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()

	live := false // a running driver has answered
	for _, w := range ways {
		if len(inv.Targets) > 0 || limited.Err() != nil {
			break
		}
		switch {
		case w.files && opts.Root.OS() == "linux":
			found := bounded(limited, w.name, func() Inventory { return w.read(opts.Root) })
			inv = inv.add(found)
		case w.files, live, opts.FilesOnly:
		default:
			found, answered := w.ask(limited, opts)
			inv, live = inv.or(found, answered), answered
		}
	}
	switch {
	case ctx.Err() != nil && len(inv.Targets) == 0:
		inv.Problem = "detecting GPUs was interrupted"
	case limited.Err() != nil && len(inv.Targets) == 0:
		inv.Problem = fmt.Sprintf("the NVIDIA driver did not answer within %s: run nvidia-smi to see whether it hangs, or name the GPU", opts.Timeout)
	case !live && (len(inv.Targets) == 0 || inv.Source == SourcePCI):
		inv.Problem = join(nonEmpty(opts.nothingFound(), inv.Problem))
	case !live && inv.Source == SourceProc && !opts.FilesOnly:
		inv.Problem = join(nonEmpty("neither NVML nor nvidia-smi could be asked, so GPUs are those that the kernel module lists", inv.Problem))
	}
	if opts.Root.OS() == "linux" && limited.Err() == nil {
		inv.Stack = bounded(limited, "", func() Inventory {
			return Inventory{Stack: ReadStack(opts.Root, opts.Getenv)}
		}).Stack
	}
	inv.raise()
	inv.Visible, inv.Hidden = markHidden(inv.Targets, opts.Getenv)
	inv.Note = join(nonEmpty(inv.Hidden, inv.Stack.note(inv.Targets), inv.kept(opts)))
	return inv
}

// way is one way to find GPUs. Those that ask a running driver come first, and
// the first of them to answer has the word on why there are none. Those that
// read files come last: they know less, and all of them are tried.
type way struct {
	name  string
	files bool
	ask   func(context.Context, Options) (inv Inventory, answered bool)
	read  func(sysroot.Root) Inventory
}

// ways in the order in which they are tried. NVML is a shared object on Linux
// and a DLL on Windows; the rest is told by each function.
var ways = []way{
	{name: "NVML", ask: askNVML},
	{name: "nvidia-smi", ask: func(ctx context.Context, o Options) (Inventory, bool) { return askSMI(ctx, o.Getenv) }},
	{name: procGPUs, files: true, read: askProc},
	{name: pciDevices, files: true, read: askPCI},
	{name: treeModel, files: true, read: askTegra},
}

// bounded runs what reads files of a driver, which may hold its locks for as
// long as it hangs. What comes too late is dropped.
func bounded(ctx context.Context, name string, read func() Inventory) Inventory {
	answer := make(chan Inventory, 1) // so that a late answer does not block
	go func() {
		var inv Inventory
		defer func() {
			if r := recover(); r != nil {
				inv = Inventory{Tried: []Attempt{{name, fmt.Sprintf("it failed: %v", r)}}}
			}
			answer <- inv
		}()
		inv = read()
	}()
	select {
	case inv := <-answer:
		return inv
	case <-ctx.Done():
		return Inventory{Tried: []Attempt{{name, "no answer: " + ctx.Err().Error()}}}
	}
}

// or returns what a further driver said, with the attempts of both. If it did
// not answer, the reason of the earlier one stands.
func (inv Inventory) or(next Inventory, answered bool) Inventory {
	tried := append(inv.Tried, next.Tried...)
	if answered {
		inv = next
	}
	inv.Tried = tried
	return inv
}

// add puts what files told beside the reason why no driver did.
func (inv Inventory) add(next Inventory) Inventory {
	inv.Tried = append(inv.Tried, next.Tried...)
	inv.Problem = join(nonEmpty(inv.Problem, next.Problem))
	if inv.Seen == nil {
		inv.Seen = next.Seen
	}
	if len(next.Targets) > 0 {
		inv.Targets, inv.Source, inv.Driver = next.Targets, next.Source, next.Driver
	}
	return inv
}

// raise gives GPUs that were not found through NVML, which counts it in by
// itself, the CUDA version of a forward-compatibility package.
func (inv *Inventory) raise() {
	if inv.Stack.Relation != ForwardCompat || inv.Source == SourceNVML || inv.Source == SourcePCI {
		return
	}
	d := CompatDriver(inv.Stack.Module.Version, inv.Stack.CUDA)
	for i := range inv.Targets {
		if ok, known := CompatAllowed(inv.Targets[i].Name); known && !ok {
			return
		}
		inv.Targets[i].Driver = d
	}
	if len(inv.Targets) > 0 {
		inv.Driver = d
	}
}

// kept tells of a variable by which a container is kept from the GPUs. Where
// they are there all the same, another mechanism brought them in: NVIDIA's
// device plugin sets it to void when it injects devices by CDI.
func (inv *Inventory) kept(opts Options) string {
	value, _ := opts.Getenv("NVIDIA_VISIBLE_DEVICES")
	if len(inv.Targets) > 0 && inv.Source != SourceProc && inv.Source != SourcePCI {
		return ""
	}
	switch value {
	case "void":
		return "NVIDIA_VISIBLE_DEVICES is void: the container runtime brings neither GPUs nor driver into this container"
	case "none":
		return "NVIDIA_VISIBLE_DEVICES is none: the container runtime brings the driver into this container, but no GPU"
	}
	return ""
}

// nothingFound is the sentence for a machine where no way led to a driver.
func (o Options) nothingFound() string {
	if o.FilesOnly {
		return "no driver was asked, only files were read"
	}
	return nothingFound(o.Root.OS())
}

func nothingFound(goos string) string {
	switch goos {
	case "darwin":
		return "macOS has no NVIDIA driver, so no GPU can be detected: name one, such as H100"
	case "linux":
		if canLoadNVML {
			return codeSentence(nvmlLibraryNotFound)
		}
		return "nvidia-smi was not found, and this build cannot load NVML because it was made without cgo: install the NVIDIA driver, or name a GPU, such as H100"
	case "windows":
		return "the NVIDIA driver was not found, neither nvml.dll nor nvidia-smi: install the driver, or name a GPU, such as H100"
	}
	return "nvidia-smi was not found, and NVML is not used on " + goos + ": install the NVIDIA driver, or name a GPU, such as H100"
}

// join makes one text of the sentences about single GPUs.
func join(sentences []string) string { return strings.Join(sentences, "; ") }

func nonEmpty(sentences ...string) []string {
	return slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
}
