// Command fatview shows which CUDA kernels in a compiled library run on which
// GPU. See README.md.
package main

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/term"

	"fatview/gpu"
	"fatview/internal/cli"
	"fatview/ui"
	_ "fatview/ui/quiet" // before bubbletea: see there
)

//go:embed testdata/fixtures/mixed.so testdata/fixtures/multi13.so testdata/fixtures/pe.dll
var sample embed.FS

// memoryTarget is where the garbage collector starts to work harder, unless
// GOMEMLIMIT says otherwise: payloads of a hostile file come and go by the
// hundred megabytes.
const memoryTarget = 768 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryTarget)
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second ctrl+c ends it whatever it does
	demo, err := fs.Sub(sample, "testdata/fixtures")
	if err != nil {
		panic(err) // the embedded path is wrong: a mistake at build time
	}
	code := cli.Main(ctx, cli.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Progress: term.IsTerminal(int(os.Stderr.Fd())),
		Terminal: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())),
		Width:    width(),
		Demo:     demo, Version: version(), Detect: gpu.Detect, Getenv: os.Getenv, Environ: os.Environ, Explore: explore,
	}, os.Args[1:])
	stop()
	os.Exit(code)
}

// width is how many columns standard output has, 0 if it is no terminal.
func width() int {
	n, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// explore runs the terminal program.
func explore(ctx context.Context, o cli.ExploreOptions) error {
	err := ui.Run(ctx, ui.Options{
		Paths: o.Paths, Collect: o.Collect, Targets: o.Targets, Detect: o.Detect,
		NoKernels: o.NoKernels, Version: o.Version,
	})
	if errors.Is(err, ui.ErrInterrupted) {
		return cli.ErrInterrupted
	}
	return err
}

// version is the module's version as the build knows it, with that of Go.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	return v + " " + info.GoVersion
}
