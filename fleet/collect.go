package fleet

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fatview/arch"
	"fatview/gpu"
)

// told is what a source says of some GPUs, before anyone has judged it. Empty
// texts and those that say "not available" are not told.
type told struct {
	where  string // for problems
	line   int    // instead of where, in formats that go by lines
	host   string
	name   string // may hold a MIG profile and marks of sharing
	cc     string // "8.6"
	driver string
	cuda   string // "12.2"
	mig    string // a profile, or "MIG"
	count  int
}

// place is where a problem is. It is only made when there is one.
func (t *told) place() string {
	if t.line > 0 {
		return fmt.Sprintf("line %d", t.line)
	}
	return t.where
}

// collector makes entries and problems of what a reader finds.
type collector struct {
	format   string
	entries  []Entry
	problems []Problem

	limits bounds
	names  map[string]found
	parts  map[string][2]string // of names that splitProfile has cut
	known  map[string]string    // every text kept once, so that no line stays alive
	seen   map[problemID]int    // index into problems
	begin  int                  // the first entry of the last host
}

type problemID struct {
	message string
	left    bool
}

// found is the catalogue's answer to a name.
type found struct {
	gpu.Product
	exact bool
	err   error
}

func newCollector(b bounds) *collector {
	return &collector{limits: b, parts: map[string][2]string{}, names: map[string]found{}, known: map[string]string{}, seen: map[problemID]int{}}
}

// problem tells something; left says that GPUs are left out because of it.
func (c *collector) problem(where string, left bool, format string, args ...any) {
	id := problemID{fmt.Sprintf(format, args...), left}
	if i, ok := c.seen[id]; ok {
		c.problems[i].More++
		return
	}
	if len(c.problems) >= maxTold {
		where, id.message = "", "there are more problems, which are not listed"
		if i, ok := c.seen[id]; ok {
			c.problems[i].More++
			return
		}
	}
	c.seen[id] = len(c.problems)
	c.problems = append(c.problems, Problem{Where: clip(where), Message: id.message, Left: left})
}

// add takes in some GPUs. What cannot be is a problem; the error is only for
// bounds.
func (c *collector) add(t told) error {
	for _, s := range []*string{&t.host, &t.name, &t.cc, &t.driver, &t.cuda, &t.mig} {
		*s = value(*s)
		if len(*s) > maxText {
			c.problem(t.place(), true, "a text of %d bytes is no name, host or version", len(*s))
			return nil
		}
	}
	if t.count < 1 || t.count > maxCount {
		c.problem(t.place(), true, "a count of %d GPUs is out of range", t.count)
		return nil
	}
	name, profile := c.split(t.name)
	if t.mig == "" || t.mig == unknownProfile && profile != "" {
		t.mig = profile
	}
	e := Entry{Host: c.keep(t.host), Name: c.keep(name), MIG: c.keep(t.mig), Count: t.count}
	if !c.identify(&e, t) {
		return nil
	}
	c.driver(&e, t)
	return c.put(e)
}

// identify sets the capability and the product. It is false if nobody knows
// the capability.
func (c *collector) identify(e *Entry, t told) bool {
	if e.Name == "" && t.cc == "" {
		c.problem(t.place(), true, "neither a name nor a compute capability is given")
		return false
	}
	var f found
	if e.Name != "" {
		f = c.lookup(e.Name)
	}
	if t.cc != "" {
		a, err := arch.Parse(t.cc)
		// "12" would be 1.2, and whoever wrote it meant 12.0.
		if short := !strings.Contains(t.cc, ".") && a.CC < 20; err != nil || a.Suffix != 0 || short {
			c.problem(t.place(), f.CC == 0, "%q is no compute capability: write it like 8.6", clip(t.cc))
		} else {
			e.CC = a.CC
		}
	}
	switch {
	case e.CC == 0 && f.CC == 0:
		if f.err != nil {
			c.problem(t.place(), true, "%v", f.err)
		}
		return false
	case e.CC == 0:
		e.CC = f.CC
	default:
		f = c.compare(e, t, f)
	}
	switch {
	case f.CC != 0:
		e.Product = f.Name
	case e.Name != "":
		e.Product = c.keep(bare(e.Name))
	default:
		e.Product = "CC " + e.CC.String()
	}
	return true
}

