package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"fatview/coverage"
	"fatview/internal/plain"
)

// most is how many containers a text names per GPU and verdict before it
// refers to JSON.
const most = 12

// Text writes the report for people. It is plain: no colour, no escape.
func Text(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	for i := range r.Files {
		if i > 0 {
			fmt.Fprintln(b)
		}
		textFile(b, r, &r.Files[i])
	}
	for _, g := range r.GPUs {
		if g.Problem != "" {
			fmt.Fprintf(b, "\n%s (%s): no verdict, %s\n", plain.Text(g.Name), g.CC, plain.Text(g.Problem))
		}
	}
	return b.Flush()
}

func textFile(b *bufio.Writer, r *Report, f *File) {
	fmt.Fprintf(b, "%s\n", plain.Text(f.Path))
	fmt.Fprintf(b, "  %s\n", plain.Text(f.Summary()))
	if len(f.Coverage) > 0 {
		fmt.Fprintln(b)
		width := 0
		for _, c := range f.Coverage {
			width = max(width, len([]rune(r.GPUs[c.GPU].Title())))
		}
		for i := range f.Coverage {
			textCoverage(b, r, f, &f.Coverage[i], width)
		}
	}
	textContents(b, f)
	for _, x := range f.Findings {
		if x.Message == noCode {
			continue // the summary says it
		}
		at := ""
		if x.Offset != nil {
			at = fmt.Sprintf(" (offset %#x)", *x.Offset)
		}
		fmt.Fprintf(b, "  %s: %s%s\n", x.Severity, plain.Text(x.Message), at)
	}
}

const noCode = "no device code"

// Summary says what the file is in one line.
func (f *File) Summary() string {
	parts := []string{strings.TrimSpace(formatTitle(f.Format) + " " + f.Machine), Bytes(f.Size)}
	if len(f.Containers) == 0 {
		return strings.Join(append(parts, noCode), ", ")
	}
	images, kernels := 0, 0
	for i := range f.Containers {
		images += len(f.Containers[i].Images)
		for _, im := range f.Containers[i].Images {
			if im.Kernels != nil {
				kernels += *im.Kernels
			}
		}
	}
	parts = append(parts, counted(len(f.Containers), "container"), counted(images, "image"))
	if kernels > 0 {
		parts = append(parts, counted(kernels, "kernel")+" over all images")
	}
	return strings.Join(parts, ", ")
}

func formatTitle(format string) string {
	switch format {
	case "elf":
		return "ELF"
	case "pe":
		return "PE"
	case "coff":
		return "COFF"
	case "ar":
		return "archive"
	case "fatbin":
		return "fat binary"
	case "ptx":
		return "PTX"
	}
	return format
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return coverage.Number(n) + " " + noun + "s"
}

// Bytes writes a size in the binary unit that keeps it short.
func Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v /= 1024
		u++
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[u])
}

// Title names the GPU with its capability and driver; it is safe to show.
func (g GPU) Title() string {
	title := plain.Text(g.Name)
	if !strings.HasSuffix(title, " "+g.CC) {
		title += " (" + g.CC + ")"
	}
	if g.Driver != nil {
		title += ", driver " + plain.Text(*g.Driver)
	} else if g.CUDA != nil {
		title += ", CUDA " + *g.CUDA
	}
	return title
}

// glyphs are the marks of the verdicts; the word always stands beside.
var glyphs = map[string]string{
	"native": "●", "jit": "◐", "mixed": "◐", "driver": "▲", "partial": "◒", "none": "✗", "missing": "✗", "specialised": "○", "empty": "·",
}

