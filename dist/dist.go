// Package dist says which distribution a file belongs to: which Python, conda,
// npm, Debian, NuGet or Maven package brought a library to where it lies.
//
// It reads no files. A caller that walks a folder or an archive hands over the
// manifests it meets, in any order and from any goroutine, and asks afterwards.
// Facts come from the makers' own records:
//
//	python  RECORD and METADATA (packaging.python.org, "Recording installed
//	        projects" and "Binary distribution format"); PKG-INFO and
//	        installed-files.txt (setuptools, "The Internal Structure of Python
//	        Eggs"; pip wrote the latter)
//	conda   conda-meta/*.json and info/index.json (docs.conda.io, "Package
//	        specification")
//	npm     package.json (npm Docs, "package.json")
//	deb     DEBIAN/control (deb-control(5)), var/lib/dpkg (dpkg(1),
//	        dpkg-query(1)) and distroless images' status.d
//	        (PACKAGE_METADATA.md of GoogleContainerTools/distroless)
//	nuget   *.nuspec (learn.microsoft.com, ".nuspec reference")
//	jar     META-INF/maven/*/*/pom.properties (Maven Archiver)
//
// Not promised: that a manifest tells the truth. It may list files it never
// brought, but none outside the archive it lies in.
package dist

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Dist is an installed or packed distribution.
type Dist struct {
	Kind     string // "python", "conda", "npm", "deb", "nuget" or "jar"
	Name     string // as the maker spells it; "group:artifact" of a jar
	Version  string // "" = unknown
	Root     string // folder its files are relative to, slash-separated, "" = the top
	Manifest string // path it was read from
}

// MaxManifest is the size in bytes of the largest manifest Add reads. The
// largest RECORD known, that of a PyTorch wheel, has two megabytes.
const MaxManifest = 64 << 20

// Bounds on what a Set keeps. A conda environment with PyTorch and RAPIDS
// lists some 200,000 files, a tenth of which could hold device code.
const (
	maxLines    = 1 << 19   // or files, of one manifest
	maxName     = 1 << 10   // bytes of a name or version
	maxPath     = 1 << 12   // bytes of a listed path
	maxDists    = 1 << 18   // in a Set
	maxNesting  = 32        // archives in archives
	maxFiles    = 1 << 22   // listed in a Set
	maxFileText = 256 << 20 // bytes of all paths listed in a Set
)

// A Set is what is known of all distributions met so far. The zero value is
// ready. Its methods may be called from several goroutines.
type Set struct {
	mu      sync.Mutex
	dists   map[string]*entry // by identity
	files   map[string]*entry // by cleaned path
	folders map[string]*entry // by cleaned path of a folder that one distribution fills
	text    int               // bytes in the keys of files
}

type entry struct {
	Dist
	id    string
	rank  int
	depth int  // of the root
	sure  bool // the name comes from a manifest, not from the name of a file

	contested bool // nobody's: several say that a folder is theirs
}

// A claim is what one manifest says of one distribution.
type claim struct {
	id            string // the same for all manifests of a distribution
	kind          string
	root          string // as in Dist
	name, version string
	sure          bool
	listed        []string // cleaned paths of its files
	folder        string   // cleaned path
	whole         bool     // everything in folder belongs to it
	shared        bool     // unless another one says the same
}

// Add takes a manifest: a path that IsManifest accepts, and its content, which
// is not kept. An error names the path and what is damaged, lists more than a
// Set keeps, or is larger than MaxManifest; what could be read of it counts.
func (s *Set) Add(path string, content []byte) error {
	m, ok := classify(path)
	if !ok {
		return fmt.Errorf("%s: not a manifest of a distribution", path)
	}
	if len(content) > MaxManifest {
		return fmt.Errorf("%s: %d bytes, more than the %d that are read", path, len(content), MaxManifest)
	}
	claims, err := m.read(m, content)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range claims {
		if full := s.take(&claims[i], path); full != nil {
			return fmt.Errorf("%s: %w", path, full)
		}
	}
	return err
}

