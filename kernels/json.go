package kernels

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"fatview/index"
	"fatview/internal/plain"
)

// A JSONRow is a kernel in JSON. What PTX does not tell is null. Local memory,
// textures, surfaces and samplers are there to compare with cuobjdump, and 0:
// since sm_20 local memory is part of the stack, and of texture references,
// which ended with CUDA 12, cuobjdump prints no number.
type JSONRow struct {
	File        *int     `json:"file,omitempty"` // number in files; JSON only
	Path        string   `json:"path,omitempty"` // NDJSON only
	Container   int      `json:"container"`
	Image       int      `json:"image"`
	Kind        string   `json:"kind"`
	Arch        string   `json:"arch"`
	Unit        string   `json:"unit"`
	Name        string   `json:"name"`
	Short       string   `json:"demangled"`
	Registers   *uint32  `json:"registers"`
	Stack       *uint32  `json:"stack"`
	MaxStack    *uint32  `json:"max_stack"`
	Shared      *uint64  `json:"shared"`
	Local       *uint32  `json:"local"`
	Constant    []Bank   `json:"constant"`
	Textures    *uint32  `json:"textures"`
	Surfaces    *uint32  `json:"surfaces"`
	Samplers    *uint32  `json:"samplers"`
	Barriers    *uint32  `json:"barriers"`
	Code        *uint64  `json:"code"`
	ParamBytes  *uint32  `json:"parameter_bytes"`
	Params      *uint32  `json:"parameters"`
	MaxThreads  []uint32 `json:"max_threads"` // three numbers, or none
	ReqThreads  []uint32 `json:"required_threads"`
	ClusterDims []uint32 `json:"cluster"`
}

// JSONFile is one file of the list that rows refer to.
type JSONFile struct {
	Path       string `json:"path"`
	Format     string `json:"format"`
	Machine    string `json:"machine"`
	Size       int64  `json:"size"`
	Containers int    `json:"containers"`
}

// JSONFinding is something that a reader should know of a file.
type JSONFinding struct {
	File     int    `json:"file"`
	Severity string `json:"severity"`
	Offset   *int64 `json:"offset"` // null where there is none
	Message  string `json:"message"`
}

// NewJSONRow makes the JSON form of a row; the file is for the caller to tell.
func NewJSONRow(r *Row) JSONRow {
	j := JSONRow{
		Container: r.Container, Image: r.Image, Kind: r.Kind.String(), Arch: r.Arch, Unit: r.Unit, Name: r.Name, Short: r.Short,
		Constant: []Bank{}, MaxThreads: list(r.MaxThreads), ReqThreads: list(r.ReqThreads), ClusterDims: list(r.Cluster),
	}
	if r.Machine() {
		k, zero := r.Kernel, uint32(0)
		j.Registers, j.Stack, j.MaxStack, j.Shared, j.Constant = &k.Registers, &k.Stack, &k.MaxStack, &k.Shared, r.Banks()
		j.Local, j.Textures, j.Surfaces, j.Samplers = &zero, &zero, &zero, &zero
		j.Barriers, j.Code, j.ParamBytes, j.Params = &k.Barriers, &k.Code, &k.Params, &k.ParamCount
	}
	return j
}

func list(d [3]uint32) []uint32 {
	if d == [3]uint32{} {
		return []uint32{}
	}
	return d[:]
}

// encodeLine writes a value as JSON on one line.
func encodeLine(w io.Writer, v any) error {
	e := json.NewEncoder(plain.JSON(w))
	e.SetEscapeHTML(false)
	return e.Encode(v) // ends the line
}

// jsonSink writes one object, a row to a line, while rows come. What is known
// only at the end, findings and the count, stands there.
type jsonSink struct {
	w     *bufio.Writer
	files []*index.File
	comma string
}

func newJSON(w *bufio.Writer, files []*index.File) *jsonSink { return &jsonSink{w: w, files: files} }

func (s *jsonSink) begin() error {
	fmt.Fprintf(s.w, "{\n\"schema\": %q,\n\"files\": [\n", Schema)
	for i, f := range s.files {
		if i > 0 {
			s.w.WriteString(",")
		}
		if err := encodeLine(s.w, JSONFile{f.Path, f.Format, f.Machine, f.Size, len(f.Containers)}); err != nil {
			return err
		}
	}
	_, err := s.w.WriteString("],\n\"kernels\": [\n")
	return err
}

func (s *jsonSink) row(r *Row) error {
	s.w.WriteString(s.comma)
	s.comma = ","
	j := NewJSONRow(r)
	j.File = &r.File
	return encodeLine(s.w, j)
}

func (s *jsonSink) end(count int) error {
	s.w.WriteString("],\n\"findings\": [\n")
	comma := ""
	for i, f := range s.files {
		for _, x := range f.Findings() {
			j := JSONFinding{File: i, Severity: string(x.Severity), Message: x.Message}
			if x.Offset >= 0 {
				j.Offset = &x.Offset
			}
			s.w.WriteString(comma)
			comma = ","
			if err := encodeLine(s.w, j); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(s.w, "],\n\"count\": %d\n}\n", count)
	return err
}

// ndjsonSink writes a row to a line, each with its path.
type ndjsonSink struct {
	w     *bufio.Writer
	files []*index.File
}

func newNDJSON(w *bufio.Writer, files []*index.File) *ndjsonSink { return &ndjsonSink{w, files} }

func (s *ndjsonSink) begin() error { return nil }

func (s *ndjsonSink) row(r *Row) error {
	j := NewJSONRow(r)
	j.Path = s.files[r.File].Path
	return encodeLine(s.w, j)
}

func (s *ndjsonSink) end(int) error { return nil }
