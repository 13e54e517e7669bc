// Package sysroot reads the files of a system that lies below some folder: this
// machine itself, the unpacked file system of a container, or a small world
// that a test has made. Paths are those of that system, and links stay inside of
// it. Everything is bounded, nothing is written, and nothing but folders and
// ordinary files is opened, so that no pipe or device can hold a reader up.
//
// loader.go knows where the dynamic linker looks for libraries, from the manual
// pages ld.so(8) and ldconfig(8).
package sysroot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Root is a system's root folder.
type Root struct {
	Dir  string // the folder; "" is this machine
	GOOS string // "linux", "windows", "darwin"; "" is that of this program
}

// maxLinks is how many links one path may go through, as in the Linux kernel.
const maxLinks = 40

// OS returns the operating system.
func (r Root) OS() string {
	if r.GOOS == "" {
		return runtime.GOOS
	}
	return r.GOOS
}

// Join puts the parts of a path together with the system's separator.
func (r Root) Join(parts ...string) string {
	if r.OS() != "windows" {
		return path.Join(parts...)
	}
	var kept []string
	for _, p := range parts {
		if p = strings.TrimRight(p, `\/`); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, `\`)
}

// IsAbs reports whether a path is absolute on the system.
func (r Root) IsAbs(p string) bool {
	if r.OS() != "windows" {
		return strings.HasPrefix(p, "/")
	}
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// List splits a list of folders such as PATH.
func (r Root) List(value string) []string {
	if value == "" {
		return nil
	}
	if r.OS() == "windows" {
		return strings.Split(value, ";")
	}
	return strings.Split(value, ":")
}

// place returns where a path lies on this machine. Drives of Windows are folders
// of another root.
func (r Root) place(p string) string {
	if r.Dir == "" {
		return p
	}
	if r.OS() == "windows" {
		p = strings.ReplaceAll(p, `\`, "/")
		if len(p) > 1 && p[1] == ':' {
			p = p[:1] + p[2:]
		}
	}
	return filepath.Join(r.Dir, filepath.FromSlash(path.Clean("/"+p)))
}

// Resolve follows all links of a path and returns where it leads. The path with
// an error is the one that is not there.
func (r Root) Resolve(p string) (string, error) { return r.follow(p, true) }

func (r Root) follow(p string, last bool) (string, error) {
	if !r.IsAbs(p) {
		return p, fmt.Errorf("%s: not an absolute path", p)
	}
	if r.OS() == "windows" {
		_, err := os.Lstat(r.place(p))
		return p, r.say(p, err)
	}
	todo := strings.Split(path.Clean(p), "/")
	at := "/"
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := os.Lstat(r.place(next))
		if err != nil {
			return next, r.say(next, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 || len(todo) == 0 && !last {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return next, fmt.Errorf("%s: too many links", p)
		}
		target, err := os.Readlink(r.place(next))
		if err != nil {
			return next, r.say(next, err)
		}
		if path.IsAbs(target) {
			at = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return at, nil
}

// say gives an error the path of the system instead of that on this machine.
func (r Root) say(p string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", p, err)
}

// Stat describes what a path leads to.
func (r Root) Stat(p string) (fs.FileInfo, error) {
	real, err := r.follow(p, true)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(r.place(real))
	return info, r.say(p, err)
}

// Exists reports whether a path leads to anything.
func (r Root) Exists(p string) bool {
	_, err := r.Stat(p)
	return err == nil
}

// IsDir reports whether a path leads to a folder.
func (r Root) IsDir(p string) bool {
	info, err := r.Stat(p)
	return err == nil && info.IsDir()
}

// Lstat describes a path itself, be it a link that leads nowhere.
func (r Root) Lstat(p string) (fs.FileInfo, error) {
	at, err := r.follow(p, false)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(r.place(at))
	return info, r.say(p, err)
}

// Readlink returns the target of a link as it is written.
func (r Root) Readlink(p string) (string, error) {
	at, err := r.follow(p, false)
	if err != nil {
		return "", err
	}
	target, err := os.Readlink(r.place(at))
	return target, r.say(p, err)
}

// ReadFile returns at most limit bytes from the beginning of an ordinary file.
func (r Root) ReadFile(p string, limit int64) ([]byte, error) {
	real, err := r.follow(p, true)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(r.place(real))
	if err != nil {
		return nil, r.say(p, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not an ordinary file", p)
	}
	f, err := os.Open(r.place(real))
	if err != nil {
		return nil, r.say(p, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return b, r.say(p, err)
}

// Line returns a short file's first line without the space around it, "" if it
// cannot be read. It is for the one-line files of /sys.
func (r Root) Line(p string) string {
	b, err := r.ReadFile(p, 256)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(strings.TrimRight(line, "\x00"))
}

// ReadDir returns at most limit names of a folder in order. A folder with more
// is cut off before it is put in order.
func (r Root) ReadDir(p string, limit int) ([]string, error) {
	real, err := r.follow(p, true)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(r.place(real)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", p)
	}
	f, err := os.Open(r.place(real))
	if err != nil {
		return nil, r.say(p, err)
	}
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if err == io.EOF {
		err = nil
	}
	slices.Sort(names)
	return names, r.say(p, err)
}

// Access reports why this user may not read what a path leads to, or may not
// write it; nil if the permission bits allow it. Nothing is opened.
func (r Root) Access(p string, write bool) error {
	real, err := r.follow(p, true)
	if err != nil {
		return err
	}
	return r.say(p, access(r.place(real), write))
}
