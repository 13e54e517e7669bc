// Package index puts the pipeline together for one file: elfscan finds the
// ranges, fatbin reads the containers in them, and payloads are decoded when
// someone asks, by workers in the background or one container at a time.
//
// Opening reads headers only. What decoding yields is published atomically per
// container, so that a screen can draw while workers fill in.
package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"fatview/arch"
	"fatview/elfscan"
	"fatview/fatbin"
	"fatview/foreign"
)

// Errors of Open and Read that a caller can act on.
var (
	ErrUnknown = errors.New("not a format that fatview reads (a library, object, static library, fat binary, cubin, PTX, or a package of these)")
	ErrEmpty   = errors.New("is empty")
	// ErrNoObject is common: systems have archives that only lend their names.
	ErrNoObject = errors.New("an archive without any object that fatview reads")
)

// Severity of a finding.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// A Finding is something that a reader of the report should know.
type Finding struct {
	Severity Severity
	Offset   int64 // in the file; -1 where there is none
	Message  string
}

// Linkage is how the program gets at a container.
type Linkage string

// The linkages.
const (
	Registered  Linkage = "registered"  // a registration record points to it
	Linked      Linkage = "linked"      // by a record of version 2: device-linked
	Relocatable Linkage = "relocatable" // __nv_relfatbin: input of a device link
	Embedded    Linkage = "embedded"    // no record: the program loads it itself
	Loose       Linkage = "loose"       // a .fatbin, .cubin or .ptx file
)

// A File is one host object: a file, or a member of an archive, whose path is
// then "lib.a!member.o".
type File struct {
	Path        string
	Format      string
	Machine     string
	Bits        int
	Size        int64
	Relocatable bool
	Soname      string   // what others link to it by; "" if it says nothing
	Needed      []string // libraries it links to
	Containers  []*Container
	Bare        []Bare               // cubins beside the containers, found by Search
	Thin        []elfscan.ThinMember // of a thin archive, which this then stands for

	object   elfscan.Object
	outer    string           // path of the file that it lies in
	records  map[int64]uint32 // version of the record that points to an offset
	budget   budget
	r        io.ReaderAt
	closer   *sharedCloser
	mu       sync.Mutex
	findings []Finding
	foreign  []foreign.Code
	copies   []string
	searched bool
}

// A Container is one fat binary of a file.
type Container struct {
	ID      int
	Section string
	Linkage Linkage
	Offset  int64
	Size    int64
	Images  []*fatbin.Image

	decoded atomic.Pointer[Decoded]
}

// Open reads the headers of the file at path. It returns one File, or one for
// each object of an archive; they share the open file, which is closed when
// the last of them is. Errors name the path and what to do about it.
func Open(ctx context.Context, path string) ([]*File, error) {
	// Looked at before it is opened: opening a pipe waits for its writer, and
	// opening a device may do something.
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, PathError(path, err)
	case st.IsDir():
		return nil, fmt.Errorf("%s: is a folder", path)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, PathError(path, err)
	}
	if st, err = f.Stat(); err != nil { // it may have been replaced meanwhile
		f.Close()
		return nil, PathError(path, err)
	}
	files, err := Read(ctx, path, f, st.Size(), f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return files, nil
}

// PathError says in plain words why a path cannot be read.
func PathError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: no permission to read it", path)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Read is Open for anything that can be read at random. closer may be nil.
func Read(ctx context.Context, path string, r io.ReaderAt, size int64, closer io.Closer) ([]*File, error) {
	scan, err := elfscan.Scan(r, size)
	switch {
	case errors.Is(err, elfscan.ErrEmpty):
		return nil, fmt.Errorf("%s: %w", path, ErrEmpty)
	case errors.Is(err, elfscan.ErrUnknown):
		if f := readForeign(path, r, size, closer); f != nil {
			return []*File{f}, nil
		}
		return nil, fmt.Errorf("%s: %w", path, ErrUnknown)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	shared := &sharedCloser{c: closer}
	objects := scan.Objects
	if len(objects) > maxObjects {
		objects = objects[:maxObjects]
		scan.Findings = append(scan.Findings, elfscan.Finding{Offset: -1, Message: fmt.Sprintf("more than %d objects in the archive: the rest is not read", maxObjects)})
	}
	files := make([]*File, 0, len(objects))
	for _, o := range objects {
		name := path
		if o.Member != "" {
			name += "!" + o.Member
		}
		f := &File{
			Path: name, Format: string(o.Format), Machine: o.Machine, Bits: o.Bits, Size: o.Size,
			Relocatable: o.Relocatable, Soname: o.Soname, Needed: o.Needed, object: o, outer: path, r: r, closer: shared,
			records: map[int64]uint32{},
		}
		f.budget.of(o.Size)
		for _, rec := range o.Records {
			f.records[rec.Container] = max(f.records[rec.Container], rec.Version)
		}
		for _, p := range o.Findings {
			f.find(Error, p.Offset, p.Message)
		}
		f.readNamed(ctx)
		files = append(files, f)
	}
	files = numberTwins(files)
	if len(scan.Thin) > 0 {
		files = append(files, &File{Path: path, Format: string(scan.Format), Size: size, Thin: scan.Thin, outer: path, r: r, closer: shared, searched: true})
	}
	for _, p := range scan.Findings {
		if len(files) == 0 {
			files = append(files, &File{Path: path, Format: string(scan.Format), Size: size, r: r, closer: shared, searched: true})
		}
		files[0].find(Warning, p.Offset, p.Message)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoObject)
	}
	shared.users.Store(int32(len(files)))
	return files, nil
}

