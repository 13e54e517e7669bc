package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fatview/arch"
)

// Target is a GPU that files are judged for: one of this machine, a product, or
// just a compute capability.
type Target struct {
	Name   string
	CC     arch.CC
	Driver Driver // unknown unless the GPU was detected
	// Source is one of the constants below, or the format of the inventory
	// that listed the GPU.
	Source string
	UUID   string // "GPU-…" or "MIG-…"; "" unless the driver told it
	MIG    bool   // a slice of a GPU, which is listed before its slices
	Index  int    // the driver's number of a detected GPU, a slice has its parent's
	Hidden bool   // CUDA_VISIBLE_DEVICES keeps programs from seeing it

	// Count is how many equal GPUs this one stands for, and Hosts names the
	// machines they are in, each once. Only inventories set them: 0 means 1.
	Count int
	Hosts []string

	// ForceJIT and DisableJIT say that programs run under CUDA_FORCE_PTX_JIT
	// or CUDA_DISABLE_PTX_JIT: all SASS or all PTX is ignored.
	ForceJIT, DisableJIT bool
}

// Title returns the name, and how many of it there are if there are several:
// "RTX 3090 × 48". Nothing in it is escaped.
func (t Target) Title() string {
	if t.Count > 1 {
		return fmt.Sprintf("%s × %d", t.Name, t.Count)
	}
	return t.Name
}

// The values of Target.Source for GPUs that no inventory listed.
const (
	SourceNVML       = "nvml"
	SourceSMI        = "nvidia-smi"
	SourceProc       = "proc" // the kernel module's files below /proc
	SourcePCI        = "pci"  // the PCI bus: no driver told of the GPU
	SourceDeviceTree = "device-tree"
	SourceCatalogue  = "catalogue"
	SourceCapability = "capability"
)

// maxSpec bounds what Parse reads; a list of every capability has 200 bytes.
const maxSpec = 16 << 10

// Parse reads what users write to name GPUs: items with commas between them,
// each a name from the catalogue (all of it, or a beginning or part that leaves
// one capability), a capability (9.0, 90, sm_90, sm_90a), a family (hopper), or
// "all", which is every capability in the table. Comparisons (>=8.0, <9.0)
// narrow each other, so ">=8.0,<9.0" is a range. GPUs come in the order of the
// items, each once; the first item that means nothing is the error.
func Parse(spec string) ([]Target, error) {
	if len(spec) > maxSpec {
		return nil, fmt.Errorf("the list of GPUs is longer than %d bytes", maxSpec)
	}
	var out []Target
	var limits []limit
	limitsAt := 0
	for item := range strings.SplitSeq(spec, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if strings.ContainsRune("<>=", rune(item[0])) {
			more, err := parseLimits(item)
			if err != nil {
				return nil, err
			}
			if limits == nil {
				limitsAt = len(out)
			}
			limits = append(limits, more...)
			continue
		}
		targets, err := parseItem(item)
		if err != nil {
			return nil, err
		}
		out = append(out, targets...)
	}
	if limits != nil {
		within, err := capabilitiesWithin(limits)
		if err != nil {
			return nil, err
		}
		out = slices.Insert(out, limitsAt, within...)
	}
	if len(out) == 0 {
		return nil, errors.New("no GPU is named: write a name such as RTX 4090, a compute capability such as 9.0, or all")
	}
	return unique(out), nil
}

func unique(targets []Target) []Target {
	type id struct {
		name string
		cc   arch.CC
	}
	seen := make(map[id]bool, len(targets))
	return slices.DeleteFunc(targets, func(t Target) bool {
		key := id{t.Name, t.CC}
		dup := seen[key]
		seen[key] = true
		return dup
	})
}

