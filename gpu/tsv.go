package gpu

import (
	_ "embed"
	"strconv"
	"strings"

	"fatview/arch"
)

//go:embed data/sm.tsv
var smTSV string

//go:embed data/ptx.tsv
var ptxTSV string

//go:embed data/drivers.tsv
var driversTSV string

//go:embed data/gpus.tsv
var gpusTSV string

// rows splits a table into its rows of exactly columns cells, without the
// heading. A row of another width is left out: a test counts the rows, so that
// a slip in a table fails there and not in front of a user.
func rows(table string, columns int) [][]string {
	var out [][]string
	_, body, _ := strings.Cut(table, "\n")
	for line := range strings.Lines(body) {
		cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(cells) == columns {
			out = append(out, cells)
		}
	}
	return out
}

// cell reads the cells of one row and remembers whether any was malformed.
type cell struct{ bad bool }

func (c *cell) version(s string) arch.Version {
	v, err := arch.ParseVersion(s)
	c.bad = c.bad || err != nil
	return v
}

// optVersion reads a cell that may be empty, which is the zero version.
func (c *cell) optVersion(s string) arch.Version {
	if s == "" {
		return arch.Version{}
	}
	return c.version(s)
}

func (c *cell) optInt(s string) int {
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	c.bad = c.bad || err != nil || n <= 0
	return n
}

func (c *cell) arch(s string) arch.Arch {
	a, err := arch.Parse(s)
	c.bad = c.bad || err != nil
	return a
}

func (c *cell) yes(s string) bool {
	c.bad = c.bad || (s != "yes" && s != "no")
	return s == "yes"
}

func (c *cell) text(s string) string {
	c.bad = c.bad || s == "" || s != strings.TrimSpace(s)
	return s
}
