package report

import (
	"encoding/json"
	"io"

	"fatview/collect"
	"fatview/fatbin"
	"fatview/gpu"
	"fatview/index"
	"fatview/internal/plain"
)

// LineSchema is the name of the contract of lines.
const LineSchema = "fatview/line/1"

// A Line is what is told of one file on one GPU, for programs that read tables:
// newline-delimited JSON, every key on every line, so that columns keep their
// types. Its numbers are those of the report. Fields are only ever added.
//
// A file without CUDA code has a line for each GPU too, with a null verdict, as
// has a GPU that its driver cannot drive; the reason says which. Without GPUs a
// file has one line, whose GPU is null. What could not be read is a line
// without a format, and with an error.
type Line struct {
	Schema  string  `json:"schema"`
	Path    string  `json:"path"`
	Scan    string  `json:"scan"`  // the argument that the file came with
	Error   *string `json:"error"` // why it or a part of it could not be read, null otherwise
	Format  string  `json:"format"`
	Machine string  `json:"machine"`
	Size    int64   `json:"size"` // bytes

	// The distribution that the file belongs to, "" where none is known; kind
	// is python, conda, npm, deb, nuget …
	Distribution string `json:"distribution"`
	Version      string `json:"version"`
	Kind         string `json:"kind"`

	GPU    *string `json:"gpu"` // null: no GPU was asked for
	CC     *string `json:"cc"`
	Driver *string `json:"driver"` // null: unknown
	CUDA   *string `json:"cuda"`
	Count  *int    `json:"count"` // equal GPUs of an inventory, else 1

	Verdict          *string          `json:"verdict"` // of a file: native, mixed, jit, partial, driver or none
	Containers       *ContainerCounts `json:"containers"`
	Kernels          *KernelCounts    `json:"kernels"`
	MinDriver        *string          `json:"min_driver"` // Linux; null if nothing serves
	MinDriverWindows *string          `json:"min_driver_windows"`
	Reason           string           `json:"reason"`

	Archs  []string `json:"archs"`  // sm_80 … then compute_90 …
	Needs  []string `json:"needs"`  // libraries of GPU computing that it links to
	Copies []string `json:"copies"` // other paths of the same file
}

// FileLines returns the lines of a file from what is decoded by now. scan is
// the argument it came with.
func FileLines(f *index.File, scan string, targets []gpu.Target) []Line {
	gpus := make([]GPU, len(targets))
	for i, t := range targets {
		gpus[i] = newGPU(t)
	}
	x := newFile(f, targets)
	return x.lines(scan, gpus)
}

// ErrorLine is the line of something that could not be read.
func ErrorLine(path, scan, problem string) Line {
	return Line{Schema: LineSchema, Path: path, Scan: scan, Error: &problem, Archs: []string{}, Needs: []string{}, Copies: []string{}}
}

func (f *File) lines(scan string, gpus []GPU) []Line {
	base := Line{
		Schema: LineSchema, Path: f.Path, Scan: scan, Format: f.Format, Machine: f.Machine, Size: f.Size,
		Archs: f.archs(), Needs: []string{}, Copies: f.Copies,
	}
	for _, n := range f.Needs {
		base.Needs = append(base.Needs, n.Name)
	}
	for i := range f.Findings {
		if f.Findings[i].Severity == string(index.Error) {
			base.Error = &f.Findings[i].Message
			break
		}
	}
	if len(f.Containers) == 0 {
		base.Reason = f.noCode()
	}
	if len(gpus) == 0 {
		return []Line{base}
	}
	out := make([]Line, len(gpus))
	for i := range gpus {
		l, g := &out[i], &gpus[i]
		*l = base
		count := max(g.Count, 1)
		l.GPU, l.CC, l.Driver, l.CUDA, l.Count = &g.Name, &g.CC, g.Driver, g.CUDA, &count
		if g.Problem != "" {
			l.Reason = g.Problem
		}
		if c := f.on(i); c != nil {
			l.Verdict, l.Containers, l.Kernels = &c.Verdict, &c.Containers, &c.Kernels
			l.MinDriver, l.MinDriverWindows, l.Reason = c.MinDriver, c.MinDriverWindows, c.Reason
		}
	}
	return out
}

// archs names the architectures of SASS, then those of PTX, each once.
func (f *File) archs() []string {
	names := []string{}
	for _, r := range f.ArchRows() {
		if r.Kind != fatbin.KindCubin.String() && r.Kind != fatbin.KindPTX.String() {
			continue
		}
		if n := len(names); n == 0 || names[n-1] != r.Arch {
			names = append(names, r.Arch)
		}
	}
	return names
}

// NDJSON writes the lines of a report: what could not be read of an argument
// after the argument's files. Files with the same content have one set of lines
// that names the copies.
func NDJSON(w io.Writer, r *Report) error {
	owner := map[int]*Distribution{}
	for i := range r.Distributions {
		for _, f := range r.Distributions[i].Files {
			if owner[f] == nil { // further ones are of its copies
				owner[f] = &r.Distributions[i]
			}
		}
	}
	next := 0
	files := func(n int, scan string) error {
		for ; n > 0 && next < len(r.Files); n-- {
			for _, l := range r.Files[next].lines(scan, r.GPUs) {
				if d := owner[next]; d != nil {
					l.Distribution, l.Version, l.Kind = d.Name, d.Version, d.Kind
				}
				if err := EncodeLine(w, &l); err != nil {
					return err
				}
			}
			next++
		}
		return nil
	}
	for i := range r.Scans {
		s := &r.Scans[i]
		if err := files(s.Files, s.Path); err != nil {
			return err
		}
		for _, l := range s.errorLines() {
			if err := EncodeLine(w, &l); err != nil {
				return err
			}
		}
	}
	return files(len(r.Files), "") // of a report without arguments
}

// ArgLines returns the lines of what could not be read of an argument, none if
// all could. Warnings of a scan, such as of a member that was left out, are
// among it: what is lost must show in a table, too.
func ArgLines(a *collect.Arg) []Line {
	s := newScan(a)
	return s.errorLines()
}

func (s *Scan) errorLines() []Line {
	var out []Line
	if s.Error != "" {
		out = append(out, ErrorLine(s.Path, s.Path, s.Error))
	}
	for _, f := range s.Findings {
		if f.Severity != string(index.Info) {
			out = append(out, ErrorLine(f.Path, s.Path, f.Message))
		}
	}
	return out
}

// EncodeLine writes a value as JSON on a line of its own. Characters that a
// terminal could act on are escapes, line breaks among them.
func EncodeLine(w io.Writer, v any) error {
	e := json.NewEncoder(plain.JSON(w))
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
