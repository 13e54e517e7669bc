package doctor

import (
	"strings"
	"testing"

	"fatview/gpu"
)

// look is one line of the tables below.
type look struct {
	name     string
	place    place
	status   Status
	seen, do string
}

func expectAll(t *testing.T, id string, looks []look) {
	t.Helper()
	for _, l := range looks {
		expect(t, l.name, Run(l.place.world(t)), id, l.status, l.seen, l.do)
	}
}

// inWSL turns a machine into WSL 2, with Windows's driver shared.
func inWSL(p place) place {
	return p.with("/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n", "/dev/dxg", "x",
		"/usr/lib/wsl/lib/libcuda.so.1", elf(), "/usr/lib/wsl/lib/libnvidia-ptxjitcompiler.so.1", elf(), "/usr/lib/wsl/lib/libnvidia-ml.so.1", elf(),
		"/etc/ld.so.conf.d/ld.wsl.conf", "/usr/lib/wsl/lib\n")
}

func inJetson(p place) place {
	return p.with("/proc/device-tree/model", "NVIDIA Jetson AGX Orin Developer Kit\x00", "/dev/nvmap", "x")
}

func TestModule(t *testing.T) {
	built := "/lib/modules/6.1.0-18-amd64/modules.dep"
	installed := bare().with(lib+"/libcuda.so.1", elf())
	pci := []string{"/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n", "/sys/bus/pci/devices/0000:01:00.0/device", "0x2684\n", "/sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n"}
	expectAll(t, "module", []look{
		{"loaded", host(), Pass, "nvidia 535.104.05 is loaded", ""},
		{"open", host().with("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"), Pass, "nvidia 580.65.06 is loaded (open kernel modules)", ""},
		{"by /sys", host().without("/proc/driver").with("/sys/module/nvidia/version", "535.104.05\n"), Pass, "nvidia 535.104.05 is loaded", ""},
		{"by /proc/modules", host().without("/proc/driver"), Pass, "its version is not told", ""},
		{"container", bare().with("/.dockerenv", ""), Fail, "the kernel of this container's host has no NVIDIA module loaded", "on the host"},
		{"built", bare().with(built, "updates/dkms/nvidia.ko.xz:\n"), Fail, "installed for this kernel, but not loaded", "sudo modprobe nvidia\nif that says that a key was rejected, Secure Boot"},
		{"kernel updated", installed.with(built, "kernel/fs/ext4.ko:\n"), Fail, "no NVIDIA module is built for the running kernel 6.1.0-18-amd64", "restart if the kernel was updated"},
		{"libraries alone", installed, Fail, "libraries are installed, but the NVIDIA module is not loaded", "modprobe nvidia"},
		{"no driver", bare().with(pci...), Fail, "no NVIDIA driver is installed, and NVIDIA GPU 10de:2684 is on the PCI bus (0000:01:00.0)", "install NVIDIA's driver"},
		{"nothing", bare(), Fail, "no NVIDIA GPU was seen", "pass the GPU through"},
		{"WSL", inWSL(bare()), Pass, "the driver is that of Windows", ""},
		{"WSL 1", inWSL(bare()).without("/dev/dxg"), Fail, "WSL without /dev/dxg", "wsl --update"},
		{"Jetson", inJetson(bare()), Pass, "part of the system image", ""},
		{"files", bare().without("/proc"), Skip, "no running system", ""},
	})
}

func TestNouveau(t *testing.T) {
	expectAll(t, "nouveau", []look{
		{"absent", host(), Pass, "not loaded", ""},
		{"holds the GPU", bare().with("/proc/modules", "nouveau 2 0 - Live 0x0\n"), Fail, "nouveau holds the GPU", "blacklist nouveau"},
		{"beside", host().with("/proc/modules", "nouveau 2 0 - Live 0x0\nnvidia 1 0 - Live 0x0\n"), Warn, "beside NVIDIA's module", "update-initramfs -u or dracut --force"},
		{"unknown", host().without("/proc/modules"), Skip, "not known", ""},
	})
}

