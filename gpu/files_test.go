package gpu

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fatview/internal/sysroot"
)

// elf is the beginning of a shared library for this processor, as much as the
// dynamic linker looks at to choose.
func elf() string {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	b[18] = map[string]byte{"amd64": 62, "arm64": 183}[runtime.GOARCH]
	return string(b)
}

// system makes a root folder of files; contents that begin with "-> " are links.
func system(t *testing.T, files map[string]string) sysroot.Root {
	t.Helper()
	root := sysroot.Root{Dir: t.TempDir(), GOOS: "linux"}
	for p, content := range files {
		at := filepath.Join(root.Dir, p)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(content), 0o644)
		}
		if err != nil {
			t.Skipf("this system cannot make %s: %v", p, err)
		}
	}
	return root
}

func detectFiles(t *testing.T, files map[string]string, vars map[string]string) Inventory {
	t.Helper()
	return DetectWith(context.Background(), Options{Root: system(t, files), FilesOnly: true, Getenv: env(vars)})
}

// As the 580 driver writes them; the open modules have other words in between.
const (
	module535 = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version:  gcc version 12.2.0 (GCC)\n"
	module580 = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U22-I3-AM02-24-3)  Sun Jul 27 06:54:38 UTC 2025\n"
	h200      = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 63\nGPU UUID: \t GPU-e953c3c5-dba7-029e-ce44-7b51417131df\nVideo BIOS: \t 96.00.\nBus Type: \t PCIe\nBus Location: \t 0000:65:00.0\nDevice Minor: \t 1\nGPU Excluded:\t No\n"
	t4        = "Model: \t\t Tesla T4\nGPU UUID: \t GPU-????????-????-????-????-????????????\nBus Location: \t 0000:17:00.0\nDevice Minor: \t 0\n"
)

func TestProc(t *testing.T) {
	inv := detectFiles(t, map[string]string{
		"/proc/driver/nvidia/version":                       module580,
		"/proc/driver/nvidia/gpus/0000:65:00.0/information": h200,
		"/proc/driver/nvidia/gpus/0000:17:00.0/information": t4,
		"/proc/driver/nvidia/gpus/0000:99:00.0/information": "Model: \t Some New GPU\nBus Location: \t 0000:99:00.0\n",
		"/proc/driver/nvidia/gpus/0000:aa:00.0/information": "Model: \t Tesla T4\nGPU Excluded:\t Yes\n",
	}, nil)
	if brief(inv.Targets) != "Tesla T4 7.5; NVIDIA H200 9.0" || inv.Source != SourceProc || len(inv.Seen) != 4 {
		t.Fatalf("%+v", inv)
	}
	if inv.Targets[0].UUID != "" || inv.Targets[1].UUID != "GPU-e953c3c5-dba7-029e-ce44-7b51417131df" || inv.Targets[1].Index != 1 {
		t.Errorf("%+v", inv.Targets)
	}
	if inv.Driver != detected("580.65.06", version(t, "13.0")) || inv.Targets[0].Driver != inv.Driver {
		t.Errorf("driver %+v", inv.Driver)
	}
	if !containsAllOf(inv.Problem, "capability of Some New GPU (0000:99:00.0) is unknown", "GPU 0000:aa:00.0 (Tesla T4) is excluded") || strings.Contains(inv.Problem, "no driver was asked") {
		t.Errorf("problem %q", inv.Problem)
	}
	if inv.Note != "" {
		t.Errorf("note %q", inv.Note)
	}
}

