package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// hasGPU reports whether any device node of a GPU is there.
func (w *World) hasGPU() bool {
	for i := range 64 {
		if w.Root.Exists(fmt.Sprintf("/dev/nvidia%d", i)) {
			return true
		}
	}
	return w.Root.Exists("/dev/dxg") || w.Root.Exists("/dev/nvmap")
}

// containerStep names the container and what NVIDIA_VISIBLE_DEVICES asks of its
// runtime.
func (w *World) containerStep() Step {
	kind := w.container()
	value, set := w.getenv("NVIDIA_VISIBLE_DEVICES")
	what := "NVIDIA_VISIBLE_DEVICES is " + value
	switch {
	case !set:
		what = "NVIDIA_VISIBLE_DEVICES is not set"
	case value == "":
		what = "NVIDIA_VISIBLE_DEVICES is empty"
	}
	switch {
	case kind == "":
		return skip("this is no container")
	case !w.running():
		return skip(notRunning)
	case w.hasGPU() && (value == "void" || value == ""):
		return pass(kind + ": " + what + ", and a GPU is there all the same, as with CDI or --device")
	case w.hasGPU() && value == "none":
		return warn(kind+": NVIDIA_VISIBLE_DEVICES is none, and a GPU is there all the same", "set NVIDIA_VISIBLE_DEVICES=all to say what is meant")
	case w.hasGPU():
		return pass(kind + ": " + what)
	case value == "none":
		return fail(kind+": NVIDIA_VISIBLE_DEVICES is none: the driver is brought in, but no GPU", "set NVIDIA_VISIBLE_DEVICES=all, or the GPUs by number or UUID")
	case !set, value == "", value == "void":
		return fail(kind+": "+what+", so the container runtime brings neither GPU nor driver in", giveGPU(kind))
	}
	return fail(kind+": "+what+", but no GPU is here: the image may set that variable, and only NVIDIA's runtime reads it", giveGPU(kind))
}

// capabilities judges NVIDIA_DRIVER_CAPABILITIES, which chooses the libraries
// that the runtime brings in. It has no meaning with CDI, which brings all.
func (w *World) capabilities() Step {
	kind := w.container()
	value, set := w.getenv("NVIDIA_DRIVER_CAPABILITIES")
	switch {
	case kind == "":
		return skip("this is no container")
	case !set || value == "":
		return pass("NVIDIA_DRIVER_CAPABILITIES is not set, which means compute and utility")
	}
	var have []string
	for c := range strings.SplitSeq(value, ",") {
		have = append(have, strings.ToLower(strings.TrimSpace(c)))
	}
	if slices.Contains(have, "all") {
		return pass("NVIDIA_DRIVER_CAPABILITIES is all")
	}
	found := len(w.find("libcuda.so.1")) > 0
	what := "NVIDIA_DRIVER_CAPABILITIES is " + value
	switch {
	case !slices.Contains(have, "compute") && found:
		return pass(what + ", without compute, and libcuda is here all the same, as with CDI")
	case !slices.Contains(have, "compute"):
		return fail(what+", without compute: neither libcuda nor the compiler for PTX is brought in", "set NVIDIA_DRIVER_CAPABILITIES=compute,utility, or all")
	case !slices.Contains(have, "utility"):
		return warn(what+", without utility: neither NVML nor nvidia-smi is brought in", "set NVIDIA_DRIVER_CAPABILITIES=compute,utility if programs ask NVML")
	}
	return pass(what)
}

// require holds what the image demands of the driver against it. The runtime
// refuses to start a container whose demands are not met, unless that is turned
// off, or CDI is used.
func (w *World) require() Step {
	var names []string
	for name := range w.Env {
		if strings.HasPrefix(name, "NVIDIA_REQUIRE_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 || w.container() == "" {
		return skip("no NVIDIA_REQUIRE_… variable demands anything")
	}
	off := truth(w.get("NVIDIA_DISABLE_REQUIRE"))
	d := demand{cuda: w.GPUs.Driver.CUDA.String(), driver: w.GPUs.Driver.Version, known: w.GPUs.Driver.Known()}
	for _, name := range names {
		switch met := d.meets(w.get(name)); {
		case met == no:
			seen := fmt.Sprintf("%s asks for %s, and the driver is %s with CUDA %s", name, shortDemand(w.get(name)), w.GPUs.Driver, w.GPUs.Driver.CUDA)
			if off {
				seen += "; NVIDIA_DISABLE_REQUIRE let the container start all the same"
			}
			return warn(seen, "update the driver of the host, or use an image for an older CUDA",
				"PTX that is newer than the driver ends with error 222; other code of the same CUDA major runs")
		case off:
			return warn("NVIDIA_DISABLE_REQUIRE is set, so "+words(names)+isOrAre(names)+" not checked at start", "remove it where the image's demands are to be checked")
		}
	}
	if !d.known {
		return skip("the driver's version is not known")
	}
	return pass(words(names) + isOrAre(names) + " met by the driver")
}

// truth reads a boolean as the container toolkit does.
func truth(s string) bool {
	return slices.Contains([]string{"1", "t", "T", "TRUE", "true", "True"}, s)
}
