package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fatview/archlist"
	"fatview/gpu"
)

type planOptions struct {
	syntax, toolkit, native string
	json                    bool
}

func newPlan(a *app) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan LIST [--gpu G,...]",
		Short: "Judges an architecture list before building, and translates it",
		Long: `Reads an architecture list as a build system would (nvcc flags, CMake, FindCUDA,
Caffe's Makefile.config, PyTorch, TensorFlow/XLA, ONNX Runtime, llama.cpp), and
prints what it builds, which GPUs that serves, which CUDA toolkits can build it,
and the list in every other grammar with what gets lost.

LIST may stand in its assignment, TORCH_CUDA_ARCH_LIST="8.0;9.0+PTX"; - reads
standard input, such as a whole Makefile.config. The exit code is 1 if a GPU
named with --gpu is not served, or if no toolkit, or not the one of --toolkit,
can build the list.`,
		Example: `  fatview plan "7.5;8.0;8.6+PTX" --gpu h100,rtx5090
  fatview plan "75-real;80;90a" --toolkit 12.8 --driver 570
  fatview plan "80;90" --syntax onnxruntime
  fatview plan -gencode arch=compute_80,code=sm_80
  fatview plan - --gpu gtx1080 < Makefile.config`,
		// nvcc's flags begin with a dash, so they are told apart first.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			words, rest := archlist.SplitArgs(args)
			cmd.DisableFlagParsing = false
			if err := cmd.ParseFlags(rest); err != nil {
				return usageError{err}
			}
			if help, _ := cmd.Flags().GetBool("help"); help {
				return cmd.Help()
			}
			return a.plan(cmd.Context(), strings.Join(append(words, cmd.Flags().Args()...), " "), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.syntax, "syntax", "", "the grammar: nvcc, cmake, findcuda, caffe, pytorch, tensorflow, onnxruntime or llama.cpp (recognised by default)")
	f.StringVar(&o.toolkit, "toolkit", "", "the CUDA toolkit that builds (12.8); resolves all and all-major")
	f.StringVar(&o.native, "native", "", "the GPUs of the machine that builds, for native and Auto (the local ones by default)")
	f.BoolVar(&o.json, "json", false, "write JSON (schema "+archlist.AnswerSchema+")")
	return cmd
}

func (a *app) plan(ctx context.Context, list string, o planOptions) error {
	if strings.TrimSpace(list) == "" {
		return usageError{errors.New(`plan: give an architecture list, such as "8.0;9.0+PTX", or - for standard input`)}
	}
	if list == "-" {
		if a.readsStandardInput() {
			return usageError{errors.New("the list and --gpus-from both read standard input: put one in a file")}
		}
		b, err := io.ReadAll(io.LimitReader(a.env.Stdin, 1<<20))
		if err != nil {
			return err
		}
		list = string(b)
	}
	targets, err := a.named()
	if err != nil {
		return err
	}
	every := gpu.Target{ForceJIT: a.forceJIT, DisableJIT: a.disableJIT}
	if every.Driver, err = a.whatIf(); err != nil {
		return err
	}
	p, syntaxes, opts, err := a.readList(ctx, list, o)
	if err != nil {
		return usageError{err}
	}
	answer := archlist.Ask(p, targets, every)
	answer.Also(list, syntaxes, opts)
	if o.json {
		e := json.NewEncoder(a.env.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		err = e.Encode(answer)
	} else {
		err = planText(a.env.Stdout, &answer)
	}
	if err == nil && !answer.Served() {
		return exitError(ExitNo)
	}
	return err
}
