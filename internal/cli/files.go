package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"fatview/collect"
	"fatview/index"
	"fatview/internal/plain"
)

// demoPrefix marks the paths of the built-in sample.
const demoPrefix = "demo:"

// demoFiles are the names in Env.Demo that --demo opens.
var demoFiles = []string{"mixed.so", "multi13.so", "pe.dll"}

// paths returns what to open: the arguments, or the sample's files.
func (a *app) paths(args []string) []string {
	if !a.demo {
		return args
	}
	var ps []string
	for _, n := range demoFiles {
		ps = append(ps, demoPrefix+n)
	}
	return ps
}

// tellMore adds what is told with -v only: libraries without device code and
// bytes that look like device code and are none.
func tellMore(res *collect.Result) {
	for _, f := range res.Files {
		f.TellFalseMagics()
	}
	for _, o := range res.Others {
		res.Args[o.Arg].Note(o.Path, "no device code")
	}
}

// walkFlags adds the flags of commands that look into folders and packages.
func (a *app) walkFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.include, "include", nil, "look only at files that match, in folders and packages: \"*.so\", \"torch/**\"; can be repeated")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "name libraries without device code, and count false magic numbers")
	f.StringArrayVar(&a.exclude, "exclude", nil, "leave out files, folders and packages that match; can be repeated")
}

// collectOptions is how paths are looked at.
func (a *app) collectOptions() (collect.Options, error) {
	o := collect.Options{Include: a.include, Exclude: a.exclude, Stdin: a.env.Stdin, Named: a.demoFile}
	if err := collect.CheckPatterns(o); err != nil {
		return o, usageError{err}
	}
	return o, nil
}

// demoFile opens a file of the sample, and nothing else.
func (a *app) demoFile(ctx context.Context, path string) ([]*index.File, error) {
	name, ok := strings.CutPrefix(path, demoPrefix)
	if !ok || !a.demo {
		return nil, nil
	}
	b, err := fs.ReadFile(a.env.Demo, name)
	if err != nil {
		return nil, err
	}
	return index.Read(ctx, path, bytes.NewReader(b), int64(len(b)), nil)
}

// collect opens everything that paths name. What fails is said on standard
// error, and bad is true; the rest is returned all the same.
func (a *app) collect(ctx context.Context, paths []string) (res *collect.Result, bad bool, err error) {
	o, err := a.collectOptions()
	if err != nil {
		return nil, false, err
	}
	stop := a.progress(&o)
	res = collect.Run(ctx, paths, o, nil)
	stop()
	if a.verbose {
		tellMore(res)
	}
	return res, a.complain(res), nil
}

// complain says on standard error what could not be read, and whether there
// was anything.
func (a *app) complain(res *collect.Result) (bad bool) {
	for _, arg := range res.Args {
		if arg.Err != nil {
			bad = true
			if !errors.Is(arg.Err, context.Canceled) {
				fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(arg.Err.Error()))
			}
		}
		for _, f := range arg.Findings {
			if f.Severity == index.Error {
				bad = true
				fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(f.Path+": "+f.Message))
			}
		}
	}
	return bad
}

// nothingRead tells whether every argument failed as a whole.
func nothingRead(res *collect.Result) bool {
	for _, arg := range res.Args {
		if arg.Err == nil {
			return false
		}
	}
	return true
}

// unreadable reports whether a part of some file could not be read: the rest
// is shown, and the exit code says so.
func unreadable(files []*index.File) bool {
	for _, f := range files {
		for _, x := range f.Findings() {
			if x.Severity == index.Error {
				return true
			}
		}
	}
	return false
}

// print writes to standard output through a buffer.
func (a *app) print(write func(io.Writer) error) error {
	w := bufio.NewWriter(a.env.Stdout)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