// compare holds the capability that the source tells against the catalogue's.
// It returns what the catalogue has to say to the name under that capability:
// nothing, unless the whole name is in it.
func (c *collector) compare(e *Entry, t told, f found) found {
	var several *gpu.AmbiguousError
	if errors.As(f.err, &several) && f.exact {
		for _, p := range several.Candidates {
			if p.CC == e.CC {
				return found{Product: p, exact: true}
			}
		}
	}
	if f.CC == e.CC && f.exact {
		return f
	}
	if f.exact && f.CC != 0 {
		c.problem(t.place(), false, "%s says compute capability %s of %q and the catalogue says %s: %s counts", c.format, e.CC, clip(e.Name), f.CC, e.CC)
	}
	return found{}
}

// split is splitProfile, with a memory for the names that come again and again.
func (c *collector) split(name string) (product, profile string) {
	if p, ok := c.parts[name]; ok {
		return p[0], p[1]
	}
	product, profile = splitProfile(name)
	if len(c.parts) < maxNames {
		c.parts[c.keep(name)] = [2]string{c.keep(product), c.keep(profile)}
	}
	return product, profile
}

// lookup asks the catalogue, once for each name. A name takes a millisecond if
// nothing matches, so there is a bound on how many are asked for.
func (c *collector) lookup(name string) found {
	if f, ok := c.names[name]; ok {
		return f
	}
	var f found
	if len(c.names) >= maxNames {
		return found{err: fmt.Errorf("after %d different names no more are looked up", maxNames)}
	}
	f.Product, f.exact, f.err = gpu.Lookup(bare(name))
	c.names[c.keep(name)] = f
	return f
}

// driver sets the driver's versions, or tells that they are none.
func (c *collector) driver(e *Entry, t told) {
	if t.driver != "" {
		if gpu.Reported(t.driver, arch.Version{}).Known() {
			e.Driver = c.keep(strings.TrimLeft(t.driver, "rR"))
		} else {
			c.problem(t.place(), false, "%q is no driver version: the driver counts as unknown", clip(t.driver))
		}
	}
	if t.cuda != "" {
		v, err := arch.ParseVersion(t.cuda)
		if err != nil || v.Major < 1 {
			c.problem(t.place(), false, "%q is no CUDA version: it is ignored", clip(t.cuda))
			return
		}
		e.CUDA = v
	}
}

// put appends an entry, or adds it to an equal one of the same host.
func (c *collector) put(e Entry) error {
	if n := len(c.entries); n > 0 && c.entries[n-1].Host != e.Host {
		c.begin = n
	}
	const most = 64 // kinds of GPU in one host; what is missed is folded later
	for i := max(c.begin, len(c.entries)-most); i < len(c.entries); i++ {
		same := e
		same.Count = c.entries[i].Count
		if same == c.entries[i] && same.Count+e.Count <= maxCount {
			c.entries[i].Count += e.Count
			return nil
		}
	}
	if len(c.entries) >= c.limits.entries {
		return fmt.Errorf("more than %d entries: %w", c.limits.entries, ErrLarge)
	}
	c.entries = append(c.entries, e)
	return nil
}

// keep returns the one copy of a text.
func (c *collector) keep(s string) string {
	if k, ok := c.known[s]; ok {
		return k
	}
	k := strings.Clone(s)
	c.known[k] = k
	return k
}

// nothing are the ways in which sources say that they do not know.
var nothing = []string{"n/a", "[n/a]", "[not supported]", "not supported", "[unknown error]", "unknown error", "[insufficient permissions]", "none", "(null)", "unknown", "-"}

// value returns a text without the spaces around it, "" if it says nothing.
func value(s string) string {
	s = strings.TrimSpace(s)
	for _, n := range nothing {
		if strings.EqualFold(n, s) {
			return ""
		}
	}
	return s
}

// number reads a count; what is none is -1, which add refuses.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n > maxCount || n < 0 {
		return -1
	}
	return n
}

// clip shortens a text of the source for a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
