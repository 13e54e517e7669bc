package doctor

import (
	"strings"

	"fatview/arch"
)

// system32 is the folder where Windows drivers put their libraries.
func (w *World) system32() string {
	root := w.get("SYSTEMROOT")
	if root == "" {
		root = `C:\Windows`
	}
	return w.Root.Join(root, "System32")
}

// windowsLibraries looks for the driver's DLLs and nvidia-smi.
func (w *World) windowsLibraries() Step {
	sys := w.system32()
	var findings []Step
	var good []string
	if w.Root.Exists(w.Root.Join(sys, "nvcuda.dll")) {
		good = append(good, "nvcuda.dll")
	} else {
		findings = append(findings, fail(w.Root.Join(sys, "nvcuda.dll")+" was not found: no CUDA program starts without it",
			"install NVIDIA's driver for Windows; the one that Windows Update brings may lack CUDA", "in a remote desktop or virtual machine, see that the GPU is passed through"))
	}
	programs := w.get("PROGRAMFILES")
	if programs == "" {
		programs = `C:\Program Files`
	}
	old := w.Root.Join(programs, "NVIDIA Corporation", "NVSMI")
	for _, f := range []string{"nvml.dll", "nvidia-smi.exe"} {
		switch {
		case w.Root.Exists(w.Root.Join(sys, f)):
			good = append(good, f)
		case w.Root.Exists(w.Root.Join(old, f)):
			good = append(good, f+" (in the NVSMI folder of older drivers)")
		default:
			findings = append(findings, warn(f+" was not found: GPUs cannot be asked about", "install NVIDIA's driver for Windows"))
		}
	}
	if len(good) > 0 {
		findings = append(findings, pass(words(good)+isOrAre(good)+" in "+sys))
	}
	return merge(findings...)
}

// windowsRuntimes looks for the CUDA runtimes on PATH.
func (w *World) windowsRuntimes() Step {
	var found, old []string
	first := map[string]bool{}
	for i, dir := range w.Root.List(w.get("PATH")) {
		dir = strings.Trim(dir, `" `)
		if i == mostDirs || !w.Root.IsAbs(dir) {
			continue
		}
		for _, v := range []struct {
			name string
			cuda arch.Version
		}{
			{"cudart64_100.dll", arch.Version{Major: 10}}, {"cudart64_101.dll", arch.Version{Major: 10, Minor: 1}}, {"cudart64_102.dll", arch.Version{Major: 10, Minor: 2}},
			{"cudart64_110.dll", arch.Version{Major: 11}}, {"cudart64_12.dll", arch.Version{Major: 12}}, {"cudart64_13.dll", arch.Version{Major: 13}}, {"cudart64_14.dll", arch.Version{Major: 14}},
		} {
			if first[v.name] || !w.Root.Exists(w.Root.Join(dir, v.name)) {
				continue
			}
			first[v.name] = true
			found = append(found, v.name+" in "+dir)
			if d := w.GPUs.Driver; d.Known() && d.CUDA.Less(v.cuda) {
				old = append(old, v.name)
			}
		}
	}
	switch {
	case len(old) > 0:
		return merge(warn("the driver (CUDA "+w.GPUs.Driver.CUDA.String()+") is too old for "+words(old)+": programs that load it end with error 35", "update the driver, or use programs for an older CUDA"),
			pass("PATH has "+cut(found)))
	case len(found) > 0:
		return pass("PATH has " + cut(found))
	}
	return pass("no CUDA runtime is on PATH; programs that link it statically or bring it along need none")
}
