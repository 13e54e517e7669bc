package needs

import "strings"

// A Node is a file that needs libraries and may be one itself.
type Node struct {
	Path    string   // as shown; may contain "!" and "/"
	Soname  string   // of ELF; "" = the base name of Path
	Needed  []string // names, as in the file
	Machine string   // only the same machine can serve
	Windows bool     // DLL names are compared without regard to case
}

// maxFolders bounds how many folders up from a file its needs are looked for
// by folder, so that the paths of strangers cost no more than they must.
const maxFolders = 64

// Resolve finds for each node and each of its needed names the node that
// provides it, -1 for none. A node of the same machine and system provides its
// soname and its base name; a DLL only the latter, as Windows knows no other.
// Of several the one in the same folder counts, then the one whose folder has
// most of the path in common, then the first. This is what lies at hand, not
// what a loader would find: search paths are not looked at.
//
// Entry i of the result has one number for each of nodes[i].Needed.
func Resolve(nodes []Node) [][]int {
	r := resolver{nodes: nodes, by: map[key][]int{}, near: map[key]map[string]int{}}
	for i := range nodes {
		n := &nodes[i]
		r.add(n.key(baseName(n.Path)), i)
		if n.Soname != "" && !n.Windows {
			r.add(n.key(n.Soname), i)
		}
	}
	out := make([][]int, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		for _, name := range n.Needed {
			out[i] = append(out[i], r.find(n, name))
		}
	}
	return out
}

// A key is what a loader asks for.
type key struct {
	name, machine string
	windows       bool
}

// key folds the case of DLL names and adds the ending that Windows adds.
func (n *Node) key(name string) key {
	if n.Windows {
		name = strings.ToLower(name)
		if name != "" && !strings.Contains(name, ".") {
			name += ".dll"
		}
	}
	return key{name, n.Machine, n.Windows}
}

type resolver struct {
	nodes []Node
	by    map[key][]int          // nodes in order, each once
	near  map[key]map[string]int // of names with several nodes: folder to the first of them
}

func (r *resolver) add(k key, i int) {
	if k.name == "" {
		return
	}
	if list := r.by[k]; len(list) == 0 || list[len(list)-1] != i {
		r.by[k] = append(list, i)
	}
}

func (r *resolver) find(n *Node, name string) int {
	k := n.key(baseName(name))
	list := r.by[k]
	if len(list) == 0 {
		return -1
	}
	if len(list) == 1 {
		return list[0]
	}
	near := r.near[k]
	if near == nil {
		near = r.folders(list)
		r.near[k] = near
	}
	dir := folder(n.Path)
	if i, ok := near[sameFolder+dir]; ok {
		return i
	}
	for range maxFolders {
		if i, ok := near[dir]; ok {
			return i
		}
		if dir == "" {
			break
		}
		dir = folder(dir)
	}
	return list[0]
}

// sameFolder marks the folder a file is in among those it is below.
const sameFolder = "\x00"

// folders maps the folder of each candidate, and each folder above it, to the
// first candidate there. It is made once a name, so that many files of one
// name that many others need do not cost their product.
func (r *resolver) folders(list []int) map[string]int {
	near := make(map[string]int, len(list))
	enter := func(dir string, i int) {
		if _, ok := near[dir]; !ok {
			near[dir] = i
		}
	}
	for _, i := range list {
		dir := folder(r.nodes[i].Path)
		enter(sameFolder+dir, i)
		for range maxFolders {
			enter(dir, i)
			if dir == "" {
				break
			}
			dir = folder(dir)
		}
	}
	return near
}

// folder is what a path lies in: a folder, or an archive that was entered.
func folder(p string) string { return p[:max(0, strings.LastIndexAny(p, "/!"))] }

func baseName(p string) string { return p[strings.LastIndexAny(p, "/!")+1:] }
