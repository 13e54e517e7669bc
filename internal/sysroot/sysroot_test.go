package sysroot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// elf is the beginning of a library: class 2 is 64 bits, machine 62 x86-64.
func elf(class byte, machine byte) string {
	b := make([]byte, 64)
	copy(b, "\x7fELF")
	b[4], b[18] = class, machine
	return string(b)
}

func native() string { return elf(2, map[string]byte{"amd64": 62, "arm64": 183}[runtime.GOARCH]) }

// system makes a root folder; contents that begin with "-> " are links.
func system(t testing.TB, files map[string]string) Root {
	t.Helper()
	root := Root{Dir: t.TempDir(), GOOS: "linux"}
	for p, content := range files {
		at := filepath.Join(root.Dir, p)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(content), 0o644)
		}
		if err != nil {
			t.Skipf("this system cannot make %s: %v", p, err)
		}
	}
	return root
}

func TestResolve(t *testing.T) {
	r := system(t, map[string]string{
		"/usr/lib/a.so.1": "-> a.so.1.2", "/usr/lib/a.so.1.2": "x",
		"/lib":       "-> usr/lib",
		"/opt/abs":   "-> /usr/lib/a.so.1",
		"/opt/up":    "-> ../../../../../../usr/lib/a.so.1.2",
		"/opt/loop":  "-> loop",
		"/opt/gone":  "-> /usr/lib/none.so",
		"/opt/ping":  "-> pong",
		"/opt/pong":  "-> ping",
		"/opt/dir/f": "y",
	})
	for p, want := range map[string]string{
		"/usr/lib/a.so.1":   "/usr/lib/a.so.1.2",
		"/lib/a.so.1":       "/usr/lib/a.so.1.2",
		"/opt/abs":          "/usr/lib/a.so.1.2", // not this machine's /usr
		"/opt/up":           "/usr/lib/a.so.1.2", // the root's parent is the root
		"/opt/dir/../dir/f": "/opt/dir/f",
		"/":                 "/",
	} {
		if got, err := r.Resolve(p); got != want || err != nil {
			t.Errorf("%s: %s, %v", p, got, err)
		}
	}
	for _, p := range []string{"/opt/loop", "/opt/ping", "/opt/gone", "/none", "relative", ""} {
		if got, err := r.Resolve(p); err == nil {
			t.Errorf("%s led to %s", p, got)
		} else if strings.Contains(err.Error(), r.Dir) {
			t.Errorf("%s: the error names the folder of the test: %v", p, err)
		}
	}
	if got, err := r.Resolve("/opt/gone"); got != "/usr/lib/none.so" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dangling link: %s, %v", got, err)
	}
	if target, err := r.Readlink("/opt/gone"); target != "/usr/lib/none.so" || err != nil {
		t.Errorf("Readlink: %s, %v", target, err)
	}
}

func TestRead(t *testing.T) {
	r := system(t, map[string]string{"/sys/v": "0x10de\nmore\n", "/proc/model": "Jetson\x00", "/d/c": "", "/d/a": "", "/d/b": "", "/big": strings.Repeat("x", 1000)})
	if got := r.Line("/sys/v"); got != "0x10de" {
		t.Errorf("%q", got)
	}
	if got := r.Line("/proc/model"); got != "Jetson" {
		t.Errorf("%q", got)
	}
	if got := r.Line("/none"); got != "" {
		t.Errorf("%q", got)
	}
	if b, err := r.ReadFile("/big", 10); len(b) != 10 || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := r.ReadFile("/d", 10); err == nil || err.Error() != "/d: not an ordinary file" {
		t.Errorf("%v", err)
	}
	if names, err := r.ReadDir("/d", 10); strings.Join(names, "") != "abc" || err != nil {
		t.Errorf("%v, %v", names, err)
	}
	if names, _ := r.ReadDir("/d", 2); len(names) != 2 {
		t.Errorf("%v", names)
	}
	if _, err := r.ReadDir("/big", 2); err == nil {
		t.Error("a file was read as a folder")
	}
	if !r.IsDir("/d") || r.IsDir("/big") || !r.Exists("/big") || r.Exists("/none") {
		t.Error("IsDir or Exists is wrong")
	}
}