func TestNodes(t *testing.T) {
	no := host()
	no.tweak = denied("/dev/nvidia1", "/dev/nvidia-uvm")
	noDXG := inWSL(bare())
	noDXG.tweak = denied("/dev/dxg")
	expectAll(t, "nodes", []look{
		{"there", host(), Pass, "/dev/nvidia1, /dev/nvidiactl and /dev/nvidia-uvm are there", ""},
		{"no list of GPUs", host().without("/proc/driver").with("/sys/module/nvidia/version", "535.104.05\n"), Pass, "/dev/nvidia1, ", ""},
		{"none", host().without("/dev"), Fail, "/dev/nvidia0 and /dev/nvidiactl are not there", "sudo nvidia-modprobe -c 0 -u"},
		{"no control node", host().without("/dev/nvidiactl"), Fail, "/dev/nvidiactl is not there", "nvidia-modprobe"},
		{"container", host().without("/dev").with("/.dockerenv", ""), Fail, "/dev/nvidia0 and /dev/nvidiactl are not in this container", "--gpus all"},
		{"podman", host().without("/dev").with("/run/.containerenv", ""), Fail, "not in this container", "--device nvidia.com/gpu=all"},
		{"no uvm", host().without("/dev/nvidia-uvm"), Fail, "/dev/nvidia-uvm, which every CUDA program needs, is not there", "sudo modprobe nvidia-uvm"},
		{"no uvm in a pod", host().without("/dev/nvidia-uvm").set("KUBERNETES_SERVICE_HOST", "10.0.0.1"), Fail, "/dev/nvidia-uvm", "limits of the pod"},
		{"denied", no, Fail, "this user may not read and write /dev/nvidia1 and /dev/nvidia-uvm (-rw-r--r--)", "usermod -aG video"},
		{"no module", bare(), Skip, "the kernel module comes first", ""},
		{"WSL", inWSL(bare()), Pass, "/dev/dxg is there and may be used", ""},
		{"WSL denied", noDXG, Fail, "may not read and write /dev/dxg", "group"},
		{"WSL 1", inWSL(bare()).without("/dev/dxg"), Skip, "see the kernel module", ""},
		{"Jetson", inJetson(bare()), Pass, "/dev/nvmap is there", ""},
		{"Thor", inJetson(bare()).without("/dev/nvmap").with("/dev/nvidiactl", "x"), Pass, "/dev/nvidiactl is there", ""},
		{"Jetson's container", inJetson(bare()).without("/dev/nvmap").with("/.dockerenv", ""), Fail, "/dev/nvmap", "--gpus all"},
		{"files", bare().without("/proc"), Skip, "no running system", ""},
	})
}

// nvidia-modprobe with the right to make the node makes it for libcuda.
func TestNoUVMYet(t *testing.T) {
	w := host().without("/dev/nvidia-uvm").with("/usr/bin/nvidia-modprobe", "x").world(t)
	if err := chmodSetuid(w, "usr/bin/nvidia-modprobe"); err != nil {
		t.Skip(err)
	}
	expect(t, "setuid", Run(w), "nodes", Pass, "will be made by nvidia-modprobe", "")
}

