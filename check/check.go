// Package check answers yes or no: are these GPUs served by these files? It is
// made for CI, so it decodes no more payload than the question needs: of a
// container that has code for a GPU only the chosen image, to know that it
// holds kernels; of one that has none all of them, to know whether it is meant
// for other hardware.
package check

import (
	"context"

	"fatview/arch"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
	"fatview/index"
	"fatview/report"
)

// Schema is the name of the JSON form.
const Schema = "fatview/check/1"

// Limits is what a file must satisfy.
type Limits struct {
	Native     bool // JIT is not enough
	Strict     bool // specialised containers count as missing
	MaxMissing int  // containers that may be without code
}

// A Result is the answer for all files and GPUs.
type Result struct {
	Schema string       `json:"schema"`
	OK     bool         `json:"ok"`
	GPUs   []report.GPU `json:"gpus"`
	Lines  []Line       `json:"results"`
	Expect []Expect     `json:"expect"`
}

// Line is the answer for one file on one GPU.
type Line struct {
	Path string `json:"path"`
	GPU  *int   `json:"gpu"` // null for a file without device code
	OK   bool   `json:"ok"`
	// Verdict is that of the report, "impossible" for a driver that cannot
	// drive the GPU, "" for a file without device code.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	// Missing counts containers without code that the limits count.
	Missing int `json:"missing"`
	// Exception is the policy's reason why this file has rules of its own.
	Exception string `json:"exception"`
}

// File checks one file on GPUs and adds the lines to r.
func (r *Result) File(ctx context.Context, f *index.File, targets []gpu.Target, base int, l Limits, exception string) {
	if len(f.Containers) == 0 {
		r.Lines = append(r.Lines, Line{Path: f.Path, OK: true, Reason: "no device code", Exception: exception})
		return
	}
	cov := settle(ctx, f, targets)
	for i, t := range targets {
		g := base + i
		target := report.Target(t)
		line := Line{Path: f.Path, GPU: &g, Exception: exception}
		if p := coverage.Impossible(target); p != "" {
			line.Verdict, line.Reason = "impossible", p
		} else {
			res := coverage.JudgeFile(cov, target)
			line.Verdict, line.Reason = res.Verdict.String(), res.Reason(cov, target)
			line.OK, line.Missing = l.allow(res)
		}
		r.OK = r.OK && line.OK
		r.Lines = append(r.Lines, line)
	}
}

// allow applies the limits to a file's result.
func (l Limits) allow(res coverage.FileResult) (ok bool, missing int) {
	c := res.Containers
	missing = c.Missing + c.Driver
	if l.Strict {
		missing += c.Specialised
	}
	if l.Native {
		missing += c.JIT
	}
	served := c.Native
	if !l.Native {
		served += c.JIT
	}
	// A file that serves nothing fails whatever may be missing; one that
	// holds no kernels at all has nothing to serve.
	return missing <= l.MaxMissing && (served > 0 || c.Total() == 0), missing
}

// settle decodes what the verdicts for the targets depend on, and returns the
// containers with that known.
func settle(ctx context.Context, f *index.File, targets []gpu.Target) []coverage.FileContainer {
	cov := f.Coverage()
	known := map[[2]int]bool{}
	for ctx.Err() == nil {
		want := unsettled(f, cov, targets, known)
		if len(want) == 0 {
			return cov
		}
		read(ctx, f, cov, want)
		for _, w := range want {
			known[w] = true
		}
		setRuntime(f, cov)
	}
	return cov
}

// unsettled lists the images, as container and image, that a verdict depends
// on and that nobody has read.
func unsettled(f *index.File, cov []coverage.FileContainer, targets []gpu.Target, known map[[2]int]bool) [][2]int {
	var want [][2]int
	listed := map[[2]int]bool{}
	ask := func(i, j int) {
		key := [2]int{i, j}
		kind := f.Containers[i].Images[j].Kind
		if known[key] || listed[key] || cov[i].Images[j].Kernels >= 0 || kind != fatbin.KindCubin && kind != fatbin.KindPTX {
			return
		}
		listed[key] = true
		want = append(want, key)
	}
	for _, t := range targets {
		res := coverage.JudgeFile(cov, report.Target(t))
		for i, r := range res.Results {
			switch {
			case r.Verdict == coverage.Unknown && !anyRelinked(res):
			case r.Verdict.Served() && r.Image >= 0:
				ask(i, r.Image)
			default:
				for j := range cov[i].Images {
					ask(i, j)
				}
			}
		}
	}
	return want
}

// anyRelinked reports whether inputs of a device link matter.
func anyRelinked(res coverage.FileResult) bool {
	for _, r := range res.Results {
		if r.Relink {
			return true
		}
	}
	return false
}

// read decodes images, with a worker per processor, and notes what was found.
func read(ctx context.Context, f *index.File, cov []coverage.FileContainer, want [][2]int) {
	index.Each(ctx, len(want), func(i int, dec *fatbin.Decoder) {
		w := want[i]
		im := f.Containers[w[0]].Images[w[1]]
		f.Contents(im, dec).Describe(&cov[w[0]].Images[w[1]])
	})
}

// setRuntime gives containers the runtime linked into the file, where no
// needed library tells and what was read by now names the toolkit.
func setRuntime(f *index.File, cov []coverage.FileContainer) {
	if _, ok := coverage.RuntimeOf(f.Needed); ok || f.Relocatable {
		return
	}
	var newest arch.Version
	for _, c := range cov {
		for _, im := range c.Images {
			if newest.Less(im.Toolkit) {
				newest = im.Toolkit
			}
		}
	}
	for i, c := range f.Containers {
		if c.Linkage != index.Embedded && c.Linkage != index.Loose {
			cov[i].Runtime = coverage.ToolkitRuntime(newest)
		}
	}
}
