package check

import (
	"slices"
	"strings"

	"fatview/arch"
	"fatview/fatbin"
	"fatview/index"
)

// Expect compares a declared architecture list with what a file holds.
type Expect struct {
	Path      string   `json:"path"`
	OK        bool     `json:"ok"`
	Missing   []string `json:"missing"` // declared and not there
	Extra     []string `json:"extra"`   // there and not declared
	Reason    string   `json:"reason"`
	Exception string   `json:"exception"`
}

// Declared adds to r whether the SASS and PTX of a file are exactly those of a
// list. Relocatable inputs of a device link count as their architectures do:
// a list is what the compiler was told.
func (r *Result) Declared(f *index.File, sass, ptx []arch.Arch, exception string) {
	if len(f.Containers) == 0 {
		return
	}
	want := map[string]arch.Arch{}
	for _, a := range sass {
		want[a.SASS()] = a
	}
	for _, a := range ptx {
		want[a.PTX()] = a
	}
	have := map[string]arch.Arch{}
	for _, c := range f.Containers {
		for _, im := range c.Images {
			if im.Kind == fatbin.KindCubin || im.Kind == fatbin.KindPTX {
				have[im.ArchName()] = im.Arch
			}
		}
	}
	x := Expect{Path: f.Path, Missing: without(want, have), Extra: without(have, want), Exception: exception}
	x.OK = len(x.Missing)+len(x.Extra) == 0
	x.Reason = x.reason()
	r.OK = r.OK && x.OK
	r.Expect = append(r.Expect, x)
}

// without returns the names of a that b lacks, in order.
func without(a, b map[string]arch.Arch) []string {
	names := []string{}
	for n := range a {
		if _, ok := b[n]; !ok {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		switch {
		case a[x].Less(a[y]):
			return -1
		case a[y].Less(a[x]):
			return 1
		}
		return strings.Compare(x, y)
	})
	return names
}

func (x *Expect) reason() string {
	if x.OK {
		return "holds what the list declares"
	}
	var parts []string
	if len(x.Missing) > 0 {
		parts = append(parts, "declared and missing: "+strings.Join(x.Missing, ", "))
	}
	if len(x.Extra) > 0 {
		parts = append(parts, "there and not declared: "+strings.Join(x.Extra, ", "))
	}
	for _, m := range x.Missing {
		if strings.HasPrefix(m, "compute_") {
			parts = append(parts, "without that PTX no GPU newer than the listed ones is served")
			break
		}
	}
	return strings.Join(parts, "; ")
}
