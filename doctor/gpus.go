package doctor

import (
	"fmt"
	"strings"

	"fatview/coverage"
	"fatview/gpu"
	"fatview/report"
)

// mostGPUs is how many GPUs are named before the rest is counted.
const mostGPUs = 8

// gpus tells what detection found.
func (w *World) gpus() Step {
	inv := w.GPUs
	var names []string
	for _, t := range inv.Targets {
		if !t.MIG {
			names = append(names, fmt.Sprintf("%s (%s)", t.Name, t.CC))
		}
	}
	slices := 0
	for _, t := range inv.Targets {
		if t.MIG {
			slices++
		}
	}
	if n := len(names); n > mostGPUs {
		names = append(names[:mostGPUs], fmt.Sprintf("%d more", n-mostGPUs))
	}
	seen := words(names)
	if slices > 0 {
		seen += fmt.Sprintf(", in %d MIG slices", slices)
	}
	if inv.Driver.Known() {
		seen += "; driver " + inv.Driver.String() + ", CUDA " + inv.Driver.CUDA.String()
	}
	var s Step
	switch {
	case w.Undetected:
		return skip("--no-detect: GPUs were not looked for")
	case len(inv.Targets) == 0 && w.Root.OS() == "linux" && !w.running():
		return skip(notRunning)
	case len(inv.Targets) == 0:
		s = fail("no GPU: "+inv.Problem, w.orNothing()...)
	case inv.Source == gpu.SourcePCI:
		s = fail(seen+" on the PCI bus, with no driver that answers", w.orNothing()...)
	case inv.Source == gpu.SourceProc:
		s = warn(seen+"; told by the kernel module alone", w.orNothing()...)
		if inv.Problem != "" {
			s.Seen += ": " + inv.Problem
		}
	case inv.Problem != "":
		s = warn(seen + "; " + inv.Problem)
	default:
		return pass(seen)
	}
	for _, a := range inv.Tried {
		switch {
		case a.Reason == "":
		case strings.HasPrefix(a.Reason, a.Name): // the dynamic linker begins with the name
			s.Detail = append(s.Detail, a.Reason)
		default:
			s.Detail = append(s.Detail, a.Name+": "+a.Reason)
		}
	}
	return s
}

// orNothing is how a container is started with GPUs; on a host the steps before
// say what is to be mended.
func (w *World) orNothing() []string {
	if kind := w.container(); kind != "" {
		return []string{giveGPU(kind)}
	}
	return nil
}

// turing is the least capability that the open kernel modules drive, and
// blackwell the least that the proprietary ones do not.
const (
	turing    = 75
	blackwell = 100
)

// support holds the driver against the GPUs: too old to know them, or so new
// that it has dropped them.
func (w *World) support() Step {
	var findings []Step
	told := map[string]bool{}
	var good []string
	for _, t := range w.GPUs.Targets {
		if t.MIG || !t.Driver.Known() {
			continue
		}
		problem := coverage.Impossible(report.Target(t))
		if problem == "" {
			good = append(good, t.Name)
			continue
		}
		if !told[problem] {
			told[problem] = true
			findings = append(findings, fail(problem, mendSupport(t)))
		}
	}
	findings = append(findings, w.flavour()...)
	if len(good) > 0 {
		d := w.GPUs.Driver
		sure := ""
		if !d.Certain {
			sure = " (its CUDA version is not confirmed)"
		}
		findings = append(findings, pass(fmt.Sprintf("%s supports %s%s", d, few(good), sure)))
	}
	if len(findings) == 0 {
		return skip("no driver told its version, or there is no GPU")
	}
	return merge(findings...)
}

// few names things once each, and counts what is too much.
func few(items []string) string {
	count := map[string]int{}
	var out []string
	for _, s := range items {
		if count[s]++; count[s] == 1 {
			out = append(out, s)
		}
	}
	for i, s := range out {
		if n := count[s]; n > 1 {
			out[i] = fmt.Sprintf("%d × %s", n, s)
		}
	}
	return words(out)
}

func mendSupport(t gpu.Target) string {
	if last := gpu.LastBranch(t.CC); last != 0 && t.Driver.Branch > last {
		return fmt.Sprintf("install a driver of R%d, the last for this GPU", last)
	}
	if b, linux, ok := gpu.FirstBranch(t.CC); ok {
		return fmt.Sprintf("update the driver to R%d (Linux %s) or newer", b.Number, linux)
	}
	return "update the driver"
}

