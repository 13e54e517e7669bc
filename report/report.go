// Package report makes one value from opened files and their verdicts, and
// writes it in several formats, all with the same numbers. It knows nothing of
// terminals: text from files is escaped by each writer for its format.
package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"fatview/arch"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/gpu"
	"fatview/index"
)

// Schema is the name of the JSON contract.
const Schema = "fatview/report/1"

// A Report is what is told about some files on some GPUs. Its JSON form is a
// contract with other programs: fields are only ever added.
type Report struct {
	Schema string `json:"schema"`
	GPUs   []GPU  `json:"gpus"`
	Files  []File `json:"files"`
	// Scans tell of the arguments, Distributions of the installed or packed
	// distributions that files belong to, Dependencies of files that lean on
	// others in the report.
	Scans         []Scan         `json:"scans"`
	Distributions []Distribution `json:"distributions"`
	Dependencies  []Dependency   `json:"dependencies"`

	// Version of the program and Made, when, are for formats that name who
	// wrote them; both may be zero. They are no part of the contract.
	Version string    `json:"-"`
	Made    time.Time `json:"-"`

	tooMany bool // dependencies, to tell them all
}

// GPU is one of the GPUs that verdicts are given for.
type GPU struct {
	Name   string  `json:"name"`
	CC     string  `json:"cc"`
	Driver *string `json:"driver"`          // null: unknown
	CUDA   *string `json:"cuda"`            // newest CUDA version of the driver
	Source string  `json:"source"`          // nvml, nvidia-smi, proc, pci, device-tree, catalogue, capability, or the format of an inventory
	Count  int     `json:"count,omitempty"` // how many equal ones an inventory lists; left out for 1
	// Problem says why the GPU and the driver cannot go together; no verdict
	// is given then. Absent otherwise.
	Problem string `json:"problem,omitempty"`
	// ForceJIT and DisableJIT are set where all SASS or all PTX is ignored, by
	// flag or, for local GPUs, by environment variable.
	ForceJIT   bool `json:"force_jit,omitempty"`
	DisableJIT bool `json:"disable_jit,omitempty"`
}

// File is one host object.
type File struct {
	Path       string      `json:"path"`
	Format     string      `json:"format"`
	Machine    string      `json:"machine"`
	Size       int64       `json:"size"` // bytes
	Containers []Container `json:"containers"`
	Coverage   []Coverage  `json:"coverage"`
	Findings   []Finding   `json:"findings"`
	Needs      []Need      `json:"needs"`   // libraries of GPU computing that it links to
	Foreign    []Foreign   `json:"foreign"` // device code of other vendors
	Copies     []string    `json:"copies"`  // paths of files with the same content
	// BareCubins are cubins beside the fat binaries, among which the program
	// chooses by itself; they have no part in verdicts.
	BareCubins []BareCubins `json:"bare_cubins"`
}

// BareCubins are the cubins of one architecture in one section.
type BareCubins struct {
	Section string `json:"section"`
	Arch    string `json:"arch"`
	Count   int    `json:"count"`
	Bytes   int64  `json:"bytes"`
}

// Foreign is device code of another vendor: named, not judged.
type Foreign struct {
	Vendor  string   `json:"vendor"`
	Kind    string   `json:"kind"`
	Targets []string `json:"targets"`
	Section string   `json:"section"`
	Offset  int64    `json:"offset"`
	Size    int64    `json:"size"`
	Count   int      `json:"count"`
	text    string
}

// Container is one fat binary.
type Container struct {
	ID       int       `json:"id"`
	Section  string    `json:"section"`
	Offset   int64     `json:"offset"`
	Size     int64     `json:"size"` // bytes, header included
	Linkage  string    `json:"linkage"`
	Label    string    `json:"label"` // translation unit, "" unknown
	Images   []Image   `json:"images"`
	Verdicts []Verdict `json:"verdicts"` // empty for inputs of a device link
}

// Image is one entry of a container.
type Image struct {
	ID          int     `json:"id"`
	Kind        string  `json:"kind"`
	Arch        string  `json:"arch"`
	PTXISA      *string `json:"ptx_isa"` // of PTX only
	Compression string  `json:"compression"`
	StoredBytes int64   `json:"stored_bytes"`
	Bytes       int64   `json:"bytes"`
	Kernels     *int    `json:"kernels"` // null where not decoded or not readable
	KindCode    string  `json:"kind_code,omitempty"`
}

// Verdict is the answer for a container on one GPU.
type Verdict struct {
	GPU     int    `json:"gpu"` // index into Report.GPUs
	Verdict string `json:"verdict"`
	Image   *int   `json:"image"` // the one chosen; null if none fits
	Reason  string `json:"reason"`
	Rule    string `json:"rule"`
}

