package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fatview/index"
	"fatview/internal/plain"
	"fatview/kernels"
)

type kernelsOptions struct {
	format     string
	json, raw  bool
	archs      []string
	regs       string
	name, sort string
	containers []int
}

func newKernels(a *app) *cobra.Command {
	var o kernelsOptions
	cmd := &cobra.Command{
		Use:   "kernels PATH ...",
		Short: "Lists every kernel with registers, memory, launch bounds and code size",
		Long: `Lists the kernels of every image with what cuobjdump -res-usage tells of them,
and with launch bounds, barriers, parameters and code size. Sizes are in bytes.

In the table, threads is the limit of __launch_bounds__, or "=64x2" for a block
that the kernel requires; const is bank 0, or every bank as "[2]8,[0]360". A "-"
is what the image does not tell: PTX has no registers yet.

CSV is that of RFC 4180. A cell of text that begins with = + - @, a tab or a
carriage return gets an apostrophe before it, so that no spreadsheet takes it
for a formula.`,
		Example: `  fatview kernels libfoo.so --arch sm_90a --sort regs
  fatview kernels libfoo.so --regs '>128' --name gemm
  fatview kernels 'torch.whl!torch/lib/libtorch_cuda.so' --format csv > kernels.csv
  fatview kernels dist --format ndjson | jq -r 'select(.stack > 0) | .demangled'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !a.demo {
				return usageError{errors.New("kernels: name at least one file")}
			}
			if o.json {
				if cmd.Flags().Changed("format") && o.format != "json" {
					return usageError{errors.New("--json and --format name different formats")}
				}
				o.format = "json"
			}
			how, err := o.options()
			if err != nil {
				return usageError{err}
			}
			return a.kernels(cmd.Context(), args, o, how)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "text, csv, json or ndjson")
	f.BoolVar(&o.json, "json", false, "same as --format json")
	f.BoolVar(&o.raw, "raw", false, "mangled names in the table")
	f.StringSliceVar(&o.archs, "arch", nil, "only this architecture: sm_90a, compute_90, or 90 for both; several with commas")
	f.StringVar(&o.name, "name", "", "only kernels that have this part in their name, mangled or not")
	f.StringVar(&o.regs, "regs", "", "only kernels with so many registers: '>128', '>=32,<64'")
	f.IntSliceVar(&o.containers, "container", nil, "only this container; several with commas")
	f.StringVar(&o.sort, "sort", "", strings.Join(kernels.Sorts(), ", ")+"; holds all kernels in memory")
	f.BoolVar(&a.demo, "demo", false, "list the built-in sample")
	a.walkFlags(cmd)
	return cmd
}

// options checks the flags.
func (o *kernelsOptions) options() (k kernels.Options, err error) {
	if !slices.Contains(kernels.Formats(), o.format) {
		return k, fmt.Errorf("unknown format %q: choose %s", o.format, strings.Join(kernels.Formats(), ", "))
	}
	if o.sort != "" && !slices.Contains(kernels.Sorts(), o.sort) {
		return k, fmt.Errorf("--sort %q: choose one of %s", o.sort, strings.Join(kernels.Sorts(), ", "))
	}
	k.Sort, k.Filter.Name, k.Filter.Containers = o.sort, o.name, o.containers
	if k.Filter.Archs, err = parseArchs(o.archs); err != nil {
		return k, err
	}
	if o.regs != "" {
		if k.Filter.Registers, err = kernels.ParseBounds(o.regs); err != nil {
			return k, fmt.Errorf("--regs: %w", err)
		}
	}
	return k, nil
}

func parseArchs(words []string) (list []kernels.Arch, err error) {
	for _, w := range words {
		a, err := kernels.ParseArch(w)
		if err != nil {
			return nil, fmt.Errorf("--arch: %w", err)
		}
		list = append(list, a)
	}
	return list, nil
}

func (a *app) kernels(ctx context.Context, paths []string, o kernelsOptions, how kernels.Options) error {
	res, bad, err := a.collect(ctx, a.paths(paths))
	if err != nil {
		return err
	}
	defer res.Close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(res.Files) == 0 && bad {
		return exitError(ExitError)
	}
	n, err := kernels.Write(ctx, a.env.Stdout, o.format, res.Files, how, kernels.Style{Raw: o.raw, Width: a.env.Width})
	if err != nil {
		return err
	}
	if a.tellDamage(res.Files) || bad {
		return exitError(ExitError)
	}
	if n == 0 {
		if how.Filter.Empty() {
			fmt.Fprintln(a.env.Stderr, "fatview: no kernels")
			return nil
		}
		fmt.Fprintln(a.env.Stderr, "fatview: no kernel is like that")
		return exitError(ExitNo)
	}
	return nil
}

// tellDamage says on standard error what parts of files could not be read, for
// commands whose output has no place for that, and whether there were any.
func (a *app) tellDamage(files []*index.File) (bad bool) {
	for _, f := range files {
		for _, x := range f.Findings() {
			if x.Severity == index.Error {
				fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(f.Path+": "+x.Message))
				bad = true
			}
		}
	}
	return bad
}
