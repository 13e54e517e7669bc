package cli

import (
	"context"
	"errors"
	"fmt"

	"fatview/arch"
	"fatview/archlist"
	"fatview/gpu"
)

// readList reads the list in the grammar of --syntax or the likeliest, and
// returns the others that take it.
func (a *app) readList(ctx context.Context, list string, o planOptions) (p archlist.Plan, syntaxes []archlist.Syntax, opts archlist.Options, err error) {
	if o.syntax != "" {
		s, err := archlist.ParseSyntax(o.syntax)
		if err != nil {
			return p, nil, opts, err
		}
		syntaxes = []archlist.Syntax{s}
	} else if syntaxes = archlist.Recognise(list); len(syntaxes) == 0 {
		syntaxes = []archlist.Syntax{archlist.PyTorch} // whose error says why
	}
	if o.toolkit != "" {
		if opts.Toolkit, err = arch.ParseVersion(o.toolkit); err != nil {
			return p, nil, opts, fmt.Errorf("--toolkit: %w", err)
		}
	}
	if o.native != "" {
		ts, err := gpu.Parse(o.native)
		if err != nil {
			return p, nil, opts, fmt.Errorf("--native: %w", err)
		}
		opts.Native = capabilities(ts)
	}
	p, err = archlist.Parse(list, syntaxes[0], opts)
	var need *archlist.NeedError
	if errors.As(err, &need) && need.GPUs && !a.noDetect {
		if opts.Native = capabilities(a.detect(ctx).Targets); len(opts.Native) > 0 {
			p, err = archlist.Parse(list, syntaxes[0], opts)
		}
	}
	if errors.As(err, &need) {
		err = fmt.Errorf("%w (%s)", err, map[bool]string{true: "--native 8.6", false: "--toolkit 12.8"}[need.GPUs])
	}
	return p, syntaxes, opts, err
}

func capabilities(ts []gpu.Target) []arch.CC {
	var out []arch.CC
	for _, t := range ts {
		out = append(out, t.CC)
	}
	return out
}
