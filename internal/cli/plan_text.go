package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"fatview/archlist"
	"fatview/internal/plain"
)

// planGlyphs are the marks of verdicts; the word always stands beside.
var planGlyphs = map[string]string{"native": "●", "jit": "◐", "driver": "▲", "none": "✗"}

// planText writes an answer for people: no colour, no escape.
func planText(w io.Writer, a *archlist.Answer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Read as %s%s\n", a.Syntax.Title(), planOthers(a.Others))
	fmt.Fprintf(b, "\nBuilds\n")
	for _, kind := range []struct{ kind, title string }{{"sass", "SASS"}, {"ptx", "PTX"}, {"lto", "LTO IR"}} {
		if names := planImages(a, kind.kind); len(names) > 0 {
			fmt.Fprintf(b, "  %-7s %s\n", kind.title, strings.Join(names, " "))
		}
	}
	if len(a.Images) == 0 {
		fmt.Fprintln(b, "  nothing: the list names no architecture")
	}
	planLines(b, "  note: ", a.Notes)
	planToolkits(b, a)
	fmt.Fprintf(b, "\nRuns on%s\n", planBuilt(a))
	if a.Asked {
		planGPUs(b, a)
	} else {
		planEvery(b, a)
	}
	if len(a.Warnings) > 0 {
		fmt.Fprintln(b, "\nWarnings")
		planLines(b, "  ", a.Warnings)
	}
	fmt.Fprintln(b, "\nThe same for")
	for _, t := range a.Translations {
		planTranslation(b, t)
	}
	return b.Flush()
}

func planLines(b *bufio.Writer, prefix string, lines []string) {
	for _, s := range lines {
		fmt.Fprintf(b, "%s%s\n", prefix, plain.Text(s))
	}
}

// planOthers says which grammars take the list too, and whether it matters.
func planOthers(others []archlist.Other) string {
	var same, differ []string
	for _, o := range others {
		if o.Same {
			same = append(same, o.Syntax.Title())
		} else {
			differ = append(differ, fmt.Sprintf("\n  %s would build %s: --syntax %s", o.Syntax.Title(), strings.Join(o.Builds, " "), o.Syntax))
		}
	}
	s := ""
	if len(same) > 0 {
		s = "; to " + strings.Join(same, " and ") + " it means the same"
	}
	return s + strings.Join(differ, "")
}

func planImages(a *archlist.Answer, kind string) []string {
	var names []string
	for _, im := range a.Images {
		if im.Kind == kind {
			name := im.Arch
			if im.Via != nil {
				name += " (through " + *im.Via + ")"
			}
			names = append(names, name)
		}
	}
	return names
}

func planToolkits(b *bufio.Writer, a *archlist.Answer) {
	t := a.Toolkits
	switch {
	case t.Problem != "":
		fmt.Fprintf(b, "  toolkits: %s\n", t.Problem)
	case t.First != nil && t.Last != nil && *t.First == *t.Last:
		fmt.Fprintf(b, "  toolkits: CUDA %s only\n", *t.First)
	case t.First != nil && t.Last != nil:
		fmt.Fprintf(b, "  toolkits: CUDA %s to %s\n", *t.First, *t.Last)
	case t.First != nil:
		fmt.Fprintf(b, "  toolkits: CUDA %s and newer\n", *t.First)
	}
	planLines(b, "  refused: ", t.Refused)
}

func planBuilt(a *archlist.Answer) string {
	switch {
	case a.Toolkit == nil:
		return ""
	case a.Assumed && !a.Buildable():
		return ", if a toolkit built it"
	case a.Assumed:
		return ", if built with CUDA " + *a.Toolkit + " (--toolkit for another)"
	}
	return ", built with CUDA " + *a.Toolkit
}

func planGPUs(b *bufio.Writer, a *archlist.Answer) {
	for _, g := range a.GPUs {
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
		fmt.Fprintf(b, "  %s %s  %s  %s.\n", planGlyphs[g.Verdict], title, g.Verdict, plain.Text(g.Reason))
		if g.MinDriver != nil {
			least := "Linux " + *g.MinDriver
			if g.MinDriverWindows != nil {
				least += ", Windows " + *g.MinDriverWindows
			}
			fmt.Fprintf(b, "      least driver: %s\n", least)
		}
	}
}

// planEvery lists the compute capabilities by verdict.
func planEvery(b *bufio.Writer, a *archlist.Answer) {
	for _, verdict := range []string{"native", "jit", "driver", "none"} {
		var ccs []string
		for _, g := range a.GPUs {
			if g.Verdict == verdict {
				ccs = append(ccs, g.CC)
			}
		}
		if len(ccs) > 0 {
			fmt.Fprintf(b, "  %s %-7s %s\n", planGlyphs[verdict], verdict, strings.Join(ccs, " "))
		}
	}
}

func planTranslation(b *bufio.Writer, t archlist.Translation) {
	text := "cannot say any of it"
	if t.Text != nil {
		text = *t.Text
	}
	name := t.Syntax.Title()
	if t.Variable != "" && t.Syntax != archlist.Caffe {
		name += " (" + t.Variable + ")"
	}
	fmt.Fprintf(b, "  %s\n", name)
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(b, "    %s\n", plain.Text(strings.ReplaceAll(line, "\t", "  ")))
	}
	planLines(b, "    but ", t.Lost)
}
