package dist

import (
	"bytes"
	"fmt"
	"strings"
)

// claim begins what a manifest in a *.dist-info or *.egg-info folder says. The
// name of the folder stands in until the metadata is met: "name-version", and
// for an egg "name-version-py3.11-linux_x86_64".
func (m manifest) claim(kind string) claim {
	c := claim{id: kind + "\x00" + m.id, kind: kind, root: rebox(m.box, m.root)}
	c.name = cut(m.stem)
	if i := strings.Index(c.name, "-py"); i > 0 {
		c.name = c.name[:i]
	}
	if i := strings.LastIndexByte(c.name, '-'); i > 0 {
		c.name, c.version = c.name[:i], c.name[i+1:]
	}
	return c
}

// pythonClaim adds what is the project's without being listed: in a wheel
// everything, and the *.data folder that an installer would spread out.
func (m manifest) pythonClaim() claim {
	c := m.claim(kindPython)
	if !strings.HasSuffix(m.id, ".dist-info") {
		return c
	}
	if m.root == "" && strings.HasSuffix(strings.ToLower(m.box), ".whl") {
		c.folder, c.whole = clean(m.box), true
	} else {
		c.folder, c.whole = strings.TrimSuffix(m.id, ".dist-info")+".data", true
	}
	return c
}

// readMetadata reads the Name and Version of METADATA and PKG-INFO, which are
// the headers of a mail message ("Core metadata specifications").
func readMetadata(m manifest, content []byte) ([]claim, error) {
	c := m.pythonClaim()
	err := c.headers(content, "Name")
	return []claim{c}, err
}

// readEgg reads the metadata of an egg, a folder or zip that setup.py install
// put its files into.
func readEgg(m manifest, content []byte) ([]claim, error) {
	c := m.claim(kindPython)
	c.folder, c.whole = clean(rebox(m.box, m.root)), true
	err := c.headers(content, "Name")
	return []claim{c}, err
}

// headers takes name and version from the first paragraph of content.
func (c *claim) headers(content []byte, nameKey string) error {
	var name, version string
	eachField(content, func(key, value string) bool {
		switch {
		case key == "":
			return false // the description follows
		case name == "" && strings.EqualFold(key, nameKey):
			name = value
		case version == "" && strings.EqualFold(key, "Version"):
			version = value
		}
		return name == "" || version == ""
	})
	if name == "" || len(name) > maxName || len(version) > maxName {
		return fmt.Errorf("no usable %s in the first paragraph", nameKey)
	}
	c.name, c.version, c.sure = name, version, true
	return nil
}

// eachField calls f with the fields of a mail header or of a Debian control
// file, and with an empty key at a line that is blank. Continuations are left
// out: names and versions have none.
func eachField(content []byte, f func(key, value string) bool) {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	for len(content) > 0 {
		line, rest, _ := bytes.Cut(content, []byte("\n"))
		content = rest
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			if !f("", "") {
				return
			}
			continue
		}
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(key) == 0 || len(key) > 64 || key[0] == ' ' || key[0] == '\t' {
			continue
		}
		value = bytes.TrimSpace(value)
		if !f(string(key), string(value[:min(len(value), maxName+1)])) {
			return
		}
	}
}

// readRecord reads the paths of a RECORD: lines of comma-separated values, of
// which the first is a path relative to the folder that holds the *.dist-info.
func readRecord(m manifest, content []byte) ([]claim, error) {
	c := m.pythonClaim()
	err := eachLine(content, func(line []byte) bool {
		entry, ok := recordPath(line)
		if ok {
			c.list(m.box, m.root, entry)
		}
		return ok
	})
	return []claim{c}, err
}

// recordPath is the first field of a line of RECORD. A path that holds a comma
// or a quote is quoted, with quotes doubled; a line break in one is not read.
func recordPath(line []byte) (string, bool) {
	if line[0] != '"' {
		field, _, _ := bytes.Cut(line, []byte(","))
		return string(field), len(field) <= maxPath
	}
	for i := 1; i < len(line) && i <= 2*maxPath; i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			i++
			continue
		}
		return strings.ReplaceAll(string(line[1:i]), `""`, `"`), i+1 == len(line) || line[i+1] == ','
	}
	return "", false
}

// readInstalledFiles reads what pip noted of a project without a wheel: a path
// a line, relative to the *.egg-info folder.
func readInstalledFiles(m manifest, content []byte) ([]claim, error) {
	c := m.claim(kindPython)
	err := eachLine(content, func(line []byte) bool {
		c.list(m.box, m.dir, string(line[:min(len(line), maxPath+1)]))
		return len(line) <= maxPath
	})
	return []claim{c}, err
}

// list enters a path unless it is text or leads nowhere.
func (c *claim) list(box, folder, entry string) {
	if !mayHoldCode(entry) {
		return
	}
	if full, ok := join(box, folder, entry); ok {
		c.listed = append(c.listed, full)
	}
}

// eachLine calls f for the lines that are not blank. The error names the first
// line that f refuses; the others are read all the same.
func eachLine(content []byte, f func(line []byte) bool) error {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	first, bad := 0, 0
	for n := 1; len(content) > 0; n++ {
		if n > maxLines {
			return fmt.Errorf("more than %d lines, the rest is not read", maxLines)
		}
		line, rest, _ := bytes.Cut(content, []byte("\n"))
		content = rest
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !f(line) {
			if bad++; bad == 1 {
				first = n
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("line %d is damaged, and %d more", first, bad-1)
	}
	return nil
}

func cut(s string) string { return s[:min(len(s), maxName)] }
