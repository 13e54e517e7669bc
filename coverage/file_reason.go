package coverage

import (
	"fmt"
	"sort"
	"strings"
)

// Reason returns the verdict of a file as one sentence without full stop.
func (f FileResult) Reason(containers []FileContainer, t Target) string {
	n := f.Containers.Total()
	switch {
	case len(containers) == 0:
		return "no device code"
	case n == 0:
		return "no kernels on any architecture"
	}
	var parts []string
	switch f.Verdict {
	case None:
		parts = append(parts, f.noneReason(containers, t))
	case Driver:
		parts = append(parts, f.pick(containers, t, Driver))
		if f.Containers.Missing > 0 {
			parts = append(parts, "and whatever the driver, "+f.missingReason(containers, t))
		}
	case Native, JIT, Mixed:
		parts = append(parts, f.servedReason(containers, t))
	case Partial:
		parts = append(parts, f.servedReason(containers, t))
		if f.Containers.Driver > 0 {
			parts = append(parts, counted(f.Containers.Driver, n, "container")+" "+plural(f.Containers.Driver, "waits", "wait")+" for a driver: "+f.pick(containers, t, Driver))
		}
		if f.Containers.Missing > 0 {
			parts = append(parts, f.missingReason(containers, t))
		}
	}
	if f.Containers.Specialised > 0 && f.Verdict != None {
		parts = append(parts, counted(f.Containers.Specialised, n, "container")+" "+plural(f.Containers.Specialised, "is", "are")+" specialised for other hardware")
	}
	if holes := f.Kernels.Missing - f.Uncovered; holes > 0 && f.Verdict != None {
		parts = append(parts, fmt.Sprintf("%s of %s kernels %s missing from the chosen images", Number(holes), Number(f.Kernels.Total()), plural(holes, "is", "are")))
	}
	if f.Inputs > 0 {
		parts = append(parts, quantity(f.Inputs, "relocatable container")+" "+plural(f.Inputs, "is an input", "are inputs")+" of the device link")
	}
	if f.AsIfLinked {
		parts = append(parts, "judged as if its relocatable code were linked")
	}
	return strings.Join(parts, "; ")
}

// servedReason names the images that serve, most used first.
func (f FileResult) servedReason(containers []FileContainer, t Target) string {
	type use struct {
		name string
		sass bool
		n    int
	}
	uses := map[string]*use{}
	relinked := 0
	for i, r := range f.Results {
		if r.Verdict != Native && r.Verdict != JIT {
			continue
		}
		if r.Relink {
			relinked++
			continue
		}
		im := containers[i].Images[r.Image]
		u := uses[im.Name()]
		if u == nil {
			u = &use{name: im.Name(), sass: im.sass()}
			uses[im.Name()] = u
		}
		u.n++
	}
	order := make([]*use, 0, len(uses))
	for _, u := range uses {
		order = append(order, u)
	}
	sort.Slice(order, func(i, j int) bool {
		if order[i].n != order[j].n {
			return order[i].n > order[j].n
		}
		return order[i].name < order[j].name
	})
	var sass, ptx []string
	for _, u := range order {
		s := u.name
		if len(order) > 1 {
			s += " (" + Number(u.n) + ")"
		}
		if u.sass {
			sass = append(sass, s)
		} else {
			ptx = append(ptx, s)
		}
	}
	var parts []string
	if len(sass) > 0 {
		parts = append(parts, list(sass)+" "+plural(len(sass), "runs", "run")+" on "+t.CC.String())
	}
	if len(ptx) > 0 {
		parts = append(parts, list(ptx)+" "+plural(len(ptx), "is", "are")+" compiled for "+t.CC.String()+" at first use")
	}
	if relinked > 0 {
		parts = append(parts, relinkReason(Result{Verdict: JIT}, t))
	}
	s := strings.Join(parts, ", ")
	for _, r := range f.Results {
		if r.Verdict == Native && r.Rule == RuleOrin && !t.Driver.Known() {
			return s + ", with a driver of R595 (CUDA 13.2) or newer"
		}
		if r.Verdict.Served() && !r.Relink && !r.Rule.Info().Confirmed {
			return s + " (not confirmed)"
		}
	}
	return s
}

// pick returns the reason of the container with a verdict that asks for the
// newest driver.
func (f FileResult) pick(containers []FileContainer, t Target, v Verdict) string {
	best := -1
	for i, r := range f.Results {
		if r.Verdict == v && (best < 0 || f.Results[best].Needs.Less(r.Needs)) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return f.Results[best].Reason(containers[best].Container, t)
}

func (f FileResult) missingReason(containers []FileContainer, t Target) string {
	var all *refusalTally
	for i, r := range f.Results {
		if r.Verdict == Missing {
			all = tally(all, containers[i].Container, r)
		}
	}
	s := counted(f.Containers.Missing, f.Containers.Total(), "container") + " " + plural(f.Containers.Missing, "has", "have") + " no code for " + t.CC.String()
	if f.KernelsKnown {
		s += fmt.Sprintf(" (%s of %s kernels)", Number(f.Uncovered), Number(f.Kernels.Total()))
	}
	_, why, _ := strings.Cut(noImage(all, t), ": ")
	return s + ": " + why
}

// noneReason speaks of all containers, empty ones too: a library that lists an
// architecture and holds nothing for it deserves the word.
func (f FileResult) noneReason(containers []FileContainer, t Target) string {
	var all *refusalTally
	for i, r := range f.Results {
		if r.Verdict != Unknown {
			all = tally(all, containers[i].Container, r)
		}
	}
	s := noImage(all, t)
	if f.Containers.Missing == 0 {
		s += "; specialised for other hardware"
	}
	return s
}
