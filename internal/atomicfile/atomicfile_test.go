package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q, want %q (%v)", filepath.Base(path), b, want, err)
	}
}

// wantNames checks that a folder holds these and nothing else.
func wantNames(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(names) {
		t.Fatalf("%v in the folder, want %v (%v)", entries, names, err)
	}
	for i, e := range entries {
		if e.Name() != names[i] {
			t.Errorf("%s in the folder, want %s", e.Name(), names[i])
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, false, text("one")); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, false, text("two")); !errors.Is(err, ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	wantFile(t, path, "one")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, true, text("three")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "three")
	full := errors.New("no space left on device")
	for _, overwrite := range []bool{false, true} {
		err := Write(filepath.Join(dir, "b"), overwrite, func(w io.Writer) error {
			w.Write(make([]byte, 1<<20))
			return full
		})
		if !errors.Is(err, full) {
			t.Errorf("a full disk: %v", err)
		}
	}
	if err := Write(path, true, func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	wantFile(t, path, "three")
	if err := Write(dir, true, text("x")); err == nil {
		t.Error("a folder was overwritten")
	}
	wantNames(t, dir, "a")
}

// A file that appears while another is written is not replaced.
func TestWriteRace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	err := Write(path, false, func(w io.Writer) error {
		if err := os.WriteFile(path, []byte("theirs"), 0o644); err != nil {
			return err
		}
		return text("ours")(w)
	})
	if !errors.Is(err, ErrExists) {
		t.Errorf("got %v", err)
	}
	wantFile(t, path, "theirs")
	wantNames(t, dir, "a")
}

// Below a root no link leads out of it, whether there is a file behind or not.
func TestWriteInRoot(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "target")
	if err := os.WriteFile(target, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := WriteIn(root, "link", false, text("x")); !errors.Is(err, ErrExists) {
		t.Errorf("over a link: %v", err)
	}
	if err := WriteIn(root, "link", true, text("x")); err != nil {
		t.Errorf("in place of a link: %v", err)
	}
	for _, name := range []string{"../target", "/etc/x", target, "no/such/folder"} {
		if err := WriteIn(root, name, true, text("x")); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	wantFile(t, target, "precious")
	wantFile(t, filepath.Join(dir, "link"), "x")
	wantNames(t, dir, "link")
	wantNames(t, outside, "target")
}
