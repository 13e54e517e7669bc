package dist

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// tree is a set of manifests by path.
type tree map[string]string

// add enters the manifests of a tree, which must all be sound.
func add(t *testing.T, files tree) *Set {
	t.Helper()
	s := &Set{}
	for path, content := range files {
		if !IsManifest(path) {
			t.Errorf("IsManifest(%q) = false", path)
		}
		if err := s.Add(path, []byte(content)); err != nil {
			t.Errorf("Add: %v", err)
		}
	}
	return s
}

// expectOwner takes "kind name version root", "" for none.
func expectOwner(t *testing.T, s *Set, path, want string) {
	t.Helper()
	got := ""
	if d := s.Owner(path); d != nil {
		got = strings.TrimSpace(fmt.Sprintf("%s %s %s %s", d.Kind, d.Name, d.Version, d.Root))
	}
	if got != want {
		t.Errorf("Owner(%q) = %q, want %q", path, got, want)
	}
}

func meta(name, version string) string {
	return "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\nSummary: x\n\nName: not this\n"
}

const site = "env/lib/python3.11/site-packages"

func TestPythonEnvironment(t *testing.T) {
	s := add(t, tree{
		site + "/faiss_gpu_cu12-1.13.2.dist-info/METADATA": meta("faiss-gpu-cu12", "1.13.2"),
		site + "/faiss_gpu_cu12-1.13.2.dist-info/RECORD": "faiss/__init__.py,sha256=jH,12779\r\n" +
			"faiss/_swigfaiss.so,sha256=XD,1\r\n" +
			"../../../bin/faiss-tool,sha256=x,2\r\n" +
			"\"faiss/odd,\"\"name\"\".so\",sha256=y,3\r\n" +
			"faiss\\win\\a.dll,,\r\n" +
			"./faiss//cleaned/../b.so,,\r\n" +
			"/opt/faiss/c.so,,\r\n" +
			"C:\\faiss\\d.dll,,\r\n" +
			"../../../../../../etc/out.so,,\r\n" +
			"faiss/kernels.ptx,,\r\nfaiss/k.cubin.zst,,\r\n",
	})
	const want = "python faiss-gpu-cu12 1.13.2 " + site
	for _, path := range []string{
		site + "/faiss/_swigfaiss.so", "env/bin/faiss-tool", site + `/faiss/odd,"name".so`, site + "/faiss/win/a.dll",
		site + "/faiss/b.so", "opt/faiss/c.so", site + "/faiss/kernels.ptx", site + "/faiss/k.cubin.zst",
		"./" + site + "//faiss/b.so",
		site + "/faiss/kernels.ptx!inner", // in a listed archive
	} {
		expectOwner(t, s, path, want)
	}
	for _, path := range []string{
		site + "/faiss/other.so", "etc/out.so", "out.so", site + "/C:/faiss/d.dll", "faiss/_swigfaiss.so", "",
		site + "/faiss/__init__.py", // text is not kept
	} {
		expectOwner(t, s, path, "")
	}
	if a, b := s.Owner(site+"/faiss/b.so"), s.Owner("env/bin/faiss-tool"); a != b {
		t.Error("two files of a distribution have different owners")
	}
	if d := s.Owner(site + "/faiss/b.so"); d.Manifest != site+"/faiss_gpu_cu12-1.13.2.dist-info/METADATA" {
		t.Errorf("Manifest = %q", d.Manifest)
	}
}

