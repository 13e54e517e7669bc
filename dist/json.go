package dist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxMembers bounds an object; a package.json with 200 is a large one.
const maxMembers = 1 << 16

// members calls f with the members of a JSON object, one after the other and
// undecoded, so that a large one is never whole in memory a second time.
func members(content []byte, f func(key string, value json.RawMessage)) error {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	for n := 0; d.More(); n++ {
		if n == maxMembers {
			return fmt.Errorf("more than %d members, the rest is not read", maxMembers)
		}
		t, err := d.Token()
		key, isKey := t.(string)
		var value json.RawMessage
		if err == nil && isKey {
			err = d.Decode(&value)
		}
		if err != nil {
			return fmt.Errorf("JSON is damaged at 0x%x: %w", d.InputOffset(), err)
		}
		f(key, value)
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("JSON is cut off at 0x%x", d.InputOffset())
	}
	return nil
}

// text is the value of a JSON string, "" for anything else and for what is too
// long to be a name.
func text(value json.RawMessage) string {
	var s string
	if len(value) > 6*maxName || json.Unmarshal(value, &s) != nil || len(s) > maxName {
		return ""
	}
	return s
}
