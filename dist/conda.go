package dist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// readCondaMeta reads what conda notes of one package of an environment: name,
// version and files, which are relative to the environment.
func readCondaMeta(m manifest, content []byte) ([]claim, error) {
	c := m.claim(kindConda)
	var files json.RawMessage
	err := members(content, func(key string, value json.RawMessage) {
		switch key {
		case "name":
			c.name = text(value)
		case "version":
			c.version = text(value)
		case "files":
			files = value
		}
	})
	if c.name == "" {
		return nil, errors.Join(err, errors.New("no usable name of a conda package"))
	}
	c.sure = true
	return []claim{c}, errors.Join(err, c.listJSON(m, files))
}

// listJSON enters the paths of a JSON array; what is no string is passed over.
func (c *claim) listJSON(m manifest, files json.RawMessage) error {
	if len(files) == 0 || files[0] != '[' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(files))
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("list of files is damaged: %w", err)
	}
	for n := 0; d.More(); n++ {
		if n == maxLines {
			return fmt.Errorf("more than %d files, the rest is not read", maxLines)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("list of files is damaged: %w", err)
		}
		var file string
		if len(value) <= 6*maxPath && json.Unmarshal(value, &file) == nil {
			c.list(m.box, m.root, file)
		}
	}
	return nil
}

// readCondaIndex reads the name and version of a package that is packed or
// unpacked but not installed. Everything in it is its own, so that its list of
// files is not needed. Other programs have an info/index.json too: only one
// that says for which platform and in which build it comes is conda's.
func readCondaIndex(m manifest, content []byte) ([]claim, error) {
	c := m.claim(kindConda)
	c.name, c.version = "", ""
	var build, subdir bool
	err := members(content, func(key string, value json.RawMessage) {
		switch key {
		case "name":
			c.name = text(value)
		case "version":
			c.version = text(value)
		case "build":
			build = text(value) != ""
		case "subdir", "depends":
			subdir = true
		}
	})
	if err != nil || !build || !subdir || c.name == "" {
		return nil, err
	}
	c.sure, c.folder, c.whole = true, clean(c.root), true
	return []claim{c}, nil
}
