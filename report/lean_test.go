package report

import (
	"os"
	"path/filepath"
	"testing"

	"fatview/collect"
	"fatview/gpu"
	"fatview/internal/fatbintest"
)

// lib is a shared object with code for one architecture, or none.
func lib(arch, soname string, needed ...string) []byte {
	e := fatbintest.ELF{Soname: soname, Needed: needed}
	if arch != "" {
		cubin := fatbintest.Cubin{Arch: arch, Kernels: []fatbintest.Kernel{{Name: "k"}}}.Bytes()
		e.Sections = []fatbintest.HostSection{{Name: ".nv_fatbin", Data: fatbintest.NewContainer().SASS(arch, cubin).Bytes()}}
	}
	return e.Bytes()
}

func collected(t *testing.T, files map[string][]byte) *Report {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, b := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	targets, err := gpu.Parse("9.0")
	if err != nil {
		t.Fatal(err)
	}
	res := collect.Run(t.Context(), []string{"."}, collect.Options{}, nil)
	t.Cleanup(res.Close)
	return BuildAll(res, targets)
}

func TestDependencies(t *testing.T) {
	r := collected(t, map[string][]byte{
		"app/libapp.so":   lib("90", "", "libmid.so.1", "libc.so.6"),
		"app/libmid.so.1": lib("", "libmid.so.1", "libdep.so.2"), // no device code: on the way
		"dep/renamed.so":  lib("80", "libdep.so.2"),
	})
	if len(r.Dependencies) != 1 {
		t.Fatalf("%+v", r.Dependencies)
	}
	d := r.Dependencies[0]
	if r.Files[d.File].Path != "app/libapp.so" || r.Files[d.To].Path != "dep/renamed.so" || d.Name != "libdep.so.2" || len(d.Through) != 1 || d.Through[0] != "app/libmid.so.1" {
		t.Errorf("%+v", d)
	}
	if len(d.Unserved) != 1 || d.Unserved[0].Verdict != "none" {
		t.Errorf("%+v", d.Unserved)
	}
}

// A copy beside the one who needs it serves, not a namesake elsewhere.
func TestDependencyOnACopy(t *testing.T) {
	r := collected(t, map[string][]byte{
		"a/libdep.so":   lib("90", "libdep.so"),
		"e/y/libdep.so": lib("80", "libdep.so"),
		"e/z/libdep.so": lib("90", "libdep.so"), // equals a's
		"e/z/libapp.so": lib("90", "libapp.so", "libdep.so"),
	})
	if len(r.Files) != 3 || len(r.Dependencies) != 1 {
		t.Fatalf("%d files, %+v", len(r.Files), r.Dependencies)
	}
	if d := r.Dependencies[0]; r.Files[d.To].Path != "a/libdep.so" || len(d.Unserved) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestManyDependenciesAreBounded(t *testing.T) {
	files := map[string][]byte{}
	var all []string
	for i := range 1100 {
		name := "lib" + string(rune('a'+i/26/26)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + ".so"
		all = append(all, name)
	}
	files["libhub.so"] = lib("90", "libhub.so", all...)
	for _, name := range all {
		files[name] = lib("90", name) // each is another file by its soname
	}
	r := collected(t, files)
	if n := len(r.Dependencies); n != maxNeedsOfOne {
		t.Errorf("%d dependencies, not %d", n, maxNeedsOfOne)
	}
	if f := r.Scans[0].Findings; len(f) != 1 || f[0].Severity != "warning" {
		t.Errorf("findings %+v", f)
	}
}
