package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"fatview/gpu"
	"fatview/internal/sysroot"
)

// module looks for NVIDIA's kernel module.
func (w *World) module() Step {
	switch {
	case !w.running():
		return skip(notRunning)
	case w.wsl():
		if w.Root.Exists("/dev/dxg") {
			return pass("WSL: the driver is that of Windows, reached through /dev/dxg")
		}
		return fail("this is WSL without /dev/dxg, so the GPU of Windows cannot be reached",
			"run wsl --update in Windows, and see by wsl -l -v that this system has version 2",
			"install NVIDIA's driver in Windows, and none in WSL")
	case w.jetson():
		return pass("Jetson: the GPU's driver is part of the system image")
	}
	m := gpu.ReadModule(w.Root)
	if m.Version != "" {
		kind := ""
		if m.Open {
			kind = " (open kernel modules)"
		}
		return pass("nvidia " + m.Version + " is loaded" + kind)
	}
	if loaded, known := w.modules(); known && loaded["nvidia"] {
		return pass("nvidia is loaded, its version is not told")
	}
	if kind := w.container(); kind != "" {
		return fail("the kernel of this container's host has no NVIDIA module loaded", "install or load the driver on the host: a container cannot bring its own")
	}
	_, installed := sysroot.First(w.find("libcuda.so.1"))
	switch built, known := w.built(); {
	case known && built:
		return fail("the NVIDIA module is installed for this kernel, but not loaded",
			"load it: sudo modprobe nvidia",
			"if that says that a key was rejected, Secure Boot refuses the module: sign it and enrol the key (mokutil --import), or turn Secure Boot off")
	case known && installed:
		return fail("the driver's libraries are installed, but no NVIDIA module is built for the running kernel "+w.release(),
			"restart if the kernel was updated; else install the headers of this kernel and let DKMS build the module, or reinstall the driver")
	case installed:
		return fail("the driver's libraries are installed, but the NVIDIA module is not loaded", "load it: sudo modprobe nvidia")
	case len(w.GPUs.Seen) > 0:
		return fail("no NVIDIA driver is installed, and "+w.GPUs.Seen[0].Name+" is on the PCI bus ("+w.GPUs.Seen[0].Bus+")", "install NVIDIA's driver, and restart")
	}
	return fail("no NVIDIA driver is installed, and no NVIDIA GPU was seen",
		"if there is one, install NVIDIA's driver; in a virtual machine the host has to pass the GPU through")
}

func (w *World) release() string { return w.Root.Line("/proc/sys/kernel/osrelease") }

// maxDep bounds the list of a kernel's modules, which has about a megabyte.
const maxDep = 8 << 20

// built reports whether the running kernel has an NVIDIA module on disk, and
// whether that is known.
func (w *World) built() (built, known bool) {
	release := w.release()
	if release == "" || strings.Contains(release, "/") {
		return false, false
	}
	b, err := w.Root.ReadFile("/lib/modules/"+release+"/modules.dep", maxDep)
	if err != nil {
		return false, false
	}
	return strings.Contains(string(b), "/nvidia.ko"), true
}

// nouveau looks for the free driver, which knows no CUDA.
func (w *World) nouveau() Step {
	loaded, known := w.modules()
	switch {
	case !known:
		return skip("which kernel modules are loaded is not known")
	case !loaded["nouveau"]:
		return pass("not loaded")
	case gpu.ReadModule(w.Root).Version != "":
		return warn("nouveau is loaded beside NVIDIA's module, and may hold another GPU", keepNouveauOut)
	}
	return fail("nouveau holds the GPU, and knows no CUDA", "install NVIDIA's driver", keepNouveauOut)
}

const keepNouveauOut = "keep nouveau out: write “blacklist nouveau” and “options nouveau modeset=0” into a file of /etc/modprobe.d, renew the initial RAM disk (update-initramfs -u or dracut --force), restart"

