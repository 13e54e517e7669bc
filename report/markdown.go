package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"fatview/coverage"
	"fatview/internal/plain"
)

// Markdown writes the report for an issue or a pull request: the answer first,
// long lists folded.
func Markdown(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# CUDA coverage\n")
	markdownWhole(b, r)
	for i := range r.Files {
		markdownFile(b, r, i)
	}
	return b.Flush()
}

// markdownWhole tells of folders and packages, and answers by distribution.
func markdownWhole(b *bufio.Writer, r *Report) {
	for i := range r.Scans {
		s := &r.Scans[i]
		if s.plainFile() {
			continue
		}
		fmt.Fprintf(b, "\n%s: %s\n", plain.Markdown(s.Path), plain.Markdown(s.Summary()))
		if len(s.Findings) > 0 {
			fmt.Fprintln(b)
		}
		for _, x := range s.Findings {
			fmt.Fprintf(b, "- %s: %s: %s\n", x.Severity, plain.Markdown(x.Path), plain.Markdown(x.Message))
		}
	}
	if len(r.Distributions) > 0 && len(r.GPUs) > 0 {
		fmt.Fprintf(b, "\n| GPU | distribution | verdict | files |\n|---|---|---|---|\n")
		for g := range r.GPUs {
			for _, l := range r.byDistribution(g) {
				fmt.Fprintf(b, "| %s | %s | %s %s | %s |\n", plain.Markdown(r.GPUs[g].Title()), plain.Markdown(l.name), glyphs[l.verdict], l.verdict, plain.Markdown(l.reason))
			}
		}
	}
	if other := r.foreignOnly(); len(other) > 0 {
		fmt.Fprintf(b, "\nNot CUDA:\n\n")
		for _, line := range other {
			fmt.Fprintf(b, "- %s\n", plain.Markdown(line))
		}
	}
}

func markdownFile(b *bufio.Writer, r *Report, i int) {
	f := &r.Files[i]
	fmt.Fprintf(b, "\n## %s\n\n%s\n", plain.Markdown(f.Path), plain.Markdown(f.Summary()))
	markdownBeside(b, f)
	if len(f.Containers) > 0 && len(r.GPUs) > 0 {
		fmt.Fprintf(b, "\n| GPU | verdict | containers | kernels | least driver | why |\n|---|---|---|---|---|---|\n")
		for i := range f.Coverage {
			c := &f.Coverage[i]
			containers, kernels, _ := strings.Cut(strings.TrimPrefix(c.Counts(), "containers: "), "; kernels: ")
			least := ""
			if c.MinDriver != nil {
				least = c.Least()
			}
			fmt.Fprintf(b, "| %s | %s %s | %s | %s | %s | %s |\n", plain.Markdown(r.GPUs[c.GPU].Title()), glyphs[c.Verdict], c.Verdict, containers, kernels, least, plain.Markdown(sentence(c.Reason)))
		}
		for _, g := range r.GPUs {
			if g.Problem != "" {
				fmt.Fprintf(b, "| %s | ! no verdict | | | | %s |\n", plain.Markdown(g.Title()), plain.Markdown(sentence(g.Problem)))
			}
		}
		for i := range f.Coverage {
			for _, v := range []string{"missing", "driver", "specialised"} {
				markdownUnserved(b, r, f, &f.Coverage[i], v)
			}
		}
	}
	if rows := f.ArchRows(); len(rows) > 0 {
		fmt.Fprintf(b, "\n| kind | architecture | images | kernels | stored | size |\n|---|---|--:|--:|--:|--:|\n")
		for _, r := range rows {
			kernels := "?"
			if r.KernelsKnown {
				kernels = coverage.Number(r.Kernels)
			}
			fmt.Fprintf(b, "| %s | %s | %d | %s | %s | %s |\n", strings.TrimSpace(r.Kind+" "+r.PTXISA), plain.Markdown(r.Arch), r.Images, kernels, Bytes(r.Stored), Bytes(r.Bytes))
		}
	}
	var lines []string
	for _, d := range r.Dependencies {
		for _, u := range d.Unserved {
			if d.File == i {
				lines = append(lines, fmt.Sprintf("- on %s %s\n", plain.Markdown(r.GPUs[u.GPU].Title()), plain.Markdown(u.Message)))
			}
		}
	}
	if len(f.Findings)+len(lines) > 0 {
		fmt.Fprintln(b)
	}
	for _, line := range lines {
		fmt.Fprint(b, line)
	}
	for _, x := range f.Findings {
		at := ""
		if x.Offset != nil {
			at = fmt.Sprintf(" (offset %#x)", *x.Offset)
		}
		fmt.Fprintf(b, "- %s: %s%s\n", x.Severity, plain.Markdown(x.Message), at)
	}
}

func markdownUnserved(b *bufio.Writer, r *Report, f *File, c *Coverage, verdict string) {
	names := f.Named(c.GPU, verdict)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(b, "\n<details><summary>%s: %s %s</summary>\n\n", plain.HTML(r.GPUs[c.GPU].Title()), counted(len(names), "container"), verdict)
	for _, n := range names {
		fmt.Fprintf(b, "- %s\n", plain.Markdown(n))
	}
	fmt.Fprintf(b, "\n</details>\n")
}

// markdownBeside names what a file links to, code of other vendors and copies.
func markdownBeside(b *bufio.Writer, f *File) {
	if text := BareText(f.BareCubins); text != "" {
		fmt.Fprintf(b, "\n%s\n", plain.Markdown(text))
	}
	for _, x := range []struct {
		what  string
		names []string
	}{{"Needs", names(f.Needs)}, {"Not CUDA", names(f.Foreign)}, {"Same content", f.Copies}} {
		if len(x.names) > 0 {
			fmt.Fprintf(b, "\n%s: %s\n", x.what, plain.Markdown(strings.Join(x.names, ", ")))
		}
	}
}

func names[T fmt.Stringer](list []T) []string {
	var out []string
	for _, x := range list {
		out = append(out, x.String())
	}
	return out
}
