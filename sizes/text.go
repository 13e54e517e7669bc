package sizes

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"fatview/coverage"
	"fatview/internal/plain"
	"fatview/report"
)

// Options say what the text shows.
type Options struct {
	Top   int // containers, families, kernels and duplicates that are named
	Width int // columns of the terminal; 0: not cut
}

// texter writes lines, cut to the terminal where there is one.
type texter struct {
	w     *bufio.Writer
	width int
}

func (t texter) line(format string, args ...any) {
	s := plain.Text(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	if t.width > 0 {
		s = plain.Fit(s, t.width)
	}
	t.w.WriteString(s)
	t.w.WriteByte('\n')
}

// Text writes the report for people.
func Text(w io.Writer, r *Report, o Options) error {
	b := bufio.NewWriter(w)
	t := texter{b, o.Width}
	for i := range r.Files {
		if i > 0 {
			t.line("")
		}
		t.file(&r.Files[i], o)
	}
	return b.Flush()
}

func (t texter) file(f *File, o Options) {
	t.line("%s", f.Path)
	if len(f.Containers) == 0 {
		t.line("  %s, no device code", report.Bytes(f.Size))
		return
	}
	t.line("  %s, of which %s device code (%s)", report.Bytes(f.Size), report.Bytes(f.Device), percent(f.Device, f.Size))
	t.line("  payloads %s (%s decompressed), headers %s, padding %s", report.Bytes(f.Stored), report.Bytes(f.Bytes), report.Bytes(f.Headers), report.Bytes(f.Padding))
	if f.Code > 0 {
		line := fmt.Sprintf("  decompressed: %s machine code", report.Bytes(f.Code))
		if f.Mercury > 0 {
			line += fmt.Sprintf(", %s Mercury copies of it", report.Bytes(f.Mercury))
		}
		t.line("%s", line)
	}
	t.archs(f)
	t.groups("by kind", f.Kinds, f.Stored)
	t.groups("by compression", f.Stores, f.Stored)
	t.containers(f, o.Top)
	t.families(f, o.Top)
	t.kernels(f, o.Top)
	t.twins(f, o.Top)
	t.zstd(f)
	for _, x := range f.Findings {
		t.line("  %s: %s", x.Severity, x.Message)
	}
}

func (t texter) archs(f *File) {
	t.line("")
	t.line("  by architecture                            stored share  images  kernels  decompressed")
	most := int64(0)
	for i := range f.Archs {
		most = max(most, f.Archs[i].Stored)
	}
	for i := range f.Archs {
		a := &f.Archs[i]
		t.line("    %-16s %-20s %11s %5s %7s %8s %13s", a.Name, bar(a.Stored, most), report.Bytes(a.Stored), percent(a.Stored, f.Stored), coverage.Number(a.Images), coverage.Number(a.Kernels), report.Bytes(a.Bytes))
		t.line("      without it: %s", Sentence(a.Without))
	}
}

func (t texter) groups(title string, list []Group, all int64) {
	t.line("")
	t.line("  %-44s stored share  images           decompressed", title)
	for _, g := range list {
		t.line("    %-16s %-20s %11s %5s %7s %22s", g.Name, bar(g.Stored, list[0].Stored), report.Bytes(g.Stored), percent(g.Stored, all), coverage.Number(g.Images), report.Bytes(g.Bytes))
	}
}

func (t texter) containers(f *File, top int) {
	list := largest(f.Containers, top)
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("  %-57s size share  decompressed", "largest containers"+of(len(list), len(f.Containers)))
	for _, c := range list {
		t.line("    %5d %-30s %-10s %11s %5s %13s", c.ID, plain.Cut(c.Label, 30), bar10(c.Size, list[0].Size), report.Bytes(c.Size), percent(c.Size, f.Device), report.Bytes(c.Bytes))
	}
}

func (t texter) families(f *File, top int) {
	list := f.Families[:min(max(0, top), len(f.Families))]
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("  %-46s names  copies", "largest kernel families"+of(len(list), len(f.Families))+", code decompressed")
	for _, k := range list {
		t.line("    %-10s %11s %5s %7s %7s  %s", bar10(k.Code, list[0].Code), report.Bytes(k.Code), percent(k.Code, f.Code), coverage.Number(k.Names), coverage.Number(k.Copies), k.Name)
	}
}

func (t texter) kernels(f *File, top int) {
	list := f.Kernels[:min(max(0, top), len(f.Kernels))]
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("  largest kernels%s, code decompressed over all architectures", of(len(list), len(f.Kernels)))
	for _, k := range list {
		t.line("    %-10s %11s %5s %15s  %s", bar10(k.Code, list[0].Code), report.Bytes(k.Code), percent(k.Code, f.Code), coverage.Number(k.Copies)+" copies", k.Short)
	}
}

func (t texter) twins(f *File, top int) {
	t.line("")
	if f.Twins.Copies == 0 {
		t.line("  no code is in two containers")
		return
	}
	t.line("  the same code in several containers: %s too many of %s kernels, %s decompressed, about %s stored",
		coverage.Number(f.Twins.Copies), coverage.Number(f.Twins.Codes), report.Bytes(f.Twins.Code), report.Bytes(f.Twins.Share))
	for _, w := range f.Twins.Costlies[:min(max(0, top), len(f.Twins.Costlies))] {
		t.line("    %11s  %-8s in %s containers  %s", report.Bytes(w.Wasted), w.Arch, coverage.Number(w.Containers), w.Short)
	}
}

func (t texter) zstd(f *File) {
	z := &f.Zstd
	if z.SampledBytes == 0 {
		return
	}
	t.line("")
	if z.Saving == 0 {
		t.line("  zstd in place of LZ4 or none: saves nothing, as far as a sample of %s tells", report.Bytes(z.SampledBytes))
		return
	}
	t.line("  zstd in place of LZ4 or none: about %s instead of %s, %s less; an estimate from %s of payloads, compressed at the default level",
		report.Bytes(z.Estimate), report.Bytes(z.Stored), report.Bytes(z.Saving), report.Bytes(z.SampledBytes))
}

func of(n, all int) string {
	if n == all {
		return ""
	}
	return fmt.Sprintf(" (%s of %s)", coverage.Number(n), coverage.Number(all))
}

// Sentence says what GPUs would run without an architecture: "8.6 runs sm_80
// natively; 8.7 and 8.9 run nothing".
func Sentence(effects []Effect) string {
	if len(effects) == 0 {
		return "nothing changes, for no GPU runs it"
	}
	var phrases []string
	ccs := map[string][]string{}
	for _, e := range effects {
		p := phrase(e)
		if ccs[p] == nil {
			phrases = append(phrases, p)
		}
		ccs[p] = append(ccs[p], e.CC)
	}
	var parts []string
	for _, p := range phrases {
		list := ccs[p]
		who := strings.Join(list, ", ") + " run "
		switch n := len(list); {
		case n == 1:
			who = list[0] + " runs "
		case n == 2:
			who = list[0] + " and " + list[1] + " run "
		}
		parts = append(parts, who+p)
	}
	return strings.Join(parts, "; ")
}

// phrase says what is run instead.
func phrase(e Effect) string {
	var parts []string
	for _, in := range e.Instead {
		what := in.Image
		switch in.Verdict {
		case coverage.Native.String():
			what += " natively"
		case coverage.JIT.String():
			if what == "" {
				what = "what the driver links again"
			}
			what += " by JIT"
		case coverage.Driver.String():
			what += " with a newer driver"
		default:
			what = "nothing"
		}
		if len(e.Instead) > 1 {
			what += fmt.Sprintf(" in %s of %s containers", coverage.Number(in.Containers), coverage.Number(e.Containers))
		}
		parts = append(parts, what)
	}
	return strings.Join(parts, ", ")
}

// percent writes a part of a whole; a part that is not nothing is never 0 %.
func percent(part, all int64) string {
	if all <= 0 || part <= 0 {
		return "0 %"
	}
	p := float64(part) / float64(all) * 100
	if p < 1 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", p)
}

// bar draws a part of the most in up to twenty columns; what is not nothing gets
// at least one.
func bar(n, most int64) string { return bars(n, most, 20) }

func bar10(n, most int64) string { return bars(n, most, 10) }

func bars(n, most int64, columns int) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	return strings.Repeat("█", max(1, min(columns, int(float64(n)/float64(most)*float64(columns)+0.5))))
}