// Coverage is the answer for a file on one GPU.
type Coverage struct {
	GPU        int             `json:"gpu"`
	Verdict    string          `json:"verdict"`
	Containers ContainerCounts `json:"containers"`
	Kernels    KernelCounts    `json:"kernels"`
	MinDriver  *string         `json:"min_driver"` // Linux; null if nothing serves
	// MinDriverWindows is null where no Windows driver is listed.
	MinDriverWindows *string `json:"min_driver_windows"`
	// MinDriverConfirmed is false where the driver's CUDA version is expected
	// rather than seen.
	MinDriverConfirmed bool   `json:"min_driver_confirmed"`
	Reason             string `json:"reason"`
}

// ContainerCounts counts containers by verdict.
type ContainerCounts struct {
	Native      int `json:"native"`
	JIT         int `json:"jit"`
	Driver      int `json:"driver"`
	Missing     int `json:"missing"`
	Specialised int `json:"specialised"`
	Empty       int `json:"empty"`
}

// KernelCounts counts kernels by verdict. All are zero with --no-kernels.
type KernelCounts struct {
	Native      int `json:"native"`
	JIT         int `json:"jit"`
	Driver      int `json:"driver"`
	Missing     int `json:"missing"`
	Specialised int `json:"specialised"`
}

// Finding is a remark on a file.
type Finding struct {
	Severity string `json:"severity"` // info, warning, error
	Offset   *int64 `json:"offset"`   // null where there is none
	Message  string `json:"message"`
}

// Build makes the report of files on GPUs from what is decoded by now.
func Build(files []*index.File, targets []gpu.Target) *Report {
	r := &Report{Schema: Schema, GPUs: []GPU{}, Files: []File{}, Scans: []Scan{}, Distributions: []Distribution{}, Dependencies: []Dependency{}}
	for _, t := range targets {
		r.GPUs = append(r.GPUs, newGPU(t))
	}
	for _, f := range files {
		r.Files = append(r.Files, newFile(f, targets))
	}
	return r
}

// Target returns a GPU as the rules want it.
func Target(t gpu.Target) coverage.Target {
	return coverage.Target{CC: t.CC, Driver: t.Driver, ForceJIT: t.ForceJIT, DisableJIT: t.DisableJIT}
}

func newGPU(t gpu.Target) GPU {
	g := GPU{Name: t.Name, CC: t.CC.String(), Source: t.Source, Problem: coverage.Impossible(Target(t)), ForceJIT: t.ForceJIT, DisableJIT: t.DisableJIT}
	if t.Count > 1 {
		g.Count = t.Count
	}
	if t.Driver.Known() {
		if t.Driver.Version != "" {
			g.Driver = &t.Driver.Version
		}
		cuda := t.Driver.CUDA.String()
		g.CUDA = &cuda
	}
	return g
}

func newFile(f *index.File, targets []gpu.Target) File {
	out := File{
		Path: f.Path, Format: f.Format, Machine: f.Machine, Size: f.Size,
		Containers: make([]Container, 0, len(f.Containers)), Coverage: []Coverage{}, Findings: []Finding{},
		BareCubins: Bare(f), Needs: Needs(f.Needed), Foreign: []Foreign{}, Copies: append([]string{}, f.Copies()...),
	}
	for _, c := range f.Foreign() {
		out.Foreign = append(out.Foreign, Foreign{c.Vendor, c.Kind, append([]string{}, c.Targets...), c.Section, c.Offset, c.Size, c.Count, c.String()})
	}
	for _, c := range f.Containers {
		out.Containers = append(out.Containers, newContainer(c))
	}
	cov := f.Coverage()
	for g, t := range targets {
		target := Target(t)
		if len(f.Containers) == 0 || coverage.Impossible(target) != "" {
			continue
		}
		res := coverage.JudgeFile(cov, target)
		out.Coverage = append(out.Coverage, newCoverage(g, res, cov, target))
		for i, v := range res.Results {
			if v.Verdict != coverage.Unknown {
				out.Containers[i].Verdicts = append(out.Containers[i].Verdicts, newVerdict(g, v, cov[i].Container, target))
			}
		}
	}
	if len(f.Containers) == 0 {
		out.Findings = append(out.Findings, Finding{Severity: string(index.Info), Message: out.noCode()})
	}
	for _, x := range f.Findings() {
		y := Finding{Severity: string(x.Severity), Message: x.Message}
		if x.Offset >= 0 {
			off := x.Offset
			y.Offset = &off
		}
		out.Findings = append(out.Findings, y)
	}
	return out
}

// Bare sums a file's bare cubins by section and architecture, in order.
func Bare(f *index.File) []BareCubins {
	out := []BareCubins{}
	sorted := slices.Clone(f.Bare)
	slices.SortStableFunc(sorted, func(a, b index.Bare) int {
		switch {
		case a.Section != b.Section:
			return strings.Compare(a.Section, b.Section)
		case a.Arch.Less(b.Arch):
			return -1
		case b.Arch.Less(a.Arch):
			return 1
		}
		return 0
	})
	for _, x := range sorted {
		if n := len(out) - 1; n < 0 || out[n].Section != x.Section || out[n].Arch != x.Arch.SASS() {
			out = append(out, BareCubins{Section: x.Section, Arch: x.Arch.SASS()})
		}
		b := &out[len(out)-1]
		b.Count++
		b.Bytes += x.Bytes
	}
	return out
}

