package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxName bounds the names of files, in bytes. File systems take 255; the rest
// is left for those who add endings of their own.
const maxName = 180

// CleanName makes of a text from a file a name that every file system takes
// and that leads nowhere: letters and digits of ASCII, and . _ + - = ~, in at most
// limit bytes, which is at least 20. Every other character becomes one "_".
// Names that Windows keeps for devices, such as "con" and "nul.txt", get a "_"
// before them. What is too long loses its middle to a hash of the whole, so that
// different texts stay different. It is never empty and begins with no dot or
// dash.
func CleanName(text string, limit int) string {
	limit = max(20, limit)
	var b strings.Builder
	for _, r := range text {
		if safe(r) {
			b.WriteByte(byte(r))
		} else {
			b.WriteByte('_')
		}
	}
	name := b.String()
	// Windows drops dots at the end, a dot in front hides, a dash makes an option.
	name = strings.TrimRight(strings.TrimLeft(name, ".-"), ".")
	if name == "" || reserved(name) {
		name = "_" + name
	}
	if len(name) > limit {
		sum := sha256.Sum256([]byte(text))
		hash := "~" + hex.EncodeToString(sum[:4]) + "~"
		tail := min(8, limit-len(hash)-8)
		name = strings.TrimRight(name[:limit-len(hash)-tail], ".") + hash + name[len(name)-tail:]
	}
	return name
}

func safe(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+-=~", r)
}

// reserved reports whether Windows takes a name for a device: by what stands
// before the first dot, in any case. The list is in Microsoft's "Naming Files,
// Paths, and Namespaces".
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '0' && stem[3] <= '9'
}

// taken keeps names apart that a file system without case takes for one.
type taken map[string]bool

// name returns the name, with ~2 and so on before its ending if it was taken.
func (t taken) name(stem, ending string) string {
	name := stem + ending
	for n := 2; t[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s~%d%s", stem, n, ending)
	}
	t[strings.ToLower(name)] = true
	return name
}