// take enters a claim. What the manifests say does not depend on their order.
func (s *Set) take(c *claim, manifest string) error {
	if s.dists == nil {
		s.dists, s.files, s.folders = map[string]*entry{}, map[string]*entry{}, map[string]*entry{}
	}
	e := s.dists[c.id]
	if e == nil {
		if len(s.dists) >= maxDists {
			return fmt.Errorf("more than %d distributions, the rest is not kept", maxDists)
		}
		e = &entry{id: c.id, rank: rankOf(c.kind), depth: depthOf(clean(c.root))}
		e.Kind, e.Root = c.kind, c.root
		e.name(c, manifest)
		s.dists[c.id] = e
	} else if c.sure && !e.sure || c.sure == e.sure && manifest < e.Manifest {
		e.name(c, manifest)
	}
	if c.whole {
		old := s.folders[c.folder]
		switch {
		case old != nil && c.shared && old != e && old.rank == e.rank:
			s.folders[c.folder] = &entry{rank: e.rank, contested: true}
		case old == nil || e.before(old):
			s.folders[c.folder] = e
		}
	}
	for _, f := range c.listed {
		old, known := s.files[f]
		if !known {
			if len(s.files) >= maxFiles || s.text+len(f) > maxFileText {
				return fmt.Errorf("more than %d files or %d bytes of paths are listed, the rest is not kept", maxFiles, maxFileText)
			}
			s.text += len(f)
		}
		if !known || e.before(old) {
			s.files[f] = e
		}
	}
	return nil
}

func (e *entry) name(c *claim, manifest string) {
	e.Name, e.Version, e.Manifest, e.sure = c.name, c.version, manifest, c.sure
}

// before tells whether e and not old is named for a file that both list or a
// folder that both fill: the kind that is more specific, then the deeper root.
func (e *entry) before(old *entry) bool {
	return cmp.Or(cmp.Compare(e.rank, old.rank), cmp.Compare(old.depth, e.depth),
		strings.Compare(e.Root, old.Root), strings.Compare(e.id, old.id)) < 0
}

// rankOf orders kinds. A conda package of a Python project brings the
// project's own records along, and a Debian package may hold any of the others.
func rankOf(kind string) int {
	return slices.Index([]string{kindPython, kindConda, kindNPM, kindNuGet, kindJar, kindDeb}, kind)
}

// Owner is the distribution that a file belongs to, nil if none is known; call
// it after all Adds. The path is of the kind that Add takes. The nearest answer
// counts: a list that names the file, then the deepest folder that one
// distribution fills; where the file lies in an archive, the same is then asked
// of the archive. Equal paths give equal pointers, which stay the Set's own.
func (s *Set) Owner(path string) *Dist {
	if len(path) > 4*maxPath {
		return nil
	}
	file := clean(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	for depth := 0; depth < maxNesting && path != ""; depth++ {
		full := clean(path)
		if e := s.files[full]; e != nil {
			return &e.Dist
		}
		box, _ := unbox(path)
		top := clean(box)
		// The archive itself is the last folder of this round; what lies in
		// no archive goes up to the top, which is "".
		for dir := full; dir != top; {
			dir = parent(dir)
			if e := s.folders[dir]; e != nil && e.fills(dir, file) {
				return &e.Dist
			}
			if dir == "" {
				break
			}
		}
		path = box
	}
	return nil
}

// fills tells whether a folder's distribution owns a file in it. A package
// does not own the packages that npm put below it.
func (e *entry) fills(folder, file string) bool {
	if e.Kind != kindNPM {
		return !e.contested
	}
	rest := "/" + strings.TrimPrefix(strings.TrimPrefix(file, folder), "/")
	return !strings.Contains(rest, "/node_modules/")
}

// All is every distribution, by root, then name, then manifest.
func (s *Set) All() []*Dist {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Dist, 0, len(s.dists))
	for _, e := range s.dists {
		out = append(out, &e.Dist)
	}
	slices.SortFunc(out, func(a, b *Dist) int {
		return cmp.Or(strings.Compare(a.Root, b.Root), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Manifest, b.Manifest), strings.Compare(a.Kind, b.Kind))
	})
	return out
}
