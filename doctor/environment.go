package doctor

import (
	"fmt"
	"strings"
)

// environment tells of variables that change what runs, from the CUDA
// programming guide.
func (w *World) environment() Step {
	var findings []Step
	on := func(names ...string) string {
		for _, n := range names {
			if w.get(n) == "1" {
				return n
			}
		}
		return ""
	}
	force := on("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT")
	disable := on("CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT")
	switch {
	case force != "" && disable != "":
		findings = append(findings, fail(force+" and "+disable+" are both 1: machine code is ignored and PTX may not be compiled, so no kernel loads", "unset "+force+" and "+disable))
	case force != "":
		findings = append(findings, warn(force+" is 1: all machine code is ignored and all PTX compiled, and what has no PTX does not load", "unset "+force+", which is for tests"))
	case disable != "":
		findings = append(findings, warn(disable+" is 1: PTX is not compiled, and what has no machine code for the GPU ends with error 223", "unset "+disable+", which is for tests"))
	}
	if w.get("CUDA_CACHE_DISABLE") == "1" {
		findings = append(findings, warn("CUDA_CACHE_DISABLE is 1: what is compiled from PTX is not kept, so every start compiles it again", "unset CUDA_CACHE_DISABLE"))
	}
	switch v := w.get("CUDA_MODULE_LOADING"); strings.ToUpper(v) {
	case "":
	case "EAGER":
		findings = append(findings, pass("CUDA_MODULE_LOADING is EAGER: all code is loaded at start, and what does not fit fails there instead of at its first launch"))
	default:
		findings = append(findings, pass("CUDA_MODULE_LOADING is "+v))
	}
	if v := w.get("CUDA_DEVICE_ORDER"); v != "" {
		switch v {
		case "PCI_BUS_ID":
			findings = append(findings, pass("CUDA_DEVICE_ORDER is PCI_BUS_ID: CUDA numbers GPUs as nvidia-smi does"))
		case "FASTEST_FIRST":
			findings = append(findings, pass("CUDA_DEVICE_ORDER is FASTEST_FIRST, as if it were not set"))
		default:
			findings = append(findings, warn("CUDA_DEVICE_ORDER is "+v+", which CUDA does not know", "set it to PCI_BUS_ID or FASTEST_FIRST"))
		}
	}
	for _, n := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if v := w.get(n); v != "" && (!w.Root.IsAbs(v) || !w.Root.IsDir(v)) {
			findings = append(findings, warn(n+" is "+v+", and there is no such folder: builds and programs that look there find no toolkit", "set "+n+" to a toolkit's folder, or unset it"))
		}
	}
	findings = append(findings, w.libraryPath())
	if s := merge(findings...); s.Seen != "" {
		return s
	}
	return pass("no variable changes what runs")
}

// libraryPath looks for entries of LD_LIBRARY_PATH that mean the current folder.
func (w *World) libraryPath() Step {
	v, set := w.getenv("LD_LIBRARY_PATH")
	if !set || v == "" || w.Root.OS() != "linux" {
		return Step{}
	}
	for p := range strings.SplitSeq(v, ":") {
		if p == "" {
			return warn("LD_LIBRARY_PATH has an empty entry, which means the current folder: what lies there may be loaded instead of CUDA's libraries", "remove the colon at its beginning, its end or in double")
		}
		if !w.Root.IsAbs(p) && !strings.HasPrefix(p, "$") {
			return warn("LD_LIBRARY_PATH has "+p+", which is relative to the current folder", "write the whole path")
		}
	}
	return pass(fmt.Sprintf("LD_LIBRARY_PATH has %d entries, which go before all that is configured", strings.Count(v, ":")+1))
}