func TestPCI(t *testing.T) {
	files := map[string]string{
		"/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n", "/sys/bus/pci/devices/0000:01:00.0/device": "0x2684\n", "/sys/bus/pci/devices/0000:01:00.0/class": "0x030000\n",
		"/sys/bus/pci/devices/0000:01:00.1/vendor": "0x10de\n", "/sys/bus/pci/devices/0000:01:00.1/device": "0x22ba\n", "/sys/bus/pci/devices/0000:01:00.1/class": "0x040300\n",
		"/sys/bus/pci/devices/0000:02:00.0/vendor": "0x8086\n", "/sys/bus/pci/devices/0000:02:00.0/device": "0x2684\n", "/sys/bus/pci/devices/0000:02:00.0/class": "0x030000\n",
	}
	inv := detectFiles(t, files, nil)
	if len(inv.Targets) != 0 || len(inv.Seen) != 1 || inv.Seen[0] != (Seen{"NVIDIA GPU 10de:2684", "0000:01:00.0"}) {
		t.Fatalf("%+v", inv)
	}
	if !containsAllOf(inv.Problem, "NVIDIA GPU 10de:2684 is on the PCI bus (0000:01:00.0), its compute capability is unknown", "no driver was asked") {
		t.Errorf("problem %q", inv.Problem)
	}
	// With the system's list of names the catalogue knows it.
	files["/usr/share/misc/pci.ids"] = "# comment\n10dd  Other\n\t2684  Wrong [Tesla T4]\n10de  NVIDIA Corporation\n\t2684  AD102 [GeForce RTX 4090]\n\t\t10de 165b  [Tesla T4]\n\t2704  AD103 [GeForce RTX 4080]\n10df  Emulex\n\t2684  Wrong [Tesla T4]\n"
	inv = detectFiles(t, files, nil)
	if brief(inv.Targets) != "NVIDIA GeForce RTX 4090 8.9" || inv.Source != SourcePCI || inv.Targets[0].Driver.Known() || inv.Problem == "" {
		t.Errorf("%+v", inv)
	}
	// A product with two capabilities stays unknown, but it has a name.
	files["/usr/share/misc/pci.ids"] = "10de  NVIDIA Corporation\n\t2684  GF108 [GeForce GT 730]\n"
	inv = detectFiles(t, files, nil)
	if len(inv.Targets) != 0 || !strings.Contains(inv.Problem, "NVIDIA GeForce GT 730 is on the PCI bus") {
		t.Errorf("%+v", inv)
	}
}

func TestTegra(t *testing.T) {
	for model, want := range map[string]string{
		"NVIDIA Jetson AGX Orin Developer Kit\x00": "NVIDIA Jetson AGX Orin Developer Kit 8.7",
		"NVIDIA Jetson Orin Nano\x00":              "NVIDIA Jetson Orin Nano 8.7",
		"NVIDIA Jetson Nano Developer Kit\x00":     "NVIDIA Jetson Nano Developer Kit 5.3",
		"NVIDIA Jetson Xavier NX\x00":              "NVIDIA Jetson Xavier NX 7.2",
		"Jetson-TX2\x00":                           "Jetson-TX2 6.2",
		"NVIDIA Jetson AGX Thor\x00":               "NVIDIA Jetson AGX Thor 11.0",
		"FriendlyARM NanoPC-T4\x00":                "",
		"Raspberry Pi 5\x00":                       "",
		"NVIDIA something new":                     "",
		"":                                         "",
	} {
		inv := detectFiles(t, map[string]string{"/proc/device-tree/model": model}, nil)
		if brief(inv.Targets) != want || (want != "") != (inv.Source == SourceDeviceTree) || len(inv.Tried) != 3 {
			t.Errorf("%q: %+v", model, inv)
		}
	}
	// The file of the system image, as JetPack 4, 5, 6 and 7 write it.
	for line, want := range map[string]string{
		"# R32 (release), REVISION: 7.1, GCID: 29818004, BOARD: t210ref, EABI: aarch64, DATE: Sat Feb 19 17:05:08 UTC 2022": "NVIDIA Jetson (L4T R32.7.1) 5.3",
		"# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64, DATE: Tue Aug  1 19:57:35 UTC 2023": "",
		"# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64, DATE: Wed Jan  8 01:49:37 UTC 2025": "NVIDIA Jetson (L4T R36.4.3) 8.7",
		"# R38 (release), REVISION: 2.0, GCID: 41844464, BOARD: generic, EABI: aarch64":                                     "",
		"# Rubbish": "",
	} {
		inv := detectFiles(t, map[string]string{"/etc/nv_tegra_release": line + "\n"}, nil)
		if brief(inv.Targets) != want {
			t.Errorf("%q: %+v", line, inv)
		}
		if strings.HasPrefix(line, "# R35") && !strings.Contains(inv.Problem, "this is a Jetson with L4T R35.4.1, and nothing tells which") {
			t.Errorf("%q: problem %q", line, inv.Problem)
		}
	}
}

