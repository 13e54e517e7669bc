// Package sizes tells what device code costs: bytes in the file and after
// decompression, by architecture, kind, container, kernel family and kernel;
// what is there twice; what an architecture costs and whom it serves; what
// another compression would save.
//
// Bytes in the file add up: a section is its containers and the padding between
// them, a container its header, the headers of its entries, the stored payloads
// and padding. What single kernels take of a compressed image is a share by
// size, and said to be one.
package sizes

import (
	"cmp"
	"context"
	"slices"

	"fatview/fatbin"
	"fatview/index"
)

// Schema names the JSON form. Fields are only ever added.
const Schema = "fatview/sizes/1"

// A Report is told of files; all sizes are in bytes.
type Report struct {
	Schema string `json:"schema"`
	Files  []File `json:"files"`
}

// A File is one library, object or loose file.
type File struct {
	Path       string      `json:"path"`
	Format     string      `json:"format"`
	Size       int64       `json:"size"`
	Device     int64       `json:"device_bytes"` // sections, and containers outside of them
	Stored     int64       `json:"stored_bytes"` // of all images
	Bytes      int64       `json:"bytes"`        // of all images, decompressed
	Headers    int64       `json:"header_bytes"`
	Padding    int64       `json:"padding_bytes"` // within containers and between them
	Code       int64       `json:"code_bytes"`    // machine code, decompressed
	Mercury    int64       `json:"mercury_bytes"` // Mercury copies of code, decompressed
	Sections   []Section   `json:"sections"`
	Archs      []Arch      `json:"archs"`
	Kinds      []Group     `json:"kinds"`
	Stores     []Group     `json:"compressions"`
	Containers []Container `json:"containers"`
	Families   []Family    `json:"families"`
	Kernels    []Kernel    `json:"kernels"`
	Twins      Twins       `json:"duplicates"`
	Zstd       Zstd        `json:"zstd"`
	Findings   []Finding   `json:"findings"`
}

// A Section is a range made for device code. Bytes that belong to no container
// are padding, as long as there are no findings.
type Section struct {
	Name       string `json:"name"`
	Offset     int64  `json:"offset"`
	Size       int64  `json:"size"`
	Containers int    `json:"containers"`
	Inside     int64  `json:"container_bytes"`
	Padding    int64  `json:"padding_bytes"`
}

// A Group is what images of one kind or compression come to.
type Group struct {
	Name   string `json:"name"`
	Images int    `json:"images"`
	Stored int64  `json:"stored_bytes"`
	Bytes  int64  `json:"bytes"`
}

// An Arch is what images of one architecture come to, and what it is for.
type Arch struct {
	Group
	Kernels int      `json:"kernels"`
	Mercury int64    `json:"mercury_bytes"`
	Without []Effect `json:"without"`
	order   archKey
}

// A Container is one fat binary.
type Container struct {
	ID      int    `json:"id"`
	Label   string `json:"label"`
	Section string `json:"section"`
	Offset  int64  `json:"offset"`
	Size    int64  `json:"size"`
	Images  int    `json:"images"`
	Stored  int64  `json:"stored_bytes"`
	Bytes   int64  `json:"bytes"`
	Headers int64  `json:"header_bytes"`
	Padding int64  `json:"padding_bytes"`
}

// A Family is what the kernels of one template come to, over all images of
// machine code.
type Family struct {
	Name   string `json:"name"`
	Names  int    `json:"kernels"` // different ones
	Copies int    `json:"copies"`  // over all images
	Code   int64  `json:"code_bytes"`
	Share  int64  `json:"stored_share"` // of the stored bytes, by size
}

// A Kernel is what a kernel comes to over all images of machine code.
type Kernel struct {
	Name   string `json:"name"`
	Short  string `json:"demangled"`
	Family string `json:"family"`
	Copies int    `json:"copies"`
	Code   int64  `json:"code_bytes"`
	Share  int64  `json:"stored_share"`
}

// A Finding is something that a reader should know: damage, most of all.
type Finding struct {
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// Build measures files. It decompresses everything, and keeps the kernels of
// all of them.
func Build(ctx context.Context, files []*index.File) (*Report, error) {
	r := &Report{Schema: Schema, Files: []File{}}
	index.DecodeAll(ctx, files, nil)
	for _, f := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out := layout(f)
		if err := measure(ctx, f, &out); err != nil {
			return nil, err
		}
		effects(ctx, f, &out)
		for _, x := range f.Findings() {
			out.Findings = append(out.Findings, Finding{string(x.Severity), x.Message})
		}
		r.Files = append(r.Files, out)
	}
	return r, ctx.Err()
}

