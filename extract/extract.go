// Package extract takes device code out of files: images as cubin, PTX or LTO
// IR, the code of single kernels, whole containers. Cubins and PTX are what
// cuobjdump -xelf and -xptx extract, byte for byte, but for a .version that is
// put back into PTX where the toolkit left it out.
//
// List says what there is to take; a Writer puts it into a folder, out of which
// nothing is written.
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"fatview/fatbin"
	"fatview/index"
	"fatview/kernels"
)

// What says what is taken.
type What uint8

// The things that can be taken.
const (
	Images What = iota
	Containers
	Kernels // the text section of each kernel
)

// A Choice says which items are taken: those that fulfil all of it. The zero
// value takes every image.
type Choice struct {
	What       What
	Containers []int // numbers
	Image      int   // number within its container; used if OneImage
	OneImage   bool
	Archs      []kernels.Arch
	Kinds      []fatbin.Kind
	Kernel     string // part of the name, mangled or not
}

// ParseImage reads "3.0", image 0 of container 3, or "3", the whole container
// with all of its images, into a choice.
func (c *Choice) ParseImage(s string) error {
	container, image, one := strings.Cut(s, ".")
	n, err := number(container)
	if err == nil && one {
		c.Image, err = number(image)
		c.OneImage = true
	}
	if err != nil {
		return fmt.Errorf("%q is no image: write 3.0 for image 0 of container 3, or 3 for all of them", s)
	}
	c.Containers = []int{n}
	return nil
}

func number(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}

// ParseKinds reads the word of a kind: ptx, sass, lto or tileir.
func ParseKinds(s string) ([]fatbin.Kind, error) {
	switch s {
	case "ptx":
		return []fatbin.Kind{fatbin.KindPTX, fatbin.KindRelocatablePTX}, nil
	case "sass":
		return []fatbin.Kind{fatbin.KindCubin, fatbin.KindOldCubin}, nil
	case "lto":
		return []fatbin.Kind{fatbin.KindNVVM}, nil
	case "tileir":
		return []fatbin.Kind{fatbin.KindTileIR}, nil
	}
	return nil, fmt.Errorf("%q is no kind: choose ptx, sass, lto or tileir", s)
}

func (c *Choice) image(i int, im *fatbin.Image) bool {
	return (!c.OneImage || i == c.Image) &&
		(len(c.Kinds) == 0 || slices.Contains(c.Kinds, im.Kind)) &&
		(len(c.Archs) == 0 || slices.ContainsFunc(c.Archs, func(a kernels.Arch) bool { return a.Match(im) }))
}

// An Item is one thing to take: a container, an image, or the code of a kernel.
type Item struct {
	File      *index.File
	FileNo    int
	Container *index.Container
	Image     int // -1: the whole container
	Kernel    int // number in the cubin, -1: the whole image
	Name      string
	Kind      string // sass, ptx, nvvm …; fatbin; code
	Arch      string
	Symbol    string // mangled name of the kernel
}

// maxItems bounds what one run takes.
const maxItems = 1 << 20

var errTooMany = fmt.Errorf("more than %d things to extract: choose fewer", maxItems)

// List returns what a choice takes from files, in their order, with names of
// files that are unique whatever their case. It reads payloads to learn the
// names of translation units and kernels; what cannot be read becomes a finding
// of its file.
func List(ctx context.Context, files []*index.File, c Choice) ([]Item, error) {
	names := taken{}
	var places []index.Place
	for _, p := range index.Places(files) {
		if len(c.Containers) > 0 && !slices.Contains(c.Containers, p.Container.ID) {
			continue
		}
		for i, im := range p.Container.Images {
			if c.image(i, im) {
				places = append(places, p)
				break
			}
		}
	}
	var out []Item
	err := index.InOrder(ctx, len(places), func(i int, dec *fatbin.Decoder) *index.Decoded {
		p := places[i]
		if p.Container.Images[0].Bare() && c.What != Kernels {
			return &index.Decoded{Images: make([]index.Contents, len(p.Container.Images))}
		}
		return p.File.Peek(ctx, p.Container, dec, nil)
	}, func(i int, d *index.Decoded) error {
		if d == nil {
			return ctx.Err()
		}
		out = append(out, c.items(places[i], d, len(files) > 1, names)...)
		if len(out) > maxItems {
			return errTooMany
		}
		return nil
	})
	return out, err
}

