package fleet

import (
	"bytes"
	"io"
	"strings"

	"fatview/gpu"
)

// sampleSize is how much of an input decides on its format: the comments of
// the first metrics of an exporter fit many times.
const sampleSize = 64 << 10

// A reader reads one format into a collector. It may set the collector's
// format to a closer name.
type reader func(io.Reader, *collector) error

// recognise returns the format that the beginning of an input has, or no
// reader.
func recognise(sample []byte) (string, reader) {
	s := bytes.TrimLeft(sample, " \t\r\n")
	switch {
	case len(s) == 0:
		return "", nil
	case s[0] == '{', s[0] == '[' && bytes.HasPrefix(bytes.TrimLeft(s[1:], " \t\r\n"), []byte("{")):
		return Kubernetes, readKubernetes
	case s[0] == '<':
		return SMIXML, readXML
	}
	const mostTried = 100 // lines that may be the first of a table
	tried := 0
	for line := range strings.Lines(string(sample)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "apiVersion:"):
			return "", nil // YAML, where a name stands after a colon too
		case strings.HasPrefix(line, "NodeName="):
			return Slurm, readSlurm
		case strings.HasPrefix(line, "DCGM_FI_"), strings.HasPrefix(line, "# HELP DCGM_FI_"), strings.HasPrefix(line, "# TYPE DCGM_FI_"):
			return DCGM, readDCGM
		case tomlTable.MatchString(line):
			return TOML, readTOML
		case line[0] != '#' && tried < mostTried:
			tried++
			if looksLikeTable(line) {
				return CSV, readTable
			}
		}
	}
	return "", nil
}

// looksLikeTable reports whether a line is a header or a row of a table.
func looksLikeTable(line string) bool {
	_, line = splitHost(line)
	cells := splitCells(line)
	if _, ok := headerOf(cells); ok {
		return true
	}
	_, ok := guessHeader(cells, func(s string) bool {
		_, exact, err := gpu.Lookup(bare(s))
		return err == nil && exact
	})
	return ok
}
