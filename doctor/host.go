package doctor

import (
	"strings"

	"fatview/gpu"
)

// get returns a variable; "" where it is not set.
func (w *World) get(name string) string { return w.Env[name] }

func (w *World) getenv(name string) (string, bool) { v, ok := w.Env[name]; return v, ok }

func (w *World) mayUse(path string, write bool) error {
	if w.access != nil {
		return w.access(path, write)
	}
	return w.Root.Access(path, write)
}

// running reports whether the root is that of a running Linux, which has /proc,
// rather than files that lie somewhere.
func (w *World) running() bool {
	return w.Root.Exists("/proc/modules") || w.Root.Exists("/proc/version")
}

const notRunning = "this is no running system: it has no /proc"

// wsl reports whether this is Windows Subsystem for Linux, by the name of its
// kernel.
func (w *World) wsl() bool {
	return strings.Contains(strings.ToLower(w.Root.Line("/proc/sys/kernel/osrelease")), "microsoft")
}

// jetson reports whether this is a Jetson or DRIVE board.
func (w *World) jetson() bool {
	if _, ok := gpu.ReadL4T(w.Root); ok {
		return true
	}
	model := strings.ToLower(w.Root.Line("/proc/device-tree/model"))
	return strings.Contains(model, "jetson") || strings.Contains(model, "nvidia")
}

// modules returns the names of the kernel modules that are loaded, and whether
// they are known.
func (w *World) modules() (map[string]bool, bool) {
	b, err := w.Root.ReadFile("/proc/modules", 1<<20)
	if err != nil {
		return nil, false
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, " ")
		out[strings.TrimSpace(name)] = true
	}
	return out, true
}

// The kinds of container.
const (
	docker     = "Docker"
	podman     = "Podman"
	kubernetes = "Kubernetes"
	apptainer  = "Apptainer"
	lxc        = "LXC"
	unnamed    = "a container"
)

// container names the runtime that this system runs in, "" for none: by the files
// and variables that runtimes leave, and by the control group of the first
// process.
func (w *World) container() string {
	var cgroup string
	if b, err := w.Root.ReadFile("/proc/1/cgroup", 16<<10); err == nil {
		cgroup = string(b)
	}
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(cgroup, word) {
				return true
			}
		}
		return false
	}
	named := w.get("container")
	switch {
	case w.get("KUBERNETES_SERVICE_HOST") != "", has("kubepods"):
		return kubernetes
	case w.get("APPTAINER_CONTAINER") != "", w.get("SINGULARITY_CONTAINER") != "", w.Root.Exists("/.singularity.d"):
		return apptainer
	case w.Root.Exists("/run/.containerenv"), named == "podman", has("libpod"):
		return podman
	case w.Root.Exists("/.dockerenv"), named == "docker", has("/docker"):
		return docker
	case named == "lxc", has("/lxc"):
		return lxc
	case named != "", has("containerd", "garden"):
		return unnamed
	}
	return ""
}

// giveGPU says how a container of a kind is given the GPUs.
func giveGPU(kind string) string {
	switch kind {
	case docker:
		return "start the container with --gpus all; the host needs the NVIDIA Container Toolkit"
	case podman:
		return "start the container with --device nvidia.com/gpu=all; the host needs the NVIDIA Container Toolkit and a CDI file (nvidia-ctk cdi generate)"
	case kubernetes:
		return "ask for nvidia.com/gpu in the limits of the pod; the cluster needs NVIDIA's device plugin or GPU operator"
	case apptainer:
		return "run the container with --nv"
	case lxc:
		return "set nvidia.runtime=true for the container, or pass the device nodes and libraries in"
	}
	return "start the container so that the NVIDIA Container Toolkit, or CDI, brings the GPU in"
}
