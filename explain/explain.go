// Package explain tells image by image why something runs on a GPU or not. It
// makes one value from opened files, as package report does for coverage, and
// writes it for people and for programs.
package explain

import (
	"io"
	"slices"
	"strings"

	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
	"fatview/index"
	"fatview/report"
)

// Schema is the name of the JSON form.
const Schema = "fatview/explain/1"

// An Explanation is told for files, GPUs and, if asked, kernels of a name.
type Explanation struct {
	Schema  string       `json:"schema"`
	GPUs    []report.GPU `json:"gpus"`
	Kernel  string       `json:"kernel"`  // the part of a name asked for, "" all
	Matched int          `json:"matched"` // kernels that have it
	Files   []File       `json:"files"`
	Advice  []Advice     `json:"advice"` // one for each file told
	Rules   []Rule       `json:"rules"`  // those that decided, in order
}

// File is one file on one GPU.
type File struct {
	Path    string  `json:"path"`
	GPU     int     `json:"gpu"`
	Verdict string  `json:"verdict"`
	Reason  string  `json:"reason"`
	Least   *string `json:"min_driver"`
	Windows *string `json:"min_driver_windows"`
	// Confirmed is false where that driver is expected rather than seen.
	Confirmed bool `json:"min_driver_confirmed"`
	// JITKernels and JITBytes are what the driver compiles at first use: at
	// most all of it, as containers are loaded when they are needed.
	JITKernels int     `json:"jit_kernels"`
	JITBytes   int64   `json:"jit_bytes"` // of PTX text
	Groups     []Group `json:"groups"`
}

// Group is one or more containers with the same images and the same answer.
type Group struct {
	Containers []string `json:"containers"` // labels, or "container N"
	Kernels    []Kernel `json:"kernels"`    // only if kernels were asked for
	Verdict    string   `json:"verdict"`
	Reason     string   `json:"reason"`
	Rule       string   `json:"rule"`
	Error      *Error   `json:"error"` // what a user sees; null where it runs
	Images     []Image  `json:"images"`
}

// Kernel is one kernel of the name asked for.
type Kernel struct {
	Name      string `json:"name"`      // as in the file
	Demangled string `json:"demangled"` // with parameters
	Verdict   string `json:"verdict"`
	Error     *Error `json:"error"` // what a launch gives; null where it runs or the container's own error comes first
}

