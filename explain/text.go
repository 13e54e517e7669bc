package explain

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"fatview/coverage"
	"fatview/internal/plain"
	"fatview/report"
)

// mostNames is how many containers or kernels of a group are named.
const mostNames = 8

// Text writes the explanation for people.
func Text(w io.Writer, e *Explanation) error {
	b := bufio.NewWriter(w)
	for i := range e.Files {
		if i > 0 {
			fmt.Fprintln(b)
		}
		textFile(b, e, &e.Files[i])
	}
	for _, g := range e.GPUs {
		if g.Problem != "" {
			fmt.Fprintf(b, "\n%s: no verdict, %s\n", g.Title(), plain.Text(g.Problem))
		}
	}
	for i := range e.Advice {
		textAdvice(b, &e.Advice[i])
	}
	if len(e.Rules) > 0 {
		fmt.Fprintf(b, "\nrules\n")
	}
	for _, r := range e.Rules {
		note := ""
		if !r.Confirmed {
			note = " Not confirmed: " + r.Note + "."
		}
		fmt.Fprintf(b, "  %-15s %s. From: %s.%s\n", r.ID, r.Title, r.Sources, note)
	}
	return b.Flush()
}

func textFile(b *bufio.Writer, e *Explanation, f *File) {
	fmt.Fprintf(b, "%s on %s: %s\n", plain.Text(f.Path), plain.Text(e.GPUs[f.GPU].Title()), f.Verdict)
	fmt.Fprintf(b, "  %s.\n", plain.Text(f.Reason))
	if f.Least != nil {
		fmt.Fprintf(b, "  least driver: %s\n", report.LeastDriver(*f.Least, f.Windows, f.Confirmed))
	}
	if f.JITBytes > 0 {
		fmt.Fprintf(b, "  JIT: up to %s kernels, %s of PTX are compiled at first use. Results are kept in CUDA_CACHE_PATH up to CUDA_CACHE_MAXSIZE (1 GiB unless set), and made anew after a driver update.\n", coverage.Number(f.JITKernels), report.Bytes(f.JITBytes))
	}
	for i := range f.Groups {
		textGroup(b, &f.Groups[i])
	}
}

func textGroup(b *bufio.Writer, g *Group) {
	fmt.Fprintf(b, "\n  %s: %s\n", names(g.Containers, "containers"), g.Verdict)
	fmt.Fprintf(b, "    %s.\n", plain.Text(g.Reason))
	if g.Error != nil {
		fmt.Fprintf(b, "    a user sees error %d (%s): %s\n", g.Error.Code, g.Error.Name, g.Error.Text)
	}
	for _, im := range g.Images {
		mark := "refused"
		if im.Taken {
			mark = "chosen "
		}
		fmt.Fprintf(b, "    %s %-12s %s [%s]\n", mark, plain.Text(im.Arch), plain.Text(im.Why), im.Rule)
	}
	for i, k := range g.Kernels {
		if i == mostNames {
			fmt.Fprintf(b, "    … %d more kernels (--json has all)\n", len(g.Kernels)-mostNames)
			break
		}
		says := k.Verdict
		if k.Error != nil && g.Error == nil {
			says += fmt.Sprintf(", not in the chosen image: error %d (%s)", k.Error.Code, k.Error.Name)
		}
		fmt.Fprintf(b, "    kernel %s: %s\n", plain.Text(plain.Cut(k.Demangled, 200)), says)
	}
}

// names writes a few names and how many more there are.
func names(all []string, noun string) string {
	shown := make([]string, 0, mostNames)
	for i, n := range all {
		if i == mostNames {
			break
		}
		shown = append(shown, plain.Text(n))
	}
	s := strings.Join(shown, ", ")
	if len(all) > mostNames {
		s += fmt.Sprintf(", … (%s %s)", coverage.Number(len(all)), noun)
	}
	return s
}
