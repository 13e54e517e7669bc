package pack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// A file is an entry of a package to build. Without a kind it is a regular one.
type file struct {
	name, body string
	kind       byte   // of tar
	link       string // target
	method     uint16 // of zip
}

func tarOfFiles(t testing.TB, files ...file) []byte {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: f.kind, Linkname: f.link, Mode: 0o644, Size: int64(len(f.body))}
		if f.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		must(t, w.WriteHeader(h))
		_, err := w.Write([]byte(f.body))
		must(t, err)
	}
	must(t, w.Close())
	return buf.Bytes()
}

func zipOfFiles(t testing.TB, files ...file) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for _, f := range files {
		fw, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: f.method})
		must(t, err)
		_, err = fw.Write([]byte(f.body))
		must(t, err)
	}
	must(t, w.Close())
	return buf.Bytes()
}

func gz(t testing.TB, data []byte) []byte {
	return packed(t, data, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

func zst(t testing.TB, data []byte) []byte {
	return packed(t, data, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
}

func xzip(t testing.TB, data []byte) []byte {
	return packed(t, data, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
}

func packed(t testing.TB, data []byte, open func(io.Writer) (io.WriteCloser, error)) []byte {
	var buf bytes.Buffer
	w, err := open(&buf)
	must(t, err)
	_, err = w.Write(data)
	must(t, err)
	must(t, w.Close())
	return buf.Bytes()
}

// arOf follows ar(5): the size in decimal, data padded to an even offset.
func arOf(files ...file) []byte {
	b := []byte("!<arch>\n")
	for _, f := range files {
		b = fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, 0, 0, 0, 0o644, len(f.body))
		b = append(b, f.body...)
		if len(b)%2 == 1 {
			b = append(b, '\n')
		}
	}
	return b
}

// noise is content that no compression makes smaller.
func noise(n int) string {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return string(b)
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	must(t, err)
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func digestOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func jsonOf(t testing.TB, v any) []byte {
	b, err := json.Marshal(v)
	must(t, err)
	return b
}

// dockerSave builds what docker save writes: each image is a tag and layers
// from the lowest up.
func dockerSave(t testing.TB, images map[string][][]byte) []byte {
	var files []file
	type entry struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	var list []entry
	for _, tag := range sortedKeys(images) {
		var ids, names []string
		for _, l := range images[tag] {
			name := digestOf(l) + "/layer.tar"
			if !slices.ContainsFunc(files, func(f file) bool { return f.name == name }) {
				files = append(files, file{name: name, body: string(l)})
			}
			ids, names = append(ids, "sha256:"+digestOf(l)), append(names, name)
		}
		config := jsonOf(t, map[string]any{"rootfs": map[string]any{"type": "layers", "diff_ids": ids}})
		files = append(files, file{name: digestOf(config) + ".json", body: string(config)})
		list = append(list, entry{digestOf(config) + ".json", []string{tag}, names})
	}
	files = append(files, file{name: "manifest.json", body: string(jsonOf(t, list))})
	return tarOfFiles(t, files...)
}

// An ociImage is one entry of an index.
type ociImage struct {
	platform string // "linux/amd64", "" for none
	ref      string
	layers   [][]byte
	absent   bool // listed and not there
}

// ociFiles are the files of a layout.
func ociFiles(t testing.TB, images ...ociImage) map[string][]byte {
	files := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	add := func(mediaType string, b []byte) map[string]any {
		files["blobs/sha256/"+digestOf(b)] = b
		return map[string]any{"mediaType": mediaType, "digest": "sha256:" + digestOf(b), "size": len(b)}
	}
	var list []any
	for _, im := range images {
		var layers []any
		for _, l := range im.layers {
			layers = append(layers, add("application/vnd.oci.image.layer.v1.tar+gzip", l))
		}
		m := jsonOf(t, map[string]any{"schemaVersion": 2, "config": add("application/vnd.oci.image.config.v1+json", []byte("{}")), "layers": layers})
		d := add("application/vnd.oci.image.manifest.v1+json", m)
		if im.absent {
			delete(files, "blobs/sha256/"+digestOf(m))
		}
		if os, arch, ok := strings.Cut(im.platform, "/"); ok {
			d["platform"] = map[string]any{"os": os, "architecture": arch}
		}
		if im.ref != "" {
			d["annotations"] = map[string]any{"org.opencontainers.image.ref.name": im.ref}
		}
		list = append(list, d)
	}
	files["index.json"] = jsonOf(t, map[string]any{"schemaVersion": 2, "manifests": list})
	return files
}

func ociTar(t testing.TB, images ...ociImage) []byte {
	var files []file
	m := ociFiles(t, images...)
	for _, name := range sortedKeys(m) {
		files = append(files, file{name: name, body: string(m[name])})
	}
	return tarOfFiles(t, files...)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// A seen is one visited member with its whole content.
type seen struct {
	path, pkg, layer, link, body string
	size                         int64
}

// walk collects members and opens each. TempDir is checked to be empty after.
func walk(t testing.TB, data []byte, name string, lim Limits) ([]seen, *Summary, error) {
	t.Helper()
	var got []seen
	sum, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), name, lim, collect(t, &got))
	return got, sum, err
}

func collect(t testing.TB, got *[]seen) func(*Member) error {
	return func(m *Member) error {
		s := seen{path: m.Path, pkg: m.Package, layer: m.Layer, link: m.LinkOf, size: m.Size}
		b, err := m.Open()
		if err != nil {
			s.body = "error: " + err.Error()
		} else {
			body, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
			must(t, err)
			must(t, b.Close())
			if !bytes.HasPrefix(body, m.Head) || len(m.Head) != min(len(body), 4096) {
				t.Errorf("%s: head of %d bytes is not the beginning of %d", m.Path, len(m.Head), len(body))
			}
			s.body = string(body)
		}
		*got = append(*got, s)
		return nil
	}
}

// listing is one line for each member: path=body.
func listing(got []seen) string {
	var lines []string
	for _, s := range got {
		body := s.body
		if len(body) > 30 {
			body = fmt.Sprintf("(%d)", len(body))
		}
		lines = append(lines, s.path+"="+body)
	}
	return strings.Join(lines, "\n")
}

// expect walks and compares the listing. There must be no finding.
func expect(t *testing.T, data []byte, name string, want ...string) *Summary {
	t.Helper()
	got, sum, err := walk(t, data, name, Limits{TempDir: t.TempDir()})
	must(t, err)
	if l := listing(got); l != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", l, strings.Join(want, "\n"))
	}
	for _, f := range sum.Findings {
		t.Errorf("finding: %v", f)
	}
	return sum
}

// finding returns the one finding whose message contains the text.
func finding(t *testing.T, sum *Summary, text string) Finding {
	t.Helper()
	var found []Finding
	for _, f := range sum.Findings {
		if strings.Contains(f.Message, text) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d findings with %q among %v", len(found), text, sum.Findings)
	}
	return found[0]
}
