package pack

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// FuzzWalk: no panic, clean paths, bytes and members within the bounds, a blob
// for each member or an error, and nothing left in the temporary folder.
func FuzzWalk(f *testing.F) {
	tarred := tarOfFiles(f, file{name: "lib/x.so", body: "elf"}, file{name: "lib/y.so", kind: '1', link: "lib/x.so"}, file{name: "../z", body: noise(600)})
	zipped := zipOfFiles(f, file{name: "a", body: "deflated", method: zip.Deflate}, file{name: "b.tar", body: string(tarred)}, file{name: "c", body: "zstd", method: 93})
	layer := tarOfFiles(f, file{name: "lib/.wh.x.so"}, file{name: "opt/.wh..wh..opq"}, file{name: "lib/y.so", body: "new"})
	for _, data := range [][]byte{
		tarred, zipped, gz(f, tarred), xzip(f, tarred), zst(f, tarred), unhex(f, tarBzip2), unhex(f, helloBzip2), gz(f, zipped), gz(f, []byte("log")),
		arOf(file{name: "debian-binary", body: "2.0\n"}, file{name: "control.tar.gz", body: string(gz(f, tarred))}, file{name: "data.tar.zst", body: string(zst(f, tarred))}),
		dockerSave(f, map[string][][]byte{"im-a:1": {tarred, layer}, "im-b:1": {tarred}}),
		ociTar(f, ociImage{layers: [][]byte{gz(f, tarred), layer}, platform: "linux/amd64"}, ociImage{layers: [][]byte{layer}}),
		zipOfFiles(f, file{name: "metadata.json", body: "{}"}, file{name: "pkg-x.tar.zst", body: string(zst(f, tarred))}),
		append(gnuSparse(f, "hole.so", "elf", 4096, 8192), tarred...),
		append([]byte("MZ"), zipped...),
	} {
		f.Add(data)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		lim := Limits{Memory: 512, MemoryAll: 1024, Total: 1 << 20, Ratio: 20, Entries: 200, Depth: 3, TempDir: dir, ratioFloor: 4096}
		opened, members := int64(0), 0
		format := Recognise(bytes.NewReader(data), int64(len(data)))
		sum, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "in.zst", lim, func(m *Member) error {
			members++
			checkPath(t, m.Path)
			if m.Package != "" && !strings.HasPrefix(m.Path, m.Package+"!") {
				t.Errorf("%q does not lie in %q", m.Path, m.Package)
			}
			if len(m.Head) > headSize || m.Size < -1 {
				t.Errorf("head of %d bytes, size %d", len(m.Head), m.Size)
			}
			b, err := m.Open()
			if err != nil {
				return nil
			}
			if m.LinkOf != "" || m.Size >= 0 && m.Size != b.Size() {
				t.Errorf("%q: link of %q, size %d, blob of %d", m.Path, m.LinkOf, m.Size, b.Size())
			}
			head := make([]byte, len(m.Head))
			if _, err := b.ReadAt(head, 0); err != nil && len(head) > 0 || !bytes.Equal(head, m.Head) {
				t.Errorf("%q: head differs from content: %v", m.Path, err)
			}
			opened += b.Size()
			return b.Close()
		})
		if (format == "") != errors.Is(err, ErrNotPackage) {
			t.Errorf("recognised as %q, walked with %v", format, err)
		}
		if err == nil {
			if sum.Members != members || members > lim.Entries || sum.Bytes > lim.Total || opened > lim.Total || len(sum.Findings) > maxFindings+3 || sum.Format == "" {
				t.Errorf("%d members of %d bytes: %+v", members, opened, sum)
			}
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("temporary folder has %d files, %v", len(entries), err)
		}
	})
}
