package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"fatview/arch"
	"fatview/gpu"
	"fatview/internal/sysroot"
)

// cudartNames are the names by which programs ask for the CUDA runtime. From 12
// on there is one for each major version.
var cudartNames = []string{
	"libcudart.so.8.0", "libcudart.so.9.0", "libcudart.so.9.1", "libcudart.so.9.2", "libcudart.so.10.0", "libcudart.so.10.1", "libcudart.so.10.2", "libcudart.so.11.0",
	"libcudart.so.12", "libcudart.so.13", "libcudart.so.14", "libcudart.so.15", "libcudart.so.16",
}

// cudart is a CUDA runtime that was found.
type cudart struct {
	name    string // libcudart.so.12
	version string // 12.8.90, or 12 where nothing tells more
	dir     string
	linker  bool // the dynamic linker finds it
}

func (c cudart) String() string { return c.version + " in " + c.dir }

// major is the CUDA version whose driver the runtime asks for.
func (c cudart) cuda() arch.Version {
	v := strings.TrimPrefix(c.name, "libcudart.so.")
	if !strings.Contains(v, ".") {
		v += ".0"
	}
	parsed, _ := arch.ParseVersion(v)
	return parsed
}

// mostDirs bounds how many folders are searched for runtimes, and mostEntries
// how many entries of one.
const (
	mostDirs    = 512
	mostEntries = 4096
)

// runtimes looks for the CUDA runtimes that programs may load.
func (w *World) runtimes() Step {
	found := w.cudarts()
	if len(found) == 0 {
		return pass("no shared CUDA runtime was found; programs that link it statically or bring it along need none")
	}
	var first, others, old []string
	taken := map[string]bool{}
	for _, c := range found {
		switch {
		case c.linker && !taken[c.name]:
			taken[c.name] = true
			first = append(first, c.String())
		default:
			others = append(others, c.String())
		}
		if d := w.GPUs.Driver; d.Known() && d.CUDA.Less(c.cuda()) {
			old = append(old, c.String())
		}
	}
	var parts []string
	if len(first) > 0 {
		parts = append(parts, "the dynamic linker takes "+cut(first))
	}
	if len(others) > 0 {
		parts = append(parts, "only programs that name the folder take "+cut(others))
	}
	seen := strings.Join(parts, "; ")
	if len(old) == 0 {
		return pass(seen)
	}
	do := "update the driver, or use programs for CUDA " + w.GPUs.Driver.CUDA.String() + " or older"
	if linux, _, branch, ok := gpu.MinDriverForCUDA(newest(found)); ok {
		do = fmt.Sprintf("update the driver to R%d (Linux %s) or newer, or use programs for an older CUDA", branch, linux)
	}
	return merge(warn("the driver (CUDA "+w.GPUs.Driver.CUDA.String()+") is too old for the runtime "+cut(old)+": programs that load it end with error 35", do), pass(seen))
}

func newest(found []cudart) arch.Version {
	var v arch.Version
	for _, c := range found {
		if v.Less(c.cuda()) {
			v = c.cuda()
		}
	}
	return v
}

// cut names a few and counts the rest.
func cut(items []string) string {
	const most = 6
	if len(items) > most {
		items = append(items[:most:most], fmt.Sprintf("%d more", len(items)-most))
	}
	return words(items)
}

// cudarts returns the runtimes on the linker's path in its order, then those of
// toolkits, of conda and of Python packages.
func (w *World) cudarts() []cudart {
	var out []cudart
	seen := map[string]bool{}
	look := func(dirs []sysroot.Dir, linker bool, version func(dir, name string) string) {
		// Most folders are not there, and each is asked for many names.
		dirs = slices.DeleteFunc(dirs, func(d sysroot.Dir) bool { return !w.Root.IsDir(d.Path) })
		for _, name := range cudartNames {
			for _, l := range w.Root.Libraries(name, dirs) {
				if l.Fault != "" || seen[l.Real] {
					continue
				}
				seen[l.Real] = true
				c := cudart{name: name, version: l.Version, dir: path.Dir(l.Path), linker: linker}
				if v := version(c.dir, name); v != "" {
					c.version = v
				}
				out = append(out, c)
			}
		}
	}
	none := func(string, string) string { return "" }
	look(w.dirs(), true, none)
	look(w.toolkits(), false, none)
	look(w.pythonDirs(), false, w.wheelVersion)
	return out
}

