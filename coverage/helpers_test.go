package coverage

import (
	"os"
	"strings"
	"testing"

	"fatview/arch"
	"fatview/fatbin"
	"fatview/gpu"
)

// images reads a container as one writes it down: "sm_80 ptx_90:8.4 sm_90a=0".
// "/d" marks a damaged one, ":8.4" gives a PTX ISA version (7.0 otherwise), "=0" the number of kernels
// (1 otherwise, "=?" unknown), "/z" zstd, "/c" concatenated, "/r" relocatable,
// "/32" 32-bit PTX, "/m" map_f64_to_f32, "/t13" the major toolkit; "lto_90"
// and "tile_90" are LTO IR and Tile IR.
func images(t *testing.T, s string) []Image {
	t.Helper()
	var out []Image
	for _, w := range strings.Fields(s) {
		parts := strings.Split(w, "/")
		head, count, counted := strings.Cut(parts[0], "=")
		head, isa, versioned := strings.Cut(head, ":")
		im := Image{Kernels: 1}
		kind, num, _ := strings.Cut(head, "_")
		switch kind {
		case "sm":
			im.Kind = fatbin.KindCubin
		case "ptx":
			im.Kind, im.ISA = fatbin.KindPTX, arch.Version{Major: 7}
		case "lto":
			im.Kind, im.Kernels = fatbin.KindNVVM, -1
		case "tile":
			im.Kind, im.Kernels = fatbin.KindTileIR, -1
		default:
			t.Fatalf("image %q", w)
		}
		var err error
		if im.Arch, err = arch.Parse(num); err != nil {
			t.Fatal(err)
		}
		if versioned {
			if im.ISA, err = arch.ParseVersion(isa); err != nil {
				t.Fatal(err)
			}
		}
		if counted {
			im.Kernels = map[string]int{"0": 0, "?": -1}[count]
		}
		for _, p := range parts[1:] {
			switch p {
			case "z":
				im.Compression = fatbin.CompressionZstd
			case "c":
				im.Concatenated = true
			case "r":
				im.Relocatable = true
			case "d":
				im.Damaged, im.Kernels = true, -1
			case "32":
				im.Bits32 = true
			case "m":
				im.MapF64 = true
			case "t13":
				im.Toolkit = arch.Version{Major: 13, Minor: 1}
			case "t12":
				im.Toolkit = arch.Version{Major: 12, Minor: 4}
			default:
				t.Fatalf("image %q", w)
			}
		}
		out = append(out, im)
	}
	return out
}

// on returns a GPU as one writes it down: "9.0", or "9.0@550.54" with a
// driver, or "9.0@cuda12.2".
func on(t *testing.T, s string) Target {
	t.Helper()
	cc, driver, given := strings.Cut(s, "@")
	a, err := arch.Parse(cc)
	if err != nil {
		t.Fatal(err)
	}
	target := Target{CC: a.CC}
	if !given {
		return target
	}
	if v, ok := strings.CutPrefix(driver, "cuda"); ok {
		target.Driver, err = gpu.DriverForCUDA(v)
	} else {
		target.Driver, err = gpu.ParseDriver(driver)
	}
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// judged returns the verdict for a container and the name of the image taken.
func judged(t *testing.T, imgs, target string) (Result, string) {
	t.Helper()
	c := Container{Images: images(t, imgs)}
	r := Judge(c, on(t, target))
	if r.Image < 0 {
		return r, ""
	}
	return r, c.Images[r.Image].Name()
}

func expectVerdict(t *testing.T, imgs, target string, want Verdict, taken string) {
	t.Helper()
	r, name := judged(t, imgs, target)
	if r.Verdict != want || name != taken {
		t.Errorf("%s on %s: %s by %q, want %s by %q", imgs, target, r.Verdict, name, want, taken)
	}
}

// table reads a tab-separated file of the gpu package's data.
func table(t *testing.T, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile("../gpu/data/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for i, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
		if i > 0 {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	return rows
}
