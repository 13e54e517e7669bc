package report

import (
	"fmt"
	"strings"
)

// purl names a distribution as a package URL (purl-spec, "Package-URL
// specification" and its type definitions), "" where it has no name.
//
// Two things are not known and guessed as others do: a Debian package's vendor
// is Ubuntu where the version says so and Debian otherwise, and a kind without a
// type of its own is "generic".
func purl(kind, name, version string) string {
	namespace := ""
	switch kind {
	case "python":
		kind, name = "pypi", pypiName(name)
	case "npm":
		name = strings.ToLower(name)
		if scope, rest, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(scope, "@") {
			namespace, name = scope, rest
		}
	case "deb":
		name, namespace = strings.ToLower(name), "debian"
		if strings.Contains(version, "ubuntu") {
			namespace = "ubuntu"
		}
	case "jar":
		kind = "maven"
		if group, artifact, ok := strings.Cut(name, ":"); ok {
			namespace, name = group, artifact
		}
	case "conda", "nuget":
	default:
		kind = "generic"
	}
	if name == "" {
		return ""
	}
	out := "pkg:" + kind + "/"
	if namespace != "" {
		out += purlEscape(namespace) + "/"
	}
	out += purlEscape(name)
	if version != "" {
		out += "@" + purlEscape(version)
	}
	return out
}

// pypiName is the normalised name: lower case, and a dash for each run of
// dashes, dots and underscores (Python Packaging User Guide, "Names and
// normalization").
func pypiName(name string) string {
	var b strings.Builder
	dash := false
	for _, c := range []byte(strings.ToLower(name)) {
		if c == '-' || c == '_' || c == '.' {
			dash = true
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteByte(c)
	}
	if dash {
		b.WriteByte('-')
	}
	return b.String()
}

// purlEscape percent-encodes each byte but letters, digits, ".-_~" and the
// colon, which is never encoded.
func purlEscape(s string) string { return percent(s, ".-_~:") }

// percent encodes each byte but letters, digits and those of keep.
func percent(s, keep string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
