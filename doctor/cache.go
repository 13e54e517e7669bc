package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"fatview/report"
)

// The bounds of the cache for compiled PTX, in bytes, from the CUDA programming
// guide: what it has unless CUDA_CACHE_MAXSIZE is set, on a Jetson too, and what
// it may have at most.
const (
	cacheDefault  = 1 << 30
	cacheEmbedded = 256 << 20
	cacheMost     = 4 << 30
)

// cachePath is where compiled PTX is kept; "" where no variable tells.
func (w *World) cachePath() string {
	if p := w.get("CUDA_CACHE_PATH"); p != "" {
		return p
	}
	if w.Root.OS() == "windows" {
		if base := w.get("APPDATA"); base != "" {
			return w.Root.Join(base, "NVIDIA", "ComputeCache")
		}
		return ""
	}
	if home := w.get("HOME"); home != "" {
		return path.Join(home, ".nv", "ComputeCache")
	}
	return ""
}

// cacheBound returns the most bytes that are kept, and what is odd about the
// variable that says so.
func (w *World) cacheBound() (bound int64, odd string) {
	bound = cacheDefault
	if w.Root.OS() == "linux" && w.jetson() {
		bound = cacheEmbedded
	}
	v, set := w.getenv("CUDA_CACHE_MAXSIZE")
	if !set || v == "" {
		return bound, ""
	}
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case err != nil || n < 0:
		return bound, "CUDA_CACHE_MAXSIZE is " + v + ", which is no number of bytes"
	case n == 0:
		return 0, "CUDA_CACHE_MAXSIZE is 0, so nothing is kept"
	case n > cacheMost:
		return cacheMost, "CUDA_CACHE_MAXSIZE is " + v + ", and CUDA keeps 4 GiB at most"
	}
	return n, ""
}

// cache looks at the folder where compiled PTX is kept.
func (w *World) cache() Step {
	if w.get("CUDA_CACHE_DISABLE") == "1" {
		return skip("CUDA_CACHE_DISABLE is 1")
	}
	p := w.cachePath()
	bound, odd := w.cacheBound()
	mendPath := "set CUDA_CACHE_PATH to a folder that this user may write"
	switch {
	case p == "":
		return warn("neither CUDA_CACHE_PATH nor the home folder is set, so compiled PTX is not kept", mendPath)
	case !w.Root.IsAbs(p):
		return warn("CUDA_CACHE_PATH is "+p+", which is no absolute path", mendPath)
	}
	var findings []Step
	if odd != "" {
		findings = append(findings, warn(odd, "set CUDA_CACHE_MAXSIZE to bytes, such as 1073741824 for 1 GiB"))
	}
	at := w.existing(p)
	info, err := w.Root.Stat(at)
	switch {
	case err == nil && !info.IsDir():
		return merge(append(findings, warn(at+" is no folder, so compiled PTX is not kept", mendPath))...)
	case w.mayUse(at, true) != nil:
		return merge(append(findings, warn("this user may not write "+at+", so compiled PTX is not kept and every start compiles it again", mendPath))...)
	case at != p:
		return merge(append(findings, pass(p+" does not exist yet, and can be made"))...)
	}
	size, all := w.size(p)
	says := report.Bytes(size)
	if !all {
		says = "at least " + says
	}
	seen := fmt.Sprintf("%s holds %s of at most %s", p, says, report.Bytes(bound))
	if bound > 0 && size > bound/10*9 {
		findings = append(findings, warn(seen+": old entries make room for new ones, and are compiled again when they are needed",
			fmt.Sprintf("raise the bound: CUDA_CACHE_MAXSIZE=%d (4 GiB, the most)", int64(cacheMost)), "or empty the folder, if its entries are of old drivers"))
		return merge(findings...)
	}
	return merge(append(findings, pass(seen))...)
}

// existing returns the deepest folder on the way to a path that is there.
func (w *World) existing(p string) string {
	for range 64 {
		if _, err := w.Root.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			return p
		}
		up := path.Dir(p)
		if w.Root.OS() == "windows" {
			i := strings.LastIndexAny(p, `\/`)
			if i < 3 {
				return p
			}
			up = p[:i]
		}
		if up == p {
			return p
		}
		p = up
	}
	return p
}

// Bounds on counting the cache: entries in all, and depth. CUDA's own has two
// levels.
const (
	mostCached = 100_000
	mostDeep   = 6
)

// size adds up the files of a folder; all is false if there were too many. Links
// are not followed.
func (w *World) size(dir string) (total int64, all bool) {
	left := mostCached
	all = true
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		names, err := w.Root.ReadDir(dir, left+1)
		if err != nil {
			return
		}
		for _, n := range names {
			if left--; left < 0 || depth > mostDeep {
				all = false
				return
			}
			p := w.Root.Join(dir, n)
			info, err := w.Root.Lstat(p)
			switch {
			case err != nil:
			case info.IsDir():
				walk(p, depth+1)
			case info.Mode().IsRegular():
				total += info.Size()
			}
		}
	}
	walk(dir, 0)
	return total, all
}