// BareText says how many bare cubins there are and for what, "" for none.
func BareText(list []BareCubins) string {
	n, archs := 0, []string{}
	for _, b := range list {
		n += b.Count
		archs = append(archs, fmt.Sprintf("%s × %d", b.Arch, b.Count))
	}
	if n == 0 {
		return ""
	}
	return counted(n, "bare cubin") + " beside the fat binaries (" + strings.Join(archs, ", ") + "): the program chooses among them by itself; not judged"
}

func newContainer(c *index.Container) Container {
	out := Container{
		ID: c.ID, Section: c.Section, Offset: c.Offset, Size: c.Size, Linkage: string(c.Linkage),
		Label: c.Label(), Images: make([]Image, 0, len(c.Images)), Verdicts: []Verdict{},
	}
	d := c.Decoded()
	for i, im := range c.Images {
		x := Image{
			ID: i, Kind: im.Kind.String(), Arch: im.ArchName(), Compression: im.Compression.String(),
			StoredBytes: im.StoredBytes, Bytes: im.Bytes,
		}
		if v := im.PTXISA(); !v.IsZero() {
			s := v.String()
			x.PTXISA = &s
		}
		if x.Kind == "unknown" {
			x.KindCode = fmt.Sprintf("%#x", uint16(im.Kind))
		}
		if d != nil && d.Images[i].Known {
			n := len(d.Images[i].Kernels)
			x.Kernels = &n
		}
		out.Images = append(out.Images, x)
	}
	return out
}

func newVerdict(g int, r coverage.Result, c coverage.Container, t coverage.Target) Verdict {
	v := Verdict{GPU: g, Verdict: r.Verdict.String(), Reason: r.Reason(c, t), Rule: r.Rule.String()}
	if r.Image >= 0 {
		v.Image = &r.Image
	}
	return v
}

func newCoverage(g int, r coverage.FileResult, cov []coverage.FileContainer, t coverage.Target) Coverage {
	c, k := r.Containers, r.Kernels
	out := Coverage{
		GPU: g, Verdict: r.Verdict.String(), Reason: r.Reason(cov, t), MinDriverConfirmed: coverage.LeastConfirmed(r.Needs),
		Containers: ContainerCounts{c.Native, c.JIT, c.Driver, c.Missing, c.Specialised, c.Empty},
		Kernels:    KernelCounts{k.Native, k.JIT, k.Driver, k.Missing, k.Specialised},
	}
	if !r.KernelsKnown && len(cov) > 0 {
		out.Reason += "; from headers alone, so an image that turns out to hold no kernels may change it"
	}
	linux, windows := coverage.LeastDriver(r.Needs)
	if linux != "" {
		out.MinDriver = &linux
	}
	if windows != "" {
		out.MinDriverWindows = &windows
	}
	return out
}

// ArchRow sums the images of one kind, architecture and PTX ISA.
type ArchRow struct {
	Kind, Arch, PTXISA string
	Images, Kernels    int
	KernelsKnown       bool
	Stored, Bytes      int64
}

// ArchRows sums a file's images by kind and architecture, SASS first.
func (f *File) ArchRows() []ArchRow {
	rows := map[string]*ArchRow{}
	var order []*ArchRow
	for i := range f.Containers {
		for _, im := range f.Containers[i].Images {
			isa := ""
			if im.PTXISA != nil {
				isa = *im.PTXISA
			}
			key := im.Kind + "\x00" + im.Arch + "\x00" + isa
			r := rows[key]
			if r == nil {
				r = &ArchRow{Kind: im.Kind, Arch: im.Arch, PTXISA: isa, KernelsKnown: true}
				rows[key] = r
				order = append(order, r)
			}
			r.Images++
			r.Stored += im.StoredBytes
			r.Bytes += im.Bytes
			if im.Kernels == nil {
				r.KernelsKnown = false
			} else {
				r.Kernels += *im.Kernels
			}
		}
	}
	out := make([]ArchRow, len(order))
	for i, r := range order {
		out[i] = *r
	}
	sortRows(out)
	return out
}

// sortRows puts SASS first, then orders by architecture and PTX ISA.
func sortRows(rows []ArchRow) {
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := &rows[i], &rows[j]
		if x, y := kindRank(a.Kind), kindRank(b.Kind); x != y {
			return x < y
		}
		if a.Arch != b.Arch {
			x, _ := arch.Parse(a.Arch)
			y, _ := arch.Parse(b.Arch)
			return x.Less(y)
		}
		return a.PTXISA < b.PTXISA
	})
}

func kindRank(kind string) int {
	switch kind {
	case fatbin.KindCubin.String():
		return 0
	case fatbin.KindPTX.String():
		return 1
	case fatbin.KindNVVM.String():
		return 2
	}
	return 3
}