func TestLibraries(t *testing.T) {
	stub := "/usr/local/cuda/lib64/stubs"
	expectAll(t, "libraries", []look{
		{"all", host(), Pass, "libnvidia-ml.so.1 in " + lib + " (535.104.05)", ""},
		{"no libcuda", host().without(lib + "/libcuda"), Fail, "libcuda.so.1 was not found: no CUDA program starts", "libnvidia-compute-NNN"},
		{"no libcuda in Docker", host().without(lib+"/libcuda").with("/.dockerenv", ""), Fail, "libcuda.so.1 was not found", "--gpus all; the host needs the NVIDIA Container Toolkit\nset NVIDIA_DRIVER_CAPABILITIES=compute,utility"},
		{"no libcuda in Apptainer", host().without(lib+"/libcuda").set("APPTAINER_CONTAINER", "/x.sif"), Fail, "libcuda.so.1 was not found", "--nv"},
		{"no libcuda in WSL", inWSL(bare()).without("/usr/lib/wsl"), Fail, "libcuda.so.1 was not found", "install NVIDIA's driver in Windows"},
		{"no libcuda on a Jetson", inJetson(bare()), Fail, "libcuda.so.1 was not found", "nvidia-jetpack"},
		{"no JIT", host().without(lib + "/libnvidia-ptxjit"), Warn, "libnvidia-ptxjitcompiler.so.1 was not found: PTX cannot be compiled without it (error 221)", "reinstall the driver"},
		{"no NVML", host().without(lib + "/libnvidia-ml"), Warn, "libnvidia-ml.so.1 was not found: nvidia-smi", "reinstall the driver"},
		{"no NVVM", host().without(lib + "/libnvidia-nvvm"), Pass, "libnvidia-nvvm.so.4 was not found (needed for LTO IR only)", ""},
		{"dangling", host().without(lib + "/libcuda.so.535"), Fail, lib + "/libcuda.so.1 is a link to " + lib + "/libcuda.so.535.104.05, which is not there", "reinstall the driver"},
		{"empty", host().without(lib+"/libcuda").with(lib+"/libcuda.so.1", "").with("/.dockerenv", ""), Fail, lib + "/libcuda.so.1 is an empty file", "saved from a container"},
		{"text", host().without(lib+"/libcuda").with(lib+"/libcuda.so.1", "GROUP ( /lib/libcuda.so )"), Fail, "libcuda.so.1 is no library", "remove it"},
		{"GKE", host().without(lib+"/lib").with("/usr/local/nvidia/lib64/libcuda.so.1", elf()), Fail, "/usr/local/nvidia/lib64/libcuda.so.1 is there, but the dynamic linker does not search that folder", "export LD_LIBRARY_PATH=/usr/local/nvidia/lib64:$LD_LIBRARY_PATH"},
		{"GKE with path", host().without(lib+"/libcuda").with("/usr/local/nvidia/lib64/libcuda.so.1", elf()).set("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64"), Pass, "libcuda.so.1 in /usr/local/nvidia/lib64", ""},
		{"NixOS", host().without(lib+"/libcuda").with("/run/opengl-driver/lib/libcuda.so.1", elf()), Pass, "libcuda.so.1 in /run/opengl-driver/lib, which programs of NixOS search", ""},
		{"stub first", host().with(stub+"/libcuda.so.1", elf(), stub+"/libcuda.so", elf()).set("LD_LIBRARY_PATH", stub), Fail, "the toolkit's stub in " + stub + ", which answers error 34", "take " + stub + " off LD_LIBRARY_PATH"},
		{"stub by configuration", host().with(stub+"/libcuda.so.1", elf(), "/etc/ld.so.conf.d/x.conf", stub+"\n"), Fail, "stub", "out of /etc/ld.so.conf.d/x.conf"},
		{"stub beside", host().with(stub+"/libcuda.so", elf()).set("LD_LIBRARY_PATH", stub), Warn, "programs that open libcuda.so without a number get the stub", "-L"},
		{"WSL", inWSL(bare()), Pass, "libcuda.so.1 in /usr/lib/wsl/lib", ""},
		{"WSL with a Linux driver", inWSL(host()).set("LD_LIBRARY_PATH", lib), Fail, "(" + lib + "/libcuda.so.1) stands before that of WSL", "apt remove"},
	})
}

func TestVersions(t *testing.T) {
	compat := func(module, version string) place {
		p := host().with("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  "+module+"  x\n",
			"/usr/local/cuda-12.8/compat/libcuda.so.1", "-> libcuda.so."+version, "/usr/local/cuda-12.8/compat/libcuda.so."+version, elf()).set("LD_LIBRARY_PATH", "/usr/local/cuda-12.8/compat")
		return p
	}
	geforce := gpu.Inventory{Source: gpu.SourceNVML, Targets: []gpu.Target{{Name: "NVIDIA GeForce RTX 4090", CC: 89}}}
	workstation := gpu.Inventory{Source: gpu.SourceNVML, Targets: []gpu.Target{{Name: "NVIDIA RTX A6000", CC: 86}}}
	updated := host().without(lib+"/libcuda").with(lib+"/libcuda.so.1", "-> libcuda.so.535.129.03", lib+"/libcuda.so.535.129.03", elf())
	expectAll(t, "versions", []look{
		{"same", host(), Pass, "kernel module and libcuda are both 535.104.05", ""},
		{"updated", updated, Fail, "kernel module 535.104.05 and libcuda 535.129.03 (" + lib + "/libcuda.so.1) do not go together: error 803", "restart the machine"},
		{"updated under a container", updated.with("/.dockerenv", ""), Fail, "do not go together", "restart the container"},
		{"NVML updated", host().without(lib+"/libnvidia-ml").with(lib+"/libnvidia-ml.so.1", "-> libnvidia-ml.so.535.129.03", lib+"/libnvidia-ml.so.535.129.03", elf()), Warn, "NVML is 535.129.03", "one version"},
		{"compat", compat("535.104.05", "570.86.10"), Pass, "forward compatibility: libcuda 570.86.10 (/usr/local/cuda-12.8/compat) over the kernel driver 535.104.05 raises CUDA to 12.8", ""},
		{"compat on GeForce", compat("535.104.05", "570.86.10").found(geforce), Fail, "NVIDIA GeForce RTX 4090 is not among the GPUs that it is for: CUDA ends with error 804", "take /usr/local/cuda-12.8/compat off"},
		{"compat on a workstation", compat("535.104.05", "570.86.10").found(workstation), Warn, "data center GPUs, Jetson and RTX cards of certified servers only", "if CUDA ends with error 804"},
		{"compat on an unknown GPU", compat("535.104.05", "570.86.10").found(gpu.Inventory{}), Warn, "certified servers only", "update the driver"},
		{"older compat", compat("580.65.06", "570.86.10"), Fail, "no newer than the kernel driver 580.65.06: CUDA ends with error 803", "off the library path"},
		{"compat of the same branch", compat("570.86.10", "570.124.06"), Warn, "no newer than the kernel driver", "off the library path"},
		{"no module", bare(), Skip, "the kernel module tells no version", ""},
		{"Jetson's libcuda", host().without(lib+"/libcuda").with(lib+"/libcuda.so.1", "-> libcuda.so.1.1", lib+"/libcuda.so.1.1", elf()), Skip, "libcuda tells no version", ""},
	})
}

