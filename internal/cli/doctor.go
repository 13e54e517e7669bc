package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"fatview/check"
	"fatview/doctor"
	"fatview/gpu"
	"fatview/index"
	"fatview/internal/plain"
	"fatview/internal/sysroot"
	"fatview/report"
)

func newDoctor(a *app) *cobra.Command {
	var asJSON bool
	var root string
	cmd := &cobra.Command{
		Use:   "doctor [PATH ...]",
		Short: "Says step by step why CUDA works here or not, and what to do",
		Long: `Looks at kernel module, device nodes, driver libraries and their versions, the
container, the GPUs, CUDA runtimes, variables and the JIT cache, and with PATH at
what those files have for the GPUs. Each step passes, warns, fails or is
skipped, with what was seen and what to do. It needs no rights beyond yours and
changes nothing. Exits with 1 if a step fails.

--root reads the files of another Linux system, such as the unpacked files of a
container image. Variables are those of this process all the same.`,
		Example: `  fatview doctor
  fatview doctor ./libfoo.so
  docker run --rm --gpus all -v "$PWD":/w -w /w IMAGE ./fatview doctor --json`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			w, bad, err := a.world(cmd.Context(), root, paths)
			if err != nil {
				return err
			}
			r := doctor.Run(w)
			write := doctor.Text
			if asJSON {
				write = doctor.JSON
			}
			if err := a.print(func(out io.Writer) error { return write(out, r) }); err != nil {
				return err
			}
			switch {
			case bad:
				return exitError(ExitError)
			case !r.OK:
				return exitError(ExitNo)
			}
			return nil
		},
	}
	a.walkFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().StringVar(&root, "root", "", "a folder with the files of another Linux system")
	return cmd
}

// world gathers what the steps look at. bad is true if a file could not be read.
func (a *app) world(ctx context.Context, root string, paths []string) (w *doctor.World, bad bool, err error) {
	targets, err := a.named()
	if err != nil {
		return nil, false, err
	}
	w = &doctor.World{Env: a.variables(), Undetected: a.noDetect}
	if root != "" {
		dir, err := filepath.Abs(root)
		if err != nil {
			return nil, false, usageError{err}
		}
		w.Root = sysroot.Root{Dir: dir, GOOS: "linux"}
		if !w.Root.IsDir("/") {
			return nil, false, usageError{fmt.Errorf("--root %s: not a folder", root)}
		}
	}
	switch {
	case a.noDetect:
	case root != "":
		w.GPUs = gpu.DetectWith(ctx, gpu.Options{Root: w.Root, FilesOnly: true, Getenv: func(k string) (string, bool) { v, ok := w.Env[k]; return v, ok }})
	default:
		w.GPUs = a.env.Detect(ctx)
	}
	if len(targets) == 0 {
		targets = a.visible(w.GPUs)
	}
	w.Targets = targets
	bad, err = a.judge(ctx, w, paths)
	if err != nil {
		return nil, bad, err
	}
	if ctx.Err() != nil {
		return nil, bad, ctx.Err()
	}
	return w, bad, nil
}

// judge has check answer for the files.
func (a *app) judge(ctx context.Context, w *doctor.World, paths []string) (bad bool, err error) {
	w.Asked = len(paths) > 0
	for _, g := range report.Build(nil, w.Targets).GPUs {
		w.GPUNames = append(w.GPUNames, g.Title())
	}
	if !w.Asked {
		return false, nil
	}
	res, bad, err := a.collect(ctx, paths)
	if err != nil {
		return bad, err
	}
	defer res.Close()
	result := &check.Result{}
	for _, f := range res.Files {
		if len(w.Targets) > 0 {
			result.File(ctx, f, w.Targets, 0, check.Limits{}, "")
		}
		for _, x := range f.Findings() {
			if x.Severity == index.Error && !errors.Is(ctx.Err(), context.Canceled) {
				fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(f.Path+": "+x.Message))
				bad = true
			}
		}
	}
	w.Files = result.Lines
	return bad, nil
}

// variables returns the environment. Windows does not tell upper case from lower.
func (a *app) variables() map[string]string {
	out := map[string]string{}
	if a.env.Environ == nil {
		return out
	}
	for _, s := range a.env.Environ() {
		k, v, _ := strings.Cut(s, "=")
		if runtime.GOOS == "windows" {
			k = strings.ToUpper(k)
		}
		out[k] = v
	}
	return out
}
