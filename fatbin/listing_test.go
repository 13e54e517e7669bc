package fatbin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// listed is one image as cuobjdump prints it.
type listed struct {
	kind, arch, version, host, options, identifier string

	compressed, debug bool
	common            string // of "Resource usage"
	functions         []string
}

// listing reads cuobjdump's output: what it prints without options, or with
// -res-usage. A concatenated entry is not an image, but makes the indented
// ones that follow compressed.
func listing(t *testing.T, name string) []listed {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(expected, name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	var all []listed
	now := &listed{} // a loose cubin has no header, so fields need a place
	concat := &listed{}
	function := ""
	for i, line := range lines {
		word, value, _ := strings.Cut(strings.TrimLeft(line, " \t"), " = ")
		switch {
		case word == "Fatbin concatenated entry code:":
			concat = &listed{}
			now = concat
		case strings.HasPrefix(word, "Fatbin "):
			all = append(all, listed{kind: strings.Fields(word)[1]})
			now = &all[len(all)-1]
			now.compressed = strings.HasPrefix(line, "\t") && concat.compressed
		case word == "arch":
			now.arch = value
		case word == "code version":
			now.version = value
		case word == "host":
			now.host = value
		case word == "identifier":
			now.identifier = value
		case word == "ptxasOptions", word == "nvvmOptions":
			now.options = value
		case word == "compressed":
			now.compressed = true
		case word == "has debug info":
			now.debug = true
		case word == "Resource usage:" && len(all) == 0:
			all = append(all, listed{})
			now = &all[0]
		case word == "Common:":
			now.common = strings.TrimSpace(lines[i+1])
		case strings.HasPrefix(word, "Function "):
			function = strings.TrimSuffix(strings.TrimPrefix(word, "Function "), ":")
		case strings.HasPrefix(word, "REG:"):
			now.functions = append(now.functions, function+" "+word)
		}
	}
	return all
}

func forEachListing(t *testing.T, ext string, f func(t *testing.T, name string)) {
	paths, err := filepath.Glob(filepath.Join(expected, "*"+ext))
	if err != nil || len(paths) == 0 {
		t.Fatal("no listings", err)
	}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ext)
		t.Run(name, func(t *testing.T) { f(t, name) })
	}
}

var kindWords = map[Kind]string{KindCubin: "elf", KindPTX: "ptx", KindNVVM: "nvvm"}

func headOf(im *Image) listed {
	return listed{
		kind: kindWords[im.Kind], arch: im.Arch.SASS(), version: fmt.Sprintf("[%d,%d]", im.Major, im.Minor),
		host: im.Flags.Host(), options: im.Options, identifier: im.Identifier,
		compressed: im.Compression != CompressionNone, debug: im.Flags&FlagDebug != 0,
	}
}

func TestHeadListings(t *testing.T) {
	forEachListing(t, ".head", func(t *testing.T, name string) {
		want, got := listing(t, name+".head"), images(t, containers(t, name))
		if len(want) != len(got) {
			t.Fatalf("%d images, want %d", len(got), len(want))
		}
		for i, im := range got {
			if h := headOf(im); fmt.Sprint(h) != fmt.Sprint(want[i]) {
				t.Errorf("image %d\n got %+v\nwant %+v", i, h, want[i])
			}
			if isa := im.PTXISA(); im.Kind == KindPTX && fmt.Sprintf("[%d,%d]", isa.Major, isa.Minor) != want[i].version {
				t.Errorf("image %d: PTX ISA %s", i, isa)
			}
		}
	})
}