// items lists what is taken of one container.
func (c *Choice) items(p index.Place, d *index.Decoded, many bool, names taken) (out []Item) {
	ct := p.Container
	stem := fmt.Sprintf("c%03d", ct.ID)
	if many {
		stem = fmt.Sprintf("f%03d-%s", p.Number, stem)
	}
	label := ""
	if d.Label != "" {
		label = CleanName(d.Label, maxName/2)
	}
	base := Item{File: p.File, FileNo: p.Number, Container: ct, Image: -1, Kernel: -1}
	if c.What == Containers {
		it := base
		it.Kind = "fatbin"
		ending := ".fatbin"
		if im := ct.Images[0]; im.Bare() {
			it.Kind, it.Arch, ending = im.Kind.String(), im.ArchName(), endings(im)
		}
		it.Name = names.name(join("-", stem, label), ending)
		return []Item{it}
	}
	for i, im := range ct.Images {
		if !c.image(i, im) {
			continue
		}
		it := base
		it.Image, it.Kind, it.Arch = i, im.Kind.String(), im.ArchName()
		name := fmt.Sprintf("%s-i%d", stem, i)
		if c.What == Images {
			it.Name = names.name(join(".", join("-", name, label), it.Arch), endings(im))
			out = append(out, it)
			continue
		}
		if im.Kind != fatbin.KindCubin {
			continue
		}
		for n, k := range d.Images[i].Kernels {
			if !kernels.NameMatches(k.Name, c.Kernel) {
				continue
			}
			it.Kernel, it.Symbol, it.Kind = n, k.Name, "code"
			it.Name = names.name(fmt.Sprintf("%s-%s-%s", name, it.Arch, CleanName(k.Name, maxName/2)), ".text")
			out = append(out, it)
		}
	}
	return out
}

func join(by string, a, b string) string {
	if b == "" {
		return a
	}
	return a + by + b
}

// endings returns the ending of the file of an image.
func endings(im *fatbin.Image) string {
	switch im.Kind {
	case fatbin.KindCubin, fatbin.KindOldCubin:
		return ".cubin"
	case fatbin.KindPTX, fatbin.KindRelocatablePTX:
		return ".ptx"
	case fatbin.KindNVVM:
		return ".ltoir"
	case fatbin.KindTileIR:
		return ".tileir"
	}
	return ".bin"
}

// Content is what was read of an item, with what there is to say of it.
type Content struct {
	Bytes      []byte // valid until the decoder is used again
	Offset     int64  // in the file that it came from, of the stored bytes
	Stored     int64
	InCubin    int64    // offset of a kernel's code within its cubin, -1 otherwise
	Kernels    []string // names in it; nil where nobody can tell
	Restored   string   // PTX ISA version that was put back, ""
	Obfuscated bool     // stored bytes, because they are scrambled
}

// A source reads items one after another, and keeps the cubin of the last one
// for the next of its kernels.
type source struct {
	dec   fatbin.Decoder
	im    *fatbin.Image
	bytes []byte
	names []string
	code  []fatbin.Code
	users map[int]int // kernels by section
}

func (s *source) close() { s.dec.Close() }

