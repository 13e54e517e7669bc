package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows lists, for each package, the packages of fatview that it may import.
// The pipeline goes one way; docs/DESIGN.md tells why. A package that is not
// here may not exist.
var arrows = map[string][]string{
	"arch":                 {},
	"elfscan":              {},
	"fatbin":               {"arch"},
	"gpu":                  {"arch", "internal/sysroot"},
	"fleet":                {"arch", "gpu"},
	"coverage":             {"arch", "fatbin", "gpu"},
	"foreign":              {"elfscan"},
	"index":                {"arch", "coverage", "elfscan", "fatbin", "foreign"},
	"pack":                 {},
	"dist":                 {},
	"needs":                {},
	"collect":              {"dist", "elfscan", "foreign", "index", "pack"},
	"report":               {"arch", "collect", "coverage", "fatbin", "gpu", "index", "needs", "internal/atomicfile", "internal/plain"},
	"stream":               {"collect", "gpu", "index", "pack", "report"},
	"explain":              {"advice", "coverage", "fatbin", "gpu", "index", "report", "internal/plain"},
	"archlist":             {"arch", "coverage", "fatbin", "gpu"},
	"advice":               {"arch", "archlist", "coverage", "fatbin", "gpu"},
	"check":                {"arch", "coverage", "fatbin", "gpu", "index", "report", "internal/plain"},
	"kernels":              {"arch", "fatbin", "index", "internal/plain"},
	"extract":              {"fatbin", "index", "kernels", "internal/atomicfile"},
	"sizes":                {"arch", "coverage", "fatbin", "gpu", "index", "report", "internal/plain"},
	"doctor":               {"arch", "check", "coverage", "gpu", "report", "internal/plain", "internal/sysroot"},
	"ui":                   {"advice", "arch", "collect", "coverage", "fatbin", "gpu", "index", "report", "internal/plain"},
	"ui/quiet":             {},
	"internal/atomicfile":  {},
	"internal/plain":       {},
	"internal/sysroot":     {},
	"internal/fatbintest":  {"arch", "fatbin"},
	"internal/corpuscheck": {},
	"internal/benchrun":    {},
	"internal/probecheck":  {},
	"internal/cli":         {"arch", "archlist", "check", "collect", "coverage", "doctor", "explain", "extract", "fatbin", "fleet", "gpu", "index", "kernels", "report", "sizes", "stream", "internal/plain", "internal/sysroot"},
	".":                    {"gpu", "internal/cli", "ui", "ui/quiet"},
}

// owners lists the packages that alone may import certain modules.
var owners = map[string][]string{
	"github.com/charmbracelet/":          {"ui", "ui/quiet"},
	"github.com/NVIDIA/go-nvml":          {"gpu"},
	"github.com/spf13/cobra":             {"internal/cli"},
	"github.com/klauspost/compress":      {"fatbin", "foreign", "pack", "sizes", "internal/fatbintest"},
	"github.com/google/":                 {"pack"},
	"github.com/ulikunitz/xz":            {"pack"},
	"github.com/bmatcuk/doublestar":      {"collect"},
	"github.com/pierrec/lz4":             {"fatbin", "internal/fatbintest"},
	"github.com/ianlancetaylor/demangle": {"fatbin"},
	"github.com/santhosh-tekuri/":        {}, // tests only
}

func TestArrowsGoOneWay(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		seen[pkg] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, im := range file.Imports {
			name, err := strconv.Unquote(im.Path.Value)
			if err != nil {
				return err
			}
			checkImport(t, path, pkg, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range seen {
		if _, ok := arrows[pkg]; !ok {
			t.Errorf("package %s is not in the list of arrows", pkg)
		}
	}
}

func checkImport(t *testing.T, path, pkg, name string) {
	t.Helper()
	test := strings.HasSuffix(path, "_test.go")
	if own, ok := strings.CutPrefix(name, "fatview/"); ok {
		if test && own != "ui" {
			return // what a test uses is not in the program
		}
		if !slices.Contains(arrows[pkg], own) {
			t.Errorf("%s imports %s against the arrows", path, name)
		}
		return
	}
	for module, who := range owners {
		if strings.HasPrefix(name, module) && !slices.Contains(who, pkg) && !test {
			t.Errorf("%s imports %s, which only %v may", path, name, who)
		}
	}
}
