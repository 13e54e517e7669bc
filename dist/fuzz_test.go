package dist

import (
	"strings"
	"testing"
)

// FuzzAdd reads anything as any manifest. What is kept must be bounded by what
// was given, and no file outside the manifest's archive may be claimed.
func FuzzAdd(f *testing.F) {
	for path, content := range map[string]string{
		"a.whl!x-1.dist-info/METADATA":            "Name: x\nVersion: 1\n\n",
		"a.whl!x-1.dist-info/RECORD":              "x/a.so,,\n\"b,\"\"c\",,\n../d.so,,\n",
		"a!s/x.egg-info/PKG-INFO":                 "Name: x\n",
		"a!s/x.egg-info/installed-files.txt":      "../x.so\n",
		"a!x.egg/EGG-INFO/PKG-INFO":               "Name: x\n",
		"a!conda-meta/x.json":                     `{"name":"x","version":"1","files":["a.so","../b.so"]}`,
		"a!info/index.json":                       `{"name":"x","version":"1","build":"0","subdir":"s"}`,
		"a!p/package.json":                        `{"name":"x","version":"1"}`,
		"a!DEBIAN/control":                        "Package: x\nVersion: 1\n",
		"a!var/lib/dpkg/status":                   "Package: x\nStatus: install ok installed\nVersion: 1\n\n",
		"a!var/lib/dpkg/info/x.list":              "/.\n/lib\n/lib/x.so\n",
		"a!var/lib/dpkg/status.d/x":               "Package: x\n",
		"a!var/lib/dpkg/status.d/x.md5sums":       "d41d8cd98f00b204e9800998ecf8427e  lib/x.so\n",
		"a!x.nuspec":                              "<package><metadata><id>x</id><version>1</version></metadata></package>",
		"x.jar!META-INF/maven/g/x/pom.properties": "groupId=g\nartifactId=x\nversion=1\n",
	} {
		f.Add(path, []byte(content), "a!lib/x.so")
	}
	f.Fuzz(func(t *testing.T, path string, content []byte, file string) {
		var s Set
		err := s.Add(path, content)
		if !IsManifest(path) && err == nil {
			t.Fatal("takes what is no manifest")
		}
		s.Owner(file)
		s.Owner(path)
		// Paths of /lib are kept twice; a dot or slash less can only shorten.
		if lines := strings.Count(string(content), "\n") + strings.Count(string(content), ",") + 1; len(s.files) > 2*lines {
			t.Fatalf("%d files from %d lines", len(s.files), lines)
		}
		box, _ := unbox(path)
		in := clean(box)
		for p := range s.files {
			if in != "" && !strings.HasPrefix(p, in+"/") {
				t.Fatalf("%q claims %q", path, p)
			}
		}
		for p := range s.folders {
			if in != "" && p != in && !strings.HasPrefix(p, in+"/") {
				t.Fatalf("%q claims the folder %q", path, p)
			}
		}
		for _, d := range s.All() {
			if d.Name == "" || d.Manifest != path || len(d.Name) > 3*maxName || len(d.Version) > maxName {
				t.Fatalf("%+v", d)
			}
		}
	})
}
