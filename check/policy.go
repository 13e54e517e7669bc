package check

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// A Policy is what a project asks of its files, kept in a TOML file.
type Policy struct {
	GPUs   []string `toml:"gpus"`
	Driver string   `toml:"driver"`
	CUDA   string   `toml:"cuda"`
	Rules
	Files []FileRules `toml:"file"`
}

// Rules are the limits that a policy sets for all files or for some.
type Rules struct {
	Require    *string `toml:"require"` // native or jit
	Strict     *bool   `toml:"strict"`
	MaxMissing *int    `toml:"max_missing"`
	Expect     *string `toml:"expect"`
}

// FileRules are the rules of the files that a pattern matches. They are
// exceptions, so each says why.
type FileRules struct {
	Match  string   `toml:"match"` // a pattern as of path.Match, on the path or its last element
	Reason string   `toml:"reason"`
	Skip   bool     `toml:"skip"`
	GPUs   []string `toml:"gpus"`
	Rules
}

// ReadPolicy reads a policy file. A key that means nothing is an error: a
// misspelt limit must not pass silently.
func ReadPolicy(name string) (*Policy, error) {
	p := &Policy{}
	meta, err := toml.DecodeFile(name, p)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return nil, fmt.Errorf("policy %s: unknown key %s", name, extra[0])
	}
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	return p, nil
}

func (p *Policy) validate() error {
	if err := p.Rules.validate(); err != nil {
		return err
	}
	for i, f := range p.Files {
		if f.Match == "" {
			return fmt.Errorf("[[file]] %d has no match", i+1)
		}
		if _, err := path.Match(f.Match, "x"); err != nil {
			return fmt.Errorf("[[file]] %d: match %q is not a pattern", i+1, f.Match)
		}
		if strings.TrimSpace(f.Reason) == "" {
			return fmt.Errorf("[[file]] %d (%s) is an exception and gives no reason", i+1, f.Match)
		}
		if err := f.validate(); err != nil {
			return fmt.Errorf("[[file]] %d (%s): %w", i+1, f.Match, err)
		}
	}
	return nil
}

func (r Rules) validate() error {
	if r.Require != nil && *r.Require != "native" && *r.Require != "jit" {
		return fmt.Errorf("require is %q: choose native or jit", *r.Require)
	}
	if r.MaxMissing != nil && *r.MaxMissing < 0 {
		return fmt.Errorf("max_missing is negative")
	}
	return nil
}

// For returns the exception for a path: the first whose pattern matches the
// whole path or its last element.
func (p *Policy) For(name string) (FileRules, bool) {
	name = filepath.ToSlash(name)
	for _, f := range p.Files {
		whole, _ := path.Match(f.Match, name)
		last, _ := path.Match(f.Match, path.Base(name))
		if whole || last {
			return f, true
		}
	}
	return FileRules{}, false
}

// Apply changes limits by what the rules say.
func (r Rules) Apply(l Limits) Limits {
	if r.Require != nil {
		l.Native = *r.Require == "native"
	}
	if r.Strict != nil {
		l.Strict = *r.Strict
	}
	if r.MaxMissing != nil {
		l.MaxMissing = *r.MaxMissing
	}
	return l
}
