package pack

import (
	"hash/maphash"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxName is Linux' PATH_MAX. Longer names are cut.
const maxName = 4096

// cleanName makes a name that lies inside the package: relative, with slashes,
// valid UTF-8, without "..", NUL or a drive. It tells whether that changed more
// than "./" and doubled or trailing slashes.
func cleanName(raw string) (name string, changed bool) {
	name = raw
	if len(name) > maxName {
		name = name[:maxName]
	}
	if !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0 {
		name = strings.ToValidUTF8(name, "\uFFFD")
		name = strings.ReplaceAll(name, "\x00", "\uFFFD")
	}
	name = strings.ReplaceAll(name, `\`, "/")
	changed = name != raw || strings.HasPrefix(name, "/")
	for part := range strings.SplitSeq(name, "/") {
		changed = changed || part == ".."
	}
	for {
		// Under a root, ".." has nowhere to go.
		name = strings.TrimPrefix(path.Clean("/"+name), "/")
		switch {
		case len(name) > maxName: // what is replaced may become longer
			name = strings.ToValidUTF8(name[:maxName], "")
			continue
		case len(name) >= 2 && name[1] == ':' && isLetter(name[0]):
			name, changed = name[:1]+"/"+name[2:], true
			continue
		}
		break
	}
	if name == "" {
		return "unnamed", true
	}
	return name, changed
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// clean is cleanName with a finding where it changed something.
func (w *walker) clean(pl place, raw string) string {
	name, changed := cleanName(raw)
	if changed {
		if w.renamed++; w.renamed <= maxNameFindings {
			w.find(SeverityWarning, pl.prefix+name, "name was changed from %q to lie inside the package", cut(raw, 200))
		}
	}
	return name
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// names tells members of one name apart. It keeps hashes: a million names may
// be long. Two names of one hash would only earn the second a needless "#2".
type names struct {
	seed  maphash.Seed
	count map[uint64]int32
}

func newNames() names {
	return names{maphash.MakeSeed(), map[uint64]int32{}}
}

// take returns the name, with "#2" and so on if it was taken before.
func (s names) take(name string) string {
	key := maphash.String(s.seed, name)
	n := s.count[key]
	if n == 0 {
		s.count[key] = 1
		return name
	}
	for {
		n++
		next := numbered(name, n)
		if h := maphash.String(s.seed, next); s.count[h] == 0 {
			s.count[h], s.count[key] = 1, n
			return next
		}
	}
}

// latest is what take last returned for a name.
func (s names) latest(name string) string {
	if n := s.count[maphash.String(s.seed, name)]; n > 1 {
		return numbered(name, n)
	}
	return name
}

func numbered(name string, n int32) string { return name + "#" + strconv.Itoa(int(n)) }

// singleName is what one packed file is called without its suffix.
func singleName(base string) string {
	for _, suffix := range []string{".zst", ".zstd", ".gz", ".xz", ".bz2"} {
		if n := len(base) - len(suffix); n >= 0 && strings.EqualFold(base[n:], suffix) {
			base = base[:n]
			break
		}
	}
	if base == "" || base == "." || base == "/" {
		return "content"
	}
	name, _ := cleanName(base)
	return name
}
