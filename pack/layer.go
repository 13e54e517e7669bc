package pack

import (
	"archive/tar"
	"errors"
	"hash/maphash"
	"io/fs"
	"path"
	"strings"
)

// Names that stand for deletions in a layer (OCI image specification, layer.md).
const (
	whiteout       = ".wh."
	whiteoutOpaque = ".wh..wh..opq"
	whiteoutMeta   = ".wh..wh." // of aufs, no files of the image
)

// What the layers above do to a path in the layers below.
const (
	coverExact   = 1 << iota // hides what is there and no folder
	coverSubtree             // hides what is there and everything below
	coverOpaque              // hides everything below
)

const (
	// maxMerged bounds the work that many images of many shared layers make:
	// paths put together, once for each image.
	maxMerged = 1 << 26
	// maxWanted bounds how many names of hidden files are kept for one layer.
	maxWanted = 10_000
)

// A cover says which paths some layers hide from those below. Paths are kept
// as hashes: a wrong answer takes two of a million with the same 64 bits.
type cover map[uint64]uint8

// A layerState is what is known of a layer that was walked.
type layerState struct {
	cover  cover
	hidden map[uint64]struct{} // files that were not handed out
}

// A layerWalk walks the layers of all images of one package.
type layerWalk struct {
	w      *walker
	seed   maphash.Seed
	states map[string]*layerState
}

// walkImages hands out the files of images as they would be seen in a container.
func (w *walker) walkImages(pl place, images []image) error {
	l := layerWalk{w, maphash.MakeSeed(), map[string]*layerState{}}
	for _, im := range images {
		at := pl
		if len(images) > 1 {
			label := w.names.take(pl.prefix + w.clean(pl, im.label))
			at.prefix, at.pkg = label+"!", label
		}
		if err := l.image(at, im); err != nil {
			return err
		}
	}
	return nil
}

// image goes from the last layer to the first, so that each content is read
// once and only if it is to be seen.
func (l *layerWalk) image(pl place, im image) error {
	above := cover{}
	for i := len(im.layers) - 1; i >= 0; i-- {
		if err := l.w.alive(); err != nil {
			return err
		}
		layer := im.layers[i]
		pl.layer = layer.digest
		state := l.states[layer.key]
		switch {
		case state == nil:
			state = &layerState{cover{}, map[uint64]struct{}{}}
			l.states[layer.key] = state
			if err := l.layer(pl, layer, above, state, false); err != nil {
				return err
			}
		case len(state.hidden) > 0:
			// Another image hid some of its files. They may be seen in this one.
			if err := l.layer(pl, layer, above, state, true); err != nil {
				return err
			}
		}
		if l.w.merged += len(state.cover); l.w.merged > maxMerged {
			return l.w.stop("the images share too many layers; the rest is not read")
		}
		for key, bits := range state.cover {
			above[key] |= bits
		}
	}
	return nil
}

// layer walks one layer. again tells that it was walked before, for another
// image, and that only what was hidden then is looked at.
func (l *layerWalk) layer(pl place, layer layer, above cover, state *layerState, again bool) error {
	wanted := map[string][]string{} // hidden files, by the hard links to them that are seen
	fn := l.tarFunc(pl, above, state, again, wanted)
	if err := l.read(pl, layer, fn, !again); err != nil || len(wanted) == 0 {
		return err
	}
	// The content of such a link has gone by.
	return l.read(pl, layer, l.wantedFunc(pl, wanted), false)
}

// read opens a layer and calls fn for each entry. What is not a tar is handed
// out as it is if first is set.
func (l *layerWalk) read(pl place, layer layer, fn tarFunc, first bool) error {
	w := l.w
	src, done, err := layer.open()
	defer done()
	if w.halted != nil {
		return w.halted
	}
	name := "layer " + cut(layer.digest, 100)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it is not there")
		}
		if first {
			w.find(SeverityError, pl.pkg, "%s: %v", name, err)
		}
		return nil
	}
	err = w.transparentTar(pl.pkg, src, fn)
	switch {
	case w.halted != nil:
		return w.halted
	case err == nil || !first:
	case errors.Is(err, errNoTar):
		if err := w.entry(1); err != nil {
			return err
		}
		return w.deliver(pl, w.clean(pl, layer.key), src)
	default:
		w.find(SeverityError, pl.pkg, "%s: %v", name, err)
	}
	return nil
}