// flavour finds the wrong one of NVIDIA's two kinds of kernel modules: the open
// ones drive Turing and newer, and Blackwell has no other. Such a GPU is on the
// bus, but the driver does not list it.
func (w *World) flavour() []Step {
	m := gpu.ReadModule(w.Root)
	if m.Version == "" || len(w.GPUs.Targets) > 0 && w.GPUs.Source != gpu.SourcePCI {
		return nil
	}
	var out []Step
	for _, t := range w.GPUs.Targets {
		switch {
		case m.Open && t.CC < turing:
			out = append(out, fail("the open kernel modules do not drive "+t.Name+" ("+t.CC.String()+"), only Turing (7.5) and newer", "install the proprietary modules of the same driver"))
		case !m.Open && t.CC >= blackwell:
			out = append(out, fail(t.Name+" ("+t.CC.String()+") needs the open kernel modules, and the proprietary ones are loaded", "install the open modules of the same driver (packages with “open” in the name)"))
		}
	}
	return out
}

// visible tells what CUDA_VISIBLE_DEVICES does.
func (w *World) visible() Step {
	value, set := w.getenv("CUDA_VISIBLE_DEVICES")
	inv := w.GPUs
	shown := 0
	for _, t := range inv.Targets {
		if !t.Hidden && !t.MIG {
			shown++
		}
	}
	switch {
	case len(inv.Targets) == 0:
		return skip("there is no GPU to hide")
	case !set && inv.Hidden != "":
		return warn(inv.Hidden)
	case !set:
		return pass("CUDA_VISIBLE_DEVICES is not set, so programs see all GPUs")
	case shown == 0:
		seen := inv.Hidden
		if value == "" {
			seen = "CUDA_VISIBLE_DEVICES is set and empty, which hides all GPUs"
		}
		return fail(seen, "unset CUDA_VISIBLE_DEVICES, or name GPUs: their numbers from 0, or UUIDs as nvidia-smi -L lists them")
	case strings.Contains(inv.Hidden, ": "):
		return warn(inv.Hidden, "mend the list: numbers from 0, or UUIDs as nvidia-smi -L lists them, all of one kind, each once")
	case inv.Hidden != "":
		return pass(inv.Hidden + w.order())
	}
	return pass("CUDA_VISIBLE_DEVICES=" + value + " hides nothing" + w.order())
}

// order names the first device that programs get where the list is turned round.
func (w *World) order() string {
	v := w.GPUs.Visible
	if len(v) == 0 {
		return ""
	}
	return "; CUDA's device 0 is " + w.GPUs.Targets[v[0]].Name
}

// files judges what was named, a step for each file and GPU.
func (w *World) files() []Step {
	if !w.Asked {
		return nil
	}
	if len(w.GPUNames) == 0 {
		return []Step{{ID: "file", Title: "files", Status: Skip, Seen: "there is no GPU to judge for", Do: []string{"name one: --gpu h100"}}}
	}
	var out []Step
	for _, l := range w.Files {
		s := Step{ID: "file", Title: l.Path, Status: Pass, Seen: l.Reason}
		if l.GPU == nil {
			s.Status = Skip
			out = append(out, s)
			continue
		}
		s.Title += " on " + w.GPUNames[*l.GPU]
		s.Seen = l.Verdict + ", " + l.Reason
		switch {
		case !l.OK:
			s.Status = Fail
			s.Do = []string{"fatview explain says image by image why, and what to rebuild with"}
		case l.Verdict == coverage.JIT.String() || l.Verdict == "mixed":
			s = w.needsJIT(s)
		}
		out = append(out, s)
	}
	return out
}

// needsJIT adds that PTX cannot be compiled here, where that is so.
func (w *World) needsJIT(s Step) Step {
	if w.Root.OS() != "linux" || len(w.find("libcuda.so.1")) == 0 {
		return s
	}
	if len(w.find("libnvidia-ptxjitcompiler.so.1")) == 0 {
		s.Status = Fail
		s.Seen += "; but libnvidia-ptxjitcompiler.so.1, which compiles PTX, was not found (error 221)"
		s.Do = append(s.Do, w.orGive("reinstall the driver with all of its libraries"))
	}
	return s
}