// toolkits returns the library folders of CUDA toolkits and of conda.
func (w *World) toolkits() []sysroot.Dir {
	var roots []string
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if p := w.get(v); w.Root.IsAbs(p) {
			roots = append(roots, p)
		}
	}
	names, _ := w.Root.ReadDir("/usr/local", mostEntries)
	for _, n := range names {
		if n == "cuda" || strings.HasPrefix(n, "cuda-") {
			roots = append(roots, "/usr/local/"+n)
		}
	}
	roots = append(roots, "/opt/cuda")
	var out []sysroot.Dir
	for _, r := range roots {
		for _, d := range []string{"lib64", "lib", "targets/x86_64-linux/lib", "targets/aarch64-linux/lib", "targets/sbsa-linux/lib"} {
			out = append(out, sysroot.Dir{Path: path.Join(r, d)})
		}
	}
	if p := w.get("CONDA_PREFIX"); w.Root.IsAbs(p) {
		out = append(out, sysroot.Dir{Path: path.Join(p, "lib")})
	}
	return out
}

// pythonDirs returns the library folders of NVIDIA's Python packages, which are
// nvidia/NAME/lib in a folder site-packages.
func (w *World) pythonDirs() []sysroot.Dir {
	var out []sysroot.Dir
	for _, site := range w.sitePackages() {
		names, err := w.Root.ReadDir(site+"/nvidia", mostEntries)
		if err != nil {
			continue
		}
		for _, n := range names {
			if d := site + "/nvidia/" + n + "/lib"; w.Root.IsDir(d) && len(out) < mostDirs {
				out = append(out, sysroot.Dir{Path: d})
			}
		}
	}
	return out
}

// sitePackages finds Python's folders without running Python: those of the
// active environment, of the python3 that PATH names, the user's and the
// system's.
func (w *World) sitePackages() []string {
	var prefixes []string
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		prefixes = append(prefixes, w.get(v))
	}
	for _, dir := range w.Root.List(w.get("PATH")) {
		if p := path.Join(dir, "python3"); w.Root.IsAbs(p) && w.Root.Exists(p) {
			prefixes = append(prefixes, path.Dir(dir))
			if real, err := w.Root.Resolve(p); err == nil {
				prefixes = append(prefixes, path.Dir(path.Dir(real)))
			}
			break
		}
	}
	if home := w.get("HOME"); w.Root.IsAbs(home) {
		prefixes = append(prefixes, path.Join(home, ".local"))
	}
	prefixes = append(prefixes, "/usr/local", "/usr")
	var out []string
	add := func(p string) {
		if w.Root.IsDir(p) && !slices.Contains(out, p) && len(out) < mostDirs {
			out = append(out, p)
		}
	}
	for _, p := range prefixes {
		if !w.Root.IsAbs(p) {
			continue
		}
		names, err := w.Root.ReadDir(path.Join(p, "lib"), mostEntries)
		if err != nil {
			continue
		}
		for _, n := range names {
			if strings.HasPrefix(n, "python3") {
				add(path.Join(p, "lib", n, "site-packages"))
				add(path.Join(p, "lib", n, "dist-packages"))
			}
		}
	}
	return out
}

// wheelVersion reads the version of a Python package's runtime from the folder
// beside it that pip makes: nvidia_cuda_runtime_cu12-12.8.90.dist-info.
func (w *World) wheelVersion(dir, name string) string {
	site := path.Dir(path.Dir(path.Dir(dir)))
	names, err := w.Root.ReadDir(site, mostEntries)
	if err != nil {
		return ""
	}
	major := strings.TrimPrefix(name, "libcudart.so.")
	major, _, _ = strings.Cut(major, ".")
	for _, n := range names {
		rest, ok := strings.CutPrefix(n, "nvidia_cuda_runtime")
		v, tail := strings.CutSuffix(rest, ".dist-info")
		_, v, dash := strings.Cut(v, "-")
		if ok && tail && dash && strings.HasPrefix(v, major+".") {
			return v
		}
	}
	return ""
}
