package report

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"fatview/collect"
	"fatview/coverage"
	"fatview/gpu"
	"fatview/index"
)

// Scan tells what became of one argument: a file, a folder or a package.
type Scan struct {
	Path     string        `json:"path"`
	Kind     string        `json:"kind"`     // file, folder, or a package's format: zip, tar.gz, deb, docker …
	Error    string        `json:"error"`    // why nothing could be read, "" otherwise
	Files    int           `json:"files"`    // in the report
	Entries  int64         `json:"entries"`  // files and members looked at
	Binaries int64         `json:"binaries"` // of them libraries, objects, loose device code
	Codeless int64         `json:"codeless"` // of these without device code
	Copies   int64         `json:"copies"`   // equal to a file in the report
	Links    int64         `json:"links"`    // links, devices and the like: not followed
	Excluded int64         `json:"excluded"` // by --include and --exclude
	Findings []ScanFinding `json:"findings"`
}

// ScanFinding is a remark on something that is no file of the report.
type ScanFinding struct {
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Message  string `json:"message"`
}

// BuildAll makes the report of everything that was collected.
func BuildAll(res *collect.Result, targets []gpu.Target) *Report {
	r := Build(res.Files, targets)
	for _, a := range res.Args {
		r.Scans = append(r.Scans, newScan(a))
	}
	r.Dependencies = dependencies(r, res)
	if r.tooMany && len(r.Scans) > 0 {
		s := &r.Scans[0]
		s.Findings = append(s.Findings, ScanFinding{string(index.Warning), s.Path, "there are more dependencies among these files than are told"})
	}
	r.Distributions = distributions(r, res)
	return r
}

func newScan(a *collect.Arg) Scan {
	s := Scan{
		Path: a.Path, Kind: a.Kind, Files: a.Files, Entries: a.Counts.Entries, Binaries: a.Counts.Binaries,
		Codeless: a.Counts.Codeless, Copies: a.Counts.Copies, Links: a.Counts.Links, Excluded: a.Counts.Excluded,
		Findings: []ScanFinding{},
	}
	if a.Err != nil {
		s.Error = a.Err.Error()
	}
	for _, f := range a.Findings {
		s.Findings = append(s.Findings, ScanFinding{string(f.Severity), f.Path, f.Message})
	}
	return s
}

// plainFile tells whether there is nothing to say of an argument beside its
// file.
func (s *Scan) plainFile() bool { return s.Kind == "file" && len(s.Findings) == 0 }

// Summary says in one line what was looked at.
func (s *Scan) Summary() string {
	if s.Error != "" {
		return "could not be read"
	}
	kind := s.Kind
	if kind == "" {
		kind = "file"
	}
	parts := []string{kind, counted(int(s.Entries), "file")}
	if s.Binaries > 0 {
		text := counted(int(s.Binaries), "binary")
		if s.Codeless > 0 {
			text += ", of which " + coverage.Number(int(s.Codeless)) + " without device code"
		}
		parts = append(parts, text)
	}
	for _, x := range []struct {
		n    int64
		noun string
		more string
	}{{s.Copies, "copy", " of others"}, {s.Links, "link", " or the like not followed"}, {s.Excluded, "entry", " left out as asked"}} {
		if x.n > 0 {
			parts = append(parts, counted(int(x.n), x.noun)+x.more)
		}
	}
	return strings.Join(parts, "; ")
}

// Distribution is an installed or packed distribution with device code.
type Distribution struct {
	Kind    string `json:"kind"` // python, conda, npm, deb, nuget …
	Name    string `json:"name"`
	Version string `json:"version"` // "" unknown
	Scan    int    `json:"scan"`    // index into Report.Scans
	Root    string `json:"root"`    // folder it lies in, relative to the scan
	Files   []int  `json:"files"`   // indexes into Report.Files, of copies that of the file shown
	// Variants are groups of files that differ by the CUDA version in their
	// name: a program loads one of each group.
	Variants [][]int                `json:"variants"`
	Coverage []DistributionCoverage `json:"coverage"`
}

