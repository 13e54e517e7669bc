package report

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"fatview/coverage"
	"fatview/internal/plain"
)

// htmlMaxCells is how many cells the tables of containers may have together. A
// browser takes some ten megabytes of tables well, and not a hundred.
const htmlMaxCells = 200000

// htmlPage is what the templates show. Every text in it that comes from a file
// has gone through plain.Text; the templates escape it for HTML.
type htmlPage struct {
	Policy, Title, Summary, Version, Schema string

	Style  template.CSS
	Script template.JS

	GPUs          []htmlGPU
	Scans         []htmlScan
	Distributions []htmlDistribution
	Heads         []string // titles of the GPUs
	Legend        []htmlCell
	Files         []htmlFile
	Sizes         []htmlSize
	Other         []string
}

// htmlCell is a verdict: its sign, its word, and its rank for sorting.
type htmlCell struct {
	Verdict, Sign, Word, About string
	Rank, Count                int
}

type htmlGPU struct {
	Title, Source, Problem string
	Totals                 []htmlCell
	None                   htmlCell
}

type htmlScan struct {
	Path, Summary string
	Lines         []string
}

type htmlDistribution struct {
	Name, GPU, Reason string
	Cell              htmlCell
}

// htmlRank orders the verdicts of files and containers from the best to the
// worst.
var htmlRank = map[string]int{"native": 0, "mixed": 1, "jit": 2, "empty": 3, "specialised": 4, "partial": 5, "driver": 6, "missing": 7, "none": 8}

// htmlLegend says what the verdicts of files mean.
func htmlLegend() []htmlCell {
	var out []htmlCell
	for _, x := range [][2]string{
		{"native", "machine code that fits"}, {"jit", "the driver compiles PTX at first use"}, {"mixed", "some native, some by JIT"},
		{"partial", "some run, others are missing or wait"}, {"driver", "with a newer driver"}, {"none", "nothing in the file serves the GPU"},
	} {
		c := cellOf(x[0], "")
		c.About = x[1]
		out = append(out, c)
	}
	return out
}

// cellOf makes the cell of a verdict, and one that says so where there is none.
func cellOf(verdict, without string) htmlCell {
	if n, ok := htmlRank[verdict]; ok {
		return htmlCell{Verdict: verdict, Sign: glyphs[verdict], Word: verdict, Rank: n}
	}
	sign := "–"
	if without == noVerdict {
		sign = "!"
	}
	return htmlCell{Verdict: "without", Sign: sign, Word: without, Rank: 99}
}

const noVerdict = "no verdict"

func newHTMLPage(r *Report) *htmlPage {
	p := &htmlPage{Version: plain.Text(r.Version), Schema: Schema, Summary: htmlSummary(r)}
	for g, gpu := range r.GPUs {
		p.Heads = append(p.Heads, gpu.Title())
		x := htmlGPU{Title: gpu.Title(), Source: plain.Text(gpu.Source), Problem: plain.Text(gpu.Problem), None: cellOf("", noVerdict)}
		x.Totals = totals(r.Files, func(f *File) string {
			if c := f.on(g); c != nil {
				return c.Verdict
			}
			return ""
		})
		p.GPUs = append(p.GPUs, x)
	}
	for i := range r.Scans {
		s := &r.Scans[i]
		if s.plainFile() && s.Error == "" {
			continue
		}
		x := htmlScan{Path: plain.Text(s.Path), Summary: plain.Text(s.Summary())}
		if s.Error != "" {
			x.Lines = append(x.Lines, plain.Text(s.Error))
		}
		for _, f := range s.Findings {
			x.Lines = append(x.Lines, plain.Text(f.Severity+": "+f.Path+": "+f.Message))
		}
		p.Scans = append(p.Scans, x)
	}
	if len(r.Distributions) > 0 {
		for g := range r.GPUs {
			for _, l := range r.byDistribution(g) {
				p.Distributions = append(p.Distributions, htmlDistribution{plain.Text(l.name), p.Heads[g], plain.Text(l.reason), cellOf(l.verdict, noVerdict)})
			}
		}
	}
	p.Legend = htmlLegend()
	for _, line := range r.foreignOnly() {
		p.Other = append(p.Other, plain.Text(line))
	}
	var rows []ArchRow
	b := htmlFiles{r: r, owners: r.owners(), heads: p.Heads, cells: htmlMaxCells}
	for i := range r.Files {
		p.Files = append(p.Files, b.file(i))
		rows = append(rows, r.Files[i].ArchRows()...)
	}
	p.Sizes = htmlSizes(rows)
	switch len(r.Files) {
	case 0:
		p.Title = "no files"
	case 1:
		p.Title = plain.Cut(plain.Text(lastPart(r.Files[0].Path)), 100)
	default:
		p.Title = counted(len(r.Files), "file")
	}
	return p
}