func TestContainer(t *testing.T) {
	inside := host().with("/.dockerenv", "")
	none := inside.without("/dev")
	expectAll(t, "container", []look{
		{"host", host(), Skip, "this is no container", ""},
		{"all", inside.set("NVIDIA_VISIBLE_DEVICES", "all"), Pass, "Docker: NVIDIA_VISIBLE_DEVICES is all", ""},
		{"CDI", inside.set("NVIDIA_VISIBLE_DEVICES", "void"), Pass, "a GPU is there all the same, as with CDI", ""},
		{"--device", inside, Pass, "NVIDIA_VISIBLE_DEVICES is not set, and a GPU is there all the same", ""},
		{"none with a GPU", inside.set("NVIDIA_VISIBLE_DEVICES", "none"), Warn, "none, and a GPU is there", "NVIDIA_VISIBLE_DEVICES=all"},
		{"none", none.set("NVIDIA_VISIBLE_DEVICES", "none"), Fail, "the driver is brought in, but no GPU", "set NVIDIA_VISIBLE_DEVICES=all"},
		{"void", none.set("NVIDIA_VISIBLE_DEVICES", "void"), Fail, "NVIDIA_VISIBLE_DEVICES is void, so the container runtime brings neither GPU nor driver in", "--gpus all"},
		{"empty", none.set("NVIDIA_VISIBLE_DEVICES", ""), Fail, "NVIDIA_VISIBLE_DEVICES is empty, so", "--gpus all"},
		{"not set", none, Fail, "NVIDIA_VISIBLE_DEVICES is not set, so", "--gpus all"},
		{"set by the image", none.set("NVIDIA_VISIBLE_DEVICES", "all"), Fail, "but no GPU is here: the image may set that variable", "--gpus all"},
		{"pod", none.set("KUBERNETES_SERVICE_HOST", "10.0.0.1"), Fail, "Kubernetes: ", "limits of the pod"},
		{"pod by cgroup", host().without("/dev").with("/proc/1/cgroup", "0::/kubepods/burstable/pod1\n"), Fail, "Kubernetes: ", "limits of the pod"},
		{"podman", host().with("/proc/1/cgroup", "0::/machine.slice/libpod-1.scope\n"), Pass, "Podman: ", ""},
		{"docker by cgroup", host().with("/proc/1/cgroup", "12:devices:/docker/0123\n"), Pass, "Docker: ", ""},
		{"apptainer", none.without("/.dockerenv").set("SINGULARITY_CONTAINER", "/x.sif"), Fail, "Apptainer: ", "--nv"},
		{"lxc", none.without("/.dockerenv").set("container", "lxc"), Fail, "LXC: ", "nvidia.runtime=true"},
		{"other", none.without("/.dockerenv").set("container", "systemd-nspawn"), Fail, "a container: ", "CDI"},
		{"files", inside.without("/proc"), Skip, "no running system", ""},
	})
}

