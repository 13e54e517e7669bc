package gpu

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Inventory is what detection found on this machine.
type Inventory struct {
	Targets []Target
	Source  string // where Targets come from, the value of their Source; "" if there are none
	Driver  Driver
	Problem string    // why Targets is empty or short, and what to do; "" if all is well
	Note    string    // what else is worth knowing, such as GPUs that the environment hides
	Tried   []Attempt // every way that was tried, in order
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
	ModelFile    string   // the device tree's model, instead of /proc/device-tree/model
	Timeout      time.Duration
	Getenv       func(string) (string, bool) // instead of os.LookupEnv

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
	if o.ModelFile == "" {
		o.ModelFile = "/proc/device-tree/model"
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

// DetectWith is Detect for tests and for NVML libraries in unusual places.
func DetectWith(ctx context.Context, opts Options) (inv Inventory) {
	defer func() {
		if r := recover(); r != nil {
			inv.Problem = fmt.Sprintf("detecting GPUs failed: %v", r)
		}
	}()
	opts = opts.withDefaults()
	limited, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()

	inv, settled := askNVML(limited, opts)
	if !settled {
		smi, answered := askSMI(limited, opts.Getenv)
		inv = inv.or(smi, answered)
	}
	if len(inv.Targets) == 0 && runtime.GOOS == "linux" {
		if tegra, ok := askDeviceTree(opts.ModelFile); ok {
			inv = inv.or(tegra, true)
		}
	}
	switch {
	case len(inv.Targets) > 0:
	case ctx.Err() != nil:
		inv.Problem = "detecting GPUs was interrupted"
	case limited.Err() != nil:
		inv.Problem = fmt.Sprintf("the NVIDIA driver did not answer within %s: run nvidia-smi to see whether it hangs, or name the GPU", opts.Timeout)
	case inv.Problem == "":
		inv.Problem = nothingFound(runtime.GOOS)
	}
	inv.Note = markHidden(inv.Targets, opts.Getenv)
	return inv
}

// or returns what a further way found, with the attempts of both. If it did not
// answer, the reason of the earlier one stands.
func (inv Inventory) or(next Inventory, answered bool) Inventory {
	tried := append(inv.Tried, next.Tried...)
	if answered {
		inv = next
	}
	inv.Tried = tried
	return inv
}

// nothingFound is the sentence for a machine where no way led to a driver.
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
