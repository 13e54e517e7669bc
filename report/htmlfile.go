package report

import (
	"slices"
	"strings"

	"fatview/coverage"
	"fatview/internal/plain"
)

// htmlFile is a row of the matrix and the details of a file.
type htmlFile struct {
	ID, Path, Summary, Owner, Find string

	Heads, Beside, Lines []string
	Cells, Worst         []htmlCell
	Coverage             []htmlCoverage
	Sizes                []htmlSize
	Containers           []htmlContainer
	ContainersTitle      string
	ContainersCut        string // says what is left out
}

type htmlCoverage struct {
	GPU, Containers, Kernels, Least, Why string
	Cell                                 htmlCell
}

type htmlContainer struct {
	ID                              int
	Label, Section, Linkage, Images string
	Cells                           []htmlCell
	worst                           int
}

// htmlFiles makes the files of a page, with a bound on the cells of all.
type htmlFiles struct {
	r      *Report
	owners []*Distribution
	heads  []string
	cells  int // left
}

func (b *htmlFiles) file(i int) htmlFile {
	f := &b.r.Files[i]
	out := htmlFile{ID: htmlID(i), Path: plain.Text(f.Path), Summary: plain.Text(f.Summary()), Heads: b.heads}
	find := []string{f.Path}
	if d := b.owners[i]; d != nil {
		out.Owner = plain.Text(d.Title())
		find = append(find, d.Title())
	}
	if text := BareText(f.BareCubins); text != "" {
		out.Beside = append(out.Beside, plain.Text(text))
	}
	for _, x := range []struct {
		what  string
		names []string
	}{{"Needs", names(f.Needs)}, {"Not CUDA", names(f.Foreign)}, {"Same content", f.Copies}} {
		if len(x.names) > 0 {
			out.Beside = append(out.Beside, plain.Text(x.what+": "+strings.Join(x.names, ", ")))
		}
	}
	b.verdicts(f, &out)
	for _, c := range out.Cells {
		find = append(find, c.Word)
	}
	for _, d := range b.r.Dependencies {
		for _, u := range d.Unserved {
			if d.File == i {
				out.Lines = append(out.Lines, plain.Text("on "+b.r.GPUs[u.GPU].Title()+" "+u.Message))
			}
		}
	}
	for _, x := range f.Findings {
		out.Lines = append(out.Lines, plain.Text(x.Severity+": "+x.text()))
	}
	rows := f.ArchRows()
	for _, row := range rows {
		find = append(find, row.Arch)
	}
	out.Sizes = htmlSizes(rows)
	out.Find = plain.Text(strings.Join(find, " "))
	b.containers(f, &out)
	return out
}

// verdicts fills in what is said of a file on each GPU.
func (b *htmlFiles) verdicts(f *File, out *htmlFile) {
	for g := range b.r.GPUs {
		c := f.on(g)
		switch {
		case len(f.Containers) == 0:
			out.Cells = append(out.Cells, cellOf("", f.noCode()))
		case c == nil:
			cell := cellOf("", noVerdict)
			out.Cells = append(out.Cells, cell)
			out.Coverage = append(out.Coverage, htmlCoverage{GPU: b.heads[g], Cell: cell, Why: plain.Text(sentence(b.r.GPUs[g].Problem))})
		default:
			cell := cellOf(c.Verdict, noVerdict)
			out.Cells = append(out.Cells, cell)
			containers, kernels, _ := strings.Cut(strings.TrimPrefix(c.Counts(), "containers: "), "; kernels: ")
			x := htmlCoverage{GPU: b.heads[g], Cell: cell, Containers: containers, Kernels: kernels, Why: plain.Text(sentence(c.Reason))}
			if c.MinDriver != nil {
				x.Least = plain.Text(c.Least())
			}
			out.Coverage = append(out.Coverage, x)
		}
	}
	out.Worst = totals(out.Cells, func(c *htmlCell) string { return c.Verdict })
}

// containers lists a file's containers as far as there is room: where there is
// too little, those that fare worst come first.
func (b *htmlFiles) containers(f *File, out *htmlFile) {
	width := len(b.heads) + 5
	list := make([]htmlContainer, 0, len(f.Containers))
	for i := range f.Containers {
		list = append(list, htmlContainer{ID: i, worst: f.Containers[i].worst()})
	}
	out.ContainersTitle = counted(len(list), "container")
	if room := b.cells / width; room < len(list) {
		slices.SortStableFunc(list, func(a, b htmlContainer) int { return b.worst - a.worst })
		out.ContainersCut = coverage.Number(len(list)-room) + " containers that fare no worse are left out here; the JSON form has all."
		if room == 0 {
			out.ContainersCut = ""
			out.ContainersTitle += ", too many for this page: the JSON form has them"
			out.Lines = append(out.Lines, out.ContainersTitle)
		}
		list = list[:room]
		slices.SortFunc(list, func(a, b htmlContainer) int { return a.ID - b.ID })
	}
	b.cells -= len(list) * width
	for i := range list {
		list[i] = b.container(&f.Containers[list[i].ID])
	}
	out.Containers = list
}

func (b *htmlFiles) container(c *Container) htmlContainer {
	out := htmlContainer{ID: c.ID, Label: plain.Text(plain.Cut(c.Label, 200)), Section: plain.Text(c.Section), Linkage: c.Linkage}
	var archs []string
	for _, im := range c.Images {
		archs = append(archs, im.Arch)
	}
	out.Images = plain.Text(strings.Join(archs, " "))
	next := 0
	for g := range b.heads {
		cell := cellOf("", noVerdict)
		if next < len(c.Verdicts) && c.Verdicts[next].GPU == g {
			cell = cellOf(c.Verdicts[next].Verdict, noVerdict)
			next++
		}
		out.Cells = append(out.Cells, cell)
	}
	return out
}

// worst ranks the worst verdict of a container.
func (c *Container) worst() int {
	worst := 0
	for i := range c.Verdicts {
		worst = max(worst, cellOf(c.Verdicts[i].Verdict, "").Rank)
	}
	return worst
}
