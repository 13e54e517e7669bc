package sysroot

import (
	"encoding/binary"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
)

// Dir is a folder that the dynamic linker of Linux searches.
type Dir struct {
	Path string
	From string // "LD_LIBRARY_PATH", the configuration file that names it, or Standard
}

// Standard is where the folders come from that are searched without being named.
const Standard = "the standard folders"

// Bounds on what a configuration can make us read.
const (
	maxConfFiles = 128
	maxConfBytes = 64 << 10
	maxDirs      = 512
)

// LoaderDirs returns the folders that the dynamic linker searches, in order:
// those of LD_LIBRARY_PATH, those of /etc/ld.so.conf, then the standard ones.
// The linker itself reads /etc/ld.so.cache, which ldconfig makes from the same
// configuration; a cache that is out of date, and the RPATH of a program, are
// not seen here.
func (r Root) LoaderDirs(ldLibraryPath string) []Dir {
	var c conf
	for _, p := range strings.FieldsFunc(ldLibraryPath, func(c rune) bool { return c == ':' || c == ';' }) {
		c.add(r, p, "LD_LIBRARY_PATH")
	}
	c.read(r, "/etc/ld.so.conf", 0)
	for _, p := range standardDirs() {
		c.add(r, p, Standard)
	}
	return c.dirs
}

// standardDirs are searched on Debian's multiarch systems and on all others.
func standardDirs() []string {
	triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	var out []string
	if triplet != "" {
		out = append(out, "/lib/"+triplet, "/usr/lib/"+triplet)
	}
	return append(out, "/lib64", "/usr/lib64", "/lib", "/usr/lib")
}

// conf collects the folders of /etc/ld.so.conf and the files that it includes.
type conf struct {
	dirs  []Dir
	seen  map[string]bool
	files int
}

func (c *conf) add(r Root, p, from string) {
	if !r.IsAbs(p) || len(c.dirs) == maxDirs {
		return
	}
	p = path.Clean(p)
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !c.seen[p] {
		c.seen[p] = true
		c.dirs = append(c.dirs, Dir{p, from})
	}
}

// read follows one configuration file: a folder a line, comments after #, and
// lines that include other files by a pattern, relative to this one.
func (c *conf) read(r Root, file string, depth int) {
	if c.files++; c.files > maxConfFiles || depth > 4 {
		return
	}
	b, err := r.ReadFile(file, maxConfBytes)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "include":
			for _, pattern := range strings.Fields(rest) {
				if !r.IsAbs(pattern) {
					pattern = path.Join(path.Dir(file), pattern)
				}
				for _, f := range r.glob(pattern) {
					c.read(r, f, depth+1)
				}
			}
		case word == "hwcap":
		case line != "":
			// Old files write "folder=type".
			p, _, _ := strings.Cut(line, "=")
			c.add(r, strings.TrimSpace(p), file)
		}
	}
}

// glob returns the paths that match a pattern in the last part of a path.
func (r Root) glob(pattern string) []string {
	dir, last := path.Split(pattern)
	names, err := r.ReadDir(path.Clean(dir), maxConfFiles)
	if err != nil {
		return nil
	}
	var out []string
	for _, n := range names {
		if ok, err := path.Match(last, n); err == nil && ok {
			out = append(out, path.Join(dir, n))
		}
	}
	return out
}

// Library is a file that the dynamic linker would take for a name.
type Library struct {
	Path    string // where it is found
	Real    string // what Path leads to; of a dangling link what is not there
	From    string // where the folder comes from, as in Dir
	Version string // what follows ".so." in the name of Real, "1" where nothing more is told
	Fault   Fault
}

// Fault says why a file that is found is no library.
type Fault string

// The faults of a library. With a link that leads nowhere the linker goes on
// to the next folder; at the others it stops.
const (
	Dangling Fault = "a link that leads nowhere"
	Empty    Fault = "an empty file"
	NotELF   Fault = "not an ELF file"
)

// Libraries returns the files of a name in the folders, in order. Libraries for
// another processor are left out, as the linker passes them by.
func (r Root) Libraries(name string, dirs []Dir) []Library {
	var out []Library
	for _, d := range dirs {
		p := path.Join(d.Path, name)
		if _, err := r.Lstat(p); err != nil {
			continue
		}
		l := Library{Path: p, From: d.From}
		real, err := r.Resolve(p)
		l.Real = real
		switch {
		case err != nil:
			l.Fault = Dangling
		default:
			fault, ours := r.library(real)
			if !ours {
				continue
			}
			l.Fault = fault
		}
		if _, v, ok := strings.Cut(path.Base(real), ".so."); ok {
			l.Version = v
		}
		// The same file through /lib and /usr/lib is one find.
		if !slices.ContainsFunc(out, func(o Library) bool { return o.Real == l.Real }) {
			out = append(out, l)
		}
	}
	return out
}

// First returns the library that the linker would take: the first that is not a
// dangling link. ok is false if there is none.
func First(libs []Library) (l Library, ok bool) {
	for _, l := range libs {
		if l.Fault != Dangling {
			return l, true
		}
	}
	return Library{}, false
}

// ELF machine numbers, for the processors that CUDA has libraries for.
var machines = map[string]uint16{"amd64": 62, "arm64": 183}

// library looks at the first bytes of a file: what is wrong with it, and
// whether it is for this program's processor. A file that may not be read
// counts as a library.
func (r Root) library(p string) (fault Fault, ours bool) {
	info, err := r.Stat(p)
	if err != nil {
		return Dangling, true
	}
	if info.Mode()&fs.ModeType != 0 {
		return NotELF, true
	}
	if info.Size() == 0 {
		return Empty, true
	}
	b, err := r.ReadFile(p, 20)
	if err != nil {
		return "", true
	}
	if len(b) < 20 || string(b[:4]) != "\x7fELF" {
		return NotELF, true
	}
	want, known := machines[runtime.GOARCH]
	if !known {
		return "", true
	}
	return "", b[4] == 2 && binary.LittleEndian.Uint16(b[18:]) == want
}