func TestCapabilities(t *testing.T) {
	inside := host().with("/.dockerenv", "")
	expectAll(t, "capabilities", []look{
		{"host", host().set("NVIDIA_DRIVER_CAPABILITIES", "graphics"), Skip, "no container", ""},
		{"not set", inside, Pass, "which means compute and utility", ""},
		{"all", inside.set("NVIDIA_DRIVER_CAPABILITIES", "all"), Pass, "is all", ""},
		{"both", inside.set("NVIDIA_DRIVER_CAPABILITIES", "utility, compute"), Pass, "utility, compute", ""},
		{"no compute", inside.without(lib+"/libcuda").set("NVIDIA_DRIVER_CAPABILITIES", "utility,graphics"), Fail, "without compute: neither libcuda nor the compiler for PTX", "compute,utility"},
		{"no compute, CDI", inside.set("NVIDIA_DRIVER_CAPABILITIES", "utility"), Pass, "libcuda is here all the same", ""},
		{"no utility", inside.set("NVIDIA_DRIVER_CAPABILITIES", "compute,video"), Warn, "without utility: neither NVML nor nvidia-smi", "compute,utility"},
	})
}

func TestRequire(t *testing.T) {
	inside := host().with("/.dockerenv", "")
	image := "cuda>=12.8 brand=unknown,driver>=470,driver<471 brand=tesla,driver>=470,driver<471"
	expectAll(t, "require", []look{
		{"host", host().set("NVIDIA_REQUIRE_CUDA", image), Skip, "demands anything", ""},
		{"nothing", inside, Skip, "demands anything", ""},
		{"met", inside.set("NVIDIA_REQUIRE_CUDA", "cuda>=12.2"), Pass, "NVIDIA_REQUIRE_CUDA is met by the driver", ""},
		{"not met", inside.set("NVIDIA_REQUIRE_CUDA", image), Warn, "NVIDIA_REQUIRE_CUDA asks for cuda>=12.8 (or others for certain GPUs), and the driver is 535.104.05 with CUDA 12.2", "update the driver of the host"},
		{"not met, let in", inside.set("NVIDIA_REQUIRE_CUDA", image, "NVIDIA_DISABLE_REQUIRE", "true"), Warn, "NVIDIA_DISABLE_REQUIRE let the container start all the same", "error 222"},
		{"not checked", inside.set("NVIDIA_REQUIRE_CUDA", "cuda>=11.0", "NVIDIA_DISABLE_REQUIRE", "1"), Warn, "NVIDIA_DISABLE_REQUIRE is set", "remove it"},
		{"several", inside.set("NVIDIA_REQUIRE_CUDA", "cuda>=11.0", "NVIDIA_REQUIRE_X", "driver<500"), Warn, "NVIDIA_REQUIRE_X asks for driver<500", "update"},
		{"unknown driver", inside.set("NVIDIA_REQUIRE_CUDA", image).found(gpu.Inventory{}), Skip, "not known", ""},
	})
	// The grammar of libnvidia-container: spaces between alternatives, commas
	// between conditions that must all hold.
	d := demand{cuda: "12.2", driver: "535.104.05", known: true}
	for value, want := range map[string]answer{
		"": yes, "cuda>=12.2": yes, "cuda>12.2": no, "cuda<=12.2": yes, "cuda<12.2": no, "cuda=12.2": yes, "cuda!=12.2": no, "cuda==12.2": yes,
		"cuda>=12.10": no, "cuda>=9.2": yes, "driver>=535,driver<536": yes, "driver>=535.113": no, "brand=tesla": maybe,
		"brand=tesla,driver<500": no, "cuda>=13 brand=tesla,driver>=535": maybe, "cuda>=13 driver>=535": yes,
		"cuda": maybe, "cuda>=": maybe, "cuda><12": maybe, ">=12": maybe, "cuda>=x": yes,
	} {
		if got := d.meets(value); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
}

func FuzzDemand(f *testing.F) {
	f.Add("cuda>=12.8 brand=tesla,driver>=535,driver<536")
	f.Add("!=,<>,,= ")
	f.Fuzz(func(t *testing.T, value string) {
		d := demand{cuda: "12.2", driver: "535.104.05", known: true}
		got := d.meets(value)
		// An alternative more can only help, and a condition that holds changes nothing.
		if more := d.meets(value + " cuda>=1"); more != yes {
			t.Fatalf("%q with a way out: %d", value, more)
		}
		if strings.TrimSpace(value) != "" && !strings.ContainsAny(value, " \t\n\v\f\r\u0085\u00a0") && d.meets(value+",cuda>=1") != got {
			t.Fatalf("%q changes with a condition that holds", value)
		}
		if unknown := (demand{}).meets(value); unknown == no {
			t.Fatalf("%q is refused without a driver", value)
		}
	})
}