func TestWheel(t *testing.T) {
	s := add(t, tree{
		"dl/bnb-0.1-py3-none-any.whl!bnb-0.1.dist-info/METADATA": meta("bnb", "0.1"),
		"dl/bnb-0.1-py3-none-any.whl!bnb-0.1.dist-info/RECORD":   "bnb/lib.so,,\n../../evil.so,,\n../x.so,,\n!..!..!evil.so,,\n",
		"x-1.dist-info/METADATA":                                 meta("x", "1"),
		"x-1.dist-info/RECORD":                                   "x/a.so,,\n",
	})
	const want = "python bnb 0.1 dl/bnb-0.1-py3-none-any.whl"
	expectOwner(t, s, "dl/bnb-0.1-py3-none-any.whl!bnb/lib.so", want)
	expectOwner(t, s, "dl/bnb-0.1-py3-none-any.whl!bnb-0.1.data/platlib/bnb/c.so", want)
	expectOwner(t, s, "dl/bnb-0.1-py3-none-any.whl!bnb/inner.zip!c.so", want)
	for _, path := range []string{"evil.so", "dl/evil.so", "x.so", "dl/x.so", "dl/other.whl!bnb/lib.so"} {
		expectOwner(t, s, path, "")
	}
	// A wheel that is scanned itself, or was unpacked by hand.
	expectOwner(t, s, "x/a.so", "python x 1")
	expectOwner(t, s, "x-1.data/purelib/x/b.so", "python x 1")
	expectOwner(t, s, "y/a.so", "")
}

func TestRecordBeforeOrWithoutMetadata(t *testing.T) {
	record := []byte("a_b/x.so,,\n")
	var s Set
	if err := s.Add("s/a_b-2.0+cu121.dist-info/RECORD", record); err != nil {
		t.Fatal(err)
	}
	expectOwner(t, &s, "s/a_b/x.so", "python a_b 2.0+cu121 s")
	if err := s.Add("s/a_b-2.0+cu121.dist-info/METADATA", []byte(meta("A.B", "2.0+cu121"))); err != nil {
		t.Fatal(err)
	}
	expectOwner(t, &s, "s/a_b/x.so", "python A.B 2.0+cu121 s")
	if n := len(s.All()); n != 1 {
		t.Errorf("%d distributions, want 1", n)
	}
}

func TestEggs(t *testing.T) {
	s := add(t, tree{
		"s/old-1.0-py3.8.egg-info/PKG-INFO":                   meta("old", "1.0"),
		"s/old-1.0-py3.8.egg-info/installed-files.txt":        "../old/ext.so\n../../bin/old\nPKG-INFO\n",
		"s/apex-0.1-py3.8-linux-x86_64.egg/EGG-INFO/PKG-INFO": meta("apex", "0.1"),
		"s/zipped-3-py3.8.egg!EGG-INFO/PKG-INFO":              meta("zipped", "3"),
		"src/dev.egg-info/PKG-INFO":                           meta("dev", "9"), // setup.py develop
	})
	expectOwner(t, s, "s/old/ext.so", "python old 1.0 s")
	expectOwner(t, s, "bin/old", "python old 1.0 s")
	expectOwner(t, s, "s/apex-0.1-py3.8-linux-x86_64.egg/amp_C.so", "python apex 0.1 s/apex-0.1-py3.8-linux-x86_64.egg")
	expectOwner(t, s, "s/zipped-3-py3.8.egg!z/z.so", "python zipped 3 s/zipped-3-py3.8.egg")
	expectOwner(t, s, "src/dev/ext.so", "")
	var alone Set
	if err := alone.Add("s/old-1.0-py3.8-linux_x86_64.egg-info/installed-files.txt", []byte("../old/ext.so\n")); err != nil {
		t.Fatal(err)
	}
	expectOwner(t, &alone, "s/old/ext.so", "python old 1.0 s")
}

