package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"fatview/internal/plain"
)

// csvHeader names the columns. Columns are only ever added, at the end.
var csvHeader = []string{
	"path", "distribution", "version", "format", "machine",
	"gpu", "cc", "driver", "cuda",
	"container", "section", "linkage", "label",
	"verdict", "image", "arch", "rule", "reason",
}

// CSV writes a row for each file, container and GPU: RFC 4180 with lines that
// end in CR LF, UTF-8 without a byte order mark. What a file lacks is empty: GPU
// columns of a report without GPUs, container columns of a file without
// containers, the verdict where none is given. Text from files is escaped as on
// a terminal, and kept from being a formula.
func CSV(w io.Writer, r *Report) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	rows := csvRows{w: c, r: r, owners: r.owners(), gpus: csvGPUs(r)}
	if err := c.Write(csvHeader); err != nil {
		return err
	}
	for i := range r.Files {
		if err := rows.file(i); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

type csvRows struct {
	w      *csv.Writer
	r      *Report
	owners []*Distribution
	gpus   [][]string // the cells of each GPU
	row    []string
}

func csvGPUs(r *Report) [][]string {
	var out [][]string
	for _, g := range r.GPUs {
		out = append(out, []string{plain.Cell(g.Name), g.CC, plain.Cell(text(g.Driver)), text(g.CUDA)})
	}
	return out
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// file writes the rows of one file. One without containers has a single row.
func (x *csvRows) file(i int) error {
	f := &x.r.Files[i]
	name, version := "", ""
	if d := x.owners[i]; d != nil {
		name, version = d.Name, d.Version
	}
	x.row = append(x.row[:0], plain.Cell(f.Path), plain.Cell(name), plain.Cell(version), f.Format, plain.Cell(f.Machine))
	if len(f.Containers) == 0 {
		return x.put(len(x.row))
	}
	for j := range f.Containers {
		c := &f.Containers[j]
		if len(x.r.GPUs) == 0 {
			if err := x.container(-1, c, nil); err != nil {
				return err
			}
		}
		next := 0
		for g := range x.r.GPUs {
			var v *Verdict
			if next < len(c.Verdicts) && c.Verdicts[next].GPU == g {
				v = &c.Verdicts[next]
				next++
			}
			if err := x.container(g, c, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// container writes the row of a container on a GPU, -1 for none. There is no
// verdict where the driver cannot drive the GPU, and for inputs of a device
// link.
func (x *csvRows) container(g int, c *Container, v *Verdict) error {
	n := len(x.row)
	if g >= 0 {
		x.row = append(x.row, x.gpus[g]...)
	} else {
		x.row = append(x.row, "", "", "", "")
	}
	x.row = append(x.row, strconv.Itoa(c.ID), plain.Cell(c.Section), c.Linkage, plain.Cell(c.Label))
	switch {
	case v != nil:
		image, arch := "", ""
		if v.Image != nil {
			image, arch = strconv.Itoa(*v.Image), c.Images[*v.Image].Arch
		}
		x.row = append(x.row, v.Verdict, image, arch, v.Rule, plain.Cell(v.Reason))
	case g >= 0:
		x.row = append(x.row, "", "", "", "", plain.Cell(x.r.GPUs[g].Problem))
	}
	return x.put(n)
}

// put writes the row, filled up with empty cells, and cuts it back to n cells.
func (x *csvRows) put(n int) error {
	for len(x.row) < len(csvHeader) {
		x.row = append(x.row, "")
	}
	err := x.w.Write(x.row)
	x.row = x.row[:n]
	return err
}

// owners returns for each file the distribution that it belongs to, or nil.
func (r *Report) owners() []*Distribution {
	out := make([]*Distribution, len(r.Files))
	for i := range r.Distributions {
		for _, f := range r.Distributions[i].Files {
			out[f] = &r.Distributions[i]
		}
	}
	return out
}
