package fatbin

import (
	"bytes"
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const (
	fixtures = "../testdata/fixtures"
	expected = "../testdata/expected"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// read returns the container at the start of b.
func read(t testing.TB, b []byte) *Container {
	t.Helper()
	c, err := ReadContainer(bytes.NewReader(b), 0, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// walk returns all containers of b[off:end] and the problems between them.
func walk(b []byte, off, end int64) (all []*Container, problems []Problem) {
	problems = Walk(context.Background(), bytes.NewReader(b), off, end, func(c *Container) bool {
		all = append(all, c)
		return true
	})
	return all, problems
}

// containers finds the containers of a host file in the order of NVIDIA's
// listings: those of .nv_fatbin before those of __nv_relfatbin.
func containers(t testing.TB, name string) []*Container {
	t.Helper()
	b := fixture(t, name)
	if filepath.Ext(name) != ".so" || name == "embedded.so" || name == "plain.so" {
		return search(b)
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []*Container
	for _, section := range []string{".nv_fatbin", "__nv_relfatbin"} {
		if s := f.Section(section); s != nil {
			found, problems := walk(b, int64(s.Offset), int64(s.Offset+s.Size))
			if len(problems) > 0 {
				t.Errorf("%s: %v", section, problems)
			}
			all = append(all, found...)
		}
	}
	return all
}

// search finds containers by their magic alone.
func search(b []byte) []*Container {
	var all []*Container
	for p := 0; ; {
		i := bytes.Index(b[p:], Magic())
		if i < 0 {
			return all
		}
		p += i
		if CheckHeader(b[p:], int64(p), int64(len(b))) {
			if c, err := ReadContainer(bytes.NewReader(b), int64(p), int64(len(b))); err == nil {
				all = append(all, c)
				p += int(c.Size)
				continue
			}
		}
		p += 4
	}
}

// images returns the images of all containers and fails on any problem.
func images(t testing.TB, all []*Container) []*Image {
	t.Helper()
	var list []*Image
	for _, c := range all {
		if len(c.Problems) > 0 {
			t.Errorf("container at %#x: %v", c.Offset, c.Problems)
		}
		list = append(list, c.Images...)
	}
	return list
}

func payload(t testing.TB, im *Image) []byte {
	t.Helper()
	b, err := im.Payload()
	if err != nil {
		t.Fatalf("%s at %#x: %v", im.ArchName(), im.Offset, err)
	}
	return b
}

func cubin(t testing.TB, b []byte) *Cubin {
	t.Helper()
	c, err := ParseCubin(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Problems) > 0 {
		t.Errorf("cubin: %v", c.Problems)
	}
	return c
}

// hosts are the fixtures with containers inside.
func hosts(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".so", ".o", ".a", ".fatbin", ".dll", ".exe", ".obj", ".lib":
			if e.Name() != "plain.so" {
				names = append(names, e.Name())
			}
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %d fixtures", len(names))
	}
	return slices.Clip(names)
}
