// Package doctor says step by step why CUDA works on a system or not: kernel
// module, device nodes, libraries, versions, GPUs, container, runtimes,
// environment, cache, and what given files have for the GPUs. It reads files and
// variables, needs no rights beyond the user's, and changes nothing.
//
// What the steps know comes from NVIDIA's documents: the driver's README (kernel
// module, device nodes, libraries), the CUDA compatibility guide, the CUDA
// programming guide (environment variables, cache), the MIG user guide, the
// container toolkit's documents and libnvidia-container (which capability brings
// which library), and the guide to CUDA on WSL.
package doctor

import (
	"fmt"

	"fatview/check"
	"fatview/gpu"
	"fatview/internal/sysroot"
)

// Schema is the name of the JSON form.
const Schema = "fatview/doctor/1"

// Status is the answer of a step.
type Status string

// The answers, from good to bad. A step is skipped where it has no meaning, or
// where an earlier one has to be mended first.
const (
	Pass Status = "pass"
	Skip Status = "skip"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Step is one thing that was looked at.
type Step struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Status Status   `json:"status"`
	Seen   string   `json:"seen"`    // one sentence without a full stop
	Do     []string `json:"do"`      // what to do, most likely first
	Detail []string `json:"details"` // more of what was seen, for a step that fails
}

// Report is the diagnosis.
type Report struct {
	Schema     string `json:"schema"`
	OK         bool   `json:"ok"` // no step fails
	Steps      []Step `json:"steps"`
	Conclusion string `json:"conclusion"`
}

// World is what the steps look at. Tests fake all of it.
type World struct {
	Root sysroot.Root
	Env  map[string]string
	GPUs gpu.Inventory // as detected on Root
	// Undetected is true if nobody was to look for GPUs.
	Undetected bool
	// Targets are the GPUs that files are judged for.
	Targets []gpu.Target
	// Files is what check says of the files, and GPUNames the GPUs that its
	// numbers mean. Asked is true if any file was named.
	Files    []check.Line
	GPUNames []string
	Asked    bool

	access func(path string, write bool) error // instead of Root.Access
}

// steps of a system, in the order in which one mends them.
var steps = map[string][]struct {
	id, title string
	look      func(*World) Step
}{
	"linux": {
		{"module", "kernel module", (*World).module},
		{"nouveau", "nouveau", (*World).nouveau},
		{"nodes", "device nodes", (*World).nodes},
		{"libraries", "driver libraries", (*World).libraries},
		{"versions", "driver versions", (*World).versions},
		{"container", "container", (*World).containerStep},
		{"capabilities", "driver capabilities", (*World).capabilities},
		{"require", "image's demands", (*World).require},
		{"gpus", "GPUs", (*World).gpus},
		{"support", "driver and GPU", (*World).support},
		{"visible", "visible GPUs", (*World).visible},
		{"runtime", "CUDA runtimes", (*World).runtimes},
		{"environment", "environment", (*World).environment},
		{"cache", "JIT cache", (*World).cache},
	},
	"windows": {
		{"libraries", "driver libraries", (*World).windowsLibraries},
		{"gpus", "GPUs", (*World).gpus},
		{"support", "driver and GPU", (*World).support},
		{"visible", "visible GPUs", (*World).visible},
		{"runtime", "CUDA runtimes", (*World).windowsRuntimes},
		{"environment", "environment", (*World).environment},
		{"cache", "JIT cache", (*World).cache},
	},
	"": {{"system", "system", (*World).otherSystem}},
}

// Run looks at everything and draws the conclusion.
func Run(w *World) *Report {
	r := &Report{Schema: Schema, OK: true}
	table, ok := steps[w.Root.OS()]
	if !ok {
		table = steps[""]
	}
	for _, t := range table {
		s := t.look(w)
		s.ID, s.Title = t.id, t.title
		r.Steps = append(r.Steps, s)
	}
	machine := len(r.Steps)
	r.Steps = append(r.Steps, w.files()...)
	for i := range r.Steps {
		s := &r.Steps[i]
		// JSON has arrays, never null.
		if s.Do == nil {
			s.Do = []string{}
		}
		if s.Detail == nil {
			s.Detail = []string{}
		}
		r.OK = r.OK && s.Status != Fail
	}
	r.Conclusion = conclude(w.Root.OS(), r.Steps[:machine], r.Steps[machine:])
	return r
}

// conclude sums up in one sentence.
func conclude(goos string, machine, files []Step) string {
	fails, warns := count(machine, Fail), count(machine, Warn)
	bad := count(files, Fail)
	judged := len(files) - count(files, Skip)
	var tail string
	switch {
	case judged == 0:
	case bad == 0:
		tail = "what was named runs on the GPUs"
	case bad == judged:
		tail = "nothing that was named runs on the GPUs as it should"
	default:
		tail = fmt.Sprintf("in %d of %d cases a file does not run on a GPU as it should", bad, judged)
	}
	var head string
	switch {
	case fails > 0 && goos != "linux" && goos != "windows":
		head = "CUDA does not run on this system"
	case fails > 0:
		head = fmt.Sprintf("CUDA does not work here; begin with: %s", firstFail(machine).Title)
	case warns == 1:
		head = "CUDA should work here, with one warning"
	case warns > 1:
		head = fmt.Sprintf("CUDA should work here, with %d warnings", warns)
	default:
		head = "CUDA should work here"
	}
	if tail == "" {
		return head + "."
	}
	return head + "; " + tail + "."
}

func count(steps []Step, s Status) (n int) {
	for _, x := range steps {
		if x.Status == s {
			n++
		}
	}
	return n
}

func firstFail(steps []Step) Step {
	for _, s := range steps {
		if s.Status == Fail {
			return s
		}
	}
	return Step{}
}

// otherSystem is the only step where CUDA has no driver.
func (w *World) otherSystem() Step {
	if w.Root.OS() == "darwin" {
		return fail("CUDA is not for macOS: NVIDIA's last toolkit for it was 10.2, and no driver exists for macOS 10.14 or newer",
			"name a GPU with --gpu to judge files for it, or run this on Linux or Windows")
	}
	return fail("CUDA has no driver for "+w.Root.OS(), "name a GPU with --gpu to judge files for it, or run this on Linux or Windows")
}
