package doctor

import (
	"strings"

	"fatview/gpu"
)

// answer to a demand.
type answer int

const (
	no answer = iota
	maybe
	yes
)

// demand knows what the conditions of NVIDIA_REQUIRE_… speak of.
type demand struct {
	cuda, driver string
	known        bool
}

// meets evaluates a value such as "cuda>=12.8 brand=tesla,driver>=535,driver<536":
// the parts between spaces are alternatives, the conditions between commas must
// all hold. Brand and architecture are not looked up, so they may hold.
func (d demand) meets(value string) answer {
	best := no
	fields := strings.Fields(value)
	if len(fields) == 0 {
		return yes
	}
	for _, alternative := range fields {
		all := yes
		for condition := range strings.SplitSeq(alternative, ",") {
			all = min(all, d.holds(condition))
		}
		best = max(best, all)
	}
	return best
}

// holds evaluates one condition.
func (d demand) holds(condition string) answer {
	i := strings.IndexAny(condition, "<>=!")
	if i < 0 {
		return maybe
	}
	name, rest := strings.TrimSpace(condition[:i]), condition[i:]
	value := strings.TrimLeft(rest, "<>=!")
	op := rest[:len(rest)-len(value)]
	var have string
	switch name {
	case "cuda":
		have = d.cuda
	case "driver":
		have = d.driver
	}
	if have == "" || !d.known || value == "" {
		return maybe
	}
	c := gpu.CompareVersions(have, value)
	var ok bool
	switch op {
	case ">=":
		ok = c >= 0
	case ">":
		ok = c > 0
	case "<=":
		ok = c <= 0
	case "<":
		ok = c < 0
	case "=", "==":
		ok = c == 0
	case "!=":
		ok = c != 0
	default:
		return maybe
	}
	if ok {
		return yes
	}
	return no
}

// shortDemand is the first alternative, which is the plain one in NVIDIA's
// images, and how many more there are.
func shortDemand(value string) string {
	fields := strings.Fields(value)
	if len(fields) < 2 {
		return value
	}
	return fields[0] + " (or others for certain GPUs)"
}
