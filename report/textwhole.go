package report

import (
	"bufio"
	"fmt"
	"strings"

	"fatview/internal/plain"
)

// String says what the code is, in one line.
func (x Foreign) String() string { return x.text }

// textWhole tells of the arguments as a whole, and answers by distribution. It
// reports whether there was anything to tell.
func textWhole(b *bufio.Writer, r *Report) bool {
	wrote := false
	for i := range r.Scans {
		s := &r.Scans[i]
		if s.plainFile() {
			continue
		}
		wrote = true
		fmt.Fprintf(b, "%s\n", plain.Text(s.Path))
		wrappedAt(b, "  ", plain.Text(s.Summary()))
		for _, x := range s.Findings {
			wrappedAt(b, "  ", plain.Text(fmt.Sprintf("%s: %s: %s", x.Severity, x.Path, x.Message)))
		}
	}
	if len(r.Distributions) == 0 {
		return wrote
	}
	for g := range r.GPUs {
		lines := r.byDistribution(g)
		if len(lines) == 0 {
			continue
		}
		if wrote {
			fmt.Fprintln(b)
		}
		wrote = true
		fmt.Fprintf(b, "%s\n", r.GPUs[g].Title())
		for _, l := range lines {
			fmt.Fprintf(b, "  %s %s: %s\n", glyphs[l.verdict], plain.Text(l.name), l.verdict)
			if l.reason != "" {
				wrapped(b, plain.Text(l.reason))
			}
		}
	}
	if other := r.foreignOnly(); len(other) > 0 {
		fmt.Fprintf(b, "\nNot CUDA\n")
		for _, line := range other {
			wrappedAt(b, "  ", plain.Text(line))
		}
	}
	return true
}

// distLine is the answer for a distribution on one GPU.
type distLine struct{ name, verdict, reason string }

// byDistribution returns the answers for one GPU, and one for the files that
// belong to no distribution, if there are any with code.
func (r *Report) byDistribution(g int) []distLine {
	var out []distLine
	for i := range r.Distributions {
		d := &r.Distributions[i]
		for _, c := range d.Coverage {
			if c.GPU == g {
				out = append(out, distLine{d.Title(), c.Verdict, c.Reason + r.shortOf(d, g)})
			}
		}
	}
	for _, i := range r.loners() {
		if c := r.Files[i].on(g); c != nil {
			out = append(out, distLine{r.Files[i].Path, c.Verdict, ""})
		}
	}
	return out
}

// loners are the files that belong to no distribution.
func (r *Report) loners() []int {
	owned := map[int]bool{}
	for i := range r.Distributions {
		for _, f := range r.Distributions[i].Files {
			owned[f] = true
		}
	}
	var out []int
	for i := range r.Files {
		if !owned[i] {
			out = append(out, i)
		}
	}
	return out
}

// shortOf says which distributions that one leans on fall short on a GPU.
func (r *Report) shortOf(d *Distribution, g int) string {
	mine := map[int]bool{}
	for _, f := range d.Files {
		mine[f] = true
	}
	seen := map[string]bool{}
	var names []string
	for _, x := range r.Dependencies {
		if !mine[x.File] || mine[x.To] {
			continue
		}
		for _, u := range x.Unserved {
			name := r.ownerOf(x.To)
			if u.GPU == g && !seen[name] {
				seen[name] = true
				names = append(names, fmt.Sprintf("%s, which is %s", name, u.Verdict))
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; but it needs " + strings.Join(names, " and ")
}

// ownerOf names the distribution of a file, or the file.
func (r *Report) ownerOf(file int) string {
	for i := range r.Distributions {
		for _, f := range r.Distributions[i].Files {
			if f == file {
				return r.Distributions[i].Title()
			}
		}
	}
	return r.Files[file].Path
}

// foreignOnly names what holds device code of other vendors and none of CUDA's;
// files of the same kinds stand together.
func (r *Report) foreignOnly() []string {
	var order []string
	files := map[string][]string{}
	for i := range r.Files {
		f := &r.Files[i]
		if len(f.Containers) > 0 || len(f.Foreign) == 0 {
			continue
		}
		var kinds []string
		for _, x := range f.Foreign {
			kinds = append(kinds, x.String())
		}
		text := strings.Join(kinds, "; ")
		if files[text] == nil {
			order = append(order, text)
		}
		files[text] = append(files[text], lastPart(f.Path))
	}
	var out []string
	for _, text := range order {
		out = append(out, strings.Join(files[text], ", ")+": "+text)
	}
	return out
}

// textBeside names the libraries that a file links to, the code in it that is
// not CUDA's, and its copies.
func textBeside(b *bufio.Writer, f *File) {
	if len(f.Needs) > 0 {
		var names []string
		for _, n := range f.Needs {
			names = append(names, n.String())
		}
		wrappedAt(b, "  ", plain.Text("needs "+strings.Join(names, ", ")))
	}
	for _, x := range f.Foreign {
		wrappedAt(b, "  ", plain.Text("not CUDA: "+x.String()))
	}
	if text := BareText(f.BareCubins); text != "" {
		wrappedAt(b, "  ", plain.Text(text))
	}
	if n := len(f.Copies); n > 0 {
		names := f.Copies
		more := ""
		if n > most {
			names, more = names[:most], fmt.Sprintf(", … %d more", n-most)
		}
		wrappedAt(b, "  ", plain.Text("same content: "+strings.Join(names, ", ")+more))
	}
}

// textUnservedNeeds says where a file is served and what it leans on is not.
func textUnservedNeeds(b *bufio.Writer, r *Report, file int) {
	for _, d := range r.Dependencies {
		if d.File != file {
			continue
		}
		for _, u := range d.Unserved {
			fmt.Fprintf(b, "  ! %s: needs a library that is %s\n", r.GPUs[u.GPU].Title(), u.Verdict)
			wrapped(b, plain.Text(sentence(u.Message)))
		}
	}
}
