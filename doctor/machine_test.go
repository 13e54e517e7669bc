package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fatview/gpu"
)

func chmodSetuid(w *World, p string) error {
	return os.Chmod(filepath.Join(w.Root.Dir, p), 0o755|os.ModeSetuid)
}

func driver(t *testing.T, version string) gpu.Driver {
	t.Helper()
	d, err := gpu.ParseDriver(version)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// inventory is what NVML would tell.
func inventory(d gpu.Driver, targets ...gpu.Target) gpu.Inventory {
	inv := gpu.Inventory{Source: gpu.SourceNVML, Driver: d, Targets: targets}
	for i := range inv.Targets {
		inv.Targets[i].Driver, inv.Targets[i].Source = d, gpu.SourceNVML
	}
	return inv
}

func TestGPUs(t *testing.T) {
	d := driver(t, "580.65.06")
	h, s := gpu.Target{Name: "NVIDIA H200", CC: 90}, gpu.Target{Name: "NVIDIA H200 MIG 1g.18gb", CC: 90, MIG: true}
	short := inventory(d, h)
	short.Problem, short.Tried = "GPU 1 is lost (NVML error 15)", []gpu.Attempt{{Name: "libnvidia-ml.so.1", Reason: "GPU 1 is lost (NVML error 15)"}}
	many := make([]gpu.Target, 10)
	for i := range many {
		many[i] = h
	}
	files := host()
	files.inv = nil // what /proc tells
	pci := bare().with("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n", "/sys/bus/pci/devices/0000:01:00.0/device", "0x2684\n", "/sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n",
		"/usr/share/misc/pci.ids", "10de  NVIDIA Corporation\n\t2684  AD102 [GeForce RTX 4090]\n")
	undetected := host()
	undetected.tweak = func(w *World) { w.Undetected = true }
	expectAll(t, "gpus", []look{
		{"one", host().found(inventory(d, h)), Pass, "NVIDIA H200 (9.0); driver 580.65.06, CUDA 13.0", ""},
		{"MIG", host().found(inventory(d, h, s, s)), Pass, "NVIDIA H200 (9.0), in 2 MIG slices; driver", ""},
		{"many", host().found(inventory(d, many...)), Pass, "NVIDIA H200 (9.0) and 2 more; driver", ""},
		{"one lost", host().found(short), Warn, "NVIDIA H200 (9.0); driver 580.65.06, CUDA 13.0; GPU 1 is lost (NVML error 15)", ""},
		{"by /proc", files, Warn, "NVIDIA H200 (9.0); driver 535.104.05, CUDA 12.2; told by the kernel module alone", ""},
		{"by PCI", pci, Fail, "NVIDIA GeForce RTX 4090 (8.9) on the PCI bus, with no driver that answers", ""},
		{"by PCI in a container", pci.with("/.dockerenv", ""), Fail, "on the PCI bus", "--gpus all"},
		{"none", bare(), Fail, "no GPU: ", ""},
		{"none in a container", bare().with("/run/.containerenv", ""), Fail, "no GPU: ", "--device nvidia.com/gpu=all"},
		{"files", bare().without("/proc"), Skip, "no running system", ""},
		{"not looked for", undetected, Skip, "--no-detect", ""},
	})
	r := Run(bare().world(t))
	if d := step(t, r, "gpus").Detail; len(d) != 3 || !strings.Contains(d[0], "/proc/driver/nvidia/gpus: there is none") {
		t.Errorf("%q", d)
	}
}

func TestSupport(t *testing.T) {
	k80, t4, b200 := gpu.Target{Name: "Tesla K80", CC: 37}, gpu.Target{Name: "Tesla T4", CC: 75}, gpu.Target{Name: "NVIDIA B200", CC: 100}
	onBus := func(name string, cc gpu.Target, module string) place {
		p := host().with("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX "+module+"\n")
		return p.found(gpu.Inventory{Source: gpu.SourcePCI, Targets: []gpu.Target{cc}})
	}
	expectAll(t, "support", []look{
		{"fits", host().found(inventory(driver(t, "580.65.06"), t4, t4)), Pass, "580.65.06 supports 2 × Tesla T4", ""},
		{"dropped", host().found(inventory(driver(t, "580.65.06"), k80)), Fail, "no longer supports compute capability 3.7 (Kepler): the last that does is R470", "install a driver of R470, the last for this GPU"},
		{"too new", host().found(inventory(driver(t, "535.104.05"), b200, t4)), Fail, "does not know compute capability 10.0", "update the driver to R570 (Linux 570."},
		{"no driver", host().found(gpu.Inventory{}), Skip, "no driver told its version", ""},
		{"open modules, old GPU", onBus("K80", k80, "Open Kernel Module for x86_64  580.65.06  Release"), Fail, "the open kernel modules do not drive Tesla K80 (3.7)", "proprietary modules"},
		{"open modules, Turing", onBus("T4", t4, "Open Kernel Module for x86_64  580.65.06  Release"), Skip, "no driver told its version", ""},
		{"proprietary modules, Blackwell", onBus("B200", b200, "x86_64 Kernel Module  580.65.06  x"), Fail, "NVIDIA B200 (10.0) needs the open kernel modules", "install the open modules"},
	})
}

func TestVisible(t *testing.T) {
	// Two equal GPUs as the kernel module tells of them: 4090s, so that forward
	// compatibility and catalogue play no part.
	info := "Model: \t\t NVIDIA GeForce RTX 4090\nGPU UUID: \t GPU-%\nBus Location: \t 0000:0%:00.0\nDevice Minor: \t %\n"
	two := host().with("/proc/driver/nvidia/gpus/0000:65:00.0/information", strings.ReplaceAll(info, "%", "1"), "/proc/driver/nvidia/gpus/0000:66:00.0/information", strings.ReplaceAll(info, "%", "2"))
	two.inv = nil
	mig := inventory(driver(t, "535.104.05"), gpu.Target{Name: "A", CC: 80}, gpu.Target{Name: "A", CC: 80, MIG: true})
	mig.Hidden = "with MIG on, drivers before R570 show a program one slice and no other GPU"
	expectAll(t, "visible", []look{
		{"not set", two, Pass, "programs see all GPUs", ""},
		{"all", two.set("CUDA_VISIBLE_DEVICES", "1,0"), Pass, "CUDA_VISIBLE_DEVICES=1,0 hides nothing; CUDA's device 0 is NVIDIA GeForce RTX 4090", ""},
		{"one", two.set("CUDA_VISIBLE_DEVICES", "GPU-2"), Pass, "hides 1 of 2 GPUs", ""},
		{"ended", two.set("CUDA_VISIBLE_DEVICES", "0,5,1"), Warn, "hides 1 of 2 GPUs from CUDA programs: there is no GPU 5", "all of one kind, each once"},
		{"twice", two.set("CUDA_VISIBLE_DEVICES", "0,0"), Fail, "names a GPU twice", "unset CUDA_VISIBLE_DEVICES"},
		{"empty", two.set("CUDA_VISIBLE_DEVICES", ""), Fail, "set and empty, which hides all GPUs", "unset CUDA_VISIBLE_DEVICES"},
		{"-1", two.set("CUDA_VISIBLE_DEVICES", "-1"), Fail, "hides 2 of 2", "unset"},
		{"no GPU", bare().set("CUDA_VISIBLE_DEVICES", "0"), Skip, "no GPU to hide", ""},
		{"MIG before R570", host().found(mig), Warn, "drivers before R570", ""},
	})
}

func TestRuntimes(t *testing.T) {
	toolkit := func(v string) []string {
		return []string{"/usr/local/cuda-" + v[:4] + "/lib64/libcudart.so." + v[:2], "-> libcudart.so." + v, "/usr/local/cuda-" + v[:4] + "/lib64/libcudart.so." + v, elf()}
	}
	site := "/venv/lib/python3.12/site-packages"
	wheel := host().with(site+"/nvidia/cuda_runtime/lib/libcudart.so.12", elf(), site+"/nvidia_cuda_runtime_cu12-12.4.127.dist-info/METADATA", "x",
		site+"/nvidia/cu13/lib/libcudart.so.13", elf(), site+"/nvidia_cuda_runtime-13.0.96.dist-info/METADATA", "x").set("VIRTUAL_ENV", "/venv")
	old := host().with(toolkit("12.8.90")...).with(toolkit("12.4.127")...).set("LD_LIBRARY_PATH", "/usr/local/cuda-12.8/lib64:/usr/local/cuda-12.4/lib64")
	expectAll(t, "runtime", []look{
		{"none", host(), Pass, "no shared CUDA runtime was found", ""},
		{"toolkit off the path", host().with(toolkit("12.2.140")...), Pass, "only programs that name the folder take 12.2.140 in /usr/local/cuda-12.2/lib64", ""},
		{"two on the path", old, Pass, "the dynamic linker takes 12.8.90 in /usr/local/cuda-12.8/lib64; only programs that name the folder take 12.4.127 in /usr/local/cuda-12.4/lib64", ""},
		{"by configuration", host().with(toolkit("12.2.140")...).with("/etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda-12.2/lib64\n"), Pass, "the dynamic linker takes 12.2.140 in /usr/local/cuda-12.2/lib64", ""},
		{"wheels", wheel, Warn, "only programs that name the folder take 12.4.127 in " + site + "/nvidia/cuda_runtime/lib and 13.0.96 in " + site + "/nvidia/cu13/lib", "update the driver to R580"},
		{"too new", wheel, Warn, "the driver (CUDA 12.2) is too old for the runtime 13.0.96 in " + site + "/nvidia/cu13/lib: programs that load it end with error 35", "R580"},
		{"python on PATH", host().with("/opt/py/bin/python3", "-> python3.11", "/opt/py/bin/python3.11", "x", "/opt/py/lib/python3.11/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12", elf()).set("PATH", "/usr/bin:/opt/py/bin"), Pass, "12 in /opt/py/lib/python3.11/site-packages/nvidia/cuda_runtime/lib", ""},
		{"user's", host().with("/home/u/.local/lib/python3.12/site-packages/nvidia/cuda_runtime/lib/libcudart.so.11.0", elf()), Pass, "11.0 in /home/u/.local/", ""},
		{"conda", host().with("/conda/lib/libcudart.so.12", "-> libcudart.so.12.1.105", "/conda/lib/libcudart.so.12.1.105", elf()).set("CONDA_PREFIX", "/conda"), Pass, "12.1.105 in /conda/lib", ""},
		{"CUDA_HOME", host().with("/sw/cuda/lib64/libcudart.so.12", elf()).set("CUDA_HOME", "/sw/cuda"), Pass, "12 in /sw/cuda/lib64", ""},
	})
}

func TestEnvironment(t *testing.T) {
	expectAll(t, "environment", []look{
		{"nothing", host(), Pass, "no variable changes what runs", ""},
		{"force", host().set("CUDA_FORCE_PTX_JIT", "1"), Warn, "all machine code is ignored", "unset CUDA_FORCE_PTX_JIT"},
		{"force, other name", host().set("CUDA_FORCE_JIT", "1"), Warn, "CUDA_FORCE_JIT is 1", "unset CUDA_FORCE_JIT"},
		{"not forced", host().set("CUDA_FORCE_PTX_JIT", "0"), Pass, "no variable", ""},
		{"disable", host().set("CUDA_DISABLE_PTX_JIT", "1"), Warn, "error 223", "unset CUDA_DISABLE_PTX_JIT"},
		{"both", host().set("CUDA_DISABLE_PTX_JIT", "1", "CUDA_FORCE_PTX_JIT", "1"), Fail, "no kernel loads", "unset CUDA_FORCE_PTX_JIT and CUDA_DISABLE_PTX_JIT"},
		{"no cache", host().set("CUDA_CACHE_DISABLE", "1"), Warn, "every start compiles it again", "unset CUDA_CACHE_DISABLE"},
		{"eager", host().set("CUDA_MODULE_LOADING", "EAGER"), Pass, "fails there instead of at its first launch", ""},
		{"lazy", host().set("CUDA_MODULE_LOADING", "LAZY"), Pass, "CUDA_MODULE_LOADING is LAZY", ""},
		{"order", host().set("CUDA_DEVICE_ORDER", "PCI_BUS_ID"), Pass, "as nvidia-smi does", ""},
		{"default order", host().set("CUDA_DEVICE_ORDER", "FASTEST_FIRST"), Pass, "as if it were not set", ""},
		{"wrong order", host().set("CUDA_DEVICE_ORDER", "pci"), Warn, "which CUDA does not know", "PCI_BUS_ID"},
		{"no such toolkit", host().set("CUDA_HOME", "/usr/local/cuda-11"), Warn, "CUDA_HOME is /usr/local/cuda-11, and there is no such folder", "unset it"},
		{"toolkit", host().with("/usr/local/cuda/x", "").set("CUDA_HOME", "/usr/local/cuda"), Pass, "no variable", ""},
		{"library path", host().set("LD_LIBRARY_PATH", "/a:/b"), Pass, "LD_LIBRARY_PATH has 2 entries", ""},
		{"empty entry", host().set("LD_LIBRARY_PATH", "/a:"), Warn, "an empty entry, which means the current folder", "remove the colon"},
		{"relative entry", host().set("LD_LIBRARY_PATH", "lib:$ORIGIN"), Warn, "LD_LIBRARY_PATH has lib, which is relative", "whole path"},
	})
}

func TestCache(t *testing.T) {
	at := "/home/u/.nv/ComputeCache"
	full := host().with(at+"/a/b/c", strings.Repeat("x", 950), at+"/index", strings.Repeat("x", 20)).set("CUDA_CACHE_MAXSIZE", "1000")
	readOnly := host()
	readOnly.tweak = denied("/home/u")
	noHome := host()
	delete(noHome.env, "HOME")
	expectAll(t, "cache", []look{
		{"not yet", host(), Pass, at + " does not exist yet, and can be made", ""},
		{"some", host().with(at+"/a/b", strings.Repeat("x", 2048), at+"/link", "-> /proc"), Pass, at + " holds 2.0 KiB of at most 1.0 GiB", ""},
		{"full", full, Warn, at + " holds 970 B of at most 1000 B: old entries make room", "CUDA_CACHE_MAXSIZE=4294967296"},
		{"Jetson", inJetson(host()).with(at+"/a", "x"), Pass, "of at most 256.0 MiB", ""},
		{"elsewhere", host().with("/big/cache/x", "abc").set("CUDA_CACHE_PATH", "/big/cache"), Pass, "/big/cache holds 3 B", ""},
		{"relative", host().set("CUDA_CACHE_PATH", "cache"), Warn, "no absolute path", "CUDA_CACHE_PATH"},
		{"a file", host().with("/f", "x").set("CUDA_CACHE_PATH", "/f"), Warn, "/f is no folder", "CUDA_CACHE_PATH"},
		{"read-only home", readOnly, Warn, "this user may not write /home/u, so compiled PTX is not kept", "CUDA_CACHE_PATH"},
		{"no home", noHome, Warn, "neither CUDA_CACHE_PATH nor the home folder is set", "CUDA_CACHE_PATH"},
		{"bound 0", host().set("CUDA_CACHE_MAXSIZE", "0"), Warn, "nothing is kept", "1073741824"},
		{"no number", host().set("CUDA_CACHE_MAXSIZE", "1G"), Warn, "which is no number of bytes", "1073741824"},
		{"too much", host().set("CUDA_CACHE_MAXSIZE", "8589934592"), Warn, "4 GiB at most", "1073741824"},
		{"off", host().set("CUDA_CACHE_DISABLE", "1"), Skip, "CUDA_CACHE_DISABLE is 1", ""},
	})
}

func TestWindows(t *testing.T) {
	sys := "/C/Windows/System32/"
	d := driver(t, "551.61")
	win := place{goos: "windows", env: map[string]string{"APPDATA": `C:\Users\u\AppData\Roaming`, "PATH": `C:\cuda\bin;relative`}, files: map[string]string{
		sys + "nvcuda.dll": "MZ", sys + "nvml.dll": "MZ", sys + "nvidia-smi.exe": "MZ", "/C/Users/u/AppData/Roaming/x": "", "/C/cuda/bin/cudart64_12.dll": "MZ",
	}}.found(inventory(d, gpu.Target{Name: "NVIDIA GeForce RTX 4090", CC: 89}))
	r := Run(win.world(t))
	if !r.OK || r.Conclusion != "CUDA should work here." || len(r.Steps) != 7 {
		t.Errorf("%+v", r)
	}
	expectAll(t, "libraries", []look{
		{"all", win, Pass, `nvcuda.dll, nvml.dll and nvidia-smi.exe are in C:\Windows\System32`, ""},
		{"no driver", win.without(sys), Fail, `C:\Windows\System32\nvcuda.dll was not found`, "install NVIDIA's driver for Windows"},
		{"elsewhere", win.without(sys).with("/D/Win/System32/nvcuda.dll", "MZ", "/C/Program Files/NVIDIA Corporation/NVSMI/nvml.dll", "MZ", "/C/Program Files/NVIDIA Corporation/NVSMI/nvidia-smi.exe", "MZ").set("SYSTEMROOT", `D:\Win`), Pass, "nvml.dll (in the NVSMI folder of older drivers)", ""},
		{"no NVML", win.without(sys + "nvml"), Warn, "nvml.dll was not found", "install"},
	})
	expectAll(t, "runtime", []look{
		{"one", win, Pass, `PATH has cudart64_12.dll in C:\cuda\bin`, ""},
		{"none", win.set("PATH", ""), Pass, "no CUDA runtime is on PATH", ""},
		{"too new", win.with("/C/cuda/bin/cudart64_13.dll", "MZ"), Warn, "too old for cudart64_13.dll: programs that load it end with error 35", "update the driver"},
	})
	expectAll(t, "cache", []look{
		{"not yet", win, Pass, `C:\Users\u\AppData\Roaming\NVIDIA\ComputeCache does not exist yet`, ""},
		{"some", win.with("/C/Users/u/AppData/Roaming/NVIDIA/ComputeCache/a/b", "xyz"), Pass, `ComputeCache holds 3 B of at most 1.0 GiB`, ""},
	})
}
