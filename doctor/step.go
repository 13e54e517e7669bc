package doctor

import (
	"slices"
	"strings"
)

func pass(seen string) Step { return Step{Status: Pass, Seen: seen} }

func skip(seen string) Step { return Step{Status: Skip, Seen: seen} }

func warn(seen string, do ...string) Step { return Step{Status: Warn, Seen: seen, Do: do} }

func fail(seen string, do ...string) Step { return Step{Status: Fail, Seen: seen, Do: do} }

// rank orders the answers: the worst of several findings is that of the step.
var rank = map[Status]int{Skip: 0, Pass: 1, Warn: 2, Fail: 3}

// merge makes one step of several findings, the worst first.
func merge(findings ...Step) Step {
	out := Step{Status: Skip}
	var seen []string
	for _, level := range []Status{Fail, Warn, Pass, Skip} {
		for _, f := range findings {
			if f.Status != level || f.Seen == "" {
				continue
			}
			if rank[f.Status] > rank[out.Status] {
				out.Status = f.Status
			}
			seen = append(seen, f.Seen)
			for _, d := range f.Do {
				if !slices.Contains(out.Do, d) {
					out.Do = append(out.Do, d)
				}
			}
			out.Detail = append(out.Detail, f.Detail...)
		}
	}
	out.Seen = strings.Join(seen, "; ")
	return out
}

// words joins names as in a sentence.
func words(items []string) string {
	switch n := len(items); n {
	case 0:
		return ""
	case 1:
		return items[0]
	default:
		return strings.Join(items[:n-1], ", ") + " and " + items[n-1]
	}
}
