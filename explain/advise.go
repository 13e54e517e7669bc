package explain

import (
	"bufio"
	"fmt"
	"strings"

	"fatview/advice"
	"fatview/coverage"
	"fatview/gpu"
	"fatview/internal/plain"
	"fatview/report"
)

// Advice is what to do about the GPUs that a file does not serve.
type Advice struct {
	Path     string   `json:"path"`
	Options  []Option `json:"options"`  // each serves every GPU that is left out
	Drivers  []string `json:"drivers"`  // what a newer driver would do
	Notes    []string `json:"notes"`    // what a longer list alone does not mend
	Warnings []string `json:"warnings"` // dead ends
}

// Option is one change of what the file is built for.
type Option struct {
	Title   string   `json:"title"`
	Add     []string `json:"add"`     // architectures
	Toolkit string   `json:"toolkit"` // what it takes
	Caution string   `json:"caution"`
	Flags   []Flag   `json:"flags"` // the whole list, by build system
}

// Flag is an architecture list in the grammar of one build system.
type Flag struct {
	System   string   `json:"system"`
	Variable string   `json:"variable"` // "" for the command line
	Text     string   `json:"text"`
	Lost     []string `json:"lost"` // what this grammar builds otherwise
}

func newAdvice(path string, cov []coverage.FileContainer, targets []gpu.Target) Advice {
	var ts []coverage.Target
	var results []coverage.FileResult
	for _, t := range targets {
		target := report.Target(t)
		if coverage.Impossible(target) == "" {
			ts = append(ts, target)
			results = append(results, coverage.JudgeFile(cov, target))
		}
	}
	a := advice.For(cov, ts, results)
	out := Advice{Path: path, Options: []Option{}, Drivers: a.Drivers, Notes: a.Notes, Warnings: a.Warnings}
	for _, o := range a.Options {
		x := Option{Title: o.Title, Add: o.Added(), Toolkit: o.Toolkit, Caution: o.Caution, Flags: []Flag{}}
		for _, f := range o.Flags() {
			lost := f.Lost
			if lost == nil {
				lost = []string{}
			}
			x.Flags = append(x.Flags, Flag{f.System, f.Variable, f.Text, lost})
		}
		out.Options = append(out.Options, x)
	}
	return out
}

func textAdvice(b *bufio.Writer, a *Advice) {
	if len(a.Options)+len(a.Drivers)+len(a.Warnings) == 0 {
		return
	}
	fmt.Fprintf(b, "\nadvice for %s\n", plain.Text(a.Path))
	for _, s := range a.Drivers {
		fmt.Fprintf(b, "  %s.\n", plain.Text(s))
	}
	for _, s := range a.Notes {
		fmt.Fprintf(b, "  %s.\n", plain.Text(s))
	}
	for i, o := range a.Options {
		or := "rebuild"
		if i > 0 {
			or = "or"
		}
		fmt.Fprintf(b, "  %s with %s: add %s; %s.\n", or, plain.Text(o.Title), strings.Join(o.Add, ", "), o.Toolkit)
		if o.Caution != "" {
			fmt.Fprintf(b, "    but %s.\n", o.Caution)
		}
		for _, f := range o.Flags {
			text := strings.ReplaceAll(strings.TrimSpace(f.Text), "\n", "\n"+strings.Repeat(" ", 19))
			if f.Variable != "" && !strings.HasPrefix(text, f.Variable) {
				text = f.Variable + `="` + text + `"`
			}
			fmt.Fprintf(b, "    %-14s %s\n", f.System, text)
			if len(f.Lost) > 0 {
				fmt.Fprintf(b, "    %-14s (%s)\n", "", strings.Join(f.Lost, "; "))
			}
		}
	}
	for _, s := range a.Warnings {
		fmt.Fprintf(b, "  warning: %s.\n", plain.Text(s))
	}
}
