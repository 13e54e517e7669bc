package dist

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// debClaim begins what is said of a Debian package of one database. A file of
// the database may carry the architecture in its name, "libc6:amd64.list";
// packages of two architectures that share a name share a version too.
func (m manifest) debClaim(pkg string) claim {
	pkg, _, _ = strings.Cut(cut(pkg), ":")
	return claim{id: kindDeb + "\x00" + m.id + "\x00" + pkg, kind: kindDeb, root: rebox(m.box, m.root), name: pkg}
}

// readControl reads the control file of a package, which owns all that is
// packed with it.
func readControl(m manifest, content []byte) ([]claim, error) {
	c := m.debClaim("")
	if err := c.headers(content, "Package"); err != nil {
		return nil, err
	}
	c.folder, c.whole = clean(c.root), true
	return []claim{c}, nil
}

// readStatus reads the paragraphs of dpkg's status file, or the only one of a
// file in status.d. Packages whose Status is not "installed" are removed ones.
func readStatus(m manifest, content []byte) ([]claim, error) {
	var out []claim
	var pkg, version, status string
	found, n := 0, 0
	end := func() bool {
		if pkg == "" {
			return true
		}
		if n++; n > maxDists {
			return false
		}
		stem := pkg
		if m.stem != "" {
			stem = m.stem
		}
		c := m.debClaim(stem)
		c.name, c.version, c.sure = pkg, version, true
		if found++; status == "" || strings.HasSuffix(status, " installed") {
			out = append(out, c)
		}
		pkg, version, status = "", "", ""
		return true
	}
	eachField(content, func(key, value string) bool {
		if key == "" {
			return end()
		}
		if len(value) > maxName {
			return true
		}
		switch {
		case strings.EqualFold(key, "Package"):
			pkg = value
		case strings.EqualFold(key, "Version"):
			version = value
		case strings.EqualFold(key, "Status"):
			status = value
		}
		return true
	})
	if end(); n > maxDists {
		return out, fmt.Errorf("more than %d packages, the rest is not read", maxDists)
	}
	if found == 0 && len(bytes.TrimSpace(content)) > 0 {
		return nil, errors.New("no Package field")
	}
	return out, nil
}

// readList reads dpkg's list of the files of a package: absolute paths, one a
// line, each folder before what is in it.
func readList(m manifest, content []byte) ([]claim, error) {
	c := m.debClaim(m.stem)
	var last string
	err := eachLine(content, func(line []byte) bool {
		if last != "" && !bytes.HasPrefix(line, []byte(last+"/")) {
			c.listMerged(m, last)
		}
		last = string(line[:min(len(line), maxPath+1)])
		return len(line) <= maxPath
	})
	c.listMerged(m, last)
	return []claim{c}, err
}

// readMD5Sums reads the list of a distroless image: a checksum, two spaces and
// a path without its leading slash.
func readMD5Sums(m manifest, content []byte) ([]claim, error) {
	c := m.debClaim(m.stem)
	err := eachLine(content, func(line []byte) bool {
		sum, file, ok := bytes.Cut(line, []byte(" "))
		file = bytes.TrimPrefix(file, []byte(" "))
		if !ok || len(sum) != 32 || len(file) == 0 || len(file) > maxPath {
			return false
		}
		c.listMerged(m, string(file))
		return true
	})
	return []claim{c}, err
}

// listMerged enters a path that counts from the root of the system. Where /lib
// is a link to /usr/lib, dpkg goes on to list what packages put into /lib
// (wiki.debian.org, "UsrMerge"), but the files are found in /usr/lib.
func (c *claim) listMerged(m manifest, file string) {
	file = strings.TrimLeft(file, "/")
	c.list(m.box, m.root, file)
	switch top, _, _ := strings.Cut(file, "/"); top {
	case "lib", "lib32", "lib64", "libx32", "bin", "sbin":
		c.list(m.box, m.root, "usr/"+file)
	}
}
