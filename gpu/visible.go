package gpu

import (
	"fmt"
	"strconv"
	"strings"
)

// markHidden sets Hidden on the GPUs that CUDA_VISIBLE_DEVICES keeps from CUDA
// programs: NVML and nvidia-smi list them all the same. It returns a note for
// the user, "" if nothing is hidden.
func markHidden(targets []Target, getenv func(string) (string, bool)) string {
	value, set := getenv("CUDA_VISIBLE_DEVICES")
	if !set || len(targets) == 0 {
		return ""
	}
	order, _ := getenv("CUDA_DEVICE_ORDER")
	visible := make([]bool, len(targets))
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		if n, err := strconv.Atoi(item); err == nil && n >= 0 && order != "PCI_BUS_ID" && !alike(targets) {
			// CUDA numbers the fastest GPU first, the driver by bus address.
			return "CUDA_VISIBLE_DEVICES hides GPUs by number, and CUDA's numbers are not the driver's while CUDA_DEVICE_ORDER is not PCI_BUS_ID: which ones is unknown"
		}
		if !show(targets, visible, item) {
			break // CUDA ignores everything after an item that names no GPU
		}
	}
	hidden, gpus := 0, 0
	for i := range targets {
		targets[i].Hidden = !visible[i]
		if targets[i].MIG {
			continue
		}
		gpus++
		if targets[i].Hidden {
			hidden++
		}
	}
	if hidden == 0 {
		return ""
	}
	return fmt.Sprintf("CUDA_VISIBLE_DEVICES hides %d of %d GPUs from CUDA programs", hidden, gpus)
}

// show makes visible what one item names: a GPU by number or by the beginning
// of its UUID, with its slices; or one slice, and with it the GPU it is part of.
func show(targets []Target, visible []bool, item string) bool {
	index := -1
	mig := false
	if n, err := strconv.Atoi(item); err == nil {
		index = n
	} else if strings.HasPrefix(item, "GPU-") || strings.HasPrefix(item, "MIG-") {
		for i, t := range targets {
			if strings.HasPrefix(t.UUID, item) {
				index, mig = t.Index, t.MIG
				visible[i] = true
				break
			}
		}
	}
	found := false
	for i, t := range targets {
		if t.Index == index {
			found = true
			visible[i] = visible[i] || !t.MIG || !mig
		}
	}
	return found
}

// alike reports whether all GPUs are of one kind, so that it does not matter
// which of them a number means.
func alike(targets []Target) bool {
	var first *Target
	for i := range targets {
		switch t := &targets[i]; {
		case t.MIG:
		case first == nil:
			first = t
		case t.Name != first.Name || t.CC != first.CC:
			return false
		}
	}
	return true
}
