package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

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

// open opens a path, or a file of the sample.
func (a *app) open(ctx context.Context, path string) ([]*index.File, error) {
	if !a.demo || len(path) < len(demoPrefix) || path[:len(demoPrefix)] != demoPrefix {
		return index.Open(ctx, path)
	}
	b, err := fs.ReadFile(a.env.Demo, path[len(demoPrefix):])
	if err != nil {
		return nil, err
	}
	return index.Read(ctx, path, bytes.NewReader(b), int64(len(b)), nil)
}

// openAll opens all paths. What fails is said on standard error, and bad is
// true; the rest is returned all the same.
func (a *app) openAll(ctx context.Context, paths []string) (files []*index.File, bad bool) {
	for _, p := range paths {
		if ctx.Err() != nil {
			return files, true
		}
		fs, err := a.open(ctx, p)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(err.Error()))
			}
			bad = true
			continue
		}
		files = append(files, fs...)
	}
	return files, bad
}

// searchAll looks outside of the named sections of all files.
func (a *app) searchAll(ctx context.Context, files []*index.File) (bad bool) {
	for _, f := range files {
		if err := f.Search(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(f.Path+": "+err.Error()))
			bad = true
		}
	}
	return bad
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

func closeAll(files []*index.File) {
	for _, f := range files {
		f.Close()
	}
}
