package doctor

import (
	"path"
	"strings"

	"fatview/gpu"
	"fatview/internal/sysroot"
)

// dirs are the folders that the dynamic linker searches.
func (w *World) dirs() []sysroot.Dir { return w.Root.LoaderDirs(w.get("LD_LIBRARY_PATH")) }

// find returns the files of a library on the linker's path, in order.
func (w *World) find(name string) []sysroot.Library { return w.Root.Libraries(name, w.dirs()) }

// driverLibraries are the libraries of the driver that CUDA programs load, with
// what happens without them. libnvidia-container brings the first three of them
// with the capability compute, and the last with utility.
var driverLibraries = []struct {
	name    string
	status  Status // without it
	without string
}{
	{"libcuda.so.1", Fail, "no CUDA program starts without it"},
	{"libnvidia-ptxjitcompiler.so.1", Warn, "PTX cannot be compiled without it (error 221)"},
	{"libnvidia-nvvm.so.4", Pass, "needed for LTO IR only"},
	{"libnvidia-ml.so.1", Warn, "nvidia-smi and programs that ask NVML do not work without it"},
}

// libraries looks for the driver's libraries where programs will find them.
func (w *World) libraries() Step {
	var findings []Step
	var good []string
	for _, d := range driverLibraries {
		libs := w.find(d.name)
		l, ok := sysroot.First(libs)
		if ok && l.Fault == "" {
			good = append(good, describe(d.name, l))
			continue
		}
		findings = append(findings, w.lacking(d.name, d.status, d.without, libs))
	}
	if len(good) > 0 {
		findings = append(findings, pass(strings.Join(good, ", ")))
	}
	findings = append(findings, w.stubs(), w.twoDrivers())
	return merge(findings...)
}

func describe(name string, l sysroot.Library) string {
	s := name + " in " + path.Dir(l.Path)
	if strings.Contains(l.Version, ".") {
		s += " (" + l.Version + ")"
	}
	return s
}

// lacking tells of a library that the linker does not find, or finds broken.
func (w *World) lacking(name string, status Status, without string, libs []sysroot.Library) Step {
	if status == Pass {
		return pass(name + " was not found (" + without + ")")
	}
	s := Step{Status: status}
	for _, l := range libs {
		switch l.Fault {
		case sysroot.Empty:
			s.Seen = l.Path + " is an empty file: " + without
			s.Do = []string{"remove it: an image that was saved from a container with the NVIDIA runtime carries such files", w.orGive("reinstall the driver")}
			return s
		case sysroot.NotELF:
			s.Seen = l.Path + " is no library: " + without
			s.Do = []string{"remove it, or reinstall the driver"}
			return s
		case sysroot.Dangling:
			s.Seen = l.Path + " is a link to " + l.Real + ", which is not there: " + without
			s.Do = []string{w.orGive("reinstall the driver, then sudo ldconfig")}
			return s
		}
	}
	for _, dir := range gpu.ExtraDirs() {
		found := w.Root.Libraries(name, []sysroot.Dir{{Path: dir}})
		if l, ok := sysroot.First(found); ok {
			if strings.HasPrefix(dir, "/run/opengl-driver") {
				return pass(describe(name, l) + ", which programs of NixOS search")
			}
			s.Seen = l.Path + " is there, but the dynamic linker does not search that folder: " + without
			s.Do = []string{"add it: export LD_LIBRARY_PATH=" + dir + ":$LD_LIBRARY_PATH"}
			return s
		}
	}
	s.Seen = name + " was not found: " + without
	switch kind := w.container(); {
	case kind == docker || kind == podman || kind == kubernetes || kind == unnamed:
		s.Do = []string{giveGPU(kind), "set NVIDIA_DRIVER_CAPABILITIES=compute,utility for it, if that is set to less"}
	case kind != "":
		s.Do = []string{giveGPU(kind)}
	case w.wsl():
		s.Do = []string{"install NVIDIA's driver in Windows, then wsl --shutdown: it brings /usr/lib/wsl/lib"}
	case w.jetson():
		s.Do = []string{"install JetPack: sudo apt install nvidia-jetpack"}
	case name == "libcuda.so.1":
		s.Do = []string{"install the driver's compute libraries (Debian: libcuda1; Ubuntu: libnvidia-compute-NNN; RPM Fusion: xorg-x11-drv-nvidia-cuda-libs), then sudo ldconfig"}
	default:
		s.Do = []string{"reinstall the driver with all of its libraries, then sudo ldconfig"}
	}
	return s
}