func TestConda(t *testing.T) {
	s := add(t, tree{
		"env/conda-meta/libcublas-12.4.json": `{"build":"0","depends":[],"files":["lib/libcublas.so.12","lib/python3.11/site-packages/np/_c.so",
			"include/cublas.h",7,"../../escape.so"],"name":"libcublas","paths_data":{"paths":[{"_path":"lib/not-here.so"}]},"version":"12.4"}`,
		"env/lib/python3.11/site-packages/np-2.dist-info/METADATA": meta("np", "2"),
		"env/lib/python3.11/site-packages/np-2.dist-info/RECORD":   "np/_c.so,,\n",
		"pkgs/x-1-0.conda!info/index.json":                         `{"name":"x","version":"1","build":"h1_0","depends":[],"subdir":"linux-64"}`,
		"pkgs/y-1-0/info/index.json":                               `{"name":"y","version":"1","build":"h1_0","subdir":"linux-64"}`,
		"web/info/index.json":                                      `{"name":"site","version":"1"}`,
	})
	expectOwner(t, s, "env/lib/libcublas.so.12", "conda libcublas 12.4 env")
	expectOwner(t, s, "env/lib/python3.11/site-packages/np/_c.so", "python np 2 env/lib/python3.11/site-packages")
	expectOwner(t, s, "env/lib/not-here.so", "")
	expectOwner(t, s, "escape.so", "")
	expectOwner(t, s, "pkgs/x-1-0.conda!lib/x.so", "conda x 1 pkgs/x-1-0.conda")
	expectOwner(t, s, "pkgs/y-1-0/lib/y.so", "conda y 1 pkgs/y-1-0")
	expectOwner(t, s, "web/a.so", "")
}

func TestNPM(t *testing.T) {
	s := add(t, tree{
		"app/package.json":                                    `{"name":"app","version":"1.0.0"}`,
		"app/esm/package.json":                                `{"type":"module"}`,
		"app/node_modules/@n/linux-x64-cuda/package.json":     "\xef\xbb\xbf" + `{"name":"@n/linux-x64-cuda","version":"3.22.1","files":["a"]}`,
		"app/node_modules/nameless/package.json":              `{"version":"1"}`,
		"app/node_modules/odd/package.json":                   `{"name":["x"],"version":"1"}`,
		"app/vendor/pkg/package.json":                         `{"name":"vendored","version":"2"}`,
		"app/node_modules/@n/linux-x64-cuda/dep/package.json": `{"version":3}`,
	})
	expectOwner(t, s, "app/esm/a.node", "npm app 1.0.0 app")
	expectOwner(t, s, "app/node_modules/@n/linux-x64-cuda/bins/x.so", "npm @n/linux-x64-cuda 3.22.1 app/node_modules/@n/linux-x64-cuda")
	expectOwner(t, s, "app/node_modules/@n/linux-x64-cuda/dep/x.so", "npm @n/linux-x64-cuda 3.22.1 app/node_modules/@n/linux-x64-cuda")
	expectOwner(t, s, "app/node_modules/nameless/x.node", "")
	expectOwner(t, s, "app/node_modules/odd/x.node", "")
	expectOwner(t, s, "app/vendor/pkg/x.node", "npm vendored 2 app/vendor/pkg")
	expectOwner(t, s, "apple/x.node", "")
}

