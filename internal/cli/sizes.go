package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fatview/sizes"
)

func newSizes(a *app) *cobra.Command {
	format, asJSON, top := "text", false, 10
	cmd := &cobra.Command{
		Use:   "sizes PATH ...",
		Short: "Tells what device code costs, what is there twice, and what each architecture is for",
		Long: `Adds up bytes in the file and after decompression by architecture, kind,
compression, container, kernel family (a template's name without its arguments)
and kernel; finds code that is in several containers; says for every GPU that
runs an architecture what it would run without it; and estimates what zstd would
save, by compressing a sample.

Sections, containers, headers and padding add up to the file's bytes. What a
family or kernel takes of the stored bytes is a share by size of its image.`,
		Example: `  fatview sizes libfoo.so
  fatview sizes libfoo.so --json | jq '.files[].archs[] | {name, stored_bytes}'
  fatview sizes dist/*.so --format csv > sizes.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !a.demo {
				return usageError{errors.New("sizes: name at least one file")}
			}
			if asJSON {
				if cmd.Flags().Changed("format") && format != "json" {
					return usageError{errors.New("--json and --format name different formats")}
				}
				format = "json"
			}
			var write func(io.Writer, *sizes.Report) error
			switch format {
			case "text":
				write = func(w io.Writer, r *sizes.Report) error {
					return sizes.Text(w, r, sizes.Options{Top: top, Width: a.env.Width})
				}
			case "json":
				write = sizes.JSON
			case "csv":
				write = sizes.CSV
			default:
				return usageError{fmt.Errorf("unknown format %q: choose text, json or csv", format)}
			}
			return a.sizes(cmd.Context(), args, write)
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", format, "text, json or csv")
	f.BoolVar(&asJSON, "json", false, "same as --format json")
	f.IntVar(&top, "top", top, "how many containers, families, kernels and duplicates the text names")
	f.BoolVar(&a.demo, "demo", false, "measure the built-in sample")
	a.walkFlags(cmd)
	return cmd
}

func (a *app) sizes(ctx context.Context, paths []string, write func(io.Writer, *sizes.Report) error) error {
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
	r, err := sizes.Build(ctx, res.Files)
	if err != nil {
		return err
	}
	if err := a.print(func(w io.Writer) error { return write(w, r) }); err != nil {
		return err
	}
	if bad || unreadable(res.Files) {
		return exitError(ExitError)
	}
	return nil
}
