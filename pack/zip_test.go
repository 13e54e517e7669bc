package pack

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"testing"
)

func TestZipOddities(t *testing.T) {
	data := zipOfFiles(t, file{name: "a", body: "secret"}, file{name: "b", body: "stored"}, file{name: "c", body: "good"}, file{name: "dir/"})
	// Offsets of the directory (APPNOTE 4.3.12): flags at 8, method at 10.
	dir := bytes.Index(data, []byte("PK\x01\x02"))
	data[dir+8] |= 1
	second := dir + 4 + bytes.Index(data[dir+4:], []byte("PK\x01\x02"))
	data[second+10] = 14 // LZMA
	got, sum, err := walk(t, data, "", Limits{})
	must(t, err)
	if listing(got) != "c=good" {
		t.Errorf("got %s", listing(got))
	}
	if f := finding(t, sum, "encrypted"); f.Path != "a" || f.Severity != SeverityError {
		t.Errorf("%v", f)
	}
	if f := finding(t, sum, "method 14"); f.Path != "b" || f.Severity != SeverityError {
		t.Errorf("%v", f)
	}
}

// More entries than the 16 bits of an ordinary zip can count.
func TestZip64(t *testing.T) {
	files := make([]file, 70_000)
	for i := range files {
		files[i].name = fmt.Sprint(i)
	}
	data := zipOfFiles(t, files...)
	sum, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", Limits{}, func(*Member) error { return nil })
	must(t, err)
	if sum.Members != len(files) || len(sum.Findings) != 0 {
		t.Errorf("%+v", sum)
	}
}

func TestZipModes(t *testing.T) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range []struct {
		mode fs.FileMode
		body string
	}{{0o644, "a"}, {fs.ModeSymlink | 0o777, "target"}, {fs.ModeNamedPipe, ""}, {fs.ModeDevice, "content after all"}} {
		h := &zip.FileHeader{Name: fmt.Sprint(e.mode)}
		h.SetMode(e.mode)
		fw, err := w.CreateHeader(h)
		must(t, err)
		_, err = fw.Write([]byte(e.body))
		must(t, err)
	}
	must(t, w.Close())
	sum := expect(t, buf.Bytes(), "", "-rw-r--r--=a", "D---------=content after all")
	if sum.Skipped != (Skipped{Links: 1, Devices: 1}) {
		t.Errorf("%+v", sum.Skipped)
	}
}
