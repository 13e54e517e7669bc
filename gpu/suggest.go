package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fatview/arch"
)

// AmbiguousError says that a name is that of products with different compute
// capabilities, so that no answer would be right for all of them.
type AmbiguousError struct {
	Query      string
	Candidates []Product
}

// Error shows one candidate for each capability, the one with the shortest
// name: what the user has to decide is between capabilities.
func (e *AmbiguousError) Error() string {
	const most = 8
	var shown []Product
	for _, p := range e.Candidates {
		i := slices.IndexFunc(shown, func(q Product) bool { return q.CC == p.CC })
		switch {
		case i < 0 && len(shown) < most:
			shown = append(shown, p)
		case i >= 0 && len(p.Name) < len(shown[i].Name):
			shown[i] = p
		}
	}
	var names []string
	for _, p := range shown {
		names = append(names, fmt.Sprintf("%s (%s)", p.Name, p.CC))
	}
	if more := len(e.Candidates) - len(shown); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	msg := fmt.Sprintf("%q can be several GPUs: %s", clip(e.Query), strings.Join(names, ", "))
	if len(shown) > 0 {
		msg += fmt.Sprintf("; write more of the name, or its compute capability, such as %s", shown[0].CC)
	}
	return msg
}

// UnknownError says that nothing in the tables matches, and what comes close.
type UnknownError struct {
	Query       string
	Suggestions []string

	capability bool // Query is a number, and the suggestions are capabilities
}

func (e *UnknownError) Error() string {
	if e.capability {
		return fmt.Sprintf("%q is no compute capability and no GPU in the catalogue; the nearest capabilities are %s", clip(e.Query), strings.Join(e.Suggestions, ", "))
	}
	msg := fmt.Sprintf("%q is no GPU in the catalogue", clip(e.Query))
	if len(e.Suggestions) > 0 {
		return msg + "; did you mean " + strings.Join(e.Suggestions, ", ") + "?"
	}
	return msg + "; write a name such as RTX 4090, a compute capability such as 9.0, or all"
}

const maxSuggestions = 4

// suggest returns the product and family names that differ least from a query,
// or else those that contain it where the search would not look, within a
// number: "rtx 50" gets RTX 5060.
func suggest(query string) []string {
	full, short := normalise(query).key, normalise(query, "geforce").key
	if full == "" || len(full) > maxName {
		return nil
	}
	type near struct {
		name     string
		distance int
		cc       arch.CC
	}
	// A third of the letters may be wrong, and at most three.
	limit := max(1, min(3, len(full)/3))
	var found []near
	add := func(name string, cc arch.CC, distance int) {
		if distance <= limit {
			found = append(found, near{name, distance, cc})
		}
	}
	for _, e := range catalogue() {
		add(e.Name, e.CC, min(distance(full, e.full.key, limit), distance(short, e.short.key, limit)))
	}
	for _, info := range archTable() {
		add(info.Family, info.Arch.CC, distance(full, normalise(info.Family).key, limit))
	}
	if len(found) == 0 {
		for _, e := range catalogue() {
			if len(full) > 1 && strings.Contains(e.full.key, full) {
				found = append(found, near{e.Name, 0, e.CC})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b near) int {
		return cmp.Or(a.distance-b.distance, len(a.name)-len(b.name), int(b.cc)-int(a.cc))
	})
	var out []string
	for _, n := range found {
		// What is further off than the best looks alike by chance.
		if n.distance == found[0].distance && !slices.Contains(out, n.name) && len(out) < maxSuggestions {
			out = append(out, n.name)
		}
	}
	return out
}

// nearestCapabilities returns the capabilities around one that does not exist.
func nearestCapabilities(cc arch.CC) []string {
	caps := Capabilities()
	slices.SortStableFunc(caps, func(a, b arch.CC) int { return away(a, cc) - away(b, cc) })
	var out []string
	for _, c := range caps[:min(3, len(caps))] {
		out = append(out, c.String())
	}
	return out
}

func away(a, b arch.CC) int { return max(int(a)-int(b), int(b)-int(a)) }

// distance counts the letters to insert, delete, change or swap with their
// neighbour to get from a to b; more than limit is returned as limit+1. A swap
// counts once, because "5900" for "5090" is the commonest slip in a number.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}