// layout adds up what headers and decoded contents tell.
func layout(f *index.File) File {
	out := File{
		Path: f.Path, Format: f.Format, Size: f.Size, Sections: []Section{}, Archs: []Arch{}, Kinds: []Group{}, Stores: []Group{},
		Containers: []Container{}, Families: []Family{}, Kernels: []Kernel{}, Findings: []Finding{},
	}
	for _, s := range f.Sections() {
		out.Sections = append(out.Sections, Section{Name: s.Name, Offset: s.Offset, Size: s.Size, Padding: s.Size})
		out.Device += s.Size
		out.Padding += s.Size
	}
	archs, kinds, stores := map[archKey]*Arch{}, map[string]*Group{}, map[string]*Group{}
	for _, c := range f.Containers {
		out.add(c)
		d := c.Decoded()
		for i, im := range c.Images {
			key := archKey{im.Arch, im.ArchName(), im.Kind.String()}
			a := archs[key]
			if a == nil {
				a = &Arch{Group: Group{Name: key.label()}, Without: []Effect{}, order: key}
				archs[key] = a
			}
			a.add(im)
			group(kinds, im.Kind.String()).add(im)
			group(stores, im.Compression.String()).add(im)
			if d != nil {
				a.Kernels += len(d.Images[i].Kernels)
				a.Mercury += d.Images[i].Mercury
				out.Mercury += d.Images[i].Mercury
				out.Code += d.Images[i].Code
			}
		}
	}
	for _, a := range archs {
		out.Archs = append(out.Archs, *a)
	}
	slices.SortFunc(out.Archs, func(a, b Arch) int { return a.order.compare(b.order) })
	out.Kinds, out.Stores = groups(kinds), groups(stores)
	return out
}

// add takes in a container: its bytes were padding so far, if it lies in a
// section.
func (f *File) add(c *index.Container) {
	size, headers, padding := account(c)
	inside := false
	for i := range f.Sections {
		s := &f.Sections[i]
		if c.Offset >= s.Offset && c.Offset < s.Offset+s.Size {
			// A container that is cut off declares more than there is.
			size = min(size, s.Offset+s.Size-c.Offset)
			s.Containers++
			s.Inside += size
			s.Padding -= size
			f.Padding -= size
			inside = true
			break
		}
	}
	if !inside {
		f.Device += size
	}
	out := Container{ID: c.ID, Label: c.Label(), Section: c.Section, Offset: c.Offset, Size: size, Images: len(c.Images), Headers: headers, Padding: padding}
	for _, im := range c.Images {
		out.Stored += im.StoredBytes
		out.Bytes += im.Bytes
	}
	f.Stored += out.Stored
	f.Bytes += out.Bytes
	f.Headers += headers
	f.Padding += padding
	f.Containers = append(f.Containers, out)
}

// containerHeader is the size of the header before the first entry, and entries
// begin at multiples of entryAlign; see package fatbin.
const (
	containerHeader = 16
	entryAlign      = 8
)

// account splits a container's bytes: size is stored payloads, headers and
// padding together.
func account(c *index.Container) (size, headers, padding int64) {
	if len(c.Images) == 0 {
		return c.Size, c.Size, 0
	}
	if c.Images[0].Bare() {
		return c.Size, 0, c.Size - c.Images[0].StoredBytes
	}
	end := c.Offset + c.Size
	headers = containerHeader
	at := c.Offset + containerHeader
	for i := 0; i < len(c.Images); {
		im := c.Images[i]
		start := im.Offset
		if im.Concatenated() { // the entry begins before the table with im's header
			start = (at + entryAlign - 1) &^ (entryAlign - 1)
		}
		padding += start - at
		headers += im.PayloadOffset - start
		// The cubins of a concatenated entry share one payload.
		for at = im.PayloadOffset; i < len(c.Images) && c.Images[i].PayloadOffset == im.PayloadOffset; i++ {
			at += c.Images[i].StoredBytes
		}
	}
	return c.Size, headers, padding + max(0, end-at)
}

func (g *Group) add(im *fatbin.Image) {
	g.Images++
	g.Stored += im.StoredBytes
	g.Bytes += im.Bytes
}

func group(m map[string]*Group, name string) *Group {
	if m[name] == nil {
		m[name] = &Group{Name: name}
	}
	return m[name]
}

// groups puts the largest first.
func groups(m map[string]*Group) []Group {
	out := []Group{}
	for _, g := range m {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Stored, a.Stored), cmp.Compare(a.Name, b.Name))
	})
	return out
}
