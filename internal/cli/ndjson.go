package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"fatview/gpu"
	"fatview/internal/plain"
	"fatview/report"
	"fatview/stream"
)

// ndjson is the format that is written while files are read.
const ndjson = "ndjson"

// stream is report for lines: it keeps nothing but what is written. What
// cannot be read is a line as well as a word on standard error.
func (a *app) stream(ctx context.Context, o reportOptions, targets []gpu.Target, note string) error {
	how, err := a.collectOptions()
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(note)+".")
	}
	bad := false
	write := func(w io.Writer) error {
		stop := a.progress(&how)
		res, unreadable, err := stream.Run(ctx, w, stream.Options{
			Paths: a.paths(o.paths), Collect: how, Targets: targets, NoKernels: a.noKernels,
		})
		stop()
		bad = a.complain(res) || unreadable
		return err
	}
	if o.out == "" {
		err = write(a.env.Stdout)
	} else {
		err = a.save(o, func() error { return report.SaveFunc(o.out, o.force, write) })
	}
	if err != nil {
		return err
	}
	if bad || impossible(report.Build(nil, targets).GPUs) {
		return exitError(ExitError)
	}
	return nil
}

// save writes the file of -o, which must not be one of the inputs.
func (a *app) save(o reportOptions, do func() error) error {
	if same := a.sameFile(o.out, o.paths); same != "" {
		return usageError{fmt.Errorf("%s is what the report is about: give -o another name", same)}
	}
	err := do()
	if errors.Is(err, report.ErrExists) {
		return fmt.Errorf("%w; --force overwrites it", err)
	}
	if err == nil {
		fmt.Fprintln(a.env.Stderr, "wrote "+plain.Text(o.out))
	}
	return err
}

// impossible tells whether no GPU can go with its driver. One pair that cannot
// be is part of the answer; nothing but such pairs is a mistake in the
// question.
func impossible(gpus []report.GPU) bool {
	for _, g := range gpus {
		if g.Problem == "" {
			return false
		}
	}
	return len(gpus) > 0
}
