package needs

// A Chain is a node that another one leans on, and the shortest way there.
type Chain struct {
	To      int   // the node that is reached
	From    int   // the node that asks for it: the start, or the last of Through
	Need    int   // which of From's needs it is: graph[From][Need] is To
	Through []int // the nodes between the start and To, in order; nil if direct
}

// maxThrough bounds the nodes between two others. Thirty have been seen in real
// environments; without a bound, libraries of a stranger that need each other
// in a row would cost the square of their number.
const maxThrough = 64

// Closure lists the nodes that can be reached from node i, each once, nearest
// first and otherwise in the order they are asked for; of ways of the same
// length the first counts. The node itself is not listed, whoever needs it,
// and neither is what lies behind more than 64 others. The graph is that of
// Resolve; numbers that are no node are passed over.
func Closure(graph [][]int, i int) []Chain {
	if i < 0 || i >= len(graph) {
		return nil
	}
	var out []Chain
	seen := map[int]bool{i: true}
	at, through := i, []int(nil)
	for next := 0; ; next++ {
		if len(through) <= maxThrough {
			for k, j := range graph[at] {
				if j >= 0 && j < len(graph) && !seen[j] {
					seen[j] = true
					out = append(out, Chain{To: j, From: at, Need: k, Through: through})
				}
			}
		}
		if next == len(out) {
			return out
		}
		c := &out[next]
		at = c.To
		// One slice for all that this node needs; it is full, so that a
		// caller's append copies it.
		through = append(make([]int, 0, len(c.Through)+1), c.Through...)
		through = append(through, c.To)
	}
}
