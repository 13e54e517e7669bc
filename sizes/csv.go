package sizes

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"fatview/internal/plain"
	"fatview/report"
)

// JSON writes the contract's form.
func JSON(w io.Writer, r *Report) error { return report.EncodeJSON(w, r) }

// CSV writes a row for each group, as RFC 4180 has it: the columns path, group
// (file, section, arch, kind, compression, container, family, kernel, duplicate,
// headers, padding, mercury, zstd_estimate), name, count (images, containers or
// copies), stored_bytes and bytes. A cell is empty where there is no such number.
// Text is guarded against spreadsheets by plain.Cell.
func CSV(w io.Writer, r *Report) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	rows := [][]string{{"path", "group", "name", "count", "stored_bytes", "bytes"}}
	for i := range r.Files {
		rows = append(rows, csvFile(&r.Files[i])...)
	}
	if err := c.WriteAll(rows); err != nil {
		return err
	}
	return c.Error()
}

const none = -1 // no such number

func csvFile(f *File) (rows [][]string) {
	add := func(group, name string, count int, stored, bytes int64) {
		cell := func(n int64) string {
			if n == none {
				return ""
			}
			return strconv.FormatInt(n, 10)
		}
		rows = append(rows, []string{plain.Cell(f.Path), group, plain.Cell(name), cell(int64(count)), cell(stored), cell(bytes)})
	}
	add("file", "", len(f.Containers), f.Size, none)
	for _, s := range f.Sections {
		add("section", s.Name, s.Containers, s.Size, none)
	}
	for i := range f.Archs {
		a := &f.Archs[i]
		add("arch", a.Name, a.Images, a.Stored, a.Bytes)
	}
	for _, g := range f.Kinds {
		add("kind", g.Name, g.Images, g.Stored, g.Bytes)
	}
	for _, g := range f.Stores {
		add("compression", g.Name, g.Images, g.Stored, g.Bytes)
	}
	for _, x := range f.Containers {
		name := strconv.Itoa(x.ID)
		if x.Label != "" {
			name += " " + x.Label
		}
		add("container", name, x.Images, x.Stored, x.Bytes)
	}
	for _, x := range f.Families {
		add("family", x.Name, x.Copies, x.Share, x.Code)
	}
	for _, x := range f.Kernels {
		add("kernel", x.Name, x.Copies, x.Share, x.Code)
	}
	for _, x := range f.Twins.Costlies {
		add("duplicate", x.Arch+" "+x.Name, x.Containers-1, x.Share, x.Wasted)
	}
	add("headers", "", none, f.Headers, none)
	add("padding", "", none, f.Padding, none)
	add("mercury", "", none, none, f.Mercury)
	if f.Zstd.SampledBytes > 0 {
		add("zstd_estimate", "", f.Zstd.SampledImages, f.Zstd.Estimate, f.Zstd.Bytes)
	}
	return rows
}

// largest returns the n containers that take most bytes.
func largest(list []Container, n int) []Container {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Container) int { return cmp.Compare(b.Size, a.Size) })
	return list[:min(max(0, n), len(list))]
}
