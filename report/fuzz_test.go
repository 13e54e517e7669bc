package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fatview/gpu"
	"fatview/index"
)

// FuzzWholePipeline takes any bytes through everything that a report does. The
// same bytes give the same report, and no text carries control characters.
func FuzzWholePipeline(f *testing.F) {
	for _, name := range []string{"mode-concat.fatbin", "raw-sm_35.cubin", "debug.fatbin", "rdc-object.o", "raw-compute_80.ptx", "lto-object.o", "ptx80.so"} {
		b, err := os.ReadFile(filepath.Join("../testdata/fixtures", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	targets, err := gpu.Parse("9.0,8.7,12.0")
	if err != nil {
		f.Fatal(err)
	}
	if targets[1].Driver, err = gpu.ParseDriver("535.104"); err != nil {
		f.Fatal(err)
	}
	once := func(t *testing.T, b []byte) string {
		files, err := index.Read(context.Background(), "x", bytes.NewReader(b), int64(len(b)), nil)
		if err != nil {
			return err.Error()
		}
		for _, f := range files {
			if err := f.Search(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		index.DecodeAll(context.Background(), files, nil)
		r := Build(files, targets)
		for i := range r.Files {
			for _, x := range r.Files[i].Findings {
				if x.Offset != nil && (*x.Offset < 0 || *x.Offset > int64(len(b))) {
					t.Errorf("finding %q lies at %d of %d bytes", x.Message, *x.Offset, len(b))
				}
			}
			for _, c := range r.Files[i].Containers {
				if c.Offset < 0 || c.Offset > int64(len(b)) {
					t.Errorf("container at %d of %d bytes", c.Offset, len(b))
				}
			}
		}
		var text, all bytes.Buffer
		for _, format := range Formats() {
			if err := Write(&all, format, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := Text(&text, r); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(text.String(), "\n") {
			if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c == 0x7F || c >= 0x80 && c < 0xA0 }) {
				t.Errorf("control character in %q", line)
			}
		}
		return all.String()
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if first, second := once(t, b), once(t, b); first != second {
			t.Error("the same bytes gave two reports")
		}
	})
}