// tarFunc delivers the entries of a layer that nothing above hides, and notes
// what the layer hides from those below.
func (l *layerWalk) tarFunc(pl place, above cover, state *layerState, again bool, wanted map[string][]string) tarFunc {
	w := l.w
	member := w.tarMember(pl, nil)
	return func(hdr *tar.Header, src source) error {
		if hdr.Typeflag == tar.TypeXGlobalHeader {
			return nil
		}
		name, _ := cleanName(hdr.Name)
		if isRoot(hdr) {
			return nil
		}
		if l.isWhiteout(name, state.cover) {
			return nil
		}
		folder := hdr.Typeflag == tar.TypeDir
		if !again {
			l.add(state.cover, name, folder)
		}
		key := l.hash(name)
		hides := l.hides(above, name)
		if hides&coverSubtree != 0 || hides&coverExact != 0 && !folder {
			if !folder && !again {
				w.sum.Skipped.Hidden++
				state.hidden[key] = struct{}{}
			}
			return nil
		}
		if again {
			if _, ok := state.hidden[key]; !ok {
				return nil
			}
			delete(state.hidden, key)
		}
		if hdr.Typeflag == tar.TypeLink {
			target, _ := cleanName(hdr.Linkname)
			_, unseen := state.hidden[l.hash(target)]
			if unseen && l.hides(above, target) != 0 && len(wanted) < maxWanted {
				wanted[target] = append(wanted[target], w.clean(pl, hdr.Name))
				return nil
			}
		}
		return member(hdr, src)
	}
}

// wantedFunc delivers hidden files under the names of the links to them.
func (l *layerWalk) wantedFunc(pl place, wanted map[string][]string) tarFunc {
	return func(hdr *tar.Header, src source) error {
		name, _ := cleanName(hdr.Name)
		links := wanted[name]
		if len(links) == 0 || hdr.Typeflag != tar.TypeReg {
			return nil
		}
		delete(wanted, name)
		if err := l.w.deliver(pl, links[0], src); err != nil {
			return err
		}
		for _, link := range links[1:] {
			if err := l.w.deliverLink(pl, link, links[0]); err != nil {
				return err
			}
		}
		return nil
	}
}

// isRoot tells the entry of the root folder, which a layer may have.
func isRoot(hdr *tar.Header) bool {
	return hdr.Typeflag == tar.TypeDir && path.Clean("/"+hdr.Name) == "/"
}

// isWhiteout notes a deletion.
func (l *layerWalk) isWhiteout(name string, c cover) bool {
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	switch {
	case base == whiteoutOpaque:
		c[l.hash(dir)] |= coverOpaque
	case strings.HasPrefix(name, whiteoutMeta) || strings.Contains(name, "/"+whiteoutMeta):
	case strings.HasPrefix(base, whiteout) && len(base) > len(whiteout):
		c[l.hash(path.Join(dir, base[len(whiteout):]))] |= coverSubtree
	default:
		return false
	}
	return true
}

// add notes a path of a layer: a folder hides a file of its name, anything
// else hides a folder too. So do the folders that the path implies.
func (l *layerWalk) add(c cover, name string, folder bool) {
	if folder {
		c[l.hash(name)] |= coverExact
	} else {
		c[l.hash(name)] |= coverExact | coverSubtree
	}
	for dir := parent(name); dir != ""; dir = parent(dir) {
		key := l.hash(dir)
		if c[key]&coverExact != 0 {
			return
		}
		c[key] |= coverExact
	}
}

// hides tells what the layers above do to a path: coverExact or coverSubtree.
func (l *layerWalk) hides(c cover, name string) uint8 {
	if len(c) == 0 {
		return 0
	}
	bits := c[l.hash(name)] & (coverExact | coverSubtree)
	for dir := name; dir != ""; {
		dir = parent(dir)
		if c[l.hash(dir)]&(coverSubtree|coverOpaque) != 0 {
			return bits | coverSubtree
		}
	}
	return bits
}

// parent is the folder of a path, "" for the root.
func parent(name string) string {
	return name[:max(strings.LastIndexByte(name, '/'), 0)]
}

func (l *layerWalk) hash(name string) uint64 { return maphash.String(l.seed, name) }