// What the container's maker said matters where nothing is found.
func TestKeptFromContainer(t *testing.T) {
	for value, want := range map[string]string{"void": "neither GPUs nor driver", "none": "the driver into this container, but no GPU", "all": "", "": ""} {
		inv := detectFiles(t, nil, map[string]string{"NVIDIA_VISIBLE_DEVICES": value})
		if !strings.Contains(inv.Note, want) || (want == "") != (inv.Note == "") {
			t.Errorf("%q: %q", value, inv.Note)
		}
	}
	// By CDI the GPUs are there although the variable is void.
	opts := none(t, map[string]string{"NVIDIA_VISIBLE_DEVICES": "void"})
	opts.open = func(string) (library, error) {
		return madeUp{devices: []device{madeUpGPU{"Tesla T4", 7, 5, nvmlSuccess}}}, nil
	}
	if inv := DetectWith(context.Background(), opts); inv.Note != "" || len(inv.Targets) != 1 {
		t.Errorf("%+v", inv)
	}
}

// A driver that cannot be asked does not hide what files tell, and its reason
// stays.
func TestFilesAfterDriver(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the files are those of Linux")
	}
	opts := none(t, nil)
	opts.Root = system(t, stack("535.104.05", "535.129.03", "535.129.03"))
	opts.open = func(string) (library, error) { return broken(nvmlVersionMismatch), nil }
	inv := DetectWith(context.Background(), opts)
	if brief(inv.Targets) != "NVIDIA H200 9.0" || inv.Source != SourceProc || !strings.Contains(inv.Problem, "error 18") || len(inv.Tried) != 2 {
		t.Errorf("%+v", inv)
	}
}

// As in a container that was given the GPU but not the driver's tools.
func TestFilesAlone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the files are those of Linux")
	}
	opts := none(t, nil)
	opts.Root = system(t, stack("535.104.05", "535.104.05", "535.104.05"))
	inv := DetectWith(context.Background(), opts)
	if brief(inv.Targets) != "NVIDIA H200 9.0" || inv.Problem != "neither NVML nor nvidia-smi could be asked, so GPUs are those that the kernel module lists" || len(inv.Tried) != 3 {
		t.Errorf("%+v", inv)
	}
}

// broken is an NVML that does not start.
type broken int

func (b broken) start() int               { return int(b) }
func (broken) stop()                      {}
func (broken) driver() (string, int)      { return "", nvmlFunctionNotFound }
func (broken) cuda() (int, int)           { return 0, nvmlFunctionNotFound }
func (broken) count() (int, int)          { return 0, nvmlFunctionNotFound }
func (broken) device(i int) (device, int) { return nil, nvmlFunctionNotFound }

func FuzzDriverFiles(f *testing.F) {
	f.Add(module580+h200, "# R36 (release), REVISION: 4.3, BOARD: generic")
	f.Add("10de  NVIDIA\n\t2684  AD102 [GeForce RTX 4090]\n", "")
	f.Fuzz(func(t *testing.T, text, line string) {
		m, _ := parseModule(text)
		g := parseProc("0000:01:00.0", text)
		l, _ := parseL4T(line)
		ids := map[string]string{"2684": ""}
		parsePCINames([]byte(text), ids)
		for _, s := range []string{m.Version, g.model, g.uuid, g.bus, l.String(), ids["2684"]} {
			if s != sanitize(s) || len(s) > 4*maxName+32 {
				t.Fatalf("%q is not fit to show", s)
			}
		}
		if len(ids) != 1 || g.minor < -1 || g.minor >= maxDevices {
			t.Fatalf("%v, minor %d", ids, g.minor)
		}
	})
}