// DistributionCoverage is the answer for a distribution on one GPU: the rules
// of a file applied to the containers of all of its files, and of the best of
// each group of variants.
type DistributionCoverage struct {
	GPU        int             `json:"gpu"`
	Verdict    string          `json:"verdict"`
	Containers ContainerCounts `json:"containers"`
	Reason     string          `json:"reason"`
}

// Title is the name with the version.
func (d *Distribution) Title() string { return strings.TrimSpace(d.Name + " " + d.Version) }

func distributions(r *Report, res *collect.Result) []Distribution {
	out := []Distribution{}
	type key struct {
		scan int
		id   string
	}
	at := map[key]int{}
	scan := map[*collect.Arg]int{}
	for i, a := range res.Args {
		scan[a] = i
	}
	for i, f := range res.Files {
		for _, d := range res.Dists(f) { // a copy may be another distribution's
			k := key{scan[res.Arg(f)], d.Manifest}
			n, ok := at[k]
			if !ok {
				n = len(out)
				at[k] = n
				out = append(out, Distribution{
					Kind: d.Kind, Name: d.Name, Version: d.Version, Root: d.Root, Scan: k.scan,
					Files: []int{}, Variants: [][]int{}, Coverage: []DistributionCoverage{},
				})
			}
			out[n].Files = append(out[n].Files, i)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Scan != out[j].Scan {
			return out[i].Scan < out[j].Scan
		}
		return strings.ToLower(out[i].Name) < strings.ToLower(out[j].Name)
	})
	for i := range out {
		d := &out[i]
		units := d.units(r)
		for _, u := range units {
			if len(u.files) > 1 {
				d.Variants = append(d.Variants, u.files)
			}
		}
		for g := range r.GPUs {
			if c, ok := judgeUnits(r, units, g); ok {
				d.Coverage = append(d.Coverage, c)
			}
		}
	}
	return out
}

// unit is a file of a distribution, or several that stand for each other.
type unit struct {
	name  string
	files []int
	tags  []string // of variants: what tells them apart
}

// units groups a distribution's files that hold CUDA code.
func (d *Distribution) units(r *Report) []unit {
	var out []unit
	at := map[string]int{}
	for _, i := range d.Files {
		f := &r.Files[i]
		if len(f.Containers) == 0 {
			continue
		}
		stem, tag := variantStem(f.Path)
		n, ok := at[stem]
		if !ok || tag == "" {
			n = len(out)
			at[stem] = n
			out = append(out, unit{name: unitName(f.Path)})
		}
		u := &out[n]
		u.files, u.tags = append(u.files, i), append(u.tags, tag)
		if len(u.files) > 1 {
			u.name = lastPart(stem)
		}
	}
	return out
}

// rank orders file verdicts from the best to the worst.
var rank = map[string]int{"native": 0, "mixed": 1, "jit": 2, "partial": 3, "driver": 4, "none": 5}

func judgeUnits(r *Report, units []unit, g int) (DistributionCoverage, bool) {
	out := DistributionCoverage{GPU: g}
	var sum coverage.Counts
	words := map[string][]string{}
	for _, u := range units {
		best := (*Coverage)(nil)
		by := map[string][]string{}
		for k, i := range u.files {
			c := r.Files[i].on(g)
			if c == nil {
				return out, false
			}
			by[c.Verdict] = append(by[c.Verdict], u.tags[k])
			if best == nil || rank[c.Verdict] < rank[best.Verdict] {
				best = c
			}
		}
		sum.Native += best.Containers.Native
		sum.JIT += best.Containers.JIT
		sum.Driver += best.Containers.Driver
		sum.Missing += best.Containers.Missing
		sum.Specialised += best.Containers.Specialised
		sum.Empty += best.Containers.Empty
		words[best.Verdict] = append(words[best.Verdict], u.say(by))
	}
	if len(units) == 0 {
		return out, false
	}
	out.Verdict = sum.FileVerdict().String()
	out.Containers = ContainerCounts{sum.Native, sum.JIT, sum.Driver, sum.Missing, sum.Specialised, sum.Empty}
	out.Reason = sayUnits(words, len(units))
	return out, true
}