// stubs looks for the toolkit's stub of libcuda, which is for linkers only: at
// run time it answers error 34.
func (w *World) stubs() Step {
	for _, d := range w.dirs() {
		if !strings.Contains(d.Path+"/", "/stubs/") {
			continue
		}
		mend := "take " + d.Path + " off LD_LIBRARY_PATH; to link programs use -L instead"
		if d.From != "LD_LIBRARY_PATH" {
			mend = "take " + d.Path + " out of " + d.From + ", then sudo ldconfig"
		}
		libs := w.find("libcuda.so.1")
		if l, ok := sysroot.First(libs); ok && path.Dir(l.Path) == d.Path {
			return fail("the first libcuda.so.1 that programs find is the toolkit's stub in "+d.Path+", which answers error 34 (stub library)", mend)
		}
		if w.Root.Exists(d.Path + "/libcuda.so") {
			return warn("the toolkit's stubs are on the library path ("+d.Path+"): programs that open libcuda.so without a number get the stub", mend)
		}
	}
	return Step{}
}

// twoDrivers finds a driver for Linux that somebody installed in WSL, where it
// stands before that of Windows.
func (w *World) twoDrivers() Step {
	const ours = "/usr/lib/wsl/"
	if !w.wsl() {
		return Step{}
	}
	l, ok := sysroot.First(w.find("libcuda.so.1"))
	if !ok || strings.HasPrefix(l.Path, ours) || strings.HasPrefix(l.Real, ours) || !w.Root.Exists(ours+"lib/libcuda.so.1") {
		return Step{}
	}
	return fail("a libcuda of a driver for Linux ("+l.Path+") stands before that of WSL",
		"remove the Linux driver from WSL (such as apt remove 'libnvidia-compute-*'); install only toolkit packages there, cuda-toolkit and not cuda")
}

// versions compares libcuda and NVML with the kernel module.
func (w *World) versions() Step {
	s := gpu.ReadStack(w.Root, w.getenv)
	lib, _ := sysroot.First(s.Libcuda)
	switch s.Relation {
	case gpu.SameVersion:
		if s.NVMLVersion != "" && s.NVMLVersion != s.Module.Version {
			return warn("NVML is "+s.NVMLVersion+", module and libcuda are "+s.Module.Version+": nvidia-smi says “Driver/library version mismatch”", "reinstall the driver so that all parts have one version")
		}
		return pass("kernel module and libcuda are both " + s.CUDA)
	case gpu.ForwardCompat:
		return w.forward(s, lib)
	case gpu.UselessCompat:
		seen := "programs load libcuda " + s.CUDA + " of a forward-compatibility package (" + path.Dir(lib.Path) + "), which is no newer than the kernel driver " + s.Module.Version
		mend := "take that folder off the library path: the driver's own libcuda does all of it"
		if gpu.CompareVersions(branch(s.CUDA), branch(s.Module.Version)) < 0 {
			return fail(seen+": CUDA ends with error 803", mend)
		}
		return warn(seen, mend)
	case gpu.Mismatch:
		seen := "kernel module " + s.Module.Version + " and libcuda " + s.CUDA + " (" + lib.Path + ") do not go together: error 803, nvidia-smi says “Driver/library version mismatch”"
		if w.container() != "" {
			return fail(seen, "restart the container: the driver of the host was changed while it ran, or the image carries a libcuda of its own, which has to go")
		}
		return fail(seen, "restart the machine: the driver was updated while the old module is loaded",
			"if that does not help, two drivers are installed: remove one, for example what a .run installer left (nvidia-uninstall)")
	}
	if s.Module.Version == "" {
		return skip("the kernel module tells no version")
	}
	return skip("libcuda tells no version")
}

func branch(version string) string { b, _, _ := strings.Cut(version, "."); return b }

// forward judges a forward-compatibility package by the GPUs.
func (w *World) forward(s gpu.Stack, lib sysroot.Library) Step {
	d := gpu.CompatDriver(s.Module.Version, s.CUDA)
	seen := "forward compatibility: libcuda " + s.CUDA + " (" + path.Dir(lib.Path) + ") over the kernel driver " + s.Module.Version + " raises CUDA to " + d.CUDA.String()
	const update = "or update the driver, which needs no such package"
	sure := len(w.GPUs.Targets) > 0
	for _, t := range w.GPUs.Targets {
		ok, known := gpu.CompatAllowed(t.Name)
		if known && !ok {
			return fail(seen+", but "+t.Name+" is not among the GPUs that it is for: CUDA ends with error 804", "take "+path.Dir(lib.Path)+" off the library path", update)
		}
		sure = sure && known
	}
	if !sure {
		return warn(seen+"; it is for data center GPUs, Jetson and RTX cards of certified servers only, others end with error 804", "take "+path.Dir(lib.Path)+" off the library path if CUDA ends with error 804", update)
	}
	return pass(seen)
}
