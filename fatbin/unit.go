package fatbin

import (
	"bytes"
	"strings"
)

// unitName finds the translation unit's file in names of the form
// _INTERNAL_<hash>_<length>_<file>_cu_<hash> or _GLOBAL__N__<hash>_…
func unitName(strtab []byte) string {
	for _, prefix := range []string{"_INTERNAL_", "_GLOBAL__N__"} {
		for rest := strtab; ; {
			i := bytes.Index(rest, []byte(prefix))
			if i < 0 {
				break
			}
			rest = rest[i+len(prefix):]
			if name := unitIn(rest); name != "" {
				return name
			}
		}
	}
	return ""
}

// unitIn reads <hash>_<length>_<file>_cu_<hash>, where the length counts the
// file with its ending and the last hash.
func unitIn(b []byte) string {
	if len(b) > 512 {
		b = b[:512]
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	hash, rest, ok := strings.Cut(string(b), "_")
	if !ok || len(hash) < 8 || strings.Trim(hash, "0123456789abcdef") != "" {
		return ""
	}
	digits, rest, ok := strings.Cut(rest, "_")
	if !ok || len(digits) == 0 || len(digits) > 3 {
		return ""
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return ""
		}
		n = n*10 + int(d-'0')
	}
	if n == 0 || n > len(rest) {
		return ""
	}
	name := rest[:n]
	for _, end := range []string{"_cu", "_cpp", "_cc", "_cxx", "_c"} {
		if i := strings.LastIndex(name, end); i > 0 && (i+len(end) == len(name) || name[i+len(end)] == '_') {
			return name[:i] + "." + end[1:]
		}
	}
	return name
}
