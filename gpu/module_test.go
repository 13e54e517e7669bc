package gpu

import (
	"runtime"
	"strings"
	"testing"
)

func TestModule(t *testing.T) {
	for text, want := range map[string]Module{
		module535: {Version: "535.104.05"},
		module580: {Version: "580.65.06", Open: true},
		"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build\n": {Version: "540.4.0", Open: true},
		"GCC version: gcc 535.1.1\n":            {},
		"NVRM version: no number 12.2.0 here\n": {},
		"":                                      {},
		"NVRM version:\x00 535.99999999999.1 \xff5": {},
	} {
		got, _ := parseModule(text)
		if got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	if m := ReadModule(system(t, map[string]string{"/sys/module/nvidia/version": "550.54.14\n"})); m.Version != "550.54.14" {
		t.Errorf("from /sys: %+v", m)
	}
	if m := ReadModule(system(t, map[string]string{"/sys/module/nvidia/version": "none\n"})); m.Version != "" {
		t.Errorf("from /sys: %+v", m)
	}
}

// stack is a driver's files: a module, and libraries in the standard folder.
func stack(module, cuda, nvml string) map[string]string {
	lib := map[string]string{"amd64": "/usr/lib/x86_64-linux-gnu/", "arm64": "/usr/lib/aarch64-linux-gnu/"}[runtime.GOARCH]
	if lib == "" {
		lib = "/usr/lib/"
	}
	return map[string]string{
		"/proc/driver/nvidia/version":                       strings.Replace(module535, "535.104.05", module, 1),
		"/proc/driver/nvidia/gpus/0000:65:00.0/information": h200,
		lib + "libcuda.so.1":                                "-> libcuda.so." + cuda,
		lib + "libcuda.so." + cuda:                          elf(),
		lib + "libnvidia-ml.so.1":                           "-> libnvidia-ml.so." + nvml,
		lib + "libnvidia-ml.so." + nvml:                     elf(),
	}
}

// The rules are those of NVIDIA's CUDA compatibility guide; that an older
// package ends with error 803 and a GeForce with 804 is what users report and
// what cuda.h says of the numbers.
func TestStack(t *testing.T) {
	for _, c := range []struct {
		name, module, cuda, nvml, compat string
		gpu                              string // instead of the H200
		relation                         Relation
		note                             string
		cudaVersion                      string // of the driver that files are judged with
	}{
		{"one driver", "535.104.05", "535.104.05", "535.104.05", "", "", SameVersion, "", "12.2"},
		{"compat", "535.104.05", "535.104.05", "535.104.05", "570.86.10", "", ForwardCompat, "forward compatibility raises CUDA to 12.8, on data center GPUs", "12.8"},
		{"compat on GeForce", "535.104.05", "535.104.05", "535.104.05", "570.86.10", "NVIDIA GeForce RTX 4090", ForwardCompat, "but NVIDIA GeForce RTX 4090 is not among the GPUs that it is for (error 804)", "12.2"},
		{"old compat", "580.65.06", "580.65.06", "580.65.06", "570.86.10", "", UselessCompat, "take its folder off LD_LIBRARY_PATH, or CUDA may end with error 803", "13.0"},
		{"compat copied elsewhere", "535.104.05", "570.86.10", "535.104.05", "", "", ForwardCompat, "raises CUDA to 12.8", "12.8"},
		{"updated, not restarted", "535.104.05", "535.129.03", "535.129.03", "", "", Mismatch, "they do not go together (error 803) until the machine is restarted", "12.2"},
		{"upgraded, not restarted", "535.104.05", "570.86.10", "570.86.10", "", "", Mismatch, "do not go together", "12.2"},
		{"Jetson's", "535.104.05", "1.1", "535.104.05", "", "", RelationUnknown, "", "12.2"},
	} {
		files := stack(c.module, c.cuda, c.nvml)
		vars := map[string]string{}
		if c.compat != "" {
			vars["LD_LIBRARY_PATH"] = "/usr/local/cuda/compat:/other"
			files["/usr/local/cuda"] = "-> cuda-12.8"
			files["/usr/local/cuda-12.8/compat/libcuda.so.1"] = "-> libcuda.so." + c.compat
			files["/usr/local/cuda-12.8/compat/libcuda.so."+c.compat] = elf()
		}
		if c.gpu != "" {
			files["/proc/driver/nvidia/gpus/0000:65:00.0/information"] = strings.Replace(h200, "NVIDIA H200", c.gpu, 1)
		}
		inv := detectFiles(t, files, vars)
		if inv.Stack.Relation != c.relation || !strings.Contains(inv.Note, c.note) || (c.note == "") != (inv.Note == "") {
			t.Errorf("%s: relation %d, note %q; %+v", c.name, inv.Stack.Relation, inv.Note, inv.Stack)
		}
		if got := inv.Driver.CUDA.String(); got != c.cudaVersion || inv.Driver.Version != c.module || inv.Targets[0].Driver != inv.Driver {
			t.Errorf("%s: driver %+v, want CUDA %s", c.name, inv.Driver, c.cudaVersion)
		}
	}
}

func TestCompatAllowed(t *testing.T) {
	for name, want := range map[string][2]bool{
		"NVIDIA H200":             {true, true},
		"Tesla T4":                {true, true},
		"NVIDIA GeForce RTX 5090": {false, true},
		"NVIDIA TITAN RTX":        {false, true},
		"NVIDIA RTX A6000":        {false, false}, // some servers with it are certified
		"Something New":           {false, false},
	} {
		if ok, known := CompatAllowed(name); ok != want[0] || known != want[1] {
			t.Errorf("%s: %v %v, want %v", name, ok, known, want)
		}
	}
}
