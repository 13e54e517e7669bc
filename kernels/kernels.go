// Package kernels lists the kernels of files with what each takes: registers,
// stack, shared memory, constant banks, launch bounds, code. The numbers are
// those that NVIDIA's "cuobjdump -res-usage" prints, read from the same places
// of a cubin (see package fatbin), and tests compare them.
//
// Containers are decoded in order by a worker for each processor and a row is
// handed on as soon as it is its turn, so that a library of a gigabyte is
// listed in the memory of a few containers. Only sorting keeps all rows.
package kernels

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"fatview/fatbin"
	"fatview/index"
)

// Schema names the JSON form. Fields are only ever added.
const Schema = "fatview/kernels/1"

// A Row is one kernel of one image.
type Row struct {
	File      int // number of the file in the list given
	Container int
	Image     int
	Kind      fatbin.Kind
	Arch      string // sm_90a; compute_90 where it is PTX
	Unit      string // file name of the translation unit, "" unknown
	Short     string // demangled, without parameters
	fatbin.Kernel
}

// Machine reports whether the row is of machine code. PTX tells names and
// launch bounds and nothing else.
func (r *Row) Machine() bool { return r.Kind == fatbin.KindCubin }

// Banks returns the sizes of the constant banks in the order in which
// cuobjdump prints them: from the highest down.
func (r *Row) Banks() []Bank {
	out := []Bank{}
	for n, size := range r.OtherConst {
		if size > 0 {
			out = append(out, Bank{n, size})
		}
	}
	slices.SortFunc(out, func(a, b Bank) int { return cmp.Compare(b.Number, a.Number) })
	if r.Const > 0 {
		out = append(out, Bank{0, r.Const})
	}
	return out
}

// A Bank is a constant bank of a kernel and its size in bytes.
type Bank struct {
	Number int    `json:"bank"`
	Bytes  uint64 `json:"bytes"`
}

// Options say what is listed and in which order.
type Options struct {
	Filter Filter
	Sort   string // one of Sorts, or "" for the order of the file
}

// Sorts returns the words by which rows can be sorted: by name upwards, by all
// others from the largest down.
func Sorts() []string { return []string{"name", "regs", "shared", "stack", "code"} }

// Each hands the kernels of files to yield: in the order of files, containers,
// images and the image's own, or sorted. Damage ends up in the files' findings.
// The error is that of yield or of ctx.
func Each(ctx context.Context, files []*index.File, o Options, yield func(*Row) error) error {
	if o.Sort == "" {
		return each(ctx, files, o.Filter, yield)
	}
	order, ok := orders[o.Sort]
	if !ok {
		return fmt.Errorf("cannot sort by %q: choose one of %s", o.Sort, strings.Join(Sorts(), ", "))
	}
	var all []Row
	one := map[string]string{} // every architecture repeats the names
	same := func(s string) string {
		if t, ok := one[s]; ok {
			return t
		}
		one[s] = s
		return s
	}
	err := each(ctx, files, o.Filter, func(r *Row) error {
		r.Name, r.Short = same(r.Name), same(r.Short)
		all = append(all, *r)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b Row) int { return order(&a, &b) })
	for i := range all {
		if err := yield(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// orders are the ways to sort; equal rows keep the order of the file. It does
// not change.
var orders = map[string]func(a, b *Row) int{
	"name":   func(a, b *Row) int { return cmp.Compare(a.Short, b.Short) },
	"regs":   func(a, b *Row) int { return cmp.Compare(b.Registers, a.Registers) },
	"shared": func(a, b *Row) int { return cmp.Compare(b.Shared, a.Shared) },
	"stack":  func(a, b *Row) int { return cmp.Compare(b.Stack, a.Stack) },
	"code":   func(a, b *Row) int { return cmp.Compare(b.Code, a.Code) },
}

func each(ctx context.Context, files []*index.File, f Filter, yield func(*Row) error) error {
	var places []index.Place
	for _, p := range index.Places(files) {
		if f.container(p.Container.ID) && slices.ContainsFunc(p.Container.Images, f.image) {
			places = append(places, p)
		}
	}
	return index.InOrder(ctx, len(places), func(i int, dec *fatbin.Decoder) []Row {
		return rows(ctx, places[i], f, dec)
	}, func(_ int, rows []Row) error {
		for i := range rows {
			if err := yield(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// rows returns the kernels of one container that the filter lets through.
func rows(ctx context.Context, p index.Place, f Filter, dec *fatbin.Decoder) []Row {
	d := p.File.Peek(ctx, p.Container, dec, f.image)
	if d == nil {
		return nil
	}
	var out []Row
	short := map[string]string{}
	for i := range d.Images {
		im := p.Container.Images[i]
		for _, k := range d.Images[i].Kernels {
			r := Row{File: p.Number, Container: p.Container.ID, Image: i, Kind: im.Kind, Arch: im.ArchName(), Unit: d.Label, Kernel: k}
			if !f.row(&r) {
				continue
			}
			name, ok := short[k.Name]
			if !ok {
				name = fatbin.ShortName(k.Name)
				short[k.Name] = name
			}
			r.Short = name
			out = append(out, r)
		}
	}
	return out
}
