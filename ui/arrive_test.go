package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fatview/collect"
)

// place puts fixtures, or texts of whole lines, into a folder.
func place(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for to, from := range files {
		b := []byte(from)
		if !strings.Contains(from, "\n") {
			var err error
			if b, err = os.ReadFile(fixtures + from); err != nil {
				t.Fatal(err)
			}
		}
		to = filepath.Join(dir, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFolder(t *testing.T) {
	dir := place(t, map[string]string{
		"foo/_C.so": "mixed.so", "foo/copy.so": "mixed.so", "bar.so": "sass86.so", "plain.so": "plain.so", "notes": "text\n",
		"foo-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: foo\nVersion: 1\n", "foo-1.2.dist-info/RECORD": "foo/_C.so,,\n",
	})
	d := newDriver(t, 120, 30, dir, gpus("8.6"))
	d.WantRows("bar.so", "foo/_C.so").WantScreen("foo 1")
	d.WantFoot("2 files with device code among 7 files; 1 copy")
	d.Press("j").WantSelected("foo/_C.so").WantDetails("belongs to foo 1", "same content")
	// What is opened later comes below, and the cursor goes there.
	d.Press("o").Clear().Type(filepath.Join(dir, "plain.so")).Enter()
	d.WantRows("bar.so", "foo/_C.so", "plain.so").WantSelected("plain.so")
}

func TestFolderWithoutDeviceCode(t *testing.T) {
	d := newDriver(t, 80, 24, place(t, map[string]string{"plain.so": "plain.so"}), gpus("8.6"))
	d.WantScreen("no device code in 1 file")
}

// Files are drawn while the rest of the folder is still being looked at.
func TestResultsArriveWhileScanning(t *testing.T) {
	d := unstarted(t, 80, 24, "mixed.so", gpus("8.6"))
	d.hold = true
	d.run(d.m.Init())
	res := collect.Run(t.Context(), []string{fixtures + "sass86.so"}, collect.Options{}, d.m.inbox.put)
	if len(res.Files) != 1 {
		t.Fatal("nothing was collected")
	}
	d.send(tickMsg{})
	d.WantRows("sass86.so").WantScreen("opening mixed.so")
	d.release()
	d.WantRows("sass86.so", "mixed.so", "container 0", "container 1", "container 2")
}
