package fleet

import (
	"io"
	"strconv"
	"strings"
)

// slurmNode is what is read of one node's record.
type slurmNode struct {
	name                  string
	gres, tres            string // Gres and CfgTRES
	begun, gresIs, tresIs bool
}

// readSlurm reads records, of several lines or of one, each of which begins
// with NodeName. What jobs use (GresUsed, AllocTRES) says nothing of what there
// is.
func readSlurm(r io.Reader, c *collector) error {
	var n slurmNode
	err := eachLine(r, func(_ int, line string) error {
		for i, word := range strings.Fields(line) {
			key, text, _ := strings.Cut(word, "=")
			switch {
			case key == "NodeName" && i == 0:
				if err := c.addSlurm(&n); err != nil {
					return err
				}
				n = slurmNode{name: text, begun: true}
			// The first counts: later ones are words of a reason or a comment.
			case key == "Gres" && !n.gresIs:
				n.gres, n.gresIs = text, true
			case key == "CfgTRES" && !n.tresIs:
				n.tres, n.tresIs = text, true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.addSlurm(&n)
}

// addSlurm takes in a node's GPUs by their types in Gres, else by those in
// CfgTRES, which has the total beside them ("gres/gpu=8,gres/gpu:a100=8").
func (c *collector) addSlurm(n *slurmNode) error {
	if !n.begun {
		return nil
	}
	t := told{where: "node " + n.name, host: n.name}
	kinds, untyped := gresGPUs(n.gres)
	if len(kinds) == 0 {
		var all int
		kinds, all = tresGPUs(n.tres)
		untyped = max(untyped, all)
		for _, k := range kinds {
			untyped -= max(0, k.count)
		}
	}
	for _, k := range kinds {
		if k.count == 0 {
			continue
		}
		t.name, t.count = k.name, k.count
		if err := c.add(t); err != nil {
			return err
		}
	}
	if untyped > 0 {
		c.problem(t.place(), true, "it has GPUs without a type: give Gres one in slurm.conf, such as gpu:a100:8, or list the node by hand")
	}
	return nil
}

// slurmGPUs are GPUs of one type; a count of -1 is no number.
type slurmGPUs struct {
	name  string
	count int
}

// gresGPUs reads "gpu:a100:4(S:0-1),shard:8". GPUs without a type are counted
// apart.
func gresGPUs(gres string) (kinds []slurmGPUs, untyped int) {
	for _, item := range splitGres(gres) {
		item, _, _ = strings.Cut(item, "(")
		parts := strings.Split(item, ":")
		if !strings.EqualFold(parts[0], "gpu") {
			continue
		}
		parts, count := parts[1:], 1
		if n := len(parts); n > 0 {
			if v := slurmNumber(parts[n-1]); v >= 0 {
				parts, count = parts[:n-1], v
			}
		}
		if n := len(parts); n > 0 && parts[n-1] == "no_consume" {
			parts = parts[:n-1]
		}
		if len(parts) == 0 {
			untyped = sum(untyped, count)
			continue
		}
		kinds = append(kinds, slurmGPUs{strings.Join(parts, ":"), count})
	}
	return kinds, untyped
}

// splitGres cuts at commas that are in no parentheses: "gpu:2(S:0,1)" is one.
func splitGres(s string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[start:])
}

// tresGPUs reads "cpu=64,gres/gpu=8,gres/gpu:a100=8".
func tresGPUs(tres string) (kinds []slurmGPUs, total int) {
	for item := range strings.SplitSeq(tres, ",") {
		key, text, _ := strings.Cut(item, "=")
		if key == "gres/gpu" {
			total = max(0, slurmNumber(text))
		} else if name, ok := strings.CutPrefix(key, "gres/gpu:"); ok {
			kinds = append(kinds, slurmGPUs{name, slurmNumber(text)})
		}
	}
	return kinds, total
}

// slurmNumber reads a count, which may end in K for 1024; -1 if it is none.
// Larger units are no counts of GPUs.
func slurmNumber(s string) int {
	factor := 1
	if n := len(s); n > 0 && (s[n-1] == 'K' || s[n-1] == 'k') {
		s, factor = s[:n-1], 1024
	}
	v, err := strconv.Atoi(s)
	if err != nil || v < 0 || v > maxCount/factor {
		return -1
	}
	return v * factor
}
