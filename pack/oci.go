package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Names that the OCI image layout specification gives, and annotations that
// name images.
const (
	layoutFile      = "oci-layout"
	indexFile       = "index.json"
	annotationRef   = "org.opencontainers.image.ref.name"
	annotationName  = "io.containerd.image.name"
	annotationType  = "vnd.docker.reference.type" // set on what describes an image and is none
	platformUnknown = "unknown"
)

// IsLayout tells whether a folder is an OCI image layout.
func IsLayout(fsys fs.FS) bool {
	for _, name := range []string{layoutFile, indexFile} {
		info, err := fs.Stat(fsys, name)
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// WalkLayout is Walk for an OCI image layout in a folder. Use os.Root's FS for
// one from a stranger: links in it then lead nowhere else. Blobs that the
// visitor opens keep the files of the folder open until they are closed.
func WalkLayout(ctx context.Context, fsys fs.FS, lim Limits, visit func(*Member) error) (*Summary, error) {
	if !IsLayout(fsys) {
		return nil, ErrNotPackage
	}
	w := newWalker(ctx, lim, visit)
	defer w.store.file.done()
	w.sum.Format = FormatOCI
	images, err := w.ociImages(dirBlobs{w, fsys})
	if err == nil && len(images) == 0 {
		err = errors.New("there is no image in the layout")
	}
	if err != nil && w.halted == nil {
		return nil, err
	}
	return w.finish(w.walkImages(place{}, images))
}

// dirBlobs are the files of a layout folder.
type dirBlobs struct {
	w    *walker
	fsys fs.FS
}

func (d dirBlobs) key(name string) string { return name }

func (d dirBlobs) open(name string) (source, func(), error) {
	none := func() {}
	if !fs.ValidPath(name) {
		return source{}, none, fs.ErrNotExist
	}
	// Asked first, because opening a pipe would wait for its other end.
	info, err := fs.Stat(d.fsys, name)
	if err != nil {
		return source{}, none, err
	}
	if !info.Mode().IsRegular() {
		return source{}, none, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := d.fsys.Open(name)
	if err != nil {
		return source{}, none, err
	}
	var b *backing
	if at, ok := f.(io.ReaderAt); ok {
		b = newBacking(at, info.Size(), f.Close)
	} else {
		b, err = d.w.store.put(&meter{d.w, f}, func(int64) error { return nil })
		f.Close()
		if err != nil {
			return source{}, none, err
		}
	}
	return b.source(), func() { b.release() }, nil
}

// ociImages reads the index of a layout and the manifests that it leads to.
func (w *walker) ociImages(b blobs) ([]image, error) {
	data, err := readManifest(b, indexFile)
	if err != nil {
		return nil, err
	}
	r := ociReader{w: w, b: b, seen: map[v1.Hash]bool{}}
	if err := r.index(data, "", 1); err != nil {
		return nil, fmt.Errorf("%s: %w", indexFile, err)
	}
	return r.images, nil
}

type ociReader struct {
	w      *walker
	b      blobs
	seen   map[v1.Hash]bool
	images []image
}

// index goes through an index. ref is the name that the index itself has.
func (r *ociReader) index(data []byte, ref string, depth int) error {
	im, err := v1.ParseIndexManifest(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for _, d := range im.Manifests {
		if err := r.w.alive(); err != nil {
			return err
		}
		if r.seen[d.Digest] || d.Annotations[annotationType] != "" {
			continue
		}
		r.seen[d.Digest] = true
		if len(r.images) == maxImages || len(r.seen) > 8*maxImages {
			r.w.find(SeverityError, "", "only the first %d images are read", len(r.images))
			return nil
		}
		r.descriptor(d, ref, depth)
	}
	return nil
}

// descriptor reads what one entry of an index leads to. Layouts often list
// platforms that they do not contain.
func (r *ociReader) descriptor(d v1.Descriptor, ref string, depth int) {
	for _, key := range []string{annotationName, annotationRef} {
		if s := d.Annotations[key]; s != "" {
			ref = s
			break
		}
	}
	label := imageLabel(ref, d)
	data, err := readManifest(r.b, blobName(d.Digest))
	if errors.Is(err, fs.ErrNotExist) {
		r.w.find(SeverityWarning, "", "image %q is listed and is not there", cut(label, 200))
		return
	}
	if err == nil {
		err = r.manifest(d, data, ref, label, depth)
	}
	if err != nil {
		r.w.find(SeverityError, "", "image %q: %v", cut(label, 200), err)
	}
}

func (r *ociReader) manifest(d v1.Descriptor, data []byte, ref, label string, depth int) error {
	if d.MediaType.IsIndex() {
		if depth == maxIndexes {
			return fmt.Errorf("indexes lie deeper than %d", maxIndexes)
		}
		return r.index(data, ref, depth+1)
	}
	m, err := v1.ParseManifest(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if len(m.Layers) > maxLayers {
		return fmt.Errorf("it has %d layers, more than the bound of %d", len(m.Layers), maxLayers)
	}
	im := image{label: label}
	for _, l := range m.Layers {
		im.layers = append(im.layers, blobLayer(r.b, blobName(l.Digest), l.Digest.String()))
	}
	if len(im.layers) > 0 {
		r.images = append(r.images, im)
	}
	return nil
}

// blobName is where a layout keeps a blob. A hash that was parsed has nothing
// but letters and digits.
func blobName(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }

// imageLabel names an image by tag and platform, or else by its digest.
func imageLabel(ref string, d v1.Descriptor) string {
	var parts []string
	if ref != "" {
		parts = append(parts, ref)
	}
	if p := d.Platform; p != nil && p.OS != "" && p.OS != platformUnknown {
		s := p.OS + "/" + p.Architecture
		if p.Variant != "" {
			s += "/" + p.Variant
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return d.Digest.Algorithm + "-" + d.Digest.Hex[:min(12, len(d.Digest.Hex))]
	}
	return strings.Join(parts, "@")
}
