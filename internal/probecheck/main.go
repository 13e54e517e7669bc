// Command probecheck holds fatview's predictions against a CUDA driver: it asks
// fatview what becomes of each container of files on the local GPU, has
// scripts/probe.c load the same bytes, and compares the error codes.
// scripts/probe runs it.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	var c checker
	flag.StringVar(&c.fatview, "fatview", "", "the program")
	flag.StringVar(&c.probe, "probe", "", "scripts/probe.c, built")
	flag.Parse()
	os.Exit(c.run(os.Stdout, flag.Args()))
}

// skipped is the exit code by which the probe says that there is no GPU.
const skipped = 77

// The parts of fatview's JSON that are used, declared again on purpose: a field
// renamed in the program must fail here.
type jsonReport struct {
	GPUs []struct {
		CC string `json:"cc"`
	} `json:"gpus"`
	Files []struct {
		Path       string `json:"path"`
		Containers []struct {
			ID      int    `json:"id"`
			Offset  int64  `json:"offset"`
			Size    int64  `json:"size"`
			Label   string `json:"label"`
			Linkage string `json:"linkage"`
		} `json:"containers"`
	} `json:"files"`
}

type jsonError struct {
	Code int    `json:"code"`
	Name string `json:"name"`
}

type jsonExplanation struct {
	Files []struct {
		Path   string `json:"path"`
		Groups []struct {
			Containers []string `json:"containers"`
			Verdict    string   `json:"verdict"`
			Rule       string   `json:"rule"`
			Error      *jsonError
			Kernels    []struct {
				Name  string `json:"name"`
				Error *jsonError
			} `json:"kernels"`
		} `json:"groups"`
	} `json:"files"`
}

// item is one container and what is expected of it.
type item struct {
	path         string
	title        string
	offset, size int64
	verdict      string
	input        bool           // of a device link: not loaded by itself
	load         int            // expected code of the load; -1 not comparable
	kernels      []string       // asked for, in this order
	want         map[string]int // expected code by kernel
}

type checker struct{ fatview, probe string }

// run compares everything and returns the exit code: 1 if anything differs.
func (c checker) run(out io.Writer, files []string) int {
	gpu, err := c.ask(nil)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == skipped {
		fmt.Fprintf(out, "skip probe: %s\n", strings.TrimSpace(string(exit.Stderr)))
		return 0
	}
	if err != nil {
		fmt.Fprintln(out, "probe:", err)
		return 1
	}
	cc := gpu.cc
	fmt.Fprintf(out, "GPU of capability %s, libcuda for CUDA %d.%d\n", cc, gpu.cuda/1000, gpu.cuda%1000/10)
	// The driver that fatview detects is used; the GPU is given by capability,
	// in case that CUDA numbers GPUs otherwise.
	args := []string{"--gpu", cc, "--cuda", fmt.Sprintf("%d.%d", gpu.cuda/1000, gpu.cuda%1000/10)}
	var items []item
	for _, f := range files {
		found, err := c.predict(f, args)
		if err != nil {
			fmt.Fprintf(out, "%s: not compared, %v\n", f, err)
			continue
		}
		items = append(items, found...)
	}
	answer, err := c.ask(items)
	if err != nil {
		fmt.Fprintln(out, "probe:", err)
		return 1
	}
	compared, wrong := 0, 0
	for i, it := range items {
		n, bad := it.compare(out, answer.results[i])
		compared, wrong = compared+n, wrong+bad
	}
	fmt.Fprintf(out, "%d answers compared, %d differ\n", compared, wrong)
	if wrong > 0 {
		return 1
	}
	return 0
}

