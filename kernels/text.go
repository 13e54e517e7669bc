package kernels

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"fatview/index"
	"fatview/internal/plain"
)

// textSink writes a table. Its columns have fixed widths, because rows leave
// before the widest is known; a value that does not fit moves the rest of its
// line. The name comes last, so that it can be as long as it is; on a terminal
// it is cut to what room there is.
type textSink struct {
	w     *bufio.Writer
	files []*index.File
	style Style
}

func (t *textSink) begin() error {
	if len(t.files) == 0 {
		return nil
	}
	if t.many() {
		for i, f := range t.files {
			fmt.Fprintf(t.w, "# %d %s\n", i, plain.Text(f.Path))
		}
	} else {
		fmt.Fprintf(t.w, "# %s\n", plain.Text(t.files[0].Path))
	}
	return t.line([]string{"file", "cont", "img", "arch", "regs", "stack", "shared", "const", "bar", "params", "threads", "cluster", "code"}, "kernel")
}

// many reports whether a column has to tell of which file a row is.
func (t *textSink) many() bool { return len(t.files) > 1 }

// columns are the widths; negative: to the left. It does not change.
var columns = []int{4, 5, 4, -14, 5, 6, 7, 10, 4, 7, 9, 8, 8}

func (t *textSink) line(cells []string, name string) error {
	var b strings.Builder
	for i, c := range cells {
		if i == 0 && !t.many() {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%*s", columns[i], c)
	}
	b.WriteByte(' ')
	name = plain.Text(name)
	if t.style.Width > 0 {
		// The room may be less than the numbers take: a terminal then wraps,
		// and the name is cut to what helps to tell kernels apart.
		name = plain.Fit(name, max(16, t.style.Width-b.Len()))
	}
	b.WriteString(name)
	b.WriteByte('\n')
	_, err := t.w.WriteString(b.String())
	return err
}

func (t *textSink) row(r *Row) error {
	name := r.Short
	if t.style.Raw {
		name = r.Name
	}
	cells := []string{strconv.Itoa(r.File), strconv.Itoa(r.Container), strconv.Itoa(r.Image), r.Arch}
	if r.Machine() {
		cells = append(cells, num(r.Registers), num(r.Stack), num(r.Shared), banks(r.Banks()), num(r.Barriers), num(r.Params))
	} else {
		cells = append(cells, "-", "-", "-", "-", "-", "-")
	}
	cells = append(cells, threads(r), dash(dims(r.Cluster)))
	if r.Machine() {
		cells = append(cells, num(r.Code))
	} else {
		cells = append(cells, "-")
	}
	return t.line(cells, name)
}

func (t *textSink) end(int) error { return nil }

func num[T uint32 | uint64](n T) string { return strconv.FormatUint(uint64(n), 10) }

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// threads gives the launch bounds: "256" at most, "=64x2" exactly.
func threads(r *Row) string {
	if s := dims(r.ReqThreads); s != "" {
		return "=" + s
	}
	return dash(dims(r.MaxThreads))
}

// dims writes dimensions without ones at the end, "" for none.
func dims(d [3]uint32) string {
	if d == [3]uint32{} {
		return ""
	}
	s := num(d[0])
	if d[1] != 1 || d[2] != 1 {
		s += "x" + num(d[1])
	}
	if d[2] != 1 {
		s += "x" + num(d[2])
	}
	return s
}

// banks writes "360" for bank 0 alone and "[2]8,[0]360" otherwise.
func banks(list []Bank) string {
	if len(list) == 0 {
		return "0"
	}
	if len(list) == 1 && list[0].Number == 0 {
		return num(list[0].Bytes)
	}
	parts := make([]string, len(list))
	for i, b := range list {
		parts[i] = fmt.Sprintf("[%d]%d", b.Number, b.Bytes)
	}
	return strings.Join(parts, ",")
}
