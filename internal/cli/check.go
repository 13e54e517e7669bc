package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fatview/arch"
	"fatview/archlist"
	"fatview/check"
	"fatview/gpu"
	"fatview/index"
	"fatview/internal/plain"
	"fatview/report"
)

type checkOptions struct {
	require, policy string
	expect, syntax  string
	strict          bool
	maxMissing      int
	json            bool
}

func newCheck(a *app) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check PATH ... --gpu G,... | --gpus-from FILE",
		Short: "Fails unless the GPUs are served, for CI",
		Long: `Prints one line for each file and GPU and exits with 1 unless all are served:
every container that is meant for the GPU has code for it. Needs no GPU.

A policy file (TOML) keeps the question with the project:

    gpus = ["8.0", "9.0", "rtx 5090"]
    require = "jit"        # or native
    strict = false         # specialised containers count as missing
    max_missing = 0        # containers that may be without code

    [[file]]               # the first whose pattern matches
    match = "*_legacy.so"
    reason = "kept for old GPUs until 2.0"
    gpus = ["7.5"]         # or skip = true, or other limits`,
		Example: `  fatview check dist/*.so --gpu 8.0,9.0,12.0
  fatview check libfoo.so --gpu all --require jit --driver 535.104
  kubectl get nodes -o json | fatview check libfoo.so --gpus-from -
  fatview check libfoo.so --expect "7.5;8.0;8.6+PTX"
  fatview check libfoo.so --policy cuda.toml --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("check: name at least one file")}
			}
			c, err := newChecker(cmd, a, o)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.require, "require", "jit", "native, or jit for native or by JIT")
	f.BoolVar(&o.strict, "strict", false, "count specialised containers as missing")
	f.IntVar(&o.maxMissing, "max-missing", 0, "containers of a file that may be without code")
	f.StringVar(&o.expect, "expect", "", "architecture list that each file must hold, no more and no less, in any build system's grammar")
	f.StringVar(&o.syntax, "syntax", "", "grammar of --expect where it is ambiguous: nvcc, cmake, pytorch …")
	f.StringVar(&o.policy, "policy", "", "TOML file with GPUs, limits and exceptions; flags go before it")
	f.BoolVar(&o.json, "json", false, "write JSON")
	a.walkFlags(cmd)
	return cmd
}

// checker is a check command with its policy applied.
type checker struct {
	*app
	opts    checkOptions
	limits  check.Limits
	expect  string // architecture list; "" none
	policy  *check.Policy
	targets []gpu.Target
	result  *check.Result
}

// newChecker reads the policy and lets flags that are given go before it.
func newChecker(cmd *cobra.Command, a *app, o checkOptions) (*checker, error) {
	c := &checker{app: a, opts: o, policy: &check.Policy{}}
	if o.require != "native" && o.require != "jit" {
		return nil, usageError{fmt.Errorf("--require %q: choose native or jit", o.require)}
	}
	if o.maxMissing < 0 {
		return nil, usageError{errors.New("--max-missing is negative")}
	}
	if o.policy != "" {
		p, err := check.ReadPolicy(o.policy)
		if err != nil {
			return nil, usageError{err}
		}
		c.policy = p
		if len(a.gpus) == 0 && len(a.gpusFrom) == 0 {
			a.gpus = p.GPUs
		}
		if a.driver == "" && a.cuda == "" {
			a.driver, a.cuda = p.Driver, p.CUDA
		}
	}
	c.limits = c.policy.Apply(check.Limits{})
	given := cmd.Flags().Changed
	if given("require") || c.policy.Require == nil {
		c.limits.Native = o.require == "native"
	}
	if given("strict") {
		c.limits.Strict = o.strict
	}
	if given("max-missing") {
		c.limits.MaxMissing = o.maxMissing
	}
	targets, note, err := a.targets(cmd.Context())
	if err != nil {
		return nil, err
	}
	c.expect = o.expect
	if c.expect == "" && c.policy.Expect != nil {
		c.expect = *c.policy.Expect
	}
	if len(targets) == 0 && c.expect == "" {
		return nil, usageError{errors.New("check: " + note)}
	}
	if _, err := c.declared(c.expect); err != nil {
		return nil, usageError{err}
	}
	c.targets = targets
	c.result = &check.Result{Schema: check.Schema, OK: true, GPUs: report.Build(nil, targets).GPUs, Lines: []check.Line{}, Expect: []check.Expect{}}
	return c, nil
}

func (c *checker) run(ctx context.Context, paths []string) error {
	res, bad, err := c.collect(ctx, paths)
	if err != nil {
		return err
	}
	defer res.Close()
	files := res.Files
	code := false
	for _, f := range files {
		if err := c.file(ctx, f); err != nil {
			return err
		}
		code = code || len(f.Containers) > 0
		for _, x := range f.Findings() {
			if x.Severity == index.Error {
				fmt.Fprintln(c.env.Stderr, "fatview: "+plain.Text(f.Path+": "+x.Message))
				bad = true
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	write := check.Text
	if c.opts.json {
		write = check.JSON
	}
	if !code && !bad {
		// A build that loses all of its device code must not pass.
		c.result.OK = false
		fmt.Fprintln(c.env.Stderr, "fatview: none of the files holds device code")
	}
	if err := c.print(func(w io.Writer) error { return write(w, c.result) }); err != nil {
		return err
	}
	switch {
	case bad:
		return exitError(ExitError)
	case !c.result.OK:
		return exitError(ExitNo)
	}
	return nil
}

// file checks one file by the rules that apply to it.
func (c *checker) file(ctx context.Context, f *index.File) error {
	rules, excepted := c.policy.For(f.Path)
	if !excepted {
		c.result.File(ctx, f, c.targets, 0, c.limits, "")
		return c.compare(f, c.expect, "")
	}
	if rules.Skip {
		c.result.Lines = append(c.result.Lines, check.Line{Path: f.Path, OK: true, Reason: "skipped", Exception: rules.Reason})
		return nil
	}
	targets, base := c.targets, 0
	if len(rules.GPUs) > 0 {
		other := *c.app
		other.gpus, other.gpusFrom, other.fleet = rules.GPUs, nil, nil
		ts, err := other.named()
		if err != nil {
			return err
		}
		targets, base = ts, len(c.result.GPUs)
		c.result.GPUs = append(c.result.GPUs, report.Build(nil, ts).GPUs...)
	}
	c.result.File(ctx, f, targets, base, rules.Apply(c.limits), rules.Reason)
	expect := c.expect
	if rules.Expect != nil {
		expect = *rules.Expect
	}
	return c.compare(f, expect, rules.Reason)
}

// compare holds a file against a declared list, if there is one.
func (c *checker) compare(f *index.File, list, exception string) error {
	plan, err := c.declared(list)
	if err != nil || list == "" {
		return err
	}
	var sass, ptx []arch.Arch
	for _, im := range plan.Images {
		switch im.Kind {
		case archlist.SASS:
			sass = append(sass, im.Arch)
		case archlist.PTX:
			ptx = append(ptx, im.Arch)
		}
	}
	c.result.Declared(f, sass, ptx, exception)
	return nil
}

// declared reads a list in the grammar of --syntax, or the one it looks like.
func (c *checker) declared(list string) (archlist.Plan, error) {
	if list == "" {
		return archlist.Plan{}, nil
	}
	var syntax archlist.Syntax
	if c.opts.syntax != "" {
		s, err := archlist.ParseSyntax(c.opts.syntax)
		if err != nil {
			return archlist.Plan{}, err
		}
		syntax = s
	} else if found := archlist.Recognise(list); len(found) > 0 {
		syntax = found[0]
	} else {
		return archlist.Plan{}, fmt.Errorf("--expect %q is no architecture list; add --syntax", list)
	}
	return archlist.Parse(list, syntax, archlist.Options{})
}
