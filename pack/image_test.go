package pack

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// Three layers, from the lowest up, and what a container would see: deletions,
// a folder made anew, replaced files, a file for a folder and the reverse.
func threeLayers(t testing.TB) [][]byte {
	return [][]byte{
		tarOfFiles(t,
			file{name: "usr/lib/keep.so", body: "low"}, file{name: "usr/lib/gone.so", body: "low"}, file{name: "usr/lib/new.so", body: "low"},
			file{name: "opt/", kind: tar.TypeDir}, file{name: "opt/a/old.so", body: "low"}, file{name: "opt/b.so", body: "low"},
			file{name: "dir/x", body: "low"}, file{name: "file", body: "low"}, file{name: "tree/a", body: "low"}, file{name: "tree/b/c", body: "low"},
			file{name: "etc/link", body: "low"}, file{name: "etcetera", body: "low"}),
		tarOfFiles(t,
			file{name: "usr/lib/.wh.gone.so"}, file{name: "usr/lib/new.so", body: "mid"}, file{name: "opt/.wh..wh..opq"}, file{name: "opt/b.so", body: "mid"},
			file{name: "dir", body: "mid: now a file"}, file{name: "file/x", body: "mid: now a folder"}, file{name: ".wh.tree"}, file{name: "tree/d", body: "mid"},
			file{name: "etc", kind: tar.TypeSymlink, link: "usr"}, file{name: ".wh..wh.plnk/1.2", body: "aufs"}),
		tarOfFiles(t, file{name: "usr/lib/new.so", body: "top"}, file{name: "usr/lib/.wh.top.so"}, file{name: "usr/lib/top.so", body: "top"}, file{name: "tree/", kind: tar.TypeDir}),
	}
}

var merged = []string{
	"usr/lib/new.so=top", "usr/lib/top.so=top",
	"opt/b.so=mid", "dir=mid: now a file", "file/x=mid: now a folder", "tree/d=mid",
	"usr/lib/keep.so=low", "etcetera=low",
}

func TestLayers(t *testing.T) {
	layers := threeLayers(t)
	zipped := [][]byte{gz(t, layers[0]), zst(t, layers[1]), layers[2]}
	docker := dockerSave(t, map[string][][]byte{"repo/x:1": layers})
	oci := ociTar(t, ociImage{layers: zipped, ref: "latest", platform: "linux/amd64"})
	for name, data := range map[string][]byte{"docker": docker, "oci": oci, "docker.tar.gz": gz(t, docker), "oci.tar.zst": zst(t, oci)} {
		t.Run(name, func(t *testing.T) {
			sum := expect(t, data, name, merged...)
			// Of the lowest layer all but keep.so and etcetera, of the middle
			// new.so.
			if want := 9 + 1; sum.Skipped.Hidden != want || sum.Skipped.Links != 1 {
				t.Errorf("%+v", sum.Skipped)
			}
			got, _, err := walk(t, data, name, Limits{})
			must(t, err)
			of := layers
			if strings.HasPrefix(name, "oci") {
				of = zipped
			}
			for i, layer := range []int{2, 2, 1, 1, 1, 1, 0, 0} {
				if want := "sha256:" + digestOf(of[layer]); got[i].layer != want || got[i].pkg != "" {
					t.Errorf("%s is of %s in %q, want %s", got[i].path, got[i].layer, got[i].pkg, want)
				}
			}
		})
	}
	expect(t, zipOfFiles(t, file{name: "image.tar", body: string(docker)}), "", prefixed("image.tar!", merged)...)
}

func prefixed(prefix string, lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, prefix+l)
	}
	return out
}

// Layers that images share are handed out with the first of them, and what only
// the first hides with the second.
func TestSharedLayers(t *testing.T) {
	base := tarOfFiles(t, file{name: "base.so", body: "b"}, file{name: "old.so", body: "o"})
	cover := tarOfFiles(t, file{name: ".wh.old.so"}, file{name: "one.so", body: "1"})
	other := tarOfFiles(t, file{name: "two.so", body: "2"})
	data := dockerSave(t, map[string][][]byte{"im-a:1": {base, cover}, "im-b:1": {base, other}, "im-c:1": {base, other}})
	sum := expect(t, data, "", "im-a:1!one.so=1", "im-a:1!base.so=b", "im-b:1!two.so=2", "im-b:1!old.so=o")
	if sum.Skipped.Hidden != 1 {
		t.Errorf("%+v", sum.Skipped)
	}
	// Hidden in every image by the same deletion.
	expect(t, dockerSave(t, map[string][][]byte{"im-a:1": {base, cover}, "im-b:1": {base, cover, other}}), "",
		"im-a:1!one.so=1", "im-a:1!base.so=b", "im-b:1!two.so=2")

	oci := ociTar(t, ociImage{platform: "linux/amd64", layers: [][]byte{base, other}}, ociImage{platform: "linux/arm64", ref: "v1", layers: [][]byte{cover}},
		ociImage{layers: [][]byte{base}, ref: "absent", absent: true})
	got, sum, err := walk(t, oci, "", Limits{})
	must(t, err)
	if l := listing(got); l != "linux/amd64!two.so=2\nlinux/amd64!base.so=b\nlinux/amd64!old.so=o\nv1@linux/arm64!one.so=1" {
		t.Errorf("got %s", l)
	}
	if got[0].pkg != "linux/amd64" {
		t.Errorf("package %q", got[0].pkg)
	}
	if f := finding(t, sum, "is listed and is not there"); f.Severity != SeverityWarning {
		t.Errorf("%v", f)
	}
}

