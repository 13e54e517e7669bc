package dist

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Manifests without a list of files: a package owns the folder that its
// manifest describes.

// readPackageJSON reads npm's manifest. One without name or version describes
// no package: bundlers write them to say which module system a folder uses.
func readPackageJSON(m manifest, content []byte) ([]claim, error) {
	c := m.claim(kindNPM)
	c.name, c.version = "", ""
	err := members(content, func(key string, value json.RawMessage) {
		switch key {
		case "name":
			c.name = text(value)
		case "version":
			c.version = text(value)
		}
	})
	if c.name == "" || c.version == "" {
		return nil, err
	}
	c.sure, c.folder, c.whole = true, clean(c.root), true
	return []claim{c}, err
}

// maxNuspec bounds the bytes of a nuspec that are looked at: attributes cost
// ten times their size in memory. Its id and version come first.
const maxNuspec = 1 << 20

// readNuspec reads the id and version of NuGet's manifest, which lies at the
// root of a package. Its namespace differs from version to version.
func readNuspec(m manifest, content []byte) ([]claim, error) {
	c := m.claim(kindNuGet)
	d := xml.NewDecoder(bytes.NewReader(content[:min(len(content), maxNuspec)]))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var names [4]string // of the elements that are open
	var id, version []byte
	depth := 0
	for id == nil || version == nil || depth > 2 {
		t, err := d.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("XML is damaged at 0x%x: %w", d.InputOffset(), err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth < len(names) {
				names[depth] = t.Name.Local
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth != 3 || names[1] != "package" || names[2] != "metadata" || len(t) > maxName {
				continue
			}
			switch names[3] {
			case "id":
				id = append(id, t...)
			case "version":
				version = append(version, t...)
			}
		}
		if depth < 0 || len(id) > maxName || len(version) > maxName {
			break
		}
	}
	c.name, c.version = strings.TrimSpace(string(id)), strings.TrimSpace(string(version))
	if c.name == "" || len(c.name) > maxName || len(c.version) > maxName {
		return nil, errors.New("no usable id of a NuGet package")
	}
	if strings.HasPrefix(c.name, "$") { // a template in a source tree
		return nil, nil
	}
	c.sure, c.folder, c.whole = true, clean(c.root), true
	return []claim{c}, nil
}

// readPom reads which Maven artifact a jar is. Jars that were merged hold the
// properties of all their parts; what counts is the one the jar is named for,
// or the only one if the jar's name is not known.
func readPom(m manifest, content []byte) ([]claim, error) {
	var group, artifact, version string
	err := eachLine(content, func(line []byte) bool {
		key, value, ok := bytes.Cut(line, []byte("="))
		value = bytes.TrimSpace(value)
		if line[0] == '#' || !ok || len(value) > maxName {
			return line[0] == '#'
		}
		switch string(bytes.TrimSpace(key)) {
		case "groupId":
			group = string(value)
		case "artifactId":
			artifact = string(value)
		case "version":
			version = string(value)
		}
		return true
	})
	if group == "" || artifact == "" {
		return nil, errors.Join(err, errors.New("no groupId or no artifactId"))
	}
	c := m.claim(kindJar)
	c.name, c.version, c.sure = group+":"+artifact, version, true
	c.folder, c.whole = clean(c.root), true
	switch jar := path.Base(c.root); {
	case m.root != "" || m.box == "":
		c.shared = true
	case jar != artifact+path.Ext(jar) && !strings.HasPrefix(jar, artifact+"-"):
		return nil, err
	}
	return []claim{c}, err
}
