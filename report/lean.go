package report

import (
	"fmt"

	"fatview/collect"
	"fatview/needs"
)

// Need is a library of GPU computing that a file links to.
type Need struct {
	Name    string `json:"name"`    // as it is asked for
	Product string `json:"product"` // CUDA runtime, cuBLAS …
	Version string `json:"version"` // as far as the name tells, "" otherwise
	Vendor  string `json:"vendor"`
}

// Dependency says that a file of the report leans, directly or through others,
// on another one that holds device code.
type Dependency struct {
	File    int      `json:"file"`    // index into Report.Files
	To      int      `json:"to"`      // index into Report.Files
	Name    string   `json:"name"`    // as it is asked for
	Through []string `json:"through"` // paths of the libraries between, none if direct
	// Unserved are the GPUs on which the file has code and what it leans on
	// has none, or not all.
	Unserved []Unserved `json:"unserved"`
}

// Unserved is one GPU of a dependency that falls short.
type Unserved struct {
	GPU     int    `json:"gpu"`
	Verdict string `json:"verdict"`
	Message string `json:"message"`
}

// Needs names the libraries of GPU computing among those that are needed.
func Needs(needed []string) []Need {
	out := []Need{}
	for _, n := range needed {
		if l, ok := needs.Parse(n); ok {
			out = append(out, Need{l.Name, l.Product, l.Version, l.Vendor})
		}
	}
	return out
}

// String is "CUDA runtime 12 (libcudart.so.12)".
func (n Need) String() string {
	if n.Version == "" {
		return fmt.Sprintf("%s (%s)", n.Product, n.Name)
	}
	return fmt.Sprintf("%s %s (%s)", n.Product, n.Version, n.Name)
}

// dependencies resolves needed libraries within what was collected. Libraries
// without device code are on the way, too: a library may lean on one with code
// through them.
func dependencies(r *Report, res *collect.Result) []Dependency {
	out := []Dependency{}
	var nodes []needs.Node
	for _, f := range res.Files {
		nodes = append(nodes, needs.Node{Path: f.Path, Soname: f.Soname, Needed: f.Needed, Machine: f.Machine, Windows: f.Format == "pe"})
	}
	for _, o := range res.Others {
		nodes = append(nodes, needs.Node{Path: o.Path, Soname: o.Soname, Needed: o.Needed, Machine: o.Machine, Windows: o.Format == "pe"})
	}
	graph := needs.Resolve(nodes)
	for i, f := range res.Files {
		if f.Relocatable {
			continue
		}
		for _, c := range needs.Closure(graph, i) {
			if c.To >= len(res.Files) || len(r.Files[c.To].Containers) == 0 {
				continue
			}
			d := Dependency{File: i, To: c.To, Name: nodes[c.From].Needed[c.Need], Through: []string{}, Unserved: []Unserved{}}
			for _, via := range c.Through {
				d.Through = append(d.Through, nodes[via].Path)
			}
			d.shortfalls(r)
			out = append(out, d)
		}
	}
	return out
}

// shortfalls compares the two files' verdicts on each GPU.
func (d *Dependency) shortfalls(r *Report) {
	for _, c := range r.Files[d.File].Coverage {
		to := r.Files[d.To].on(c.GPU)
		if to == nil || !servedWord(c.Verdict) || servedWord(to.Verdict) {
			continue
		}
		what := map[string]string{
			"none": "has no code for this GPU", "partial": "has code for this GPU only in part", "driver": "waits for a newer driver",
		}[to.Verdict]
		d.Unserved = append(d.Unserved, Unserved{c.GPU, to.Verdict, fmt.Sprintf("it needs %s (%s), which %s", d.Name, r.Files[d.To].Path, what)})
	}
}

// servedWord tells whether a file's verdict means that all of it runs.
func servedWord(verdict string) bool {
	return verdict == "native" || verdict == "jit" || verdict == "mixed"
}
