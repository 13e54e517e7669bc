package collect

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// filter is the pair of pattern lists. Paths are relative to the argument,
// slash-separated; the "!" before a package's member counts as a slash.
type filter struct{ include, exclude []string }

// newFilter checks the patterns.
func newFilter(o Options) (filter, error) {
	var f filter
	for _, list := range []struct {
		flag     string
		patterns []string
		out      *[]string
	}{{"include", o.Include, &f.include}, {"exclude", o.Exclude, &f.exclude}} {
		for _, p := range list.patterns {
			if !doublestar.ValidatePattern(p) || p == "" {
				return f, fmt.Errorf("--%s %q is not a pattern", list.flag, p)
			}
			p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
			if !strings.Contains(p, "/") {
				p = "**/" + p
			}
			*list.out = append(*list.out, p)
		}
	}
	return f, nil
}

// CheckPatterns tells what is wrong with the patterns of o, if anything.
func CheckPatterns(o Options) error {
	_, err := newFilter(o)
	return err
}

// enters tells whether a folder or package may be looked into.
func (f filter) enters(rel string) bool { return !matches(f.exclude, rel) }

// takes tells whether a file is to be looked at. A folder that is named by
// --include is taken whole.
func (f filter) takes(rel string) bool {
	if matchesOrUnder(f.exclude, rel) {
		return false
	}
	return len(f.include) == 0 || matchesOrUnder(f.include, rel)
}

func matches(patterns []string, rel string) bool {
	rel = strings.ReplaceAll(rel, "!", "/")
	for _, p := range patterns {
		if doublestar.MatchUnvalidated(p, rel) {
			return true
		}
	}
	return false
}

func matchesOrUnder(patterns []string, rel string) bool {
	for rel != "" {
		if matches(patterns, rel) {
			return true
		}
		i := strings.LastIndexAny(rel, "/!")
		if i < 0 {
			break
		}
		rel = rel[:i]
	}
	return false
}

// mayTake tells whether a file on disk is to be opened: to be looked at, or
// because it may be a package with members that are.
func (f filter) mayTake(rel string) bool { return !matches(f.exclude, rel) }
