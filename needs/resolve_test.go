package needs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const x86 = "x86-64"

func TestResolve(t *testing.T) {
	nodes := []Node{
		0: {Path: "env/torch/lib/libtorch_cuda.so", Machine: x86, Needed: []string{"libcudart.so.12", "libc10.so", "libm.so.6", ""}},
		1: {Path: "env/nvidia/cuda_runtime/lib/libcudart.so.12.4.127", Soname: "libcudart.so.12", Machine: x86},
		2: {Path: "arm/libcudart.so.12", Machine: "aarch64"},
		3: {Path: "env/torch/lib/libc10.so", Soname: "libc10.so", Machine: x86, Needed: []string{"libtorch_cuda.so", "sub/libcudart.so.12"}},
		4: {Path: "w.whl!a/a.pyd", Machine: x86, Windows: true, Needed: []string{"CUDART64_12.dll", "Plain", "libc10.so"}},
		5: {Path: "w.whl!b/cudart64_12.DLL", Machine: x86, Windows: true, Soname: "libc10.so"},
		6: {Path: "plain.dll", Machine: x86, Windows: true},
	}
	want := [][]int{{1, 3, -1, -1}, nil, nil, {0, 1}, {5, 6, -1}, nil, nil}
	if got := Resolve(nodes); !reflect.DeepEqual(got, want) {
		t.Errorf("Resolve = %v, want %v", got, want)
	}
	if got := Resolve(nil); len(got) != 0 {
		t.Errorf("Resolve of nothing = %v", got)
	}
}

// expectNearest has one file need libx.so, and gives the candidates' folders.
func expectNearest(t *testing.T, from, want string, folders ...string) {
	t.Helper()
	nodes := []Node{{Path: from, Needed: []string{"libx.so"}}}
	for _, f := range folders {
		nodes = append(nodes, Node{Path: strings.TrimLeft(f+"/libx.so", "/")})
	}
	k := Resolve(nodes)[0][0]
	if got := strings.TrimSuffix(nodes[k].Path, "libx.so"); strings.TrimSuffix(got, "/") != want {
		t.Errorf("from %s: libx.so in %q, want %q", from, got, want)
	}
}

func TestResolveNearest(t *testing.T) {
	expectNearest(t, "a/b/c/u.so", "a/b/c", "z", "a/b/c/d", "a/b/c", "a/b")
	expectNearest(t, "a/b/c/u.so", "a/b/c/d", "a/b", "a/b/c/d", "a/b/c/e") // three names in common, then two
	expectNearest(t, "a/b/c/u.so", "a/b/x", "z", "a/b/x", "a/b/y")         // the first of equals
	expectNearest(t, "a/b/c/u.so", "a", "ab/b/c", "a")                     // names, not letters
	expectNearest(t, "a/b/c/u.so", "y", "y", "z")
	expectNearest(t, "u.so", "", "y", "")
	expectNearest(t, "1.whl!p/u.so", "1.whl!q", "2.whl!p", "1.whl!q") // an archive is a folder
	expectNearest(t, strings.Repeat("d/", 300)+"u.so", "z", "z", "d") // too deep to be compared to the end
}

// A thousand copies of one name, needed by as many: not their product.
func TestResolveManyCopies(t *testing.T) {
	var nodes []Node
	const n = 20000
	for i := range n {
		nodes = append(nodes, Node{Path: fmt.Sprintf("w%d.whl!p/libcudart.so.12", i), Needed: []string{"libcudart.so.12", "libcudart.so.12"}})
	}
	start := time.Now()
	for i, got := range Resolve(nodes) {
		if got[0] != i || got[1] != i {
			t.Fatalf("%d is served by %v", i, got)
		}
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestClosure(t *testing.T) {
	graph := [][]int{
		0: {-1, 1, 2, 99},
		1: {3, 0},    // a cycle
		2: {3, 4, 2}, // and one of its own
		3: {5},
		4: {5},
		5: {1},
		6: {0},
	}
	want := []Chain{
		{To: 1, From: 0, Need: 1},
		{To: 2, From: 0, Need: 2},
		{To: 3, From: 1, Need: 0, Through: []int{1}},
		{To: 4, From: 2, Need: 1, Through: []int{2}},
		{To: 5, From: 3, Need: 0, Through: []int{1, 3}},
	}
	if got := Closure(graph, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("Closure = %+v, want %+v", got, want)
	}
	for _, i := range []int{-1, 7} {
		if got := Closure(graph, i); got != nil {
			t.Errorf("Closure of no node = %v", got)
		}
	}
	if got := Closure([][]int{nil}, 0); got != nil {
		t.Errorf("Closure of a lone node = %v", got)
	}
	// A caller that appends to one chain changes no other.
	got := Closure([][]int{{1}, {2, 3}, nil, nil}, 0)
	_ = append(got[1].Through, 7)
	if !slices.Equal(append(got[2].Through, 8), []int{1, 8}) {
		t.Errorf("chains share memory: %+v", got)
	}
}

func TestClosureIsBounded(t *testing.T) {
	row := make([][]int, 100000)
	for i := range row[:len(row)-1] {
		row[i] = []int{i + 1}
	}
	got := Closure(row, 0)
	if len(got) != maxThrough+1 || len(got[maxThrough].Through) != maxThrough {
		t.Errorf("%d chains of a row of libraries", len(got))
	}
}

// FuzzResolve checks what holds for any input: what is found has the name, the
// machine and the system, and what is not found is not there.
func FuzzResolve(f *testing.F) {
	f.Add("a/u.so\nlibx.so\nb/libx.so\nlibx.so\nc!LIBX.so\nu.so", byte(0))
	f.Fuzz(func(t *testing.T, text string, bits byte) {
		lines := strings.Split(text, "\n")
		lines = lines[:min(len(lines), 40)]
		var nodes []Node
		for i, l := range lines {
			nodes = append(nodes, Node{
				Path: l, Soname: lines[(i+1)%len(lines)], Needed: lines[:i],
				Machine: string('0' + bits>>(i%4)&1), Windows: bits>>(i%3+4)&1 == 1,
			})
		}
		graph := Resolve(nodes)
		for i, n := range nodes {
			if len(graph[i]) != len(n.Needed) {
				t.Fatalf("%d answers to %d needs", len(graph[i]), len(n.Needed))
			}
			for k, name := range n.Needed {
				ask := n.key(baseName(name))
				provides := func(m *Node) bool {
					return ask.name != "" && (m.key(baseName(m.Path)) == ask || !m.Windows && m.key(m.Soname) == ask)
				}
				j := graph[i][k]
				if j >= 0 && !provides(&nodes[j]) {
					t.Fatalf("%q is served by %q", name, nodes[j].Path)
				}
				if j < 0 && slices.ContainsFunc(nodes, func(m Node) bool { return provides(&m) }) {
					t.Fatalf("%q is not found", name)
				}
			}
			seen := map[int]bool{i: true}
			for _, c := range Closure(graph, i) {
				last := i
				if len(c.Through) > 0 {
					last = c.Through[len(c.Through)-1]
				}
				if seen[c.To] || last != c.From || graph[c.From][c.Need] != c.To {
					t.Fatalf("%+v", c)
				}
				seen[c.To] = true
			}
		}
	})
}
