// Command corpuscheck runs fatview on real libraries and compares its JSON
// with tables that other programs worked out: NVIDIA's lister and a separate
// implementation of the rules. scripts/corpus-check runs it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// The part of the JSON contract that is compared, declared again on purpose:
// a field renamed in the program must fail here.
type jsonReport struct {
	Schema string `json:"schema"`
	GPUs   []struct {
		CC string `json:"cc"`
	} `json:"gpus"`
	Files []struct {
		Path       string `json:"path"`
		Containers []struct {
			Section string `json:"section"`
			Images  []struct {
				Kind        string  `json:"kind"`
				Arch        string  `json:"arch"`
				PTXISA      *string `json:"ptx_isa"`
				Compression string  `json:"compression"`
				Kernels     *int    `json:"kernels"`
			} `json:"images"`
		} `json:"containers"`
		Coverage []struct {
			GPU        int            `json:"gpu"`
			Verdict    string         `json:"verdict"`
			Containers map[string]int `json:"containers"`
			Kernels    map[string]int `json:"kernels"`
		} `json:"coverage"`
	} `json:"files"`
}

type checker struct {
	fatview, corpus string
	paths           map[string]string // base name to path below corpus
	checks, wrong   int
	plain           map[string]*jsonReport
}

func main() {
	c := &checker{paths: map[string]string{}, plain: map[string]*jsonReport{}}
	flag.StringVar(&c.fatview, "fatview", "", "the program")
	flag.StringVar(&c.corpus, "corpus", "", "folder of the libraries")
	tables := flag.String("tables", "testdata/corpus", "folder of the tables")
	flag.Parse()
	c.find(flag.Args())
	c.entries(read(filepath.Join(*tables, "entries.tsv")))
	c.entries(read(filepath.Join(*tables, "hidden.tsv")))
	c.textSections(read(filepath.Join(*tables, "text-sections.tsv")))
	c.verdicts(read(filepath.Join(*tables, "verdicts.tsv")), flag.Args())
	c.reasons(read(filepath.Join(*tables, "reasons.tsv")), flag.Args())
	c.packages(flag.Args())
	fmt.Printf("corpus-check: %d values compared in %d files, %d differ\n", c.checks, len(c.plain), c.wrong)
	if c.wrong > 0 || c.checks == 0 {
		os.Exit(1)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "corpuscheck:", err)
	os.Exit(2)
}

func read(path string) [][]string {
	b, err := os.ReadFile(path)
	if err != nil {
		fatal(err)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n")[1:] {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

// find notes where each file of the named packages is.
func (c *checker) find(names []string) {
	for _, n := range names {
		err := filepath.WalkDir(filepath.Join(c.corpus, n), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				c.paths[filepath.Base(path)] = path
			}
			return err
		})
		if err != nil {
			fatal(err)
		}
	}
}

