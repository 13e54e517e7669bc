package pack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Made with: printf 'hello kernel\n' | bzip2
const helloBzip2 = "425a683931415926535900ab519b000002d18000104000024d9000200022019a820c98840c4c83aafc5dc914e1424002ad466c"

// Made with: printf 'elf bytes' >lib/x.so;
// tar --owner=0 --group=0 --mtime=@0 --format=ustar -c lib/x.so | bzip2
const tarBzip2 = "425a683931415926535910cf18d400007d7b90ca8000604001ff00004073249e60040000082000750d211a0341e91a7a9a69a7a824a4340681a01a641d9f41cd9d08234a4243e87b0ca2eb2a408609810f20f6a108f36027626d6cb440f460e699abaa2b349098ac4eea7cf17aaace24441f8bb9229c284808678c6a00"

var wheel = []file{
	{name: "torch/lib/libtorch.so", body: "elf one", method: zip.Deflate},
	{name: "torch/__init__.py", body: "import", method: zip.Store},
}

func TestFormats(t *testing.T) {
	plain := []file{{name: "./", kind: tar.TypeDir}, {name: "./lib/x.so", body: "elf bytes"}, {name: "a.txt", body: "text"}}
	tarred := tarOfFiles(t, plain...)
	lines := []string{"lib/x.so=elf bytes", "a.txt=text"}
	deb := func(data string, body []byte) []byte {
		return arOf(file{name: "debian-binary", body: "2.0\n"},
			file{name: "control.tar.gz", body: string(gz(t, tarOfFiles(t, file{name: "./control", body: "Package: x"})))},
			file{name: data, body: string(body)})
	}
	debLines := append([]string{"DEBIAN/control=Package: x"}, lines...)
	conda := zipOfFiles(t, file{name: "metadata.json", body: "{}"},
		file{name: "info-x-1-0.tar.zst", body: string(zst(t, tarOfFiles(t, file{name: "info/index.json", body: "{1}"})))},
		file{name: "pkg-x-1-0.tar.zst", body: string(zst(t, tarred))})
	for _, c := range []struct {
		format Format
		data   []byte
		name   string
		want   []string
	}{
		{FormatZip, zipOfFiles(t, wheel...), "torch.whl", []string{"torch/lib/libtorch.so=elf one", "torch/__init__.py=import"}},
		{FormatZip, zipOfFiles(t, file{name: "k.cubin", body: "cubin", method: 93}), "k.zip", []string{"k.cubin=cubin"}},
		{FormatZip, zipOfFiles(t), "empty.zip", nil},
		{FormatTar, tarred, "x.tar", lines},
		{FormatTarGzip, gz(t, tarred), "x.tgz", lines},
		{FormatTarGzip, append(gz(t, tarred[:700]), gz(t, tarred[700:])...), "two-members.tgz", lines},
		{FormatTarXz, xzip(t, tarred), "x.txz", lines},
		{FormatTarZstd, zst(t, tarred), "x.tar.zst", lines},
		{FormatTarZstd, append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"), zst(t, tarred)...), "skippable.tar.zst", lines},
		{FormatTarBzip2, unhex(t, tarBzip2), "x.tar.bz2", lines[:1]},
		{FormatDeb, deb("data.tar", tarred), "x.deb", debLines},
		{FormatDeb, deb("data.tar.xz", xzip(t, tarred)), "x.deb", debLines},
		{FormatDeb, deb("data.tar.zst/", zst(t, tarred)), "x.deb", debLines},
		{FormatConda, conda, "x.conda", append([]string{"metadata.json={}", "info/index.json={1}"}, lines...)},
		{FormatGzip, gz(t, []byte("log")), "dir/a.ptx.gz", []string{"a.ptx=log"}},
		{FormatGzip, append(gz(t, []byte("log")), make([]byte, 512)...), "padded.gz", []string{"padded=log"}},
		{FormatXz, xzip(t, []byte("log")), `C:\dir\a.XZ`, []string{"a=log"}},
		{FormatZstd, zst(t, []byte("cubin")), "kernel.cubin.zst", []string{"kernel.cubin=cubin"}},
		{FormatBzip2, unhex(t, helloBzip2), ".bz2", []string{"content=hello kernel\n"}},
		{FormatZstd, zst(t, nil), "", []string{"content="}},
		{FormatDocker, dockerSave(t, map[string][][]byte{"x:1": {tarred}}), "x.tar", lines},
		{FormatOCI, ociTar(t, ociImage{layers: [][]byte{gz(t, tarred)}}), "x.tar", lines},
	} {
		t.Run(string(c.format)+" "+c.name, func(t *testing.T) {
			if got := Recognise(bytes.NewReader(c.data), int64(len(c.data))); got != c.format {
				t.Errorf("recognised as %q, want %q", got, c.format)
			}
			sum := expect(t, c.data, c.name, c.want...)
			if sum.Format != c.format || sum.Members != len(c.want) {
				t.Errorf("summary %+v", sum)
			}
		})
	}
}

func TestNotPackages(t *testing.T) {
	for name, data := range map[string]string{
		"empty": "", "text": "hello", "elf": "\x7fELF" + strings.Repeat("\x00", 600),
		"static library": string(arOf(file{name: "vec.o/", body: "obj"})), "zeros": strings.Repeat("\x00", 2048),
		"tar with a wrong sum": "x" + string(tarOfFiles(t, file{name: "abc", body: "1"}))[1:],
		"gzip magic alone":     "\x1f\x8b\x08", "BZh text": "BZh9 is a magic",
	} {
		t.Run(name, func(t *testing.T) {
			if f := Recognise(strings.NewReader(data), int64(len(data))); f != "" {
				t.Errorf("recognised as %q", f)
			}
			if _, _, err := walk(t, []byte(data), name, Limits{}); err != ErrNotPackage {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSelfExtracting(t *testing.T) {
	data := append([]byte("MZ the program that unpacks"), zipOfFiles(t, file{name: "a.dll", body: "pe"})...)
	if f := Recognise(bytes.NewReader(data), int64(len(data))); f != FormatZip {
		t.Errorf("recognised as %q", f)
	}
	got, _, err := walk(t, data, "setup.exe", Limits{})
	must(t, err)
	if len(got) != 2 || got[0].path != "setup.exe" || !strings.HasPrefix(got[0].body, "MZ the program that unpacksPK\x03\x04") || listing(got[1:]) != "a.dll=pe" {
		t.Errorf("got %v", got)
	}
	// A zip inside a file that goes on behind it is not what the file is.
	if f := Recognise(bytes.NewReader(append(data, "rest"...)), int64(len(data))+4); f != "" {
		t.Errorf("recognised as %q", f)
	}
}

func TestNestedPackages(t *testing.T) {
	inner := zipOfFiles(t, wheel...)
	tgz := gz(t, tarOfFiles(t, file{name: "lib/x.so", body: "elf"}))
	lib := arOf(file{name: "vec.o/", body: "obj"})
	want := func(prefix string) []string {
		return []string{
			prefix + "in/torch.whl!torch/lib/libtorch.so=elf one", prefix + "in/torch.whl!torch/__init__.py=import",
			prefix + "x.tgz!lib/x.so=elf", prefix + "k.ptx.zst!k.ptx=// ptx", prefix + fmt.Sprintf("libcuda.a=(%d)", len(lib)), prefix + "z=end",
		}
	}
	files := []file{
		{name: "in/torch.whl", body: string(inner)}, {name: "x.tgz", body: string(tgz)},
		{name: "k.ptx.zst", body: string(zst(t, []byte("// ptx")))}, {name: "libcuda.a", body: string(lib)}, {name: "z", body: "end"},
	}
	deflated := make([]file, len(files))
	for i, f := range files {
		f.method = zip.Deflate
		deflated[i] = f
	}
	tarred := tarOfFiles(t, files...)
	for name, data := range map[string][]byte{
		"stored": zipOfFiles(t, files...), "deflated": zipOfFiles(t, deflated...), "tar": tarred, "tar.zst": zst(t, tarred), "tar.xz": xzip(t, tarred),
	} {
		t.Run(name, func(t *testing.T) {
			if sum := expect(t, data, name, want("")...); sum.Packages != 3 {
				t.Errorf("%d packages", sum.Packages)
			}
			outer := tarOfFiles(t, file{name: "outer", body: string(data)})
			expect(t, outer, "", want("outer!")...)
			expect(t, gz(t, outer), "x.gz", want("outer!")...)
		})
	}
	got, _, err := walk(t, gz(t, tarOfFiles(t, file{name: "a.zip", body: string(zipOfFiles(t, files[0]))})), "", Limits{})
	must(t, err)
	if got[0].pkg != "a.zip!in/torch.whl" || got[0].size != int64(len("elf one")) {
		t.Errorf("got %+v", got[0])
	}
}

// What only looks like a package is handed out as it is.
func TestFalsePackages(t *testing.T) {
	files := []file{{name: "a.jar", body: "PK\x03\x04 no zip"}, {name: "a.gz", body: "\x1f\x8b\x08\x00 no deflate data here"}}
	tarred := tarOfFiles(t, files...)
	got, sum, err := walk(t, tarred, "", Limits{})
	must(t, err)
	if listing(got) != "a.jar=PK\x03\x04 no zip\na.gz=\x1f\x8b\x08\x00 no deflate data here" {
		t.Errorf("got %q", listing(got))
	}
	for _, f := range sum.Findings {
		if f.Severity != SeverityWarning || !strings.Contains(f.Message, "looks like") {
			t.Errorf("finding %v", f)
		}
	}
	if len(sum.Findings) != 2 {
		t.Errorf("findings %v", sum.Findings)
	}
	// In a stream, what a decompressor has eaten is gone: the finding is an error.
	got, sum, err = walk(t, gz(t, tarred), "", Limits{})
	must(t, err)
	if len(got) != 1 || finding(t, sum, "gzip is damaged").Severity != SeverityError {
		t.Errorf("got %q, %v", listing(got), sum.Findings)
	}
}

func TestTarKinds(t *testing.T) {
	long := strings.Repeat("long/", 60) + "name.so"
	tarred := tarOfFiles(t,
		file{name: "a.so", body: "elf"}, file{name: "link.so", kind: tar.TypeLink, link: "./a.so"},
		file{name: "sym.so", kind: tar.TypeSymlink, link: "a.so"}, file{name: "null", kind: tar.TypeChar},
		file{name: "pipe", kind: tar.TypeFifo}, file{name: "dir/", kind: tar.TypeDir},
		file{name: long, body: "pax"}, file{name: "a.so", body: "again"}, file{name: "late", kind: tar.TypeLink, link: "a.so"},
	)
	for _, data := range [][]byte{tarred, gz(t, tarred)} {
		got, sum, err := walk(t, data, "", Limits{})
		must(t, err)
		const none = "error: a hard link has no content of its own"
		want := "a.so=elf\nlink.so=(44)\n" + long + "=pax\na.so#2=again\nlate=(44)"
		if len(none) != 44 || listing(got) != want || got[1].body != none {
			t.Errorf("got\n%s", listing(got))
		}
		if got[1].link != "a.so" || got[4].link != "a.so#2" || sum.Skipped != (Skipped{Links: 1, Devices: 2}) || len(sum.Findings) != 0 {
			t.Errorf("links %q %q, %+v", got[1].link, got[4].link, sum)
		}
	}
}

// gnuSparse is a member of old GNU format: a header that says 'S', with one
// piece of data at offset 4096 of a file of 8192 bytes.
func gnuSparse(t testing.TB, name, body string, at, size int64) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x00")
	copy(h[108:], "0000000\x00")
	copy(h[116:], "0000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00", len(body)))
	copy(h[136:], "00000000000\x00")
	h[156] = 'S'
	copy(h[257:], "ustar  \x00")
	copy(h[386:], fmt.Sprintf("%011o\x00%011o\x00", at, len(body)))
	copy(h[386+24:], fmt.Sprintf("%011o\x00%011o\x00", size, 0))
	copy(h[483:], fmt.Sprintf("%011o\x00", size))
	copy(h[148:], "        ")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	h = append(h, body...)
	return append(h, make([]byte, (512-len(body)%512)%512)...)
}

func TestSparse(t *testing.T) {
	data := append(gnuSparse(t, "hole.so", "elf", 4096, 8192), tarOfFiles(t, file{name: "z", body: "end"})...)
	want := strings.Repeat("\x00", 4096) + "elf" + strings.Repeat("\x00", 4093)
	for _, data := range [][]byte{data, gz(t, data)} {
		got, sum, err := walk(t, data, "", Limits{})
		must(t, err)
		if len(got) != 2 || got[0].body != want || got[0].size != 8192 || got[1].body != "end" || len(sum.Findings) != 0 {
			t.Errorf("got %q, %+v", listing(got), sum)
		}
	}
	// A hole of eight gigabytes in a kilobyte is a bomb.
	bomb := append(gnuSparse(t, "hole.so", "elf", 4096, 1<<33-1), tarOfFiles(t, file{name: "z", body: "end"})...)
	got, sum, err := walk(t, bomb, "", Limits{ratioFloor: 1 << 20, TempDir: t.TempDir()})
	must(t, err)
	if len(got) != 2 || got[1].body != "end" {
		t.Errorf("got %q", listing(got))
	}
	finding(t, sum, "more than 300 bytes for each packed one")
}

func TestDamagedDeb(t *testing.T) {
	binary := file{name: "debian-binary", body: "2.0\n"}
	data := file{name: "data.tar", body: string(tarOfFiles(t, file{name: "x", body: "1"}))}
	good := arOf(binary, data)
	magic, size := bytes.Clone(good), bytes.Clone(good)
	second := len(arOf(binary))
	magic[second+58] = '?'
	copy(size[second+48:], "12a")
	for text, deb := range map[string][]byte{
		"header of an ar member is damaged at offset 0x48":    magic,
		"size of an ar member is no number at offset 0x48":    size,
		"ar header at offset 0x48":                            good[:second+20],
		"no data.tar":                                         arOf(binary),
		"not a tar in a known compression":                    arOf(binary, file{name: "data.tar.lzma", body: "]\x00\x00\x80\x00"}),
		"xz is damaged":                                       arOf(binary, file{name: "data.tar.xz", body: "\xfd7zXZ\x00 damaged"}),
		`ar member "data.tar" at offset 0x84: content is cut`: good[:len(good)-100],
	} {
		_, sum, err := walk(t, deb, "", Limits{})
		must(t, err)
		if f := finding(t, sum, text); f.Severity != SeverityError {
			t.Errorf("%v", f)
		}
	}
}