// A hard link that is seen although the file it names is not has the content.
func TestHardLinkToHidden(t *testing.T) {
	low := tarOfFiles(t, file{name: "lib/a.so", body: "elf"}, file{name: "lib/b.so", kind: tar.TypeLink, link: "lib/a.so"}, file{name: "lib/c.so", kind: tar.TypeLink, link: "lib/a.so"})
	top := tarOfFiles(t, file{name: "lib/.wh.a.so"})
	got, _, err := walk(t, dockerSave(t, map[string][][]byte{"x": {low, top}}), "", Limits{})
	must(t, err)
	if len(got) != 2 || got[0].path != "lib/b.so" || got[0].body != "elf" || got[1].path != "lib/c.so" || got[1].link != "lib/b.so" {
		t.Errorf("got %+v", got)
	}
}

func TestImageOddities(t *testing.T) {
	layer := tarOfFiles(t, file{name: "x.so", body: "elf"})
	d := digestOf(layer)
	manifest := `[{"Config":"c.json","RepoTags":null,"Layers":["` + d + `/layer.tar","gone/layer.tar","odd/layer.tar"]}]`
	data := tarOfFiles(t,
		file{name: d + "/layer.tar", kind: tar.TypeSymlink, link: "../" + strings.Repeat("0", 64) + "/layer.tar"},
		file{name: strings.Repeat("0", 64) + "/layer.tar", body: string(layer)},
		file{name: "odd/layer.tar", body: "a model, not a tar"}, file{name: "manifest.json", body: manifest})
	got, sum, err := walk(t, data, "", Limits{})
	must(t, err)
	if listing(got) != "odd/layer.tar=a model, not a tar\nx.so=elf" {
		t.Errorf("got %s", listing(got))
	}
	if f := finding(t, sum, "it is not there"); f.Severity != SeverityError {
		t.Errorf("%v", f)
	}

	// A manifest.json of something else makes no image.
	for _, body := range []string{`{"name":"extension"}`, `[]`, `nonsense`, `[{"Layers":[]}]`} {
		got, _, err := walk(t, tarOfFiles(t, file{name: "manifest.json", body: body}, file{name: "x", body: "1"}), "", Limits{})
		must(t, err)
		if listing(got) != "manifest.json="+body+"\nx=1" {
			t.Errorf("got %s", listing(got))
		}
	}

	// A compressed image that is cut before its manifest is read as a tar.
	cut := gz(t, dockerSave(t, map[string][][]byte{"x": {layer, tarOfFiles(t, file{name: "y", body: noise(100_000)})}}))[:50_000]
	got, sum, err = walk(t, cut, "", Limits{})
	must(t, err)
	if len(got) == 0 || got[0].path != d+"/layer.tar!x.so" || got[0].body != "elf" {
		t.Errorf("got %s", listing(got))
	}
	finding(t, sum, "content is damaged after")
}

func TestLayoutFolder(t *testing.T) {
	layers := threeLayers(t)
	layers[0] = gz(t, layers[0])
	files := ociFiles(t, ociImage{layers: layers})
	dir := t.TempDir()
	mem := fstest.MapFS{}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, data, 0o600))
		mem[name] = &fstest.MapFile{Data: data}
	}
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	if !IsLayout(root.FS()) || IsLayout(os.DirFS(filepath.Join(dir, "blobs"))) {
		t.Error("layout is not recognised, or something else is")
	}
	var got []seen
	sum, err := WalkLayout(context.Background(), root.FS(), Limits{}, collect(t, &got))
	must(t, err)
	if listing(got) != strings.Join(merged, "\n") || sum.Format != FormatOCI || len(sum.Findings) != 0 {
		t.Errorf("got\n%s\n%+v", listing(got), sum)
	}

	// Blobs outlive the walk, which has closed the files by then.
	var b *Blob
	_, err = WalkLayout(context.Background(), mem, Limits{}, func(m *Member) error {
		if m.Path != "opt/b.so" {
			return nil
		}
		b, err = m.Open()
		return err
	})
	must(t, err)
	body, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
	if err != nil || string(body) != "mid" {
		t.Errorf("%q, %v", body, err)
	}
	must(t, b.Close())

	// A file system whose files can only be read from the beginning.
	got = nil
	_, err = WalkLayout(context.Background(), streams{mem}, Limits{}, collect(t, &got))
	must(t, err)
	if listing(got) != strings.Join(merged, "\n") {
		t.Errorf("got\n%s", listing(got))
	}

	if _, err := WalkLayout(context.Background(), fstest.MapFS{}, Limits{}, nil); err != ErrNotPackage {
		t.Errorf("error %v", err)
	}
	mem["index.json"] = &fstest.MapFile{Data: []byte("{")}
	if _, err := WalkLayout(context.Background(), mem, Limits{}, nil); err == nil || !strings.Contains(err.Error(), "index.json") {
		t.Errorf("error %v", err)
	}
}

type streams struct{ fs.FS }

func (s streams) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return struct{ fs.File }{f}, nil
}

// Indexes that contain each other end.
func TestIndexLoop(t *testing.T) {
	layer := tarOfFiles(t, file{name: "x.so", body: "elf"})
	files := ociFiles(t, ociImage{layers: [][]byte{layer}})
	// An index cannot name its own digest, but its file can be under any name.
	name := strings.Repeat("ab", 32)
	loop := bytes.Replace(files["index.json"], []byte("[{"), []byte(`[{"mediaType":"application/vnd.oci.image.index.v1+json","size":1,"digest":"sha256:`+name+`"},{`), 1)
	files["index.json"], files["blobs/sha256/"+name] = loop, loop
	mem := fstest.MapFS{}
	for name, data := range files {
		mem[name] = &fstest.MapFile{Data: data}
	}
	var got []seen
	_, err := WalkLayout(context.Background(), mem, Limits{}, collect(t, &got))
	must(t, err)
	if listing(got) != "x.so=elf" {
		t.Errorf("got %s", listing(got))
	}
}