// Only root passes every check, so this says what the kernel says to others.
func TestAccess(t *testing.T) {
	r := system(t, map[string]string{"/f": "x"})
	if err := r.Access("/f", true); err != nil {
		t.Errorf("own file: %v", err)
	}
	if err := r.Access("/none", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(filepath.Join(r.Dir, "f"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := r.Access("/f", true); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("read-only file: %v", err)
	}
	if err := r.Access("/f", false); err != nil {
		t.Errorf("readable file: %v", err)
	}
}

func TestWindowsPaths(t *testing.T) {
	r := Root{Dir: t.TempDir(), GOOS: "windows"}
	at := filepath.Join(r.Dir, "C", "Windows", "System32")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "nvml.dll"), []byte("MZ"), 0o644); err != nil {
		t.Fatal(err)
	}
	if p := r.Join(`C:\Windows\`, "System32", "nvml.dll"); p != `C:\Windows\System32\nvml.dll` || !r.Exists(p) {
		t.Errorf("%s is not there", p)
	}
	if r.Exists(`C:\Windows\..\..\..\none`) || r.Exists(`nvml.dll`) || r.IsAbs(`\x`) || !r.IsAbs(`D:\`) {
		t.Error("a path that is not absolute was found")
	}
	if l := r.List(`C:\a;D:\b`); len(l) != 2 || l[1] != `D:\b` {
		t.Errorf("%q", l)
	}
}

func TestLoaderDirs(t *testing.T) {
	r := system(t, map[string]string{
		"/etc/ld.so.conf":               "include /etc/ld.so.conf.d/*.conf\n\n/last # comment\nhwcap 1 nosegneg\nrelative\n",
		"/etc/ld.so.conf.d/b.conf":      "/b\n/usr/lib64\n",
		"/etc/ld.so.conf.d/00-a.conf":   "# comment\n  /a  \ninclude more/*.conf\n",
		"/etc/ld.so.conf.d/more/x.conf": "/x=libc6\n",
		"/etc/ld.so.conf.d/c.txt":       "/no\n",
	})
	var got []string
	for _, d := range r.LoaderDirs("/one::/two/;relative:/one") {
		got = append(got, d.Path+" "+d.From)
	}
	want := []string{
		"/one LD_LIBRARY_PATH", "/two LD_LIBRARY_PATH",
		"/a /etc/ld.so.conf.d/00-a.conf", "/x /etc/ld.so.conf.d/more/x.conf",
		"/b /etc/ld.so.conf.d/b.conf", "/usr/lib64 /etc/ld.so.conf.d/b.conf", "/last /etc/ld.so.conf",
	}
	if len(got) < len(want)+2 || strings.Join(got[:len(want)], "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if last := got[len(got)-1]; last != "/usr/lib "+Standard {
		t.Errorf("last %s", last)
	}
}

// A configuration that includes itself ends.
func TestLoaderDirsLoop(t *testing.T) {
	r := system(t, map[string]string{"/etc/ld.so.conf": strings.Repeat("include /etc/ld.so.conf\n", 50) + "/a\n"})
	if dirs := r.LoaderDirs(strings.Repeat("/x", 10) + ":/y"); dirs[0].Path != strings.Repeat("/x", 10) {
		t.Errorf("%v", dirs)
	}
	var many strings.Builder
	for i := range 5000 {
		many.WriteString("/d" + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + ":")
	}
	if n := len(r.LoaderDirs(many.String())); n != maxDirs {
		t.Errorf("%d folders", n)
	}
}

func TestLibraries(t *testing.T) {
	r := system(t, map[string]string{
		"/gone/libcuda.so.1":          "-> libcuda.so.535.1",
		"/x86/libcuda.so.1":           elf(1, 3),
		"/x32/libcuda.so.1":           elf(1, map[string]byte{"amd64": 62, "arm64": 183}[runtime.GOARCH]),
		"/text/libcuda.so.1":          "GROUP ( libcuda.so.2 )\n and some more text",
		"/empty/libcuda.so.1":         "",
		"/good/libcuda.so.1":          "-> libcuda.so.535.104.05",
		"/good/libcuda.so.535.104.05": native(),
		"/again":                      "-> good",
		"/dir/libcuda.so.1/x":         "",
	})
	var dirs []Dir
	for _, d := range []string{"/none", "/gone", "/x86", "/x32", "/text", "/empty", "/good", "/again", "/dir"} {
		dirs = append(dirs, Dir{d, "test"})
	}
	libs := r.Libraries("libcuda.so.1", dirs)
	var got []string
	for _, l := range libs {
		got = append(got, l.Path+" "+l.Real+" "+l.Version+" "+string(l.Fault))
	}
	want := []string{
		"/gone/libcuda.so.1 /gone/libcuda.so.535.1 535.1 " + string(Dangling),
		"/text/libcuda.so.1 /text/libcuda.so.1 1 " + string(NotELF),
		"/empty/libcuda.so.1 /empty/libcuda.so.1 1 " + string(Empty),
		"/good/libcuda.so.1 /good/libcuda.so.535.104.05 535.104.05 ",
		"/dir/libcuda.so.1 /dir/libcuda.so.1 1 " + string(NotELF),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if l, ok := First(libs); !ok || l.Path != "/text/libcuda.so.1" {
		t.Errorf("first %+v", l)
	}
	if _, ok := First(libs[:1]); ok {
		t.Error("a dangling link was taken")
	}
}

func FuzzLoaderDirs(f *testing.F) {
	f.Add("/a:/b;c", "include /etc/ld.so.conf.d/*.conf\n/x # y\n", "/z\ninclude [\n")
	f.Add("", "include /etc/ld.so.conf\n", "include ../../*\n\x00/\xff")
	dir := f.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "etc/ld.so.conf.d"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, conf, more string) {
		r := Root{Dir: dir, GOOS: "linux"}
		for name, text := range map[string]string{"etc/ld.so.conf": conf, "etc/ld.so.conf.d/m.conf": more} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[string]bool{}
		dirs := r.LoaderDirs(path)
		for _, d := range dirs {
			if !strings.HasPrefix(d.Path, "/") || seen[d.Path] || d.From == "" {
				t.Fatalf("%+v", d)
			}
			seen[d.Path] = true
		}
		if len(dirs) > maxDirs {
			t.Fatalf("%d folders", len(dirs))
		}
		r.Libraries("libcuda.so.1", dirs)
	})
}
