package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fatview/explain"
	"fatview/index"
	"fatview/internal/plain"
)

func newExplain(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain FILE [KERNEL]",
		Short: "Tells image by image why something runs on a GPU or not",
		Long: `Tells, for each GPU, what became of every image of the file's containers, by
which rule, what a user sees when it fails, the least driver, and what JIT
costs. Containers with the same images and the same answer are told once.

KERNEL is a part of a kernel's name, mangled or not; then only its containers
are told.`,
		Example: `  fatview explain libfoo.so --gpu h100
  fatview explain libfoo.so softmax --gpu 9.0 --driver 535.104`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usageError{errors.New("explain: name one file, and a kernel if you like")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			targets, note, err := a.targets(ctx)
			if err != nil {
				return err
			}
			if len(targets) == 0 {
				return usageError{errors.New(note)}
			}
			res, bad, err := a.collect(ctx, args[:1])
			if err != nil {
				return err
			}
			defer res.Close()
			files := res.Files
			index.DecodeAll(ctx, files, nil)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if len(files) == 0 {
				if !bad {
					fmt.Fprintf(a.env.Stderr, "fatview: %s: no device code in it\n", plain.Text(args[0]))
				}
				return exitError(ExitError)
			}
			kernel := ""
			if len(args) == 2 {
				kernel = args[1]
			}
			e := explain.Build(files, targets, kernel)
			if kernel != "" && e.Matched == 0 {
				fmt.Fprintf(a.env.Stderr, "fatview: no kernel of %s has %q in its name\n", plain.Text(args[0]), plain.Text(kernel))
				return exitError(ExitNo)
			}
			write := explain.Text
			if asJSON {
				write = explain.JSON
			}
			if err := a.print(func(w io.Writer) error { return write(w, e) }); err != nil {
				return err
			}
			if bad || unreadable(files) {
				return exitError(ExitError)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	a.walkFlags(cmd)
	return cmd
}
