package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fatview/index"
	"fatview/internal/plain"
	"fatview/report"
)

type reportOptions struct {
	paths  []string
	format string
	out    string
	force  bool
}

func newReport(a *app) *cobra.Command {
	var o reportOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report PATH ...",
		Short: "Prints what is in files and what runs where",
		Example: `  fatview report libfoo.so --gpu h100,rtx5090
  fatview report libfoo.so --gpu 9.0 --driver 535.104
  fatview report *.so --gpu all --json | jq '.files[].coverage'
  fatview report libfoo.so --gpu h100 -o coverage.md
  fatview report mirror --gpu 12.0 --format ndjson > lines.ndjson`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch o.paths = args; {
			case len(args) == 0 && !a.demo:
				return usageError{errors.New("report: name at least one file")}
			case len(args) > 0 && a.demo:
				return usageError{errors.New("--demo opens its own sample: give no path with it")}
			}
			switch given := cmd.Flags().Changed("format"); {
			case asJSON && given && o.format != "json":
				return usageError{errors.New("--json and --format name different formats")}
			case asJSON:
				o.format = "json"
			case !given && o.out != "":
				f, ok := report.FormatOf(o.out)
				if !ok {
					return usageError{fmt.Errorf("%s: its ending names no format; add --format", o.out)}
				}
				o.format = f
			}
			return a.report(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "one of "+strings.Join(report.Formats(), ", ")+"; ndjson is written while files are read, in bounded memory")
	f.BoolVar(&asJSON, "json", false, "same as --format json")
	f.StringVarP(&o.out, "output", "o", "", "write to this file; its ending chooses the format")
	f.BoolVar(&o.force, "force", false, "overwrite the file of -o")
	f.BoolVar(&a.demo, "demo", false, "report the built-in sample")
	a.walkFlags(cmd)
	return cmd
}

// report opens, decodes and writes. Files that cannot be read are said on
// standard error and make the exit code 2; the rest is reported.
func (a *app) report(ctx context.Context, o reportOptions) error {
	if !known(o.format) {
		return usageError{fmt.Errorf("%w %q: choose one of %s", report.ErrFormat, o.format, strings.Join(report.Formats(), ", "))}
	}
	targets, note, err := a.targets(ctx)
	if err != nil {
		return err
	}
	if o.format == ndjson {
		return a.stream(ctx, o, targets, note)
	}
	res, bad, err := a.collect(ctx, a.paths(o.paths))
	if err != nil {
		return err
	}
	defer res.Close()
	files := res.Files
	if !a.noKernels {
		index.DecodeAll(ctx, files, nil)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if nothingRead(res) {
		return exitError(ExitError)
	}
	r := report.BuildAll(res, targets)
	r.Version, r.Made = a.env.Version, sourceDate(a.env.Getenv)
	if note != "" {
		fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(note)+".")
	}
	bad = bad || unreadable(files)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if o.out != "" {
		err = a.save(o, func() error { return report.Save(o.out, o.format, r, o.force) })
	} else {
		err = a.print(func(w io.Writer) error { return report.Write(w, o.format, r) })
	}
	if err != nil {
		return err
	}
	if bad || impossible(r.GPUs) {
		return exitError(ExitError)
	}
	return nil
}

// sourceDate is the time that a reproducible build gives its outputs
// (reproducible-builds.org, "SOURCE_DATE_EPOCH"): zero where none is set or it
// makes no sense.
func sourceDate(getenv func(string) string) time.Time {
	if getenv == nil {
		return time.Time{}
	}
	s, err := strconv.ParseInt(getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if t := time.Unix(s, 0).UTC(); err == nil && s >= 0 && t.Year() <= 9999 {
		return t
	}
	return time.Time{}
}

// sameFile returns the input that a path is another name for, or "".
func (a *app) sameFile(out string, inputs []string) string {
	to, err := os.Stat(out)
	if err != nil {
		return ""
	}
	for _, in := range inputs {
		if st, err := os.Stat(in); err == nil && os.SameFile(st, to) {
			return in
		}
	}
	return ""
}

func known(format string) bool {
	for _, f := range report.Formats() {
		if f == format {
			return true
		}
	}
	return false
}
