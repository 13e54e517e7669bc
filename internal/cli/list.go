package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"fatview/report"
)

func newList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list PATH ...",
		Short: "Prints one line for each image, from headers alone",
		Example: `  fatview list libfoo.so
  fatview list libfoo.so | awk '$3 == "sm_90a"'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !a.demo {
				return usageError{errors.New("list: name at least one file")}
			}
			ctx := cmd.Context()
			res, bad, err := a.collect(ctx, a.paths(args))
			if err != nil {
				return err
			}
			defer res.Close()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r := report.BuildAll(res, nil)
			write := report.List
			if asJSON {
				write = report.JSON
			}
			if err := a.print(func(w io.Writer) error { return write(w, r) }); err != nil {
				return err
			}
			if bad || unreadable(res.Files) {
				return exitError(ExitError)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the report's JSON, without verdicts and kernels")
	cmd.Flags().BoolVar(&a.demo, "demo", false, "list the built-in sample")
	a.walkFlags(cmd)
	return cmd
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Prints the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.env.Stdout.Write([]byte("fatview " + a.env.Version + "\n"))
			return err
		},
	}
}