func parseItem(item string) ([]Target, error) {
	if strings.EqualFold(item, "all") {
		return capabilityTargets(capabilityTable()), nil
	}
	a, err := arch.Parse(item)
	isArch := err == nil
	if isArch {
		if a.CC == thorBefore13 {
			a.CC = thor
		}
		if slices.Contains(capabilityTable(), a.CC) {
			return capabilityTargets([]arch.CC{a.CC}), nil
		}
		// 210 may be a GeForce 210, but 9.5 and sm_95 are nothing else.
		if strings.ContainsAny(item, "._") {
			return nil, &UnknownError{Query: item, Suggestions: nearestCapabilities(a.CC), capability: true}
		}
	}
	if ccs := family(item); len(ccs) > 0 {
		return capabilityTargets(ccs), nil
	}
	p, err := resolve(item)
	var unknown *UnknownError
	if isArch && errors.As(err, &unknown) {
		unknown.Suggestions, unknown.capability = nearestCapabilities(a.CC), true
	}
	if err != nil {
		return nil, err
	}
	return []Target{{Name: p.Name, CC: p.CC, Source: SourceCatalogue}}, nil
}

func capabilityTargets(ccs []arch.CC) []Target {
	out := make([]Target, len(ccs))
	for i, cc := range ccs {
		out[i] = Target{Name: "CC " + cc.String(), CC: cc, Source: SourceCapability}
	}
	return out
}

// family returns the capabilities of the families whose name is, or begins
// with, the words of a query: "ada" is Ada Lovelace, and "blackwell" includes
// Blackwell Ultra.
func family(query string) []arch.CC {
	q := normalise(query)
	var out []arch.CC
	for _, cc := range capabilityTable() {
		if s := find(q, normalise(FamilyOf(cc))); s.rank <= rankEdge && s.start == 0 {
			out = append(out, cc)
		}
	}
	return out
}

// limit is one comparison with a capability.
type limit struct {
	op string
	cc arch.CC
}

func (l limit) String() string { return l.op + l.cc.String() }

func (l limit) holds(cc arch.CC) bool {
	switch l.op {
	case "<":
		return cc < l.cc
	case "<=":
		return cc <= l.cc
	case ">":
		return cc > l.cc
	case ">=":
		return cc >= l.cc
	}
	return cc == l.cc
}

// parseLimits reads one comparison or several with spaces between them.
func parseLimits(item string) ([]limit, error) {
	var out []limit
	for rest := item; rest != ""; {
		number := strings.TrimLeft(rest, "<>=")
		op := rest[:len(rest)-len(number)]
		number = strings.TrimLeft(number, " ")
		rest = ""
		if i := strings.IndexAny(number, " <>="); i >= 0 {
			number, rest = number[:i], strings.TrimLeft(number[i:], " ")
		}
		cc, ok := limitOperand(number)
		if !ok || !slices.Contains([]string{"<", "<=", ">", ">=", "=", "=="}, op) {
			return nil, fmt.Errorf("%q is not a comparison of compute capabilities: write it like >=8.0 or <9.0", clip(item))
		}
		out = append(out, limit{op, cc})
	}
	return out, nil
}

// limitOperand reads a capability, or just its major part: nobody who writes
// >=8 or >=12 means 0.8 or 1.2.
func limitOperand(s string) (arch.CC, bool) {
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n < 20 {
		return arch.CC(10 * n), true
	}
	a, err := arch.Parse(s)
	if a.CC == thorBefore13 {
		a.CC = thor
	}
	return a.CC, err == nil
}

func capabilitiesWithin(limits []limit) ([]Target, error) {
	ccs := slices.DeleteFunc(Capabilities(), func(cc arch.CC) bool {
		return slices.ContainsFunc(limits, func(l limit) bool { return !l.holds(cc) })
	})
	if len(ccs) == 0 {
		var words []string
		for _, l := range limits {
			words = append(words, l.String())
		}
		return nil, fmt.Errorf("no compute capability is %s", strings.Join(words, " and "))
	}
	return capabilityTargets(ccs), nil
}
