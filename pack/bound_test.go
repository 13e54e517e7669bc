package pack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
)

const zeros = 4 << 20 // bytes; deflate makes them a thousandth

// small makes bounds that little data reaches.
func small(t testing.TB) Limits {
	return Limits{TempDir: t.TempDir(), ratioFloor: 1 << 20, Ratio: 2, Memory: 1 << 20}
}

func emptyDir(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 0 {
		t.Errorf("temporary folder has %d files", len(entries))
	}
}

func TestRatio(t *testing.T) {
	bomb := strings.Repeat("\x00", zeros)
	files := []file{{name: "first", body: "1"}, {name: "bomb", body: bomb, method: zip.Deflate}, {name: "last", body: "2"}}
	nested := zipOfFiles(t, file{name: "deep", body: string(zipOfFiles(t, files...))})
	for name, c := range map[string]struct {
		data []byte
		path string
	}{
		"zip": {zipOfFiles(t, files...), "bomb"}, "tar.gz": {gz(t, tarOfFiles(t, files...)), "bomb"},
		"nested": {nested, "deep!bomb"}, "single": {zst(t, []byte(bomb)), "single"},
		// A zip in a compressed tar must be unpacked to be opened.
		"spooled": {gz(t, tarOfFiles(t, file{name: "b.zip", body: string(zipOfFiles(t, file{name: "x", body: bomb}))})), "b.zip"},
	} {
		t.Run(name, func(t *testing.T) {
			lim := small(t)
			got, sum, err := walk(t, c.data, name, lim)
			must(t, err)
			f := finding(t, sum, "more than 2 bytes for each packed one")
			if f.Path != c.path || f.Severity != SeverityError {
				t.Errorf("%v", f)
			}
			if name == "zip" && listing(got) != "first=1\nbomb=error: unpacks to too much\nlast=2" || name == "tar.gz" && (len(got) != 3 || got[2].body != "2") {
				t.Errorf("got %s", listing(got))
			}
			emptyDir(t, lim.TempDir)
		})
	}
	// The same content is no bomb to the bounds that hold by default.
	expect(t, zipOfFiles(t, files...), "", "first=1", "bomb=(4194304)", "last=2")
}

func TestTotal(t *testing.T) {
	a, b := noise(3000), noise(5000)
	files := []file{{name: "a", body: a, method: zip.Deflate}, {name: "b", body: b, method: zip.Deflate}, {name: "c", body: "c", method: zip.Deflate}}
	for name, data := range map[string][]byte{
		"zip": zipOfFiles(t, files...), "tar": tarOfFiles(t, files...),
		"nested": zipOfFiles(t, file{name: "in.zip", body: string(zipOfFiles(t, files...))}),
	} {
		t.Run(name, func(t *testing.T) {
			got, sum, err := walk(t, data, "", Limits{Total: 6000})
			must(t, err)
			if len(got) == 0 || got[0].body != a || sum.Bytes > 6000 {
				t.Errorf("got %s, %+v", listing(got), sum)
			}
			for _, s := range got {
				if s.body == b || s.body == "c" {
					t.Errorf("%s is beyond the bound", s.path)
				}
			}
			finding(t, sum, "the bound of 6000 unpacked bytes is reached")
		})
	}
	// Exactly as much as the bound is no hit.
	_, sum, err := walk(t, tarOfFiles(t, files...), "", Limits{Total: 8001})
	must(t, err)
	if sum.Bytes != 8001 || len(sum.Findings) != 0 {
		t.Errorf("%+v", sum)
	}
}