func TestDebian(t *testing.T) {
	const status = "Package: libcudart11.0\nStatus: install ok installed\nArchitecture: amd64\nVersion: 11.8.89~11.8.0-5\n" +
		"Description: NVIDIA CUDA\n Package: not this\n .\n Version: nor this\n\n" +
		"Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n\n" +
		"Package: adduser\nVersion: 3.134\nStatus: install ok installed"
	const sum = "d41d8cd98f00b204e9800998ecf8427e  "
	s := add(t, tree{
		"rootfs/var/lib/dpkg/status": status,
		"rootfs/var/lib/dpkg/info/libcudart11.0:amd64.list": "/.\n/usr\n/usr/lib\n/usr/lib/x86_64-linux-gnu\n" +
			"/usr/lib/x86_64-linux-gnu/libcudart.so.11.8.89\n/lib/old/libx.so.1\n",
		"rootfs/var/lib/dpkg/info/unknown.list":         "/opt/u/u.so\n",
		"img.tar!var/lib/dpkg/status.d/libssl3":         "Package: libssl3t64\nVersion: 3.0.1\n",
		"img.tar!var/lib/dpkg/status.d/libssl3.md5sums": sum + "usr/lib/libssl.so.3\n" + sum + "usr/share/a b.so\n",
		"libavfilter8.deb!DEBIAN/control":               "Package: libavfilter8\nSource: ffmpeg\nVersion: 7:5.1.9-0+deb12u1\nDescription: x\n",
	})
	const cudart = "deb libcudart11.0 11.8.89~11.8.0-5 rootfs"
	expectOwner(t, s, "rootfs/usr/lib/x86_64-linux-gnu/libcudart.so.11.8.89", cudart)
	expectOwner(t, s, "rootfs/lib/old/libx.so.1", cudart)
	expectOwner(t, s, "rootfs/usr/lib/old/libx.so.1", cudart)
	expectOwner(t, s, "rootfs/usr/lib/other.so", "")
	expectOwner(t, s, "rootfs/usr/lib", "") // folders are everyone's
	expectOwner(t, s, "rootfs/opt/u/u.so", "deb unknown  rootfs")
	expectOwner(t, s, "img.tar!usr/lib/libssl.so.3", "deb libssl3t64 3.0.1 img.tar")
	expectOwner(t, s, "img.tar!usr/share/a b.so", "deb libssl3t64 3.0.1 img.tar")
	expectOwner(t, s, "libavfilter8.deb!usr/lib/libavfilter.so.8", "deb libavfilter8 7:5.1.9-0+deb12u1 libavfilter8.deb")
	var names []string
	for _, d := range s.All() {
		names = append(names, d.Root+":"+d.Name)
	}
	const want = "img.tar:libssl3t64 libavfilter8.deb:libavfilter8 rootfs:adduser rootfs:libcudart11.0 rootfs:unknown"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("All = %s, want %s", got, want)
	}
}

func TestNuGetAndJar(t *testing.T) {
	const nuspec = `<?xml version="1.0" encoding="utf-8"?><!-- x -->
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"><files><id>no</id></files>
<metadata><dependencies><group><id>dep</id></group></dependencies><id> Microsoft.ML.OnnxRuntime.Gpu.Linux </id><version>1.20.1</version></metadata></package>`
	s := add(t, tree{
		"a.nupkg!Microsoft.ML.OnnxRuntime.Gpu.Linux.nuspec": "\xef\xbb\xbf" + nuspec,
		"src/my.nuspec": "<package><metadata><id>$id$</id><version>$version$</version></metadata></package>",
		"lib/cuda-12.3-8.9-1.5.10.jar!META-INF/maven/org.bytedeco/cuda/pom.properties": "#Created by Maven\ngroupId=org.bytedeco\nartifactId=cuda\nversion=12.3-8.9-1.5.10\n",
		"lib/fat.jar!META-INF/maven/org.bytedeco/cuda/pom.properties":                  "groupId=org.bytedeco\nartifactId=cuda\nversion=1\n",
		"META-INF/maven/g/a/pom.properties":                                            "groupId=g\nartifactId=a\nversion=1\n",
		"u/META-INF/maven/g/a/pom.properties":                                          "groupId=g\nartifactId=a\nversion=1\n",
		"u/META-INF/maven/g/b/pom.properties":                                          "groupId=g\nartifactId=b\nversion=1\n",
	})
	expectOwner(t, s, "a.nupkg!runtimes/linux-x64/native/libonnxruntime.so", "nuget Microsoft.ML.OnnxRuntime.Gpu.Linux 1.20.1 a.nupkg")
	expectOwner(t, s, "lib/cuda-12.3-8.9-1.5.10.jar!org/x.so", "jar org.bytedeco:cuda 12.3-8.9-1.5.10 lib/cuda-12.3-8.9-1.5.10.jar")
	expectOwner(t, s, "lib/fat.jar!org/x.so", "jar g:a 1") // the top's only one, around the archive
	expectOwner(t, s, "src/x.so", "jar g:a 1")
	expectOwner(t, s, "u/x.so", "jar g:a 1") // two say that u is theirs, so that neither counts
	for _, d := range s.All() {
		if strings.Contains(d.Name, "$") {
			t.Errorf("a template counts: %q", d.Name)
		}
	}
}