func textCoverage(b *bufio.Writer, r *Report, f *File, c *Coverage, width int) {
	title := r.GPUs[c.GPU].Title()
	pad := strings.Repeat(" ", width-len([]rune(title)))
	fmt.Fprintf(b, "  %s %s%s  %-8s %s\n", glyphs[c.Verdict], title, pad, c.Verdict, sentence(plain.Text(c.Reason)))
	indent := strings.Repeat(" ", width+6)
	fmt.Fprintf(b, "  %s%s\n", indent, c.Counts())
	if c.MinDriver != nil {
		fmt.Fprintf(b, "  %sleast driver: %s\n", indent, c.Least())
	}
	for _, v := range []string{"missing", "driver", "specialised"} {
		textUnserved(b, f, c, v, indent)
	}
}

// Least says the least driver for both systems.
func (c *Coverage) Least() string {
	s := "Linux " + *c.MinDriver
	if c.MinDriverWindows != nil {
		s += ", Windows " + *c.MinDriverWindows
	}
	if !c.MinDriverConfirmed {
		s += " (expected, not confirmed)"
	}
	return s
}

// Counts says how many containers and kernels have each verdict, leaving out
// the zeros.
func (c *Coverage) Counts() string {
	n, k := c.Containers, c.Kernels
	line := "containers: " + nonzero([]pair{{n.Native, "native"}, {n.JIT, "jit"}, {n.Driver, "driver"}, {n.Missing, "missing"}, {n.Specialised, "specialised"}, {n.Empty, "empty"}})
	if s := nonzero([]pair{{k.Native, "native"}, {k.JIT, "jit"}, {k.Driver, "driver"}, {k.Missing, "missing"}, {k.Specialised, "specialised"}}); s != "0" {
		line += "; kernels: " + s
	}
	return line
}

type pair struct {
	n    int
	word string
}

func nonzero(pairs []pair) string {
	var parts []string
	for _, p := range pairs {
		if p.n != 0 {
			parts = append(parts, coverage.Number(p.n)+" "+p.word)
		}
	}
	if len(parts) == 0 {
		return "0"
	}
	return strings.Join(parts, ", ")
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return s + "."
}

// textUnserved names the containers that a GPU does not get, where others are
// served and a name helps.
func textUnserved(b *bufio.Writer, f *File, c *Coverage, verdict, indent string) {
	names := f.Named(c.GPU, verdict)
	total := c.Containers.Native + c.Containers.JIT + c.Containers.Driver + c.Containers.Missing + c.Containers.Specialised
	if len(names) == 0 || len(names) == total {
		return
	}
	rest := ""
	if len(names) > most {
		rest = fmt.Sprintf(", … %d more (--json has all)", len(names)-most)
		names = names[:most]
	}
	for i := range names {
		names[i] = plain.Text(names[i])
	}
	fmt.Fprintf(b, "  %s%s: %s%s\n", indent, verdict, strings.Join(names, ", "), rest)
}

// Named returns the names of the containers with a verdict on a GPU: their
// labels, or "container N".
func (f *File) Named(gpu int, verdict string) []string {
	var names []string
	for i := range f.Containers {
		for _, v := range f.Containers[i].Verdicts {
			if v.GPU == gpu && v.Verdict == verdict {
				names = append(names, f.Containers[i].Title())
			}
		}
	}
	return names
}

// Title is the container's label, or its number where it has none.
func (c *Container) Title() string {
	if c.Label != "" {
		return plain.Cut(c.Label, 80)
	}
	return fmt.Sprintf("container %d", c.ID)
}

func textContents(b *bufio.Writer, f *File) {
	rows := f.ArchRows()
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  %-16s %-14s %8s %9s %12s %12s\n", "kind", "architecture", "images", "kernels", "stored", "size")
	for _, r := range rows {
		kind := r.Kind
		if r.PTXISA != "" {
			kind += " " + r.PTXISA
		}
		kernels := "?"
		if r.KernelsKnown {
			kernels = coverage.Number(r.Kernels)
		}
		fmt.Fprintf(b, "  %-16s %-14s %8s %9s %12s %12s\n", kind, r.Arch, coverage.Number(r.Images), kernels, Bytes(r.Stored), Bytes(r.Bytes))
	}
}