func (c *checker) run(args ...string) *jsonReport {
	cmd := exec.Command(c.fatview, append([]string{"report", "--json", "--no-detect"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		fatal(fmt.Errorf("fatview %v: %w\n%s", args, err, stderr.String()))
	}
	r := &jsonReport{}
	if err := json.Unmarshal(out, r); err != nil {
		fatal(err)
	}
	if r.Schema != "fatview/report/1" {
		fatal(fmt.Errorf("schema %q", r.Schema))
	}
	return r
}

// report runs fatview once per file without GPUs.
func (c *checker) report(base string) *jsonReport {
	if c.plain[base] == nil {
		c.plain[base] = c.run(c.paths[base])
	}
	return c.plain[base]
}

func (c *checker) compare(what string, got, want any) {
	c.checks++
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.wrong++
		fmt.Printf("DIFFERS %s: %v, want %v\n", what, got, want)
	}
}

// entries compares containers and images by section, kind, architecture, PTX
// ISA and compression; rows that the table lacks count as zero.
func (c *checker) entries(rows [][]string) {
	want := map[string]map[string]int{}
	for _, r := range rows {
		if c.paths[r[0]] == "" {
			continue
		}
		if want[r[0]] == nil {
			want[r[0]] = map[string]int{}
		}
		n, err := strconv.Atoi(r[6])
		if err != nil {
			fatal(err)
		}
		want[r[0]][strings.Join(r[1:6], " ")] = n
	}
	for base, w := range want {
		got := map[string]int{}
		for _, f := range c.report(base).Files {
			for _, k := range f.Containers {
				got[k.Section+" containers   "]++
				for _, im := range k.Images {
					isa := ""
					if im.PTXISA != nil {
						isa = *im.PTXISA
					}
					compression := im.Compression
					if compression == "none" {
						compression = "raw"
					}
					_, arch, _ := strings.Cut(im.Arch, "_")
					got[strings.Join([]string{k.Section, im.Kind, arch, isa, compression}, " ")]++
				}
			}
		}
		for _, key := range keys(w, got) {
			c.compare(base+" "+key, got[key], w[key])
		}
	}
}

func keys(a, b map[string]int) []string {
	var out []string
	for k := range a {
		out = append(out, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}

// textSections compares kernels per architecture. NVIDIA's lister counts
// device functions kept out of line as well, so a library that has them may
// show fewer kernels; the tables say which ones do not.
func (c *checker) textSections(rows [][]string) {
	for _, r := range rows {
		base := r[0]
		if c.paths[base] == "" || strings.Contains(base, "bitsandbytes") {
			continue
		}
		sum := 0
		for _, f := range c.report(base).Files {
			for _, k := range f.Containers {
				for _, im := range k.Images {
					if im.Kind == "sass" && im.Arch == r[1] && im.Kernels != nil {
						sum += *im.Kernels
					}
				}
			}
		}
		c.compare(base+" kernels "+r[1], sum, r[2])
	}
}

// verdicts compares the file verdict and all counts per GPU and driver.
func (c *checker) verdicts(rows [][]string, names []string) {
	type run struct{ file, cuda string }
	var order []run
	byRun := map[run][][]string{}
	for _, r := range rows {
		key := run{r[0], r[2]}
		if !wanted(r[0], names) {
			continue
		}
		if byRun[key] == nil {
			order = append(order, key)
		}
		byRun[key] = append(byRun[key], r)
	}
	for _, key := range order {
		rows := byRun[key]
		args := []string{filepath.Join(c.corpus, filepath.FromSlash(key.file))}
		for _, r := range rows {
			args = append(args, "--gpu", r[1])
		}
		if key.cuda != "-" {
			args = append(args, "--cuda", key.cuda)
		}
		report := c.run(args...)
		for i, r := range rows {
			matched := false
			for _, cov := range report.Files[0].Coverage {
				if cov.GPU != i {
					continue
				}
				matched = true
				what := fmt.Sprintf("%s on %s with CUDA %s: ", filepath.Base(key.file), r[1], key.cuda)
				c.compare(what+"gpu", report.GPUs[i].CC, r[1])
				c.compare(what+"verdict", cov.Verdict, r[3])
				for j, v := range []string{"native", "jit", "driver", "missing", "specialised", "empty"} {
					c.compare(what+"containers "+v, cov.Containers[v], r[4+j])
				}
				for j, v := range []string{"native", "jit", "driver", "missing"} {
					c.compare(what+"kernels "+v, cov.Kernels[v], r[10+j])
				}
			}
			c.compare(fmt.Sprintf("%s on %s with CUDA %s is judged", filepath.Base(key.file), r[1], key.cuda), matched, true)
		}
	}
}

// reasons looks for phrases in what explain tells of a file on a GPU.
func (c *checker) reasons(rows [][]string, names []string) {
	for _, r := range rows {
		if !wanted(r[0], names) {
			continue
		}
		args := []string{"explain", "--no-detect", "--gpu", r[1], filepath.Join(c.corpus, filepath.FromSlash(r[0]))}
		if r[2] != "-" {
			args = append(args, "--driver", r[2])
		}
		out, err := exec.Command(c.fatview, args...).Output()
		if err != nil {
			fatal(fmt.Errorf("fatview %v: %w", args, err))
		}
		for _, phrase := range strings.Split(r[3], "|") {
			c.compare(fmt.Sprintf("explain %s on %s with driver %s says %q", filepath.Base(r[0]), r[1], r[2], phrase), strings.Contains(string(out), phrase), true)
		}
	}
}

func wanted(path string, names []string) bool {
	for _, n := range names {
		if strings.HasPrefix(path, n+"/") {
			return true
		}
	}
	return false
}
