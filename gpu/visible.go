package gpu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The rules of CUDA_VISIBLE_DEVICES come from the CUDA programming guide (what
// can be named, that the list ends at the first item that names nothing, that
// the order of the list is that of the devices), from the MIG user guide (how
// many slices a program sees), and, where those are silent, from what PyTorch's
// authors found CUDA to do and wrote into torch/cuda: all items are of the kind
// of the first one, digits at the beginning make a number, and a GPU named twice
// leaves none at all.

// firstManyMIG is the first branch whose programs see a slice of each GPU
// instance, and GPUs without MIG beside them. Before it they see one slice and
// nothing else.
const firstManyMIG = 570

// markHidden sets Hidden on the GPUs that CUDA_VISIBLE_DEVICES keeps from CUDA
// programs: NVML and nvidia-smi list them all the same. It returns the places
// in targets in CUDA's order, nil if that is not known, and a note for the user,
// "" if nothing is hidden.
func markHidden(targets []Target, getenv func(string) (string, bool)) (order []int, note string) {
	value, set := getenv("CUDA_VISIBLE_DEVICES")
	if len(targets) == 0 {
		return nil, ""
	}
	how, _ := getenv("CUDA_DEVICE_ORDER")
	// CUDA numbers the fastest GPU first, the driver by bus address.
	numbered := how == "PCI_BUS_ID" || alike(targets)
	var why string
	if set {
		s := parseVisible(value)
		if s.mig && !slices.ContainsFunc(targets, func(t Target) bool { return t.MIG }) {
			return nil, "CUDA_VISIBLE_DEVICES names MIG slices, which only NVML lists: what it hides is unknown"
		}
		if len(s.ids) > 0 && slices.ContainsFunc(targets, func(t Target) bool { return t.UUID == "" }) {
			return nil, "CUDA_VISIBLE_DEVICES names GPUs by UUID, which are not known here: what it hides is unknown"
		}
		if order, why = s.pick(targets); len(s.numbers) > 0 && !numbered {
			switch {
			case why == twice || len(order) == 0:
			case len(order) == len(devices(targets)):
				return nil, "" // all are visible, in an order that is not known
			default:
				return nil, "CUDA_VISIBLE_DEVICES hides GPUs by number, and CUDA's numbers are not the driver's while CUDA_DEVICE_ORDER is not PCI_BUS_ID: which ones is unknown"
			}
		}
	} else {
		order = devices(targets)
	}
	order, one := oneSlice(order, targets)
	hide(targets, order)
	note = hiddenNote(targets, set, value, why, one)
	if !set && !numbered {
		return nil, note
	}
	return order, note
}

// hide marks what is not in the order. A GPU that a visible slice is part of is
// not hidden.
func hide(targets []Target, order []int) {
	shown := map[int]bool{}
	for _, i := range order {
		shown[targets[i].Index] = true
	}
	for i := range targets {
		t := &targets[i]
		t.Hidden = !slices.Contains(order, i) && (t.MIG || !shown[t.Index])
	}
}

func hiddenNote(targets []Target, set bool, value, why string, one bool) string {
	hidden, gpus := 0, 0
	for _, t := range targets {
		if t.MIG {
			continue
		}
		gpus++
		if t.Hidden {
			hidden++
		}
	}
	switch {
	case one:
		return fmt.Sprintf("with MIG on, drivers before R%d show a program one slice and no other GPU: choose it by CUDA_VISIBLE_DEVICES=MIG-…", firstManyMIG)
	case !set || hidden == 0:
		return ""
	case why != "":
		return fmt.Sprintf("CUDA_VISIBLE_DEVICES=%s hides %d of %d GPUs from CUDA programs: %s", clip(sanitize(value)), hidden, gpus, why)
	}
	return fmt.Sprintf("CUDA_VISIBLE_DEVICES hides %d of %d GPUs from CUDA programs", hidden, gpus)
}

// oneSlice applies what drivers before R570 do with MIG, and reports whether it
// took anything away.
func oneSlice(order []int, targets []Target) ([]int, bool) {
	i := slices.IndexFunc(order, func(i int) bool { return targets[i].MIG })
	if i < 0 || len(order) < 2 {
		return order, false
	}
	if b := targets[order[i]].Driver.Branch; b == 0 || b >= firstManyMIG {
		return order, false
	}
	return order[i : i+1], true
}

// devices lists the places of what CUDA calls a device: a GPU, or instead of it
// its slices. Slices of one GPU instance count as one device for CUDA; which
// ones those are NVML tells too late for it to matter here.
func devices(targets []Target) []int {
	var out []int
	for i, t := range targets {
		if t.MIG || !sliced(targets, t.Index) {
			out = append(out, i)
		}
	}
	return out
}

func sliced(targets []Target, index int) bool {
	return slices.ContainsFunc(targets, func(t Target) bool { return t.MIG && t.Index == index })
}

// selection is a value of CUDA_VISIBLE_DEVICES, read but not looked up.
type selection struct {
	numbers []int
	ids     []string // UUIDs or beginnings of them, all of GPUs or all of slices
	mig     bool     // ids are of slices
	repeats bool
	ended   bool // an item that names nothing ended the list:
	end     string
}

func parseVisible(value string) selection {
	var s selection
	prefix := ""
	for i, item := range strings.Split(value, ",") {
		item = strings.TrimSpace(item)
		if i == 0 {
			for _, p := range []string{"GPU-", "MIG-"} {
				if strings.HasPrefix(item, p) {
					prefix = p
				}
			}
			s.mig = prefix == "MIG-"
		}
		if prefix != "" {
			if slices.Contains(s.ids, item) {
				s.repeats = true
				return s
			}
			if !strings.HasPrefix(item, prefix) {
				s.ended, s.end = true, item
				return s
			}
			s.ids = append(s.ids, item)
			continue
		}
		n, ok := leadingNumber(item)
		if !ok {
			s.ended, s.end = true, item
			return s
		}
		if slices.Contains(s.numbers, n) {
			s.repeats = true
			return s
		}
		s.numbers = append(s.numbers, n)
	}
	return s
}

// leadingNumber reads the digits that an item begins with, as strtoul does:
// "1gpu" is 1. A negative number names nothing.
func leadingNumber(s string) (int, bool) {
	s = strings.TrimPrefix(s, "+")
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == 0 {
		return 0, false
	}
	if n, err := strconv.Atoi(s[:end]); err == nil && n < 1<<20 {
		return n, true
	}
	return 1 << 20, true // more GPUs than there are
}

const twice = "it names a GPU twice, which CUDA answers with none at all"

// pick looks the items up, in order, until one names nothing. why says what cut
// the list short.
func (s selection) pick(targets []Target) (order []int, why string) {
	if s.repeats {
		return nil, twice
	}
	for _, n := range s.numbers {
		found := false
		for i, t := range targets {
			if t.Index == n && (t.MIG || !sliced(targets, n)) {
				order = append(order, i)
				found = true
			}
		}
		if !found {
			return order, fmt.Sprintf("there is no GPU %d, and the list ends there", n)
		}
	}
	for _, id := range s.ids {
		i, problem := match(targets, id, s.mig)
		if problem != "" {
			return order, problem
		}
		for _, p := range place(targets, i) {
			if slices.Contains(order, p) {
				return nil, twice
			}
			order = append(order, p)
		}
	}
	if s.ended && len(s.numbers)+len(s.ids) > 0 {
		why = fmt.Sprintf("the list ends at %q, which names no GPU", clip(sanitize(s.end)))
	}
	return order, why
}

// match finds the one GPU or slice whose UUID begins so.
func match(targets []Target, id string, mig bool) (at int, problem string) {
	at = -1
	for i, t := range targets {
		if t.MIG != mig || !strings.HasPrefix(t.UUID, id) {
			continue
		}
		if at >= 0 {
			return -1, fmt.Sprintf("%s is the beginning of several UUIDs, and the list ends there", clip(sanitize(id)))
		}
		at = i
	}
	if at < 0 {
		return -1, fmt.Sprintf("no GPU has a UUID that begins with %s, and the list ends there", clip(sanitize(id)))
	}
	return at, ""
}

// place returns the devices that a target stands for: itself, or its slices.
func place(targets []Target, i int) []int {
	if targets[i].MIG || !sliced(targets, targets[i].Index) {
		return []int{i}
	}
	var out []int
	for j, t := range targets {
		if t.MIG && t.Index == targets[i].Index {
			out = append(out, j)
		}
	}
	return out
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
