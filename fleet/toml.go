package fleet

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlGPU is one [[gpu]] of a list written by hand. Versions may stand without
// quotes where that does not change them.
type tomlGPU struct {
	Name   string `toml:"name"`
	Host   string `toml:"host"`
	Count  *int64 `toml:"count"`
	CC     any    `toml:"cc"`
	Driver any    `toml:"driver"`
	CUDA   any    `toml:"cuda"`
	MIG    string `toml:"mig"`
}

// readTOML reads the whole list. Unknown keys are errors, because a misspelt
// count must not pass silently.
func readTOML(r io.Reader, c *collector) error {
	b, err := io.ReadAll(io.LimitReader(r, maxTOML+1))
	if err != nil {
		return err
	}
	if len(b) > maxTOML {
		return fmt.Errorf("more than %d bytes: %w", maxTOML, ErrLarge)
	}
	if err := flat(string(b)); err != nil {
		return err
	}
	var list struct {
		GPU []tomlGPU `toml:"gpu"`
	}
	meta, err := toml.Decode(string(b), &list)
	if err != nil {
		return err
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return fmt.Errorf("unknown key %s", clip(extra[0].String()))
	}
	for i, g := range list.GPU {
		t := told{where: fmt.Sprintf("[[gpu]] %d", i+1), name: g.Name, host: g.Host, mig: g.MIG, count: 1}
		if g.Count != nil {
			t.count = int(max(-1, min(*g.Count, maxCount+1)))
		}
		for _, x := range []struct {
			key  string
			from any
			to   *string
		}{{"cc", g.CC, &t.cc}, {"driver", g.Driver, &t.driver}, {"cuda", g.CUDA, &t.cuda}} {
			s, ok := scalar(x.from)
			if !ok || x.key == "driver" && isFloat(x.from) { // 535.10 would become 535.1
				return fmt.Errorf("%s: write %s in quotes", t.where, x.key)
			}
			*x.to = s
		}
		if err := c.add(t); err != nil {
			return err
		}
	}
	return nil
}

// The lines that a list has: a table for each GPU, and keys with values of one
// line.
var (
	tomlTable = regexp.MustCompile(`^\[\[[ \t]*gpu[ \t]*\]\][ \t]*(?:#.*)?$`)
	tomlValue = regexp.MustCompile(`^([A-Za-z0-9_-]+)[ \t]*=[ \t]*(?:[^\s\[{"']|"(?:[^"]|"[^"]|"$)|'(?:[^']|'[^']|'$))`)
)

// flat refuses all other lines before the parser sees them: it follows arrays
// and inline tables into each other without a bound, and a few hundred dots in
// each key of a small file cost it gigabytes.
func flat(text string) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || tomlTable.MatchString(line) || tomlValue.MatchString(line) {
			continue
		}
		return fmt.Errorf("line %d: %q is neither [[gpu]] nor a key with a text or a number", n, clip(line))
	}
	return nil
}

// scalar writes a value as it stood in the list. It is not ok for a value that
// is neither a text nor a number.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', max(1, decimals(v)), 64), true
	}
	return "", false
}

// decimals is how many digits a number needs after the dot.
func decimals(f float64) int {
	_, after, _ := strings.Cut(strconv.FormatFloat(f, 'f', -1, 64), ".")
	return len(after)
}

func isFloat(v any) bool {
	_, ok := v.(float64)
	return ok
}