func TestTheMoreSpecificCounts(t *testing.T) {
	const list = "/opt/app/x.node\n/opt/app/lib/y.so\n/opt/app/w.whl\n"
	files := tree{
		"var/lib/dpkg/info/app.list":         list,
		"opt/app/package.json":               `{"name":"app","version":"1"}`,
		"DEBIAN/control":                     "Package: whole\nVersion: 1\n",
		"conda-meta/c.json":                  `{"name":"c","version":"1","files":["opt/app/lib/y.so"]}`,
		"opt/app/w.whl!w-1.dist-info/RECORD": "w/w.so,,\n",
		"opt/a-1.dist-info/RECORD":           "s/deep/z.so,,\n",
		"opt/s/b-1.dist-info/RECORD":         "deep/z.so,,\n",
	}
	for range 8 { // in the order of a map, which differs
		s := add(t, files)
		expectOwner(t, s, "opt/app/x.node", "deb app")               // a list before a folder
		expectOwner(t, s, "opt/app/other.node", "npm app 1 opt/app") // the deeper folder
		expectOwner(t, s, "opt/app/lib/y.so", "conda c 1")           // conda before deb
		expectOwner(t, s, "opt/app/w.whl!w/w.so", "python w 1 opt/app/w.whl")
		expectOwner(t, s, "opt/app/w.whl", "deb app")
		expectOwner(t, s, "opt/s/deep/z.so", "python b 1 opt/s") // the deeper root
		expectOwner(t, s, "usr/lib/q.so", "deb whole 1")
	}
}

func TestIsManifest(t *testing.T) {
	for _, path := range []string{
		"", "METADATA", "RECORD", "x/METADATA", "x.dist-info/WHEEL", "x.dist-info/sub/RECORD", "x.dist-info!RECORD",
		"conda-meta/history", "info/files", "xpackage.json", "control", "debian/control", "dpkg/status",
		"var/lib/dpkg/status-old", "var/lib/dpkg/info/x.md5sums", "var/lib/dpkg/info/.list", "var/lib/dpkg!status", "var/lib/dpkg/status.d/",
		".nuspec", "pom.properties", "META-INF/maven/pom.properties", "EGG-INFO/PKG-INFO", "PKG-INFO",
		"a!../x.dist-info/RECORD", ".dist-info/RECORD", ".egg-info/PKG-INFO", ".egg/EGG-INFO/PKG-INFO", "var/lib/dpkg/info/:amd64.list", "var/lib/dpkg/status.d/.md5sums",
	} {
		if IsManifest(path) {
			t.Errorf("IsManifest(%q) = true", path)
		}
		if (&Set{}).Add(path, nil) == nil {
			t.Errorf("Add(%q) takes what is no manifest", path)
		}
	}
}

