package sizes

import (
	"cmp"
	"context"
	"slices"

	"fatview/arch"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
	"fatview/index"
)

// archKey tells apart what is counted as one architecture.
type archKey struct {
	arch arch.Arch
	name string // sm_90a or compute_90
	kind string
}

func keyOf(im *fatbin.Image) archKey { return archKey{im.Arch, im.ArchName(), im.Kind.String()} }

// label is sm_90a and compute_90, with the kind where that is neither SASS nor
// PTX.
func (k archKey) label() string {
	if k.kind == "sass" || k.kind == "ptx" {
		return k.name
	}
	return k.name + " " + k.kind
}

// compare puts SASS first, then PTX, then the rest.
func (k archKey) compare(o archKey) int {
	rank := func(s string) int { return slices.Index([]string{"ptx", "sass"}, s) }
	if c := cmp.Compare(rank(o.kind), rank(k.kind)); c != 0 {
		return c
	}
	switch {
	case k.arch.Less(o.arch):
		return -1
	case o.arch.Less(k.arch):
		return 1
	}
	return cmp.Compare(k.kind, o.kind)
}

// An Effect is what GPUs of one capability would have without an architecture,
// of which they run something now.
type Effect struct {
	CC         string    `json:"cc"`
	Before     string    `json:"before"` // verdict of the file
	After      string    `json:"after"`
	Containers int       `json:"containers"` // that run it now
	Instead    []Instead `json:"instead"`    // what those would run
}

// Instead is what some containers would run.
type Instead struct {
	Verdict    string `json:"verdict"` // native, jit, driver; missing and the like: nothing
	Image      string `json:"image"`   // sm_80, compute_80; "" for nothing
	Containers int    `json:"containers"`
}

// effects judges the file with each architecture left out, for every capability
// of the table and any driver that can drive it.
func effects(ctx context.Context, f *index.File, out *File) {
	cov := f.Coverage()
	for _, cc := range gpu.Capabilities() {
		t := coverage.Target{CC: cc}
		before := coverage.JudgeFile(cov, t)
		for i := range out.Archs {
			if ctx.Err() != nil {
				return
			}
			key := out.Archs[i].order
			users := usersOf(f, before, key)
			if len(users) == 0 {
				continue
			}
			after := coverage.JudgeFile(without(f, cov, key), t)
			e := Effect{CC: cc.String(), Before: before.Verdict.String(), After: after.Verdict.String(), Containers: len(users)}
			e.Instead = instead(f, after, users)
			out.Archs[i].Without = append(out.Archs[i].Without, e)
		}
	}
}

// usersOf returns the containers that run an image of the architecture.
func usersOf(f *index.File, res coverage.FileResult, key archKey) (users []int) {
	for i, r := range res.Results {
		if r.Image >= 0 && runs(r.Verdict) && keyOf(f.Containers[i].Images[r.Image]) == key {
			users = append(users, i)
		}
	}
	return users
}

func runs(v coverage.Verdict) bool {
	return v == coverage.Native || v == coverage.JIT || v == coverage.Driver
}

// without returns the containers with the images of an architecture turned into
// something that no driver loads, so that the others keep their numbers. A
// container that holds no kernels at all stays as it is.
func without(f *index.File, cov []coverage.FileContainer, key archKey) []coverage.FileContainer {
	out := slices.Clone(cov)
	for i, c := range f.Containers {
		full := slices.ContainsFunc(cov[i].Images, func(im coverage.Image) bool { return im.Kernels != 0 })
		cloned := false
		for j, im := range c.Images {
			if !full || keyOf(im) != key {
				continue
			}
			if !cloned {
				out[i].Images = slices.Clone(cov[i].Images)
				cloned = true
			}
			out[i].Images[j] = coverage.Image{Kind: fatbin.KindIndex, Arch: im.Arch, Kernels: 0}
		}
	}
	return out
}

// instead counts what the given containers would run.
func instead(f *index.File, res coverage.FileResult, users []int) []Instead {
	var out []Instead
	for _, i := range users {
		r := res.Results[i]
		in := Instead{Verdict: r.Verdict.String()}
		if runs(r.Verdict) && r.Image >= 0 {
			in.Image = f.Containers[i].Images[r.Image].ArchName()
		}
		at := slices.IndexFunc(out, func(o Instead) bool { return o.Verdict == in.Verdict && o.Image == in.Image })
		if at < 0 {
			at = len(out)
			out = append(out, in)
		}
		out[at].Containers++
	}
	slices.SortStableFunc(out, func(a, b Instead) int { return cmp.Compare(b.Containers, a.Containers) })
	return out
}
