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
	for i := range r.Files {
		markdownFile(b, r, &r.Files[i])
	}
	return b.Flush()
}

func markdownFile(b *bufio.Writer, r *Report, f *File) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", plain.Markdown(f.Path), plain.Markdown(f.Summary()))
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
	if len(f.Findings) > 0 {
		fmt.Fprintln(b)
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