func TestEntries(t *testing.T) {
	files := []file{{name: "a", body: "1"}, {name: "b", body: "2"}, {name: "c", body: "3"}, {name: "d", body: "4"}}
	for name, data := range map[string][]byte{
		"zip": zipOfFiles(t, files...), "tar": tarOfFiles(t, files...), "tar.xz": xzip(t, tarOfFiles(t, files...)),
	} {
		t.Run(name, func(t *testing.T) {
			got, sum, err := walk(t, data, "", Limits{Entries: 2})
			must(t, err)
			if listing(got) != "a=1\nb=2" {
				t.Errorf("got %s", listing(got))
			}
			finding(t, sum, "the bound of 2 entries is reached")
			_, sum, err = walk(t, data, "", Limits{Entries: 4})
			must(t, err)
			if len(sum.Findings) != 0 {
				t.Errorf("findings %v", sum.Findings)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	data := []byte("bottom")
	for range 6 {
		data = zipOfFiles(t, file{name: "x", body: string(data)})
	}
	got, sum, err := walk(t, data, "", Limits{})
	must(t, err)
	if len(got) != 0 || finding(t, sum, "depth of 4").Path != "x!x!x!x!x" {
		t.Errorf("got %s, %v", listing(got), sum.Findings)
	}
	got, _, err = walk(t, data, "", Limits{Depth: 5})
	must(t, err)
	if listing(got) != "x!x!x!x!x!x=bottom" {
		t.Errorf("got %s", listing(got))
	}
}

// A zip whose directory claims entries that are not there.
func TestDeclaredEntries(t *testing.T) {
	data := zipOfFiles(t, file{name: "a", body: "1"})
	end := len(data) - 22
	binary.LittleEndian.PutUint16(data[end+8:], 0xFFFE)
	binary.LittleEndian.PutUint16(data[end+10:], 0xFFFE)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := walk(t, data, "", Limits{})
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("no error")
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated for a zip of %d", n, len(data))
	}
}

// A directory of more entries than the bound is not even kept.
func TestDirectoryBound(t *testing.T) {
	entry := append([]byte("PK\x01\x02"), make([]byte, 42)...)
	const n = 80_000
	data := append([]byte("PK\x03\x04"), bytes.Repeat(entry, n)...)
	end := append([]byte("PK\x05\x06"), make([]byte, 18)...)
	binary.LittleEndian.PutUint16(end[10:], n&0xFFFF)
	binary.LittleEndian.PutUint32(end[12:], uint32(n*len(entry)))
	binary.LittleEndian.PutUint32(end[16:], 4)
	_, _, err := walk(t, append(data, end...), "", Limits{Entries: 1000})
	if err == nil || !strings.Contains(err.Error(), "too many entries") {
		t.Errorf("error %v", err)
	}
}

func TestTruncated(t *testing.T) {
	files := []file{{name: "a.so", body: noise(2000)}, {name: "b.so", body: noise(300_000)}, {name: "c", body: "c"}}
	tarred := tarOfFiles(t, files...)
	for name, data := range map[string][]byte{
		"tar": tarred[:100_000], "tar.gz": gz(t, tarred)[:100_000], "tar.xz": xzip(t, tarred)[:100_000], "tar.zst": zst(t, tarred)[:200_000],
		"deb": arOf(file{name: "debian-binary", body: "2.0\n"}, file{name: "data.tar", body: string(tarred)})[:100_000],
	} {
		t.Run(name, func(t *testing.T) {
			got, sum, err := walk(t, data, "", Limits{})
			must(t, err)
			if len(got) == 0 || got[0].path != "a.so" || got[0].body != files[0].body {
				t.Fatalf("got %s", listing(got))
			}
			// The second is visited for its head, and cannot be opened.
			if len(got) > 1 && !strings.HasPrefix(got[1].body, "error: ") || len(got) > 2 {
				t.Errorf("got %s", listing(got))
			}
			hits := 0
			for _, f := range sum.Findings {
				if f.Severity == SeverityError && (strings.Contains(f.Message, "after 2 entries, at offset 0x") || strings.Contains(f.Message, "after 1 entries, at offset 0x")) {
					hits++
				}
			}
			if hits != 1 {
				t.Errorf("findings %v", sum.Findings)
			}
		})
	}
	if _, _, err := walk(t, zipOfFiles(t, files...)[:100_000], "", Limits{}); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("zip: error %v", err)
	}
	if _, _, err := walk(t, gz(t, tarred)[:12], "", Limits{}); err == nil {
		t.Error("gzip of nothing: no error")
	}
	// A tar that ends where a member does.
	_, sum, err := walk(t, tarred[:512+2048], "", Limits{})
	must(t, err)
	if f := finding(t, sum, "without its closing blocks"); f.Severity != SeverityWarning {
		t.Errorf("%v", f)
	}
}

// Damage inside a member leaves the others alone.
func TestDamagedMember(t *testing.T) {
	data := zipOfFiles(t, file{name: "a", body: noise(9000), method: zip.Deflate}, file{name: "b", body: "b", method: zip.Deflate})
	data[6000] ^= 0xFF
	got, sum, err := walk(t, data, "", Limits{})
	must(t, err)
	if len(got) != 2 || !strings.HasPrefix(got[0].body, "error: ") || got[1].body != "b" {
		t.Errorf("got %s", listing(got))
	}
	if f := finding(t, sum, "content is damaged"); f.Path != "a" || f.Severity != SeverityError {
		t.Errorf("%v", f)
	}
}

func TestCancelled(t *testing.T) {
	tarred := tarOfFiles(t, file{name: "a", body: "1"}, file{name: "b", body: strings.Repeat("\x00", zeros)}, file{name: "c", body: "2"})
	for name, data := range map[string][]byte{"tar": tarred, "tar.gz": gz(t, tarred), "zip": zipOfFiles(t, file{name: "a"}, file{name: "b"})} {
		ctx, cancel := context.WithCancel(context.Background())
		visits := 0
		sum, err := Walk(ctx, bytes.NewReader(data), int64(len(data)), "", Limits{}, func(m *Member) error {
			visits++
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) || visits != 1 || sum.Members != 1 {
			t.Errorf("%s: error %v after %d visits, %+v", name, err, visits, sum)
		}
	}
	// Unpacking looks at ctx too.
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Walk(ctx, bytes.NewReader(gz(t, tarred)), 1<<20, "", Limits{}, func(m *Member) error {
		if m.Path == "b" {
			cancel()
			if _, err := m.Open(); !errors.Is(err, context.Canceled) {
				t.Errorf("open: %v", err)
			}
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := Spool(ctx, strings.NewReader("x"), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("spool: %v", err)
	}
}

func TestVisitFails(t *testing.T) {
	own := errors.New("own")
	inner := zipOfFiles(t, file{name: "x", body: "1"})
	data := tarOfFiles(t, file{name: "a.zip", body: string(inner)}, file{name: "b", body: "2"})
	sum, err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", Limits{}, func(*Member) error { return own })
	if !errors.Is(err, own) || sum.Members != 1 || len(sum.Findings) != 0 {
		t.Errorf("error %v, %+v", err, sum)
	}
}

func TestManyFindings(t *testing.T) {
	var files []file
	for range 1500 {
		files = append(files, file{name: "/../x", body: "1"}, file{name: "y", kind: tar.TypeReg, body: "\x1f\x8b\x08\x00 nothing to see"})
	}
	got, sum, err := walk(t, tarOfFiles(t, files...), "", Limits{})
	must(t, err)
	if len(got) != 3000 || len(sum.Findings) != maxFindings+2 {
		t.Errorf("%d members, %d findings", len(got), len(sum.Findings))
	}
	finding(t, sum, "1480 more names were changed")
	finding(t, sum, "520 more findings are left out")
}
