package fleet

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// column is what a column of a table tells.
type column int

const (
	colOther column = iota
	colName
	colCC
	colDriver
	colCUDA
	colHost
	colCount
	colMIG
)

// columns are the names that headers give: nvidia-smi's fields with their other
// names, and the ones for lists written by hand.
var columns = map[string]column{
	"name": colName, "gpu_name": colName, "product": colName, "gpu": colName,
	"compute_cap": colCC, "cc": colCC,
	"driver_version": colDriver, "driver": colDriver,
	"cuda_version": colCUDA, "cuda": colCUDA,
	"host": colHost, "hostname": colHost, "node": colHost,
	"count":            colCount,
	"mig.mode.current": colMIG, "mig": colMIG,
}

// smiOnly are fields by which a header is known for nvidia-smi's; so is every
// one with a dot in it.
var smiOnly = []string{"gpu_name", "compute_cap", "driver_version", "uuid", "gpu_uuid", "index", "timestamp"}

// header is what is known of the columns of the rows below it.
type header struct {
	columns []column
	name    int  // the column of the name, -1 without one
	smi     bool // nvidia-smi wrote it
}

// headerOf reads a header line. It is one if it has a column for the name, or
// nvidia-smi's for the capability, and no column twice.
func headerOf(cells []string) (header, bool) {
	h := header{name: -1}
	if !slices.ContainsFunc(cells, func(s string) bool { return columns[fieldOf(s)] == colName || fieldOf(s) == "compute_cap" }) {
		return h, false
	}
	var used [colMIG + 1]bool
	for i, cell := range cells {
		field := fieldOf(cell)
		col := columns[field]
		if col != colOther && used[col] {
			return h, false
		}
		used[col] = true
		if col == colName {
			h.name = i
		}
		h.smi = h.smi || strings.Contains(field, ".") || slices.Contains(smiOnly, field)
		h.columns = append(h.columns, col)
	}
	return h, len(cells) > 1 || fieldOf(cells[0]) != "gpu" // which is a word, too
}

// fieldOf returns the field that a cell of a header names, without the unit:
// "memory.total" of "memory.total [MiB]".
func fieldOf(cell string) string {
	if len(cell) > 64 {
		return ""
	}
	field, _, _ := strings.Cut(cell, " [")
	return strings.ToLower(strings.TrimSpace(field))
}

// readTable reads rows under a header, which may come again for every host, or
// nvidia-smi's rows without one.
func readTable(r io.Reader, c *collector) error {
	t := table{collector: c}
	if err := eachLine(r, t.line); err != nil {
		return err
	}
	if t.smi {
		c.format = SMICSV
	}
	return nil
}

type table struct {
	*collector
	header *header
	host   string // of ansible's line above the rows
	skip   bool   // ansible tells of a failure, in JSON, until its next line
	smi    bool
}

func (t *table) line(n int, line string) error {
	line = strings.TrimSpace(line)
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	if host, ok, is := ansibleHost(line); is {
		t.host, t.skip = host, !ok
		if !ok {
			t.problem("host "+host, true, "ansible could not ask it")
		}
		return nil
	}
	if t.skip {
		return nil
	}
	host, line := splitHost(line)
	if host == "" {
		host = t.host
	}
	cells := splitCells(line)
	if h, ok := headerOf(cells); ok {
		t.header, t.smi = &h, t.smi || h.smi
		return nil
	}
	if strings.HasPrefix(line, "No devices were found") {
		return nil // nvidia-smi's word for a host without GPUs
	}
	h := t.header
	if h == nil {
		guess, ok := guessHeader(cells, func(s string) bool {
			f := t.lookup(s)
			return f.err == nil && f.exact
		})
		if !ok {
			t.problem(fmt.Sprintf("line %d", n), true, "%q is no row about a GPU", clip(line))
			return nil
		}
		h, t.smi = &guess, true
	}
	cells, ok := h.fit(cells)
	if !ok {
		t.problem(fmt.Sprintf("line %d", n), true, "%q has not the columns of the header", clip(line))
		return nil
	}
	return t.row(n, host, h, cells)
}

// fit joins the cells of a name that has commas in it, which nvidia-smi does
// not quote.
func (h *header) fit(cells []string) ([]string, bool) {
	more := len(cells) - len(h.columns)
	switch {
	case more == 0:
		return cells, true
	case more < 0 || h.name < 0:
		return nil, false
	}
	out := append([]string{}, cells[:h.name]...)
	out = append(out, strings.Join(cells[h.name:h.name+more+1], ", "))
	return append(out, cells[h.name+more+1:]...), true
}

func (t *table) row(n int, host string, h *header, cells []string) error {
	x := told{line: n, host: host, count: 1}
	for i, cell := range cells {
		switch h.columns[i] {
		case colName:
			x.name = cell
		case colCC:
			x.cc = cell
		case colDriver:
			x.driver = cell
		case colCUDA:
			x.cuda = cell
		case colHost:
			if value(cell) != "" {
				x.host = cell
			}
		case colCount:
			if value(cell) != "" {
				x.count = number(cell)
			}
		case colMIG:
			x.mig = migMode(cell)
		}
	}
	return t.add(x)
}

// migMode reads nvidia-smi's mode, which tells no profile, or a profile.
func migMode(s string) string {
	switch s = strings.ToLower(value(s)); s {
	case "disabled", "no", "off", "false":
		return ""
	case "enabled", "yes", "on", "true":
		return unknownProfile
	}
	return s
}

// The shapes of nvidia-smi's values.
var (
	driverShape = regexp.MustCompile(`^[1-9][0-9]{2}\.[0-9]{1,3}(\.[0-9]{1,3})?$`)
	ccShape     = regexp.MustCompile(`^[1-9][0-9]?\.[0-9]$`)
	otherShape  = regexp.MustCompile(`^(?:[0-9.]+(?: [a-zA-Z%]+)?|(?:GPU|MIG)-[0-9a-fA-F/-]+|[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]|0x[0-9a-fA-F]+|P[0-9]{1,2})$`)
)

// guessHeader tells what the cells of a row without a header are by their
// shapes. It is sure if just one of them is a GPU, by the maker's name or by
// the catalogue. known asks the catalogue, which is slow.
func guessHeader(cells []string, known func(string) bool) (header, bool) {
	h := header{name: -1, smi: true, columns: make([]column, len(cells))}
	used := map[column]bool{}
	asked := 0
	for i, cell := range cells {
		col := colOther
		switch cell = strings.TrimSpace(cell); {
		case driverShape.MatchString(cell):
			col = colDriver
		case ccShape.MatchString(cell):
			col = colCC
		case value(cell) == "", len(cell) > maxText, otherShape.MatchString(cell), cell == "Enabled", cell == "Disabled", cell == "Default":
		case bare(cell) != cell:
			col, h.name = colName, i
		case asked < 8:
			asked++
			if known(cell) {
				col, h.name = colName, i
			}
		}
		if col != colOther && used[col] {
			return h, false
		}
		used[col] = true
		h.columns[i] = col
	}
	// A bare word such as "titan" in some text is no row.
	return h, used[colName] && (len(cells) > 1 || bare(cells[0]) != cells[0])
}
