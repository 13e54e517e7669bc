package kernels

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"fatview/index"
)

// Formats returns the names of the formats.
func Formats() []string { return []string{"text", "csv", "json", "ndjson"} }

// Style says how the formats look.
type Style struct {
	Raw   bool // mangled names in the table
	Width int  // columns of the terminal that the table goes to; 0: not cut
}

// A sink is a format: it is given the rows one by one.
type sink interface {
	begin() error
	row(*Row) error
	end(count int) error
}

// Write lists the kernels of files in a format, as they are read, and returns
// how many there were.
func Write(ctx context.Context, w io.Writer, format string, files []*index.File, o Options, s Style) (count int, err error) {
	b := bufio.NewWriter(w)
	var to sink
	switch format {
	case "text":
		to = &textSink{w: b, files: files, style: s}
	case "csv":
		to = newCSV(b, files)
	case "json":
		to = newJSON(b, files)
	case "ndjson":
		to = newNDJSON(b, files)
	default:
		return 0, fmt.Errorf("unknown format %q: choose one of %s", format, strings.Join(Formats(), ", "))
	}
	if o.Sort != "" && !slices.Contains(Sorts(), o.Sort) {
		return 0, fmt.Errorf("cannot sort by %q: choose one of %s", o.Sort, strings.Join(Sorts(), ", "))
	}
	if err := to.begin(); err != nil {
		return 0, err
	}
	err = Each(ctx, files, o, func(r *Row) error {
		count++
		return to.row(r)
	})
	if err != nil {
		return count, err
	}
	if err := to.end(count); err != nil {
		return count, err
	}
	return count, b.Flush()
}
