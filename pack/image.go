package pack

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Bounds of images. Real manifests are a few kilobytes, and parsed ones take
// seventy times the memory at worst; overlay file systems stack a few hundred
// layers.
const (
	maxManifest = 1 << 20
	maxTable    = 100_000 // entries of an image tar
	maxBlobName = 512
	maxImages   = 256
	maxLayers   = 512
	maxIndexes  = 3 // indexes within indexes
	maxSymlinks = 8
)

// An image is an ordered list of layers, from the lowest to the highest.
type image struct {
	label  string // tag and platform, or a piece of the digest
	layers []layer
}

type layer struct {
	digest string
	key    string // two layers of one key are one
	open   func() (source, func(), error)
}

// blobs is where the pieces of an image are, by name.
type blobs interface {
	// open gives the content and a function that gives it back. The error is
	// fs.ErrNotExist if there is no such blob.
	open(name string) (source, func(), error)
	// key is the same for two names of one blob.
	key(name string) string
}

// tarBlobs are the files of an image in a tar that can be read at random.
type tarBlobs struct {
	files map[string]source
	links map[string]string
}

func (t tarBlobs) key(name string) string {
	for range maxSymlinks {
		to, ok := t.links[name]
		if !ok {
			break
		}
		name = to
	}
	return name
}

func (t tarBlobs) open(name string) (source, func(), error) {
	s, ok := t.files[t.key(name)]
	if !ok {
		return source{}, func() {}, fs.ErrNotExist
	}
	return s, func() {}, nil
}

// imageLike tells by the first names of a tar whether it may hold images.
// Those that docker, podman, skopeo and kaniko write hold nothing else.
func imageLike(head []byte) bool {
	tr := tar.NewReader(bytes.NewReader(head))
	for {
		hdr, err := tr.Next()
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return false
		}
		name, _ := cleanName(hdr.Name)
		if isImageName(name) {
			return true
		}
		if name != "unnamed" { // "./"
			return false
		}
	}
}

func isImageName(name string) bool {
	switch name {
	case "oci-layout", "index.json", "manifest.json", "repositories", "blobs":
		return true
	}
	if strings.HasPrefix(name, "blobs/sha256") || strings.HasPrefix(name, "blobs/sha512") {
		return true
	}
	digest, rest := strings.TrimPrefix(name, "sha256:"), ""
	if i := strings.IndexAny(digest, "./"); i >= 0 {
		digest, rest = digest[:i], digest[i:]
	}
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return false
	}
	return rest == "" || rest[0] == '/' || rest == ".json" || rest == ".tar" || rest == ".tar.gz"
}

// findImages reads the table of a tar and the manifests in it. The format is
// "" if there are none.
func (w *walker) findImages(src source) ([]image, Format, error) {
	t, err := w.tarTable(src)
	if err != nil {
		return nil, "", err
	}
	if _, ok := t.files["oci-layout"]; ok && t.files["index.json"].at != nil {
		images, err := w.ociImages(t)
		if err == nil && len(images) > 0 {
			return images, FormatOCI, nil
		}
		// docker save writes both; what one lacks the other may have.
		if images, err := w.dockerImages(t); err == nil && len(images) > 0 {
			return images, FormatDocker, nil
		}
		return nil, "", err
	}
	if t.files["manifest.json"].at == nil {
		return nil, "", nil
	}
	images, err := w.dockerImages(t)
	if err != nil || len(images) == 0 {
		return nil, "", err
	}
	return images, FormatDocker, nil
}

// tarTable notes where the files of a tar are. Damage ends it: what comes
// before can be used.
func (w *walker) tarTable(src source) (tarBlobs, error) {
	t := tarBlobs{map[string]source{}, map[string]string{}}
	sec := src.section()
	in := &tarInput{r: sec, seeker: sec}
	tr := tar.NewReader(seekInput{in})
	for n := 0; ; n++ {
		if err := w.alive(); err != nil {
			return t, err
		}
		hdr, err := tr.Next()
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return t, nil
		}
		if n == maxTable {
			return t, fmt.Errorf("it has more than %d entries", maxTable)
		}
		name, _ := cleanName(hdr.Name)
		if len(name) > maxBlobName || len(hdr.Linkname) > maxBlobName {
			continue
		}
		switch hdr.Typeflag {
		case tar.TypeReg:
			if s := src.window(in.n, hdr.Size); s.have == s.size && !isSparse(hdr) {
				t.files[name] = s
			}
		case tar.TypeSymlink: // docker links a layer that it has written before
			t.links[name] = strings.TrimPrefix(path.Join("/", path.Dir(name), hdr.Linkname), "/")
		case tar.TypeLink:
			t.links[name], _ = cleanName(hdr.Linkname)
		}
	}
}

// readManifest reads a small blob.
func readManifest(b blobs, name string) ([]byte, error) {
	src, done, err := b.open(name)
	if err != nil {
		return nil, err
	}
	defer done()
	if src.size > maxManifest {
		return nil, fmt.Errorf("%s has %d bytes, more than the bound of %d", name, src.size, maxManifest)
	}
	return io.ReadAll(io.LimitReader(src.reader(), maxManifest))
}

// dockerImages reads manifest.json, which docker save writes: a list of images
// with the files of their layers. Digests of layers are in the configuration.
func (w *walker) dockerImages(b blobs) ([]image, error) {
	data, err := readManifest(b, "manifest.json")
	if err != nil {
		return nil, err
	}
	var list []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	var out []image
	for _, m := range list {
		if len(out) == maxImages {
			w.find(SeverityError, "", "only the first %d images are read", maxImages)
			break
		}
		if len(m.Layers) > maxLayers {
			return nil, fmt.Errorf("an image has %d layers, more than the bound of %d", len(m.Layers), maxLayers)
		}
		label := strings.TrimSuffix(path.Base(m.Config), ".json")
		if len(m.RepoTags) > 0 {
			label = m.RepoTags[0]
		}
		im := image{label: label}
		var ids []v1.Hash
		if data, err := readManifest(b, m.Config); err == nil {
			if c, err := v1.ParseConfigFile(bytes.NewReader(data)); err == nil {
				ids = c.RootFS.DiffIDs
			}
		}
		for i, name := range m.Layers {
			name, _ = cleanName(name)
			digest := name
			if len(ids) == len(m.Layers) {
				digest = ids[i].String()
			}
			im.layers = append(im.layers, blobLayer(b, name, digest))
		}
		if len(im.layers) > 0 {
			out = append(out, im)
		}
	}
	return out, nil
}

func blobLayer(b blobs, name, digest string) layer {
	return layer{digest: digest, key: b.key(name), open: func() (source, func(), error) { return b.open(name) }}
}
