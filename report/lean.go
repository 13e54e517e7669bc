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

// Bounds on what is told of dependencies: a thousand libraries that all need
// one another would have a million.
const (
	maxDependencies = 50_000 // of a report
	maxNeedsOfOne   = 1_000  // of a file
)

// dependencies resolves needed libraries within what was collected. Libraries
// without device code are on the way, too: a library may lean on one with code
// through them. A copy serves those who find it as the file that is shown.
func dependencies(r *Report, res *collect.Result) []Dependency {
	out := []Dependency{}
	var nodes []needs.Node
	var file []int // of a node, -1 for libraries without device code
	for i, f := range res.Files {
		for _, path := range append([]string{f.Path}, f.Copies()...) {
			nodes = append(nodes, needs.Node{Path: path, Soname: f.Soname, Needed: f.Needed, Machine: f.Machine, Windows: f.Format == "pe"})
			file = append(file, i)
		}
	}
	for _, o := range res.Others {
		nodes = append(nodes, needs.Node{Path: o.Path, Soname: o.Soname, Needed: o.Needed, Machine: o.Machine, Windows: o.Format == "pe"})
		file = append(file, -1)
	}
	graph := needs.Resolve(nodes)
	seen := map[[2]int]bool{}
	for n := range nodes {
		i := file[n]
		if i < 0 || res.Files[i].Relocatable || len(graph[n]) == 0 {
			continue
		}
		told := 0
		for _, c := range needs.Closure(graph, n) {
			to := file[c.To]
			if to < 0 || to == i || len(r.Files[to].Containers) == 0 || seen[[2]int{i, to}] {
				continue
			}
			if told++; told > maxNeedsOfOne || len(out) == maxDependencies {
				r.tooMany = true
				break
			}
			seen[[2]int{i, to}] = true
			d := Dependency{File: i, To: to, Name: nodes[c.From].Needed[c.Need], Through: []string{}, Unserved: []Unserved{}}
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