// say names a unit; of variants that differ it says which are what.
func (u unit) say(by map[string][]string) string {
	if len(u.files) == 1 {
		return u.name
	}
	if len(by) == 1 {
		return fmt.Sprintf("%s (%d variants alike)", u.name, len(u.files))
	}
	var parts []string
	for _, v := range sortedVerdicts(by) {
		parts = append(parts, v+" "+strings.Join(by[v], ", "))
	}
	return fmt.Sprintf("%s (variants: %s)", u.name, strings.Join(parts, "; "))
}

func sayUnits(words map[string][]string, units int) string {
	verdicts := sortedVerdicts(words)
	if len(verdicts) == 1 && units > 3 {
		return fmt.Sprintf("all %s are %s", counted(units, "library"), verdicts[0])
	}
	var parts []string
	for _, v := range verdicts {
		names := words[v]
		if n := len(names) - 6; n > 0 {
			names = append(names[:6:6], fmt.Sprintf("and %d more", n))
		}
		parts = append(parts, v+": "+strings.Join(names, ", "))
	}
	return strings.Join(parts, "; ")
}

func sortedVerdicts[T any](m map[string]T) []string {
	var out []string
	for v := range m {
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool { return rank[out[i]] < rank[out[j]] })
	return out
}

// on returns the coverage on one GPU, nil where there is none.
func (f *File) on(g int) *Coverage {
	for i := range f.Coverage {
		if f.Coverage[i].GPU == g {
			return &f.Coverage[i]
		}
	}
	return nil
}

// unitName is a path without folders; a member of a static library keeps the
// library's name.
func unitName(path string) string {
	name := path[strings.LastIndex(path, "/")+1:]
	if lib, _, ok := strings.Cut(name, "!"); ok && !strings.HasSuffix(lib, ".a") && !strings.HasSuffix(lib, ".lib") {
		return lastPart(path)
	}
	return name
}

// lastPart is the last element of a path, with packages' members and folders.
func lastPart(path string) string {
	if i := strings.LastIndexAny(path, "/!"); i >= 0 {
		return path[i+1:]
	}
	return path
}

// variantStem replaces the CUDA version in a file's name by "*", and returns
// it as tag: "libbitsandbytes_cuda118.so" and "…_cuda124.so" are variants, of
// which a program loads the one that goes with its CUDA runtime.
func variantStem(path string) (stem, tag string) {
	name := lastPart(path)
	lower := strings.ToLower(name)
	for at := 0; ; {
		i := strings.Index(lower[at:], "cu")
		if i < 0 {
			return path, ""
		}
		at += i + len("cu")
		j := at
		if strings.HasPrefix(lower[j:], "da") {
			j += len("da")
		}
		if j < len(name) && (name[j] == '-' || name[j] == '_') {
			j++
		}
		k := j
		for k < len(name) && (name[k] >= '0' && name[k] <= '9' || name[k] == '.' && k > j && k+1 < len(name) && name[k+1] >= '0' && name[k+1] <= '9') {
			k++
		}
		if cudaVersion(name[j:k]) {
			return path[:len(path)-len(name)] + name[:j] + "*" + name[k:], name[j:k]
		}
	}
}

// cudaVersion tells whether digits in a name are a CUDA version from 9 on, as
// "12", "118" or "12.4". Eighty or ninety is rather a capability.
func cudaVersion(s string) bool {
	major, minor, dotted := strings.Cut(s, ".")
	n, err := strconv.Atoi(major)
	switch {
	case err != nil:
		return false
	case dotted:
		_, err := strconv.Atoi(minor)
		return err == nil && len(minor) == 1 && n >= 9 && n < 20
	case len(major) == 3:
		return n >= 101 && n < 200
	}
	return len(major) == 2 && n >= 10 && n < 20
}