// TestFileListings compares architectures with the names under which
// cuobjdump extracts. It leaves the f out for cubins, though not for PTX.
func TestFileListings(t *testing.T) {
	for ext, kind := range map[string]Kind{".lelf": KindCubin, ".lptx": KindPTX} {
		names := regexp.MustCompile(`\.(sm_\w+)\.(cubin|ptx)`)
		forEachListing(t, ext, func(t *testing.T, name string) {
			b, err := os.ReadFile(filepath.Join(expected, name+ext))
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, m := range names.FindAllSubmatch(b, -1) {
				want = append(want, string(m[1]))
			}
			if filepath.Ext(name) == ".cubin" {
				got = append(got, cubin(t, fixture(t, name)).Arch.SASS())
			} else {
				for _, im := range images(t, containers(t, name)) {
					if im.Kind == kind {
						got = append(got, im.Arch.SASS())
					}
				}
			}
			if kind == KindCubin {
				for i := range got {
					got[i] = strings.TrimSuffix(got[i], "f")
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// usage returns what cuobjdump -res-usage prints for a cubin. Local memory,
// textures, surfaces and samplers are 0 in every listing: since sm_20 local
// memory is part of the stack, and texture references are gone since CUDA 12.
func usage(c *Cubin) (common string, kernels, functions []string) {
	common = fmt.Sprintf("GLOBAL:%d", c.GlobalBytes)
	if n := c.ConstBytes[3]; n > 0 {
		common += fmt.Sprintf(" CONSTANT[3]:%d", n)
	}
	for _, k := range c.Kernels {
		kernels = append(kernels, fmt.Sprintf("%s REG:%d STACK:%d SHARED:%d LOCAL:0 CONSTANT[0]:%d TEXTURE:0 SURFACE:0 SAMPLER:0",
			k.Name, k.Registers, k.Stack, k.Shared, k.Const))
	}
	for _, f := range c.Functions {
		if !f.Own {
			continue
		}
		// For functions cuobjdump takes the registers from sh_info, where
		// they are not since sm_90; .nv.info has them.
		if c.Arch.CC >= 90 {
			f.Registers = 0
		}
		functions = append(functions, fmt.Sprintf("%s REG:%d STACK:%d SHARED:0 LOCAL:0 TEXTURE:0 SURFACE:0 SAMPLER:0", f.Name, f.Registers, f.Stack))
	}
	return common, kernels, functions
}

func TestResourceListings(t *testing.T) {
	forEachListing(t, ".res", func(t *testing.T, name string) {
		var got [][]byte
		if filepath.Ext(name) == ".cubin" {
			got = append(got, fixture(t, name))
		} else {
			for _, im := range images(t, containers(t, name)) {
				if im.Kind == KindCubin {
					got = append(got, payload(t, im))
				} else {
					got = append(got, nil)
				}
			}
		}
		want := listing(t, name+".res")
		if len(want) != len(got) {
			t.Fatalf("%d images, want %d", len(got), len(want))
		}
		for i, w := range want {
			if got[i] == nil {
				continue
			}
			common, kernels, functions := usage(cubin(t, got[i]))
			var wantKernels, wantFunctions []string
			for _, f := range w.functions {
				if strings.Contains(f, "CONSTANT[0]") {
					wantKernels = append(wantKernels, f)
				} else {
					wantFunctions = append(wantFunctions, f)
				}
			}
			same := func(what string, got, want any) {
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("image %d (%s): %s\n got %v\nwant %v", i, w.arch, what, got, want)
				}
			}
			same("common", common, w.common)
			same("kernels", kernels, wantKernels)
			same("functions", functions, wantFunctions)
		}
	})
}

// TestCubinsAgree compares what an entry's header says with the cubin inside.
func TestCubinsAgree(t *testing.T) {
	for _, name := range hosts(t) {
		for _, im := range images(t, containers(t, name)) {
			switch im.Kind {
			case KindCubin:
				b := payload(t, im)
				c := cubin(t, b)
				if c.Arch != im.Arch && !(c.Arch.CC == im.Arch.CC && c.ABI <= 7) {
					t.Errorf("%s: entry is %s, cubin %s", name, im.Arch.SASS(), c.Arch.SASS())
				}
				if im.Compat != nil && !bytes.Contains(b, im.Compat) {
					t.Errorf("%s: %s: the header's copy of .nv.compat is not in the cubin", name, im.ArchName())
				}
				if (im.Compat != nil) != (im.Flags&FlagMercury != 0) || (c.MercuryBytes > 0) != (im.Compat != nil) {
					t.Errorf("%s: %s: compat %x, flags %v, %d Mercury bytes", name, im.ArchName(), im.Compat, im.Flags.Names(), c.MercuryBytes)
				}
				if len(c.Kernels) == 0 || c.CodeBytes == 0 || c.Toolkit.IsZero() {
					t.Errorf("%s: %s: %d kernels, %d bytes of code, toolkit %s", name, im.ArchName(), len(c.Kernels), c.CodeBytes, c.Toolkit)
				}
			case KindPTX:
				p, err := ParsePTX(payload(t, im))
				if err != nil {
					t.Errorf("%s: %s: %v", name, im.ArchName(), err)
				} else if p.Target != im.Arch || p.Version != im.PTXISA() || p.AddressSize != 64 || len(p.Entries) == 0 {
					t.Errorf("%s: %s %s: text says %+v", name, im.ArchName(), im.PTXISA(), p)
				}
			}
		}
	}
}

// modes have the same four cubins and one PTX.
var modes = []string{"default", "size", "speed", "balance", "none", "concat"}

func TestModesHoldTheSame(t *testing.T) {
	want := map[string][]byte{}
	for _, mode := range modes {
		name := "mode-" + mode + ".fatbin"
		list := images(t, containers(t, name))
		if len(list) != 5 {
			t.Errorf("%s: %d images", name, len(list))
		}
		var stored int64
		for _, im := range list {
			key, b := im.Kind.String()+" "+im.ArchName(), payload(t, im)
			stored += im.StoredBytes
			if want[key] == nil {
				want[key] = b
			}
			if !bytes.Equal(b, want[key]) {
				t.Errorf("%s: %s differs from that of other modes", name, key)
			}
			if im.Concatenated() != (mode == "concat" && im.Kind == KindCubin) {
				t.Errorf("%s: %s: concatenated is %v", name, key, im.Concatenated())
			}
		}
		if size := int64(len(fixture(t, name))); stored > size || stored < size*9/10 {
			t.Errorf("%s: images store %d of %d bytes", name, stored, size)
		}
	}
	if len(want) != 5 {
		t.Errorf("%d different images", len(want))
	}
}

func TestEmbedded(t *testing.T) {
	got := images(t, containers(t, "embedded.so"))
	want := images(t, containers(t, "mode-size.fatbin"))
	if len(got) != len(want) {
		t.Fatalf("%d images, want %d", len(got), len(want))
	}
	for i := range got {
		if fmt.Sprint(headOf(got[i])) != fmt.Sprint(headOf(want[i])) || !bytes.Equal(payload(t, got[i]), payload(t, want[i])) {
			t.Errorf("image %d is not that of mode-size.fatbin", i)
		}
	}
	for _, name := range []string{"plain.so", "text.txt", "empty.bin"} {
		if n := len(search(fixture(t, name))); n != 0 {
			t.Errorf("%s: %d containers", name, n)
		}
	}
}

func TestLoose(t *testing.T) {
	for name, want := range map[string]string{"raw-sm_35.cubin": "sm_35 1.7", "raw-sm_80.cubin": "sm_80 1.8", "raw-sm_120a.cubin": "sm_120a 1.8", "raw-compute_80.ptx": "compute_80 9.5"} {
		b := fixture(t, name)
		loose := LooseCubin
		if filepath.Ext(name) == ".ptx" {
			loose = LoosePTX
		}
		c, err := loose(bytes.NewReader(b), 0, int64(len(b)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		im := c.Images[0]
		if got := fmt.Sprintf("%s %d.%d", im.ArchName(), im.Major, im.Minor); got != want || !bytes.Equal(payload(t, im), b) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if _, err := loose(bytes.NewReader(b[:40]), 0, 40); err == nil {
			t.Errorf("%s: its first 40 bytes are one, too", name)
		}
		if _, err := loose(bytes.NewReader(b), 0, 1<<40); err == nil {
			t.Errorf("%s: read beyond its end", name)
		}
	}
}
