package doctor

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fatview/gpu"
	"fatview/internal/sysroot"
)

// lib is where the driver's libraries lie on Debian and Ubuntu.
var lib = map[string]string{"amd64": "/usr/lib/x86_64-linux-gnu", "arm64": "/usr/lib/aarch64-linux-gnu"}[runtime.GOARCH]

// elf is the beginning of a shared library for this processor.
func elf() string {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	b[18] = map[string]byte{"amd64": 62, "arm64": 183}[runtime.GOARCH]
	return string(b)
}

// place is a system before it is written: files by path, links as "-> target",
// and folders as "/".
type place struct {
	files map[string]string
	env   map[string]string
	goos  string
	inv   *gpu.Inventory // instead of what files tell
	tweak func(*World)
}

func (p place) with(files ...string) place {
	p.files, p.env = maps.Clone(p.files), maps.Clone(p.env)
	for i := 0; i+1 < len(files); i += 2 {
		p.files[files[i]] = files[i+1]
	}
	return p
}

func (p place) without(prefixes ...string) place {
	p = p.with()
	maps.DeleteFunc(p.files, func(k, _ string) bool {
		for _, x := range prefixes {
			if strings.HasPrefix(k, x) {
				return true
			}
		}
		return false
	})
	return p
}

func (p place) set(vars ...string) place {
	p = p.with()
	for i := 0; i+1 < len(vars); i += 2 {
		p.env[vars[i]] = vars[i+1]
	}
	return p
}

func (p place) found(inv gpu.Inventory) place { p.inv = &inv; return p }

// world writes the system below a folder of the test.
func (p place) world(t testing.TB) *World {
	t.Helper()
	w := &World{Root: sysroot.Root{Dir: t.TempDir(), GOOS: p.goos}, Env: p.env}
	for path, content := range p.files {
		at := filepath.Join(w.Root.Dir, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch target, link := strings.CutPrefix(content, "-> "); {
		case link:
			err = os.Symlink(target, at)
		case content == "/":
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, []byte(content), 0o644)
		}
		if err != nil {
			t.Skipf("this system cannot make %s: %v", path, err)
		}
	}
	if p.inv != nil {
		w.GPUs = *p.inv
	} else {
		w.GPUs = gpu.DetectWith(context.Background(), gpu.Options{Root: w.Root, FilesOnly: true, Getenv: w.getenv})
	}
	if p.tweak != nil {
		p.tweak(w)
	}
	return w
}

// host is a Linux machine on which everything is right: driver 535.104.05, one
// H200.
func host() place {
	p := place{goos: "linux", env: map[string]string{"HOME": "/home/u", "PATH": "/usr/bin"}, files: map[string]string{
		"/proc/version":                                     "Linux version 6.1.0\n",
		"/proc/sys/kernel/osrelease":                        "6.1.0-18-amd64\n",
		"/proc/modules":                                     "nvidia_uvm 1 0 - Live 0x0\nnvidia 1 1 nvidia_uvm, Live 0x0\nvideo 1 0 - Live 0x0\n",
		"/proc/driver/nvidia/version":                       "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n",
		"/proc/driver/nvidia/gpus/0000:65:00.0/information": "Model: \t\t NVIDIA H200\nBus Location: \t 0000:65:00.0\nDevice Minor: \t 1\n",
		"/dev/nvidia1":                                      "x",
		"/dev/nvidiactl":                                    "x",
		"/dev/nvidia-uvm":                                   "x",
		"/home/u":                                           "/",
		"/usr/bin/true":                                     "x",
		"/etc/ld.so.conf":                                   "include /etc/ld.so.conf.d/*.conf\n",
		"/etc/ld.so.conf.d":                                 "/",
	}}
	for _, n := range []string{"libcuda.so.1", "libnvidia-ptxjitcompiler.so.1", "libnvidia-nvvm.so.4", "libnvidia-ml.so.1"} {
		stem, _, _ := strings.Cut(n, ".so.")
		p.files[lib+"/"+n] = "-> " + stem + ".so.535.104.05"
		p.files[lib+"/"+stem+".so.535.104.05"] = elf()
	}
	d, _ := gpu.ParseDriver("535.104.05")
	return p.found(gpu.Inventory{Source: gpu.SourceNVML, Driver: d, Targets: []gpu.Target{{Name: "NVIDIA H200", CC: 90, Driver: d, Source: gpu.SourceNVML, UUID: "GPU-1"}}, Visible: []int{0}})
}

// bare is a machine without anything of NVIDIA's.
func bare() place {
	p := host().without("/dev/", "/proc/driver", lib+"/lib").with("/proc/modules", "video 1 0 - Live 0x0\n")
	p.inv = nil
	return p
}

// Rights are the kernel's to tell; this stands in for it, so that the test is
// the same for root.
func denied(paths ...string) func(*World) {
	return func(w *World) {
		w.access = func(p string, _ bool) error {
			if _, err := w.Root.Stat(p); err != nil {
				return err
			}
			for _, d := range paths {
				if p == d {
					return &fs.PathError{Op: "access", Path: p, Err: fs.ErrPermission}
				}
			}
			return nil
		}
	}
}
