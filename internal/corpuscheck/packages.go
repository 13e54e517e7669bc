package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
)

// packages compares what is found in each package (a wheel, an npm tarball, a
// .deb) with what is found in the same files unpacked: everything but the path
// must be equal.
func (c *checker) packages(names []string) {
	for _, n := range names {
		dir := filepath.Join(c.corpus, n)
		for _, pattern := range []string{"*.whl", "*.deb", "*.tgz"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				fatal(err)
			}
			for _, p := range found {
				unpacked := c.files(dir+"/", dir, "--exclude", "*.whl", "--exclude", "*.deb", "--exclude", "*.tgz")
				packed := c.files(p+"!", p)
				what := n + " inside of " + filepath.Ext(p)
				c.compare(what+" files", paths(packed), paths(unpacked))
				for path, f := range unpacked {
					c.compare(what+" "+path+" is equal", reflect.DeepEqual(packed[path], f), true)
				}
			}
		}
	}
}

// files runs fatview on a path and returns the files it found without what
// their paths begin with.
func (c *checker) files(prefix string, args ...string) map[string]any {
	args = append([]string{"report", "--json", "--no-detect", "--gpu", "7.5,9.0,12.0"}, args...)
	out, err := exec.Command(c.fatview, args...).Output()
	if err != nil {
		fatal(fmt.Errorf("fatview %v: %w", args, err))
	}
	var r struct {
		Files []map[string]any `json:"files"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		fatal(err)
	}
	files := map[string]any{}
	for _, f := range r.Files {
		path := strings.TrimPrefix(fmt.Sprint(f["path"]), prefix)
		f["path"] = path
		copies, _ := f["copies"].([]any)
		for i := range copies {
			copies[i] = strings.TrimPrefix(fmt.Sprint(copies[i]), prefix)
		}
		files[path] = f
	}
	return files
}

func paths(files map[string]any) string {
	var out []string
	for p := range files {
		out = append(out, p)
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}