// read gets the bytes of an item. Those of a whole container are read by copy.
func (s *source) read(it *Item) (*Content, error) {
	im := it.Container.Images[it.Image]
	if it.Kernel >= 0 && s.im == im {
		return s.kernel(it)
	}
	s.im = nil
	b, err := it.File.Payload(im, &s.dec)
	if err != nil {
		return nil, err
	}
	if it.Kernel >= 0 {
		cubin, code, err := fatbin.ParseCode(b)
		if err != nil {
			return nil, err
		}
		s.im, s.bytes, s.code, s.users = im, b, code, map[int]int{}
		s.names = make([]string, len(cubin.Kernels))
		for i, k := range cubin.Kernels {
			s.names[i] = k.Name
			s.users[code[i].Section]++
		}
		return s.kernel(it)
	}
	c := &Content{Bytes: b, Offset: im.PayloadOffset, Stored: im.StoredBytes, InCubin: -1, Obfuscated: im.Flags&fatbin.FlagObfuscated != 0}
	switch im.Kind {
	case fatbin.KindPTX, fatbin.KindRelocatablePTX:
		c.restore(im)
		c.Kernels = kernelsOf(c.Bytes)
	case fatbin.KindCubin:
		c.Kernels = kernelsOf(c.Bytes)
	}
	return c, nil
}

// kernel takes what belongs to one kernel from the cubin that is kept.
func (s *source) kernel(it *Item) (*Content, error) {
	if it.Kernel >= len(s.names) || s.names[it.Kernel] != it.Symbol {
		return nil, errors.New("the file changed while it was being read")
	}
	k := s.code[it.Kernel]
	switch {
	case len(k.Bytes) == 0:
		return nil, fmt.Errorf("kernel %s has no code in it", it.Symbol)
	case s.users[k.Section] > 1:
		// As only hostile cubins have it: a small file would fill the disk.
		return nil, fmt.Errorf("kernel %s shares the section of its code with others", it.Symbol)
	}
	return &Content{Bytes: k.Bytes, Offset: s.im.PayloadOffset, Stored: s.im.StoredBytes, InCubin: k.Off, Kernels: []string{it.Symbol}}, nil
}

// restore puts .version before PTX that lacks it. Every PTX module must begin
// with one; some toolkits keep the version in the entry header only.
func (c *Content) restore(im *fatbin.Image) {
	p, err := fatbin.ParsePTX(c.Bytes)
	isa := im.PTXISA()
	if err != nil || !p.Version.IsZero() || isa.IsZero() {
		return
	}
	head := fmt.Sprintf("// The next line was restored by fatview from the entry header.\n.version %s\n", isa)
	c.Bytes = append([]byte(head), c.Bytes...)
	c.Restored = isa.String()
}

// kernelsOf names the kernels of a cubin or of PTX.
func kernelsOf(b []byte) []string {
	names := []string{}
	if c, err := fatbin.ParseCubin(b); err == nil {
		for _, k := range c.Kernels {
			names = append(names, k.Name)
		}
		return names
	}
	p, err := fatbin.ParsePTX(b)
	if err != nil {
		return nil
	}
	for _, e := range p.Entries {
		names = append(names, e.Name)
	}
	return names
}

// copy writes a whole container, and returns an error if the file ends before
// it does.
func (it *Item) copy(w io.Writer) error {
	r := it.File.Bytes(it.Container)
	switch n, err := io.Copy(w, r); {
	case err != nil:
		return err
	case n != it.Container.Size: // an error of its own, as io.Copy knows no size
		return fmt.Errorf("container %d declares %d bytes and only %d are there", it.Container.ID, it.Container.Size, n)
	}
	return nil
}

// sameKernels holds what was written against what was read.
func sameKernels(b []byte, want []string) error {
	if got := kernelsOf(b); !slices.Equal(got, want) {
		return fmt.Errorf("holds %d kernels, and not the %d that were read", len(got), len(want))
	}
	return nil
}

// sameContainer holds a container that was written against the one read.
func sameContainer(b []byte, c *index.Container) error {
	if c.Images[0].Bare() {
		return nil
	}
	got, err := fatbin.ReadContainer(bytes.NewReader(b), 0, int64(len(b)))
	if err != nil {
		return err
	}
	if len(got.Images) != len(c.Images) {
		return fmt.Errorf("holds %d images, not %d", len(got.Images), len(c.Images))
	}
	return nil
}