func TestDamage(t *testing.T) {
	for _, c := range []struct{ path, content, want string }{
		{"x-1.dist-info/METADATA", "Version: 1\n\nName: late\n", "no usable Name"},
		{"x-1.dist-info/METADATA", "Name: " + strings.Repeat("n", maxName+1) + "\nVersion: 1\n", "no usable Name"},
		{"x-1.dist-info/RECORD", "a.so,,\n\"open\nb.so,,\n\"c\"d,,\n", "line 2 is damaged, and 1 more"},
		{"x-1.dist-info/RECORD", strings.Repeat("p", maxPath+1) + ",,\nb.so,,\n", "line 1 is damaged"},
		{"e/package.json", "[]", "not a JSON object"},
		{"e/package.json", `{"name":"a"`, "cut off"},
		{"e/package.json", `{"name":"a",}`, "damaged at 0x"},
		{"e/package.json", strings.Repeat(`{"a":`, 20000), "damaged at 0x"},
		{"conda-meta/a.json", `{"files":["b.so"]}`, "no usable name"},
		{"DEBIAN/control", "Package:\n", "no usable Package"},
		{"var/lib/dpkg/status", "garbage", "no Package field"},
		{"var/lib/dpkg/status.d/a.md5sums", "abc  x\n", "line 1"},
		{"a.nuspec", "<package><metadata>", "no usable id"},
		{"a.nuspec", "<package", "damaged at 0x"},
		{"META-INF/maven/g/a/pom.properties", "version=1\n", "no groupId"},
		{"x-1.dist-info/RECORD", strings.Repeat("a\n", maxLines+1), "more than 524288 lines"},
		{"conda-meta/a.json", `{"name":"a","files":[` + strings.Repeat(`"",`, maxLines) + `""]}`, "more than 524288 files"},
		{"package.json", `{"name":"a"` + strings.Repeat(`,"":0`, maxMembers) + "}", "more than 65536 members"},
	} {
		err := (&Set{}).Add(c.path, []byte(c.content))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.path+": ") {
			t.Errorf("%s %.30q: error %v, want %q", c.path, c.content, err, c.want)
		}
	}
	// What is sound in a damaged manifest counts.
	var s Set
	if s.Add("x-1.dist-info/RECORD", []byte("a.so,,\n\"open\nb.so,,\n")) == nil {
		t.Error("no error")
	}
	expectOwner(t, &s, "b.so", "python x 1")
	if err := s.Add("x-1.dist-info/RECORD", make([]byte, MaxManifest+1)); err == nil {
		t.Error("a manifest beyond MaxManifest is read")
	}
}

func TestTextIsNotKept(t *testing.T) {
	for path, want := range map[string]bool{
		"a.py": false, "a/b.PYC": false, "a.cuh": false, "README.md": false, "a.json": false, "x.so.1.py": false,
		"a.so": true, "a.so.12": true, "tool": true, "a.d/tool": true, "a.ptx": true, "a.bin": true, "k.hsaco": true, "a.cubin.zst": true,
		"a.": true, "a.longextension": true, "": true, "a.p y": true,
	} {
		if got := mayHoldCode(path); got != want {
			t.Errorf("mayHoldCode(%q) = %v", path, got)
		}
	}
}

// A RECORD like that of PyTorch: 15,000 lines, most of them text.
func TestManyFilesAndGoroutines(t *testing.T) {
	var s Set
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var b strings.Builder
			for i := range 15000 {
				ext := ".h"
				if i%50 == 0 {
					ext = ".so"
				}
				fmt.Fprintf(&b, "t%d/f%d%s,sha256=x,1\n", g, i, ext)
			}
			dir := fmt.Sprintf("s/t%d-1.dist-info/", g)
			if err := s.Add(dir+"RECORD", []byte(b.String())); err != nil {
				t.Error(err)
			}
			if err := s.Add(dir+"METADATA", []byte(meta(fmt.Sprintf("T%d", g), "1"))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(s.files) != 8*300 {
		t.Errorf("%d paths are kept, want 2400", len(s.files))
	}
	expectOwner(t, &s, "s/t3/f14950.so", "python T3 1 s")
}

func TestLongPaths(t *testing.T) {
	var s Set
	if err := s.Add("DEBIAN/control", []byte("Package: p\nVersion: 1\n")); err != nil {
		t.Fatal(err)
	}
	expectOwner(t, &s, strings.Repeat("a/", 2000)+"x.so", "deb p 1")
	expectOwner(t, &s, strings.Repeat("a!", 20)+"x.so", "deb p 1")
	expectOwner(t, &s, strings.Repeat("a!", 2000)+"x.so", "")      // archives in archives without end
	expectOwner(t, &s, strings.Repeat("a/", 4*maxPath)+"x.so", "") // no path of any system
}