// predict asks fatview for the containers of a file and what becomes of them.
func (c checker) predict(file string, args []string) ([]item, error) {
	var r jsonReport
	if err := c.json(&r, append([]string{"report", file, "--json"}, args...)); err != nil {
		return nil, err
	}
	var all, named jsonExplanation
	if err := c.json(&all, append([]string{"explain", file, "--json"}, args...)); err != nil {
		return nil, err
	}
	// Kernels are told where a part of a name is asked for; mangled names begin so.
	if err := c.json(&named, append([]string{"explain", file, "_Z", "--json"}, args...)); err != nil {
		named = jsonExplanation{}
	}
	byTitle := map[string]*item{}
	var out []item
	for _, f := range r.Files {
		if f.Path != file {
			continue // a member of an archive, whose offsets are its own
		}
		for _, x := range f.Containers {
			title := x.Label
			if title == "" {
				title = fmt.Sprintf("container %d", x.ID)
			}
			out = append(out, item{path: file, title: title, offset: x.Offset, size: x.Size, input: x.Linkage == "relocatable", load: -1, want: map[string]int{}})
		}
	}
	for i := range out {
		if byTitle[out[i].title] != nil {
			return nil, fmt.Errorf("two containers are called %q", out[i].title)
		}
		byTitle[out[i].title] = &out[i]
	}
	for _, f := range all.Files {
		for _, g := range f.Groups {
			for _, title := range g.Containers {
				it := byTitle[title]
				if it == nil || f.Path != file {
					continue
				}
				if it.verdict = g.Verdict; !it.input {
					it.load = expected(g.Verdict, g.Rule, g.Error)
				}
			}
		}
	}
	for _, f := range named.Files {
		for _, g := range f.Groups {
			if len(g.Containers) != 1 || byTitle[g.Containers[0]] == nil || f.Path != file {
				continue
			}
			it := byTitle[g.Containers[0]]
			for _, k := range g.Kernels {
				if len(it.kernels) == 32 || strings.ContainsAny(k.Name, ",\t\n") {
					break
				}
				it.kernels = append(it.kernels, k.Name)
				it.want[k.Name] = 0
				if k.Error != nil || g.Error != nil {
					it.want[k.Name] = notFound
				}
			}
		}
	}
	return out, nil
}

// notFound is CUDA_ERROR_NOT_FOUND, the driver's word for a kernel that the
// runtime reports as error 98.
const notFound = 500

// expected turns a prediction into the code of cuModuleLoadData; -1 where the
// driver cannot be asked: inputs of a device link are not loaded by themselves,
// linking again needs more than one container, and the runtime's own floor is
// not the driver's business.
func expected(verdict, rule string, e *jsonError) int {
	switch {
	case verdict == "input", verdict == "empty", rule == "relink":
		return -1
	case e == nil && (verdict == "native" || verdict == "jit"):
		return 0
	case e == nil, e.Code == 35:
		return -1
	case e.Code == 98:
		return 0
	}
	return e.Code
}

func (c checker) json(v any, args []string) error {
	b, err := exec.Command(c.fatview, args...).Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && len(b) > 0) {
		if exit != nil {
			return errors.New(strings.TrimSpace(string(exit.Stderr)))
		}
		return err
	}
	return json.Unmarshal(b, v)
}

// compare prints one container and counts what was compared and what differs.
func (it item) compare(out io.Writer, r result) (compared, wrong int) {
	word := "same   "
	switch {
	case it.load < 0:
		word = "not told"
	case it.load != r.load:
		word, wrong = "DIFFERS", 1
		compared = 1
	default:
		compared = 1
	}
	fmt.Fprintf(out, "%s %s, %s: fatview says %s", word, it.path, it.title, it.verdict)
	if it.load >= 0 {
		fmt.Fprintf(out, " (%d)", it.load)
	}
	fmt.Fprintf(out, ", the driver %d %s", r.load, r.name)
	if r.library >= 0 && r.library != r.load {
		fmt.Fprintf(out, ", as a library %d", r.library)
	}
	fmt.Fprintln(out)
	if it.load != 0 || r.load != 0 {
		return compared, wrong
	}
	for _, k := range it.kernels {
		got, asked := r.kernels[k]
		if !asked {
			continue
		}
		compared++
		if got != it.want[k] {
			wrong++
			fmt.Fprintf(out, "DIFFERS   kernel %s: fatview says %d, the driver %d\n", k, it.want[k], got)
		}
	}
	return compared, wrong
}
