// Package cli is fatview's command line: flags, exit codes and where output
// goes. What the commands do is in the packages they call.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"fatview/collect"
	"fatview/fleet"
	"fatview/gpu"
	"fatview/internal/plain"
)

// Exit codes.
const (
	ExitOK          = 0
	ExitNo          = 1   // the question is answered no
	ExitError       = 2   // usage, or something could not be read
	ExitInterrupted = 130 // ctrl+c
)

// An Env is what the commands take from the world, so that tests can replace
// it.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       bool  // both ends of standard input and output are a terminal
	Progress       bool  // standard error is a terminal
	Width          int   // columns of standard output; 0 if that is no terminal
	Demo           fs.FS // the built-in sample
	Version        string
	Detect         func(context.Context) gpu.Inventory
	Getenv         func(string) string
	Environ        func() []string // all variables; nil: none
	// Explore runs the terminal explorer.
	Explore func(ctx context.Context, o ExploreOptions) error
}

// ExploreOptions is what the explorer is started with.
type ExploreOptions struct {
	Paths     []string
	Collect   collect.Options // how paths are looked at
	Targets   []gpu.Target
	Detect    func(context.Context) gpu.Inventory
	NoKernels bool
	Version   string
}

// ErrInterrupted means that the user pressed ctrl+c in the explorer.
var ErrInterrupted = errors.New("interrupted")

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// exitError ends a command with a code; what there was to say has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, env Env, args []string) int {
	a := &app{env: env}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	var exit exitError
	switch {
	case err == nil && a.incomplete, errors.As(err, &exit) && exit == ExitNo && a.incomplete:
		return ExitError // an answer for some GPUs is none for the fleet
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return int(exit)
	case ctx.Err() != nil, errors.Is(err, ErrInterrupted):
		fmt.Fprintln(env.Stderr, "fatview: interrupted")
		return ExitInterrupted
	}
	fmt.Fprintln(env.Stderr, "fatview: "+plain.Text(err.Error()))
	var usage usageError
	if errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown ") {
		fmt.Fprintln(env.Stderr, "Try fatview --help.")
	}
	return ExitError
}

// app holds the flags that commands share.
type app struct {
	env       Env
	gpus      []string
	gpusFrom  []string // files, or - for standard input
	driver    string
	cuda      string
	noDetect  bool
	noKernels bool
	demo      bool
	// include and exclude are patterns for folders and packages.
	include, exclude []string
	verbose          bool
	// forceJIT and disableJIT stand for CUDA_FORCE_PTX_JIT and
	// CUDA_DISABLE_PTX_JIT.
	forceJIT, disableJIT bool

	fleet      []*fleet.Inventory // what the files of gpusFrom say, once they are read
	incomplete bool               // GPUs of the fleet were left out
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "fatview [PATH ...]",
		Short: "Shows which CUDA kernels in a compiled library run on which GPU",
		Long: `fatview opens compiled libraries (ELF, PE and what wraps them), decodes the CUDA
device code inside, and shows which kernels run natively, by JIT or not at all
on the GPUs at hand or any GPU you name.

With a terminal it explores; without one it prints the report.`,
		Example: `  fatview ./onnxruntime_providers_cuda.dll
  fatview report libfoo.so --gpu h100,rtx5090
  fatview report libfoo.so --gpu all --json
  fatview --demo`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		RunE:              a.explore,
		// Every command takes the shared flags, so that each is checked even
		// where a command has no use for it.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			_, err := a.named()
			return err
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	p := root.PersistentFlags()
	p.StringArrayVar(&a.gpus, "gpu", nil, "judge for these GPUs: a name (h100), a capability (9.0, 90, sm_90), a family (turing), \">=8.0\" or all; several with commas")
	p.StringArrayVar(&a.gpusFrom, "gpus-from", nil, "judge for the GPUs that a file lists: kubectl get nodes -o json, nvidia-smi (CSV or XML), dcgm-exporter, scontrol show node, TOML or CSV; - is standard input; repeatable")
	p.StringVar(&a.driver, "driver", "", "what if the driver were this version (535.104, R550)")
	p.StringVar(&a.cuda, "cuda", "", "what if the driver supported CUDA up to this version (12.2)")
	p.BoolVar(&a.noDetect, "no-detect", false, "do not look for local GPUs")
	p.BoolVar(&a.noKernels, "no-kernels", false, "read headers only: faster, but kernels stay unknown and empty images count as full")
	p.BoolVar(&a.forceJIT, "force-jit", false, "judge as if CUDA_FORCE_PTX_JIT=1 were set: all machine code is ignored")
	p.BoolVar(&a.disableJIT, "disable-jit", false, "judge as if CUDA_DISABLE_PTX_JIT=1 were set: all PTX is ignored")
	root.Flags().BoolVar(&a.demo, "demo", false, "open a built-in sample")
	a.walkFlags(root)
	root.AddCommand(newReport(a), newExplain(a), newCheck(a), newPlan(a), newList(a), newKernels(a), newExtract(a), newSizes(a), newGPUs(a), newDoctor(a), newVersion(a))
	return root
}

// explore is the bare command.
func (a *app) explore(cmd *cobra.Command, paths []string) error {
	if a.demo && len(paths) > 0 {
		return usageError{errors.New("--demo opens its own sample: give no path with it")}
	}
	if !a.env.Terminal {
		if len(paths) == 0 && !a.demo {
			return usageError{errors.New("name a file to open; without a terminal there is nobody to ask")}
		}
		return a.report(cmd.Context(), reportOptions{paths: paths, format: "text"})
	}
	targets, err := a.named()
	if err != nil {
		return err
	}
	how, err := a.collectOptions()
	if err != nil {
		return err
	}
	how.Eager = true
	o := ExploreOptions{Paths: a.paths(paths), Collect: how, Targets: targets, NoKernels: a.noKernels, Version: a.env.Version}
	if len(targets) == 0 && !a.noDetect {
		o.Detect = a.detect
	}
	return a.env.Explore(cmd.Context(), o)
}
