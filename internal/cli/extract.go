package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fatview/extract"
	"fatview/internal/plain"
	"fatview/report"
)

type extractOptions struct {
	path, image, out, kind, kernel       string
	archs                                []string
	containers, all, force, verify, json bool
}

func newExtract(a *app) *cobra.Command {
	var o extractOptions
	cmd := &cobra.Command{
		Use:   "extract PATH [IMAGE] -o OUT",
		Short: "Takes out cubins, PTX, LTO IR, the code of kernels, or whole containers",
		Long: `Writes device code to files: the images that IMAGE, --arch, --kind and --all
choose, the code of kernels with --kernel, whole containers with --containers.
IMAGE is 3.0 for image 0 of container 3, or 3 for all of that container's.

OUT is a folder, where names are made from container, image, translation unit
and architecture: c003-i0-activations_impl.cu.sm_90a.cubin. Exactly one thing can
go to a file, or with - to standard output. Files appear whole or not at all,
existing ones are left alone unless --force is given, and nothing is written
outside of OUT.

Cubins are those that cuobjdump -xelf extracts, byte for byte. PTX is the text
as it is stored; where the toolkit keeps .version in the header only, it is put
back, under a comment that says so. LTO IR is obfuscated mostly, and written as
it is stored then.`,
		Example: `  fatview extract libfoo.so 3.0 -o activations.cubin
  fatview extract libfoo.so --kind ptx -o ptx/
  fatview extract libfoo.so 0.3 -o - | less
  fatview extract libfoo.so --kernel softmax --arch sm_90a -o code/
  fatview extract torch.whl!torch/lib/libtorch_cuda.so --all --verify --json -o out/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usageError{errors.New("extract: name one file, and an image if you like")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = args[0]
			if len(args) == 2 {
				o.image = args[1]
			}
			choice, err := o.choice()
			if err != nil {
				return usageError{err}
			}
			return a.extract(cmd.Context(), o, choice)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "folder to write to, or a file for one thing, or - for standard output")
	f.StringSliceVar(&o.archs, "arch", nil, "images of this architecture: sm_90a, compute_90, or 90 for both; several with commas")
	f.StringVar(&o.kind, "kind", "", "images of this kind: ptx, sass, lto or tileir")
	f.StringVar(&o.kernel, "kernel", "", "the code of kernels that have this part in their name, mangled or not")
	f.BoolVar(&o.containers, "containers", false, "whole containers, as .fatbin files")
	f.BoolVar(&o.all, "all", false, "all images")
	f.BoolVar(&o.force, "force", false, "overwrite files that are there")
	f.BoolVar(&o.verify, "verify", false, "read what was written again and compare it with the source")
	f.BoolVar(&o.json, "json", false, "write a manifest with offsets, sizes and SHA-256 to standard output")
	a.walkFlags(cmd)
	return cmd
}

// choice checks the flags.
func (o *extractOptions) choice() (c extract.Choice, err error) {
	chosen := o.image != "" || len(o.archs) > 0 || o.kind != "" || o.kernel != ""
	switch {
	case o.out == "":
		return c, errors.New("extract: say where to with -o: a folder, a file, or -")
	case !chosen && !o.all && !o.containers:
		return c, errors.New("extract: say what: an image such as 3.0, --arch, --kind, --kernel, --containers or --all")
	case o.all && chosen:
		return c, errors.New("--all takes everything: it does not go with an image, --arch, --kind or --kernel")
	case o.containers && o.kernel != "":
		return c, errors.New("--containers and --kernel are two things: choose one")
	case o.out == "-" && (o.json || o.verify):
		return c, errors.New("-o - leaves standard output to the image: it does not go with --json or --verify")
	}
	if o.image != "" {
		if err := c.ParseImage(o.image); err != nil {
			return c, err
		}
	}
	if c.Archs, err = parseArchs(o.archs); err != nil {
		return c, err
	}
	if o.kind != "" {
		if c.Kinds, err = extract.ParseKinds(o.kind); err != nil {
			return c, fmt.Errorf("--kind: %w", err)
		}
	}
	switch {
	case o.containers && c.OneImage:
		return c, fmt.Errorf("--containers takes whole containers: name one as %d, not %s", c.Containers[0], o.image)
	case o.containers:
		c.What = extract.Containers
	case o.kernel != "":
		c.What, c.Kernel = extract.Kernels, o.kernel
	}
	return c, nil
}

func (a *app) extract(ctx context.Context, o extractOptions, choice extract.Choice) error {
	res, bad, err := a.collect(ctx, []string{o.path})
	if err != nil {
		return err
	}
	defer res.Close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(res.Files) == 0 && bad {
		return exitError(ExitError)
	}
	items, err := extract.List(ctx, res.Files, choice)
	if err != nil {
		return err
	}
	bad = a.tellDamage(res.Files) || bad
	if len(items) == 0 {
		fmt.Fprintf(a.env.Stderr, "fatview: %s: nothing in it is like that\n", plain.Text(o.path))
		if bad {
			return exitError(ExitError)
		}
		return exitError(ExitNo)
	}
	w := &extract.Writer{Overwrite: o.force, Verify: o.verify, Manifest: extract.NewManifest(o.out), Tell: func(s string) {
		fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(s))
	}}
	if o.out == "-" {
		if len(items) > 1 {
			return usageError{fmt.Errorf("%d things are chosen and standard output takes one: name an image such as %d.%d", len(items), items[0].Container.ID, max(0, items[0].Image))}
		}
		err = a.print(func(to io.Writer) error { return w.Send(&items[0], to) })
	} else {
		err = a.extractTo(ctx, o, w, items)
	}
	a.tellExtracted(o, w.Manifest)
	if err != nil {
		return err
	}
	if o.json {
		if err := report.EncodeJSON(a.env.Stdout, w.Manifest); err != nil {
			return err
		}
	}
	if bad || len(w.Manifest.Skipped) > 0 {
		return exitError(ExitError)
	}
	return nil
}

// extractTo writes to a folder, or one item to a file.
func (a *app) extractTo(ctx context.Context, o extractOptions, w *extract.Writer, items []extract.Item) (err error) {
	folder := o.out
	st, serr := os.Stat(o.out)
	isDir, ends := serr == nil && st.IsDir(), os.IsPathSeparator(o.out[len(o.out)-1])
	undo := func() {}
	switch {
	case len(items) == 1 && !isDir && !ends:
		if same := a.sameFile(o.out, []string{o.path}); same != "" {
			return usageError{fmt.Errorf("%s is what is extracted from: give -o another name", same)}
		}
		folder, items[0].Name = filepath.Dir(o.out), filepath.Base(o.out)
		w.Root, err = os.OpenRoot(folder)
	case serr == nil && !isDir:
		return usageError{fmt.Errorf("%s is a file and %d things are chosen: give -o a folder", o.out, len(items))}
	default:
		w.Root, undo, err = extract.OpenFolder(o.out)
	}
	if err != nil {
		return err
	}
	defer undo() // after the folder is closed
	defer w.Root.Close()
	err = w.Check(items)
	if err == nil {
		err = w.Write(ctx, items)
	}
	if errors.Is(err, extract.ErrExists) {
		return fmt.Errorf("%w in %s; --force overwrites it", err, folder)
	}
	return err
}

// tellExtracted sums up on standard error.
func (a *app) tellExtracted(o extractOptions, m *extract.Manifest) {
	if o.out == "-" && len(m.Skipped) == 0 {
		return
	}
	text := fmt.Sprintf("wrote %s, %s, to %s", plural(m.Count, "file"), report.Bytes(m.Bytes), plain.Text(o.out))
	if o.verify && m.Count > 0 {
		text += "; read again, and the same"
	}
	if n := len(m.Skipped); n > 0 {
		text += fmt.Sprintf("; %d could not be read", n)
	}
	fmt.Fprintln(a.env.Stderr, text)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return number(int64(n)) + " " + word + "s"
}
