package gpu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fatview/arch"
	"fatview/internal/sysroot"
)

// procGPUs is where the kernel module lists its GPUs, a folder for each by bus
// address, with the file "information" in it.
const procGPUs = "/proc/driver/nvidia/gpus"

// askProc lists GPUs by what the kernel module says of them in /proc, where
// neither NVML nor nvidia-smi is to be had. It tells no capability, so that
// comes from the catalogue, by name.
func askProc(root sysroot.Root) Inventory {
	inv := Inventory{Tried: []Attempt{{Name: procGPUs}}}
	names, err := root.ReadDir(procGPUs, maxDevices)
	if err != nil {
		inv.Tried[0].Reason = "there is none: the kernel module is not loaded"
		return inv
	}
	module := ReadModule(root)
	inv.Driver = detected(module.Version, arch.Version{})
	if module.Version == "" {
		inv.Driver = Driver{}
	}
	var found []procGPU
	for _, n := range names {
		if b, err := root.ReadFile(procGPUs+"/"+n+"/information", 4<<10); err == nil {
			found = append(found, parseProc(n, string(b)))
		}
	}
	// The driver numbers GPUs by bus address.
	slices.SortStableFunc(found, func(a, b procGPU) int { return strings.Compare(a.bus, b.bus) })
	var problems []string
	for i, g := range found {
		cc, ok := capabilityByName(g.model)
		switch {
		case g.excluded:
			problems = append(problems, fmt.Sprintf("GPU %s (%s) is excluded by the kernel module's options", g.bus, g.model))
		case !ok:
			problems = append(problems, fmt.Sprintf("the compute capability of %s (%s) is unknown: name it by its capability, such as 9.0", g.model, g.bus))
		default:
			inv.Targets = append(inv.Targets, Target{Name: g.model, CC: cc, Driver: inv.Driver, Source: SourceProc, UUID: g.uuid, Index: i})
		}
		inv.Seen = append(inv.Seen, Seen{Name: g.model, Bus: g.bus})
	}
	inv.Problem = join(problems)
	if len(inv.Targets) > 0 {
		inv.Source = SourceProc
		return inv
	}
	if inv.Tried[0].Reason = inv.Problem; inv.Problem == "" {
		inv.Tried[0].Reason = "it lists no GPU"
	}
	return inv
}

// procGPU is one file "information".
type procGPU struct {
	model, uuid, bus string
	minor            int // of /dev/nvidiaN; -1 not told
	excluded         bool
}

// parseProc reads lines such as "Model: \t\t NVIDIA H200". A GPU that nobody has
// opened since it was plugged in has question marks for a UUID.
func parseProc(bus, text string) procGPU {
	g := procGPU{bus: sanitize(bus), minor: -1}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = sanitize(value)
		switch strings.TrimSpace(key) {
		case "Model":
			g.model = value
		case "GPU UUID":
			if strings.HasPrefix(value, "GPU-") && !strings.Contains(value, "?") {
				g.uuid = value
			}
		case "Bus Location":
			g.bus = value
		case "Device Minor":
			if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < maxDevices {
				g.minor = n
			}
		case "GPU Excluded", "Blacklisted":
			g.excluded = strings.EqualFold(value, "yes")
		}
	}
	if g.model == "" {
		g.model = "NVIDIA GPU"
	}
	return g
}

// DeviceMinors returns the numbers N of the device nodes /dev/nvidiaN that the
// kernel module's GPUs have.
func DeviceMinors(root sysroot.Root) []int {
	names, err := root.ReadDir(procGPUs, maxDevices)
	if err != nil {
		return nil
	}
	var out []int
	for _, n := range names {
		b, err := root.ReadFile(procGPUs+"/"+n+"/information", 4<<10)
		if err != nil {
			continue
		}
		if g := parseProc(n, string(b)); g.minor >= 0 && !g.excluded {
			out = append(out, g.minor)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
