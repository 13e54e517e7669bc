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
	wrote := textWhole(b, r)
	for i := range r.Files {
		if i > 0 || wrote {
			fmt.Fprintln(b)
		}
		textFile(b, r, i)
	}
	return b.Flush()
}

// textGPUs tells of each GPU in order; one that the driver cannot drive has no
// verdict.
func textGPUs(b *bufio.Writer, r *Report, f *File) {
	next := 0
	for i, g := range r.GPUs {
		if next < len(f.Coverage) && f.Coverage[next].GPU == i {
			textCoverage(b, r, f, &f.Coverage[next])
			next++
			continue
		}
		fmt.Fprintf(b, "  ! %s: no verdict\n", g.Title())
		wrapped(b, plain.Text(sentence(g.Problem)))
	}
}

// wrapped writes a text under a GPU's line, broken at spaces.
func wrapped(b *bufio.Writer, text string) { wrappedAt(b, "      ", text) }

// wrappedAt writes a text with an indentation, broken at spaces; lines after
// the first are indented by two more where the indentation is small.
func wrappedAt(b *bufio.Writer, indent, text string) {
	const width = 80
	line, empty := indent, true
	for _, word := range strings.Fields(text) {
		if n := len([]rune(line)) + len([]rune(word)); n >= width && !empty {
			fmt.Fprintln(b, line)
			line, empty = indent, true
			if len(indent) < 4 {
				line += "  "
			}
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	fmt.Fprintln(b, line)
}

func textFile(b *bufio.Writer, r *Report, i int) {
	f := &r.Files[i]
	fmt.Fprintf(b, "%s\n", plain.Text(f.Path))
	fmt.Fprintf(b, "  %s\n", plain.Text(f.Summary()))
	textBeside(b, f)
	if len(f.Containers) > 0 && len(r.GPUs) > 0 {
		fmt.Fprintln(b)
		textGPUs(b, r, f)
		textUnservedNeeds(b, r, i)
	}
	textContents(b, f)
	for _, x := range f.Findings {
		if x.Message == f.noCode() {
			continue // the summary says it
		}
		at := ""
		if x.Offset != nil {
			at = fmt.Sprintf(" (offset %#x)", *x.Offset)
		}
		fmt.Fprintf(b, "  %s: %s%s\n", x.Severity, plain.Text(x.Message), at)
	}
}

// noCode says that there is nothing to judge.
func (f *File) noCode() string {
	if len(f.Foreign) > 0 {
		return "no CUDA device code"
	}
	return "no device code"
}

// Summary says what the file is in one line.
func (f *File) Summary() string {
	parts := []string{strings.TrimSpace(formatTitle(f.Format) + " " + f.Machine), Bytes(f.Size)}
	if len(f.Containers) == 0 {
		return strings.Join(append(parts, f.noCode()), ", ")
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
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return coverage.Number(n) + " " + stem + "ies"
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

// Title names the GPU with its capability, how many there are, and the driver;
// it is safe to show.
func (g GPU) Title() string {
	title := plain.Text(g.Name)
	if !strings.HasSuffix(title, " "+g.CC) {
		title += " (" + g.CC + ")"
	}
	if g.Count > 1 {
		title += fmt.Sprintf(" × %d", g.Count)
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

func textCoverage(b *bufio.Writer, r *Report, f *File, c *Coverage) {
	fmt.Fprintf(b, "  %s %s: %s\n", glyphs[c.Verdict], r.GPUs[c.GPU].Title(), c.Verdict)
	wrapped(b, sentence(plain.Text(c.Reason)))
	wrapped(b, c.Counts())
	if c.MinDriver != nil {
		wrapped(b, "least driver: "+c.Least())
	}
	for _, v := range []string{"missing", "driver", "specialised"} {
		textUnserved(b, f, c, v)
	}
}

// Least says the least driver for both systems.
func (c *Coverage) Least() string {
	return LeastDriver(*c.MinDriver, c.MinDriverWindows, c.MinDriverConfirmed)
}

// LeastDriver says a least driver for both systems; windows may be nil.
func LeastDriver(linux string, windows *string, confirmed bool) string {
	s := "Linux " + linux
	if windows != nil {
		s += ", Windows " + *windows
	}
	if !confirmed {
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
func textUnserved(b *bufio.Writer, f *File, c *Coverage, verdict string) {
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
	wrapped(b, verdict+": "+strings.Join(names, ", ")+rest)
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
