package kernels

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"fatview/index"
	"fatview/internal/plain"
)

// csvHeader names the columns; those that PTX does not tell are empty in its
// rows. It does not change.
var csvHeader = []string{
	"path", "container", "image", "kind", "arch", "unit", "registers", "stack", "max_stack", "shared", "local", "constant0", "constant_other",
	"textures", "surfaces", "samplers", "barriers", "code", "parameter_bytes", "parameters", "max_threads", "required_threads", "cluster", "kernel", "demangled",
}

// csvSink writes RFC 4180: commas, quotes where they are needed, lines that end
// in CR LF. Text is guarded against spreadsheets by plain.Cell.
type csvSink struct {
	w     *csv.Writer
	files []*index.File
}

func newCSV(w io.Writer, files []*index.File) *csvSink {
	c := &csvSink{csv.NewWriter(w), files}
	c.w.UseCRLF = true
	return c
}

func (c *csvSink) begin() error { return c.w.Write(csvHeader) }

func (c *csvSink) row(r *Row) error {
	cells := []string{
		plain.Cell(c.files[r.File].Path), strconv.Itoa(r.Container), strconv.Itoa(r.Image), r.Kind.String(), r.Arch, plain.Cell(r.Unit),
	}
	if r.Machine() {
		var other []string
		for _, b := range r.Banks() {
			if b.Number != 0 {
				other = append(other, strconv.Itoa(b.Number)+":"+num(b.Bytes))
			}
		}
		cells = append(cells, num(r.Registers), num(r.Stack), num(r.MaxStack), num(r.Shared), "0", num(r.Const), strings.Join(other, " "),
			"0", "0", "0", num(r.Barriers), num(r.Code), num(r.Params), num(r.ParamCount))
	} else {
		cells = append(cells, make([]string, 14)...)
	}
	cells = append(cells, dims(r.MaxThreads), dims(r.ReqThreads), dims(r.Cluster), plain.Cell(r.Name), plain.Cell(r.Short))
	return c.w.Write(cells)
}

func (c *csvSink) end(int) error {
	c.w.Flush()
	return c.w.Error()
}