// numberTwins makes the paths of equally named members differ.
func numberTwins(files []*File) []*File {
	seen := map[string]int{}
	for _, f := range files {
		seen[f.Path]++
		if n := seen[f.Path]; n > 1 {
			f.Path = fmt.Sprintf("%s#%d", f.Path, n)
		}
	}
	return files
}

type sharedCloser struct {
	users atomic.Int32
	c     io.Closer
}

// Close releases the file.
func (f *File) Close() error {
	if f.closer.users.Add(-1) == 0 && f.closer.c != nil {
		return f.closer.c.Close()
	}
	return nil
}

func (f *File) find(s Severity, off int64, msg string) {
	const most = 100_000 // kept; Findings shows fewer
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.findings) < most {
		f.findings = append(f.findings, Finding{s, off, msg})
	}
}

// maxFindings is how many findings are told of one file.
const maxFindings = 1000

// Findings returns what has been found so far, in the order of the file, each
// once: workers find things in any order and may look at an image twice.
func (f *File) Findings() []Finding {
	f.mu.Lock()
	out := slices.Clone(f.findings)
	f.mu.Unlock()
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Message, b.Message))
	})
	out = slices.Compact(out)
	if n := len(out) - maxFindings; n > 0 {
		out = append(out[:maxFindings], Finding{Warning, -1, fmt.Sprintf("%d more findings are not told", n)})
	}
	return out
}

// readNamed reads the containers of the sections made for them, and of loose
// files.
func (f *File) readNamed(ctx context.Context) {
	for _, rg := range f.object.Ranges {
		switch rg.Kind {
		case elfscan.KindFatbin, elfscan.KindRelFatbin:
			f.walk(ctx, rg)
		case elfscan.KindLoose:
			f.readLoose(ctx, rg)
		}
	}
}

func (f *File) walk(ctx context.Context, rg elfscan.Range) {
	problems := fatbin.Walk(ctx, f.r, rg.Offset, rg.Offset+rg.Size, func(c *fatbin.Container) bool {
		return f.add(c, rg)
	})
	for _, p := range problems {
		f.find(Error, p.Off, rg.Name+": "+p.Msg)
	}
}

func (f *File) readLoose(ctx context.Context, rg elfscan.Range) {
	var c *fatbin.Container
	var err error
	switch f.object.Format {
	case elfscan.FormatCubin:
		c, err = fatbin.LooseCubin(f.r, rg.Offset, rg.Size)
	case elfscan.FormatPTX:
		c, err = fatbin.LoosePTX(f.r, rg.Offset, rg.Size)
	default:
		f.walk(ctx, rg)
		return
	}
	if err != nil {
		f.find(Error, rg.Offset, err.Error())
		return
	}
	f.add(c, rg)
}

// add takes in a container, and reports whether there may be more.
func (f *File) add(c *fatbin.Container, rg elfscan.Range) bool {
	if len(f.Containers) >= maxContainers {
		f.find(Error, c.Offset, fmt.Sprintf("more than %d containers: the rest is not read", maxContainers))
		return false
	}
	for _, p := range c.Problems {
		f.find(Error, p.Off, p.Msg)
	}
	f.Containers = append(f.Containers, &Container{
		ID: len(f.Containers), Section: rg.Name, Offset: c.Offset, Size: c.Size,
		Linkage: f.linkage(c.Offset, rg.Kind), Images: c.Images,
	})
	return true
}

// A Section is a range of the file that is made for device code.
type Section struct {
	Name         string
	Offset, Size int64
}

// Sections returns the ranges made for device code, in the order of the file.
// Containers that Search found lie in none of them.
func (f *File) Sections() []Section {
	var out []Section
	for _, rg := range f.object.Ranges {
		if rg.Kind != elfscan.KindOther && rg.Size > 0 {
			out = append(out, Section{rg.Name, rg.Offset, rg.Size})
		}
	}
	return out
}

func (f *File) linkage(off int64, kind elfscan.Kind) Linkage {
	switch kind {
	case elfscan.KindRelFatbin:
		return Relocatable
	case elfscan.KindLoose:
		return Loose
	}
	switch version, ok := f.records[off]; {
	case !ok:
		return Embedded
	case version == 2:
		return Linked
	}
	return Registered
}

// Archs returns the architectures of the file's SASS and PTX, each once, in
// order, as "sm_90a" and "compute_90".
func (f *File) Archs() []string {
	type key struct {
		a   arch.Arch
		ptx bool
	}
	seen := map[key]bool{}
	var order []key
	for _, c := range f.Containers {
		for _, im := range c.Images {
			k := key{im.Arch, im.Kind != fatbin.KindCubin}
			if (im.Kind == fatbin.KindCubin || im.Kind == fatbin.KindPTX) && !seen[k] {
				seen[k] = true
				order = append(order, k)
			}
		}
	}
	slices.SortFunc(order, func(x, y key) int {
		switch {
		case x.ptx != y.ptx:
			if y.ptx {
				return -1
			}
			return 1
		case x.a.Less(y.a):
			return -1
		case y.a.Less(x.a):
			return 1
		}
		return 0
	})
	names := []string{}
	for _, k := range order {
		if k.ptx {
			names = append(names, k.a.PTX())
		} else {
			names = append(names, k.a.SASS())
		}
	}
	return names
}