// Error is a CUDA error.
type Error struct {
	Code int    `json:"code"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// Image is what became of one image.
type Image struct {
	Arch  string `json:"arch"`
	Kind  string `json:"kind"`
	Taken bool   `json:"taken"`
	Why   string `json:"why"`
	Rule  string `json:"rule"`
}

// Rule is a rule that decided, with its sources.
type Rule struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Sources   string `json:"sources"`
	Confirmed bool   `json:"confirmed"`
	Note      string `json:"note"`
}

// Build explains files for GPUs from what is decoded by now. kernel is a part
// of a name, mangled or not; "" tells all containers.
func Build(files []*index.File, targets []gpu.Target, kernel string) *Explanation {
	e := &Explanation{Schema: Schema, GPUs: report.Build(nil, targets).GPUs, Kernel: kernel, Files: []File{}, Advice: []Advice{}, Rules: []Rule{}}
	used := map[coverage.Rule]bool{}
	for _, f := range files {
		match := matches(f, kernel)
		for _, m := range match {
			e.Matched += len(m)
		}
		if kernel != "" && len(match) == 0 {
			continue
		}
		cov := f.Coverage()
		for g, t := range targets {
			target := report.Target(t)
			if coverage.Impossible(target) != "" {
				continue
			}
			e.Files = append(e.Files, newFile(f, g, cov, target, match, kernel != "", used))
		}
		e.Advice = append(e.Advice, newAdvice(f.Path, cov, targets))
	}
	for _, i := range coverage.Rules() {
		if used[i.Rule] {
			e.Rules = append(e.Rules, Rule{i.ID, i.Title, i.Sources, i.Confirmed, i.Note})
		}
	}
	return e
}

// matches returns, by container, the kernels whose name holds the part.
func matches(f *index.File, part string) map[int][]string {
	out := map[int][]string{}
	if part == "" {
		return out
	}
	part = strings.ToLower(part)
	for i, c := range f.Containers {
		d := c.Decoded()
		if d == nil {
			continue
		}
		seen := map[string]bool{}
		for _, im := range d.Images {
			for _, k := range im.Kernels {
				if seen[k.Name] {
					continue
				}
				seen[k.Name] = true
				if strings.Contains(strings.ToLower(k.Name), part) || strings.Contains(strings.ToLower(fatbin.FullName(k.Name)), part) {
					out[i] = append(out[i], k.Name)
				}
			}
		}
	}
	return out
}

func newFile(f *index.File, g int, cov []coverage.FileContainer, t coverage.Target, match map[int][]string, only bool, used map[coverage.Rule]bool) File {
	res := coverage.JudgeFile(cov, t)
	out := File{Path: f.Path, GPU: g, Verdict: res.Verdict.String(), Reason: res.Reason(cov, t), Confirmed: coverage.LeastConfirmed(res.Needs), Groups: []Group{}}
	linux, windows := coverage.LeastDriver(res.Needs)
	if linux != "" {
		out.Least = &linux
	}
	if windows != "" {
		out.Windows = &windows
	}
	groups := map[string]int{}
	for i, r := range res.Results {
		if r.Verdict == coverage.JIT {
			out.JITKernels += jitKernels(cov[i], r)
			out.JITBytes += jitBytes(cov, i, r)
		}
		if only && match[i] == nil {
			continue
		}
		group := newGroup(cov[i].Container, r, t, used)
		group.Kernels = kernelsOf(f.Containers[i], r, match[i])
		title := containerTitle(f.Containers[i])
		key := group.key()
		if at, ok := groups[key]; ok {
			out.Groups[at].Containers = append(out.Groups[at].Containers, title)
			out.Groups[at].Kernels = append(out.Groups[at].Kernels, group.Kernels...)
			continue
		}
		group.Containers = []string{title}
		groups[key] = len(out.Groups)
		out.Groups = append(out.Groups, group)
	}
	return out
}

func containerTitle(c *index.Container) string {
	x := report.Container{ID: c.ID, Label: c.Label()}
	return x.Title()
}

func jitKernels(c coverage.FileContainer, r coverage.Result) int {
	switch {
	case c.Kernels == nil:
		return 0
	case r.Image < 0: // linked again: all of it
		return c.Kernels.Total
	}
	return c.Kernels.In[r.Image]
}

// jitBytes is the PTX that is compiled: the image taken, or for a new link the
// PTX of every input.
func jitBytes(cov []coverage.FileContainer, i int, r coverage.Result) int64 {
	if r.Image >= 0 {
		return cov[i].Images[r.Image].Bytes
	}
	var n int64
	for _, c := range cov {
		if !c.Input {
			continue
		}
		var most int64
		for _, im := range c.Images {
			if im.Kind == fatbin.KindPTX {
				most = max(most, im.Bytes)
			}
		}
		n += most
	}
	return n
}

func newGroup(c coverage.Container, r coverage.Result, t coverage.Target, used map[coverage.Rule]bool) Group {
	g := Group{Verdict: verdictWord(r), Reason: r.Reason(c, t), Rule: r.Rule.String(), Images: []Image{}, Kernels: []Kernel{}}
	if e, ok := r.Error(); ok {
		g.Error = &Error{e.Code, e.Name, e.Text}
	}
	if r.Rule != coverage.RuleNone {
		used[r.Rule] = true
	}
	for _, s := range r.Steps {
		used[s.Rule] = true
		if s.Refusal == coverage.Outranked {
			used[coverage.RuleChoice] = true
		}
		im := c.Images[s.Image]
		g.Images = append(g.Images, Image{
			Arch: im.Name(), Kind: im.Kind.String(), Taken: s.Image == r.Image, Why: s.Why(im, t), Rule: s.Rule.String(),
		})
	}
	return g
}

// verdictWord calls an input of a device link by that word: it has no verdict.
func verdictWord(r coverage.Result) string {
	if r.Verdict == coverage.Unknown {
		return "input"
	}
	return r.Verdict.String()
}

// kernelsOf gives the kernels asked for their own verdicts, those that are not
// served first.
func kernelsOf(c *index.Container, r coverage.Result, names []string) []Kernel {
	out := []Kernel{}
	v := r.Verdict
	var held map[string]bool // of the chosen image, where it decides
	if d := c.Decoded(); len(names) > 0 && d != nil && r.Image >= 0 && (v.Served() || v == coverage.Driver) {
		held = make(map[string]bool, len(d.Images[r.Image].Kernels))
		for _, k := range d.Images[r.Image].Kernels {
			held[k.Name] = true
		}
	}
	for _, n := range names {
		k := Kernel{Name: n, Demangled: fatbin.FullName(n), Verdict: v.String()}
		if held != nil && !held[n] {
			e := coverage.MissingKernelError()
			k.Verdict, k.Error = coverage.Missing.String(), &Error{e.Code, e.Name, e.Text}
		}
		out = append(out, k)
	}
	missing := coverage.Missing.String()
	slices.SortStableFunc(out, func(a, b Kernel) int {
		switch {
		case a.Verdict == missing && b.Verdict != missing:
			return -1
		case b.Verdict == missing && a.Verdict != missing:
			return 1
		}
		return 0
	})
	return out
}

// key is equal for containers that are told together.
func (g Group) key() string {
	var b strings.Builder
	b.WriteString(g.Verdict + "\x00" + g.Reason)
	for _, im := range g.Images {
		b.WriteString("\x00" + im.Arch + " " + im.Why)
	}
	return b.String()
}

// JSON writes the explanation for programs.
func JSON(w io.Writer, e *Explanation) error {
	return report.EncodeJSON(w, e)
}