// nodes looks at the device nodes that CUDA opens.
func (w *World) nodes() Step {
	switch {
	case !w.running():
		return skip(notRunning)
	case w.wsl():
		if !w.Root.Exists("/dev/dxg") {
			return skip("WSL without /dev/dxg: see the kernel module")
		}
		return w.useAll("/dev/dxg")
	case w.jetson():
		// Before Thor the GPU has no node of the desktop driver's kind.
		if !w.Root.Exists("/dev/nvmap") && w.Root.Exists("/dev/nvidiactl") {
			return w.useAll("/dev/nvidiactl")
		}
		if !w.Root.Exists("/dev/nvmap") {
			return fail("/dev/nvmap, through which Jetson's GPU is reached, is not there", w.orGive("install NVIDIA's system image with JetPack"))
		}
		return w.useAll("/dev/nvmap")
	case gpu.ReadModule(w.Root).Version == "":
		return skip("the kernel module comes first")
	}
	minors := gpu.DeviceMinors(w.Root)
	if minors == nil {
		for i := range 64 { // no list: whatever is there
			if w.Root.Exists(fmt.Sprintf("/dev/nvidia%d", i)) {
				minors = append(minors, i)
			}
		}
	}
	var there []string
	for _, n := range minors {
		if p := fmt.Sprintf("/dev/nvidia%d", n); w.Root.Exists(p) {
			there = append(there, p)
		}
	}
	var missing []string
	if len(there) == 0 {
		missing = append(missing, "/dev/nvidia0")
	}
	if !w.Root.Exists("/dev/nvidiactl") {
		missing = append(missing, "/dev/nvidiactl")
	}
	switch {
	case len(missing) > 0 && w.container() != "":
		return fail(words(missing)+isOrAre(missing)+" not in this container", giveGPU(w.container()))
	case len(missing) > 0:
		return fail(words(missing)+isOrAre(missing)+" not there", "have them made: sudo nvidia-modprobe -c 0 -u, or run nvidia-smi once as root")
	}
	used := w.useAll(append(there, "/dev/nvidiactl")...)
	if w.Root.Exists("/dev/nvidia-uvm") {
		used = w.useAll(append(there, "/dev/nvidiactl", "/dev/nvidia-uvm")...)
		return merge(used)
	}
	return merge(w.noUVM(), used)
}

// noUVM tells of a missing /dev/nvidia-uvm, without which cuInit fails. On a host
// libcuda has nvidia-modprobe make it, if that program has the right to.
func (w *World) noUVM() Step {
	const missing = "/dev/nvidia-uvm, which every CUDA program needs, is not there"
	if kind := w.container(); kind != "" {
		return fail(missing, giveGPU(kind))
	}
	if info, err := w.Root.Stat("/usr/bin/nvidia-modprobe"); err == nil && info.Mode()&fs.ModeSetuid != 0 {
		return pass("/dev/nvidia-uvm will be made by nvidia-modprobe when it is needed")
	}
	return fail(missing, "load the module that makes it: sudo modprobe nvidia-uvm, then sudo nvidia-modprobe -u -c 0")
}

// useAll checks that this user may read and write nodes.
func (w *World) useAll(nodes ...string) Step {
	var denied []string
	mode := ""
	for _, p := range nodes {
		if err := w.mayUse(p, true); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			denied = append(denied, p)
			if info, err := w.Root.Stat(p); err == nil && mode == "" {
				mode = " (" + info.Mode().String() + ")"
			}
		}
	}
	if len(denied) > 0 {
		return fail("this user may not read and write "+words(denied)+mode,
			"add the user to the group of the node, often video or render: sudo usermod -aG video NAME, then log in again",
			"or give all users the right, with the option NVreg_DeviceFileMode=0666 of the module nvidia")
	}
	return pass(words(nodes) + isOrAre(nodes) + " there and may be used")
}

func isOrAre(items []string) string {
	if len(items) == 1 {
		return " is"
	}
	return " are"
}

// orGive is what to do on a host, or in a container how to start that.
func (w *World) orGive(host string) string {
	if kind := w.container(); kind != "" {
		return giveGPU(kind)
	}
	return host
}