func htmlSummary(r *Report) string {
	images, containers := 0, 0
	var stored int64
	for i := range r.Files {
		stored += r.Files[i].Size
		containers += len(r.Files[i].Containers)
		for j := range r.Files[i].Containers {
			images += len(r.Files[i].Containers[j].Images)
		}
	}
	parts := []string{counted(len(r.Files), "file") + " of " + Bytes(stored), counted(containers, "container"), counted(images, "image")}
	if n := len(r.Distributions); n > 0 {
		parts = append(parts, counted(n, "distribution"))
	}
	return strings.Join(append(parts, "judged for "+counted(len(r.GPUs), "GPU")), ", ") + "."
}

// totals counts verdicts, the best first.
func totals[T any](list []T, verdict func(*T) string) []htmlCell {
	n := map[string]int{}
	for i := range list {
		n[verdict(&list[i])]++
	}
	var out []htmlCell
	for v := range htmlRank {
		if n[v] > 0 {
			c := cellOf(v, "")
			c.Count = n[v]
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b htmlCell) int { return a.Rank - b.Rank })
	return out
}

// htmlSize is a row of sizes by architecture, with a bar.
type htmlSize struct {
	Arch, Kind, ImagesText, KernelsText, StoredText, BytesText, Share string

	Images, Kernels int
	Stored, Bytes   int64
	Width           string // of the bar, of 100: the largest is full
}

// htmlSizes sums rows of one kind and architecture, in the order of the rows.
func htmlSizes(rows []ArchRow) []htmlSize {
	at := map[string]int{}
	var sums []ArchRow
	var all, largest int64
	for _, x := range rows {
		key := x.Kind + " " + x.Arch
		n, ok := at[key]
		if !ok {
			n = len(sums)
			at[key] = n
			sums = append(sums, ArchRow{Kind: x.Kind, Arch: x.Arch, KernelsKnown: true})
		}
		s := &sums[n]
		s.Images += x.Images
		s.Kernels += x.Kernels
		s.KernelsKnown = s.KernelsKnown && x.KernelsKnown
		s.Stored += x.Stored
		s.Bytes += x.Bytes
		all += x.Stored
	}
	sortRows(sums)
	for _, s := range sums {
		largest = max(largest, s.Stored)
	}
	var out []htmlSize
	for _, s := range sums {
		x := htmlSize{
			Arch: plain.Text(s.Arch), Kind: s.Kind, Images: s.Images, ImagesText: coverage.Number(s.Images), Kernels: s.Kernels, KernelsText: coverage.Number(s.Kernels),
			Stored: s.Stored, StoredText: Bytes(s.Stored), Bytes: s.Bytes, BytesText: Bytes(s.Bytes), Width: percentOf(s.Stored, largest, 2), Share: percentOf(s.Stored, all, 1),
		}
		if !s.KernelsKnown {
			x.KernelsText = "?"
		}
		out = append(out, x)
	}
	return out
}

// percentOf is 0 of nothing.
func percentOf(n, of int64, digits int) string {
	if of <= 0 {
		return "0"
	}
	return strconv.FormatFloat(100*float64(n)/float64(of), 'f', digits, 64)
}

// htmlID is how a link in the page names a file.
func htmlID(i int) string { return fmt.Sprintf("file-%d", i) }
