package fatbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"fatview/internal/fatbintest"
)

func TestSyntheticContainer(t *testing.T) {
	code := smallCubin("sm_90a", 8)
	for _, size := range []int{0, 64, 72, 80, 312, 4096, 1 << 17} {
		for name, packed := range map[string]fatbintest.EntryOption{"none": fatbintest.Flags(0), "lz4": fatbintest.LZ4, "zstd": fatbintest.Zstd} {
			header := fatbintest.HeaderSize(size)
			b := fatbintest.NewContainer().
				SASS("sm_90a", code, packed, header, fatbintest.Compat([]byte{2, 9, 1, 0})).
				SASS("100f", code, packed, header).
				PTX("compute_120f", "8.8", smallPTX, packed, header, fatbintest.Options("-O3 --x"), fatbintest.Identifier("a.cu")).
				Bytes()
			c := read(t, b)
			if len(c.Problems) > 0 || c.Size != int64(len(b)) || len(c.Images) != 3 {
				t.Fatalf("header %d, %s: %+v", size, name, c)
			}
			var got []string
			for _, im := range c.Images {
				got = append(got, im.ArchName(), im.Options, im.Identifier, fmt.Sprintf("%x", im.Compat))
				if im.Compression.String() != name {
					t.Errorf("header %d: compression %s, want %s", size, im.Compression, name)
				}
				if p := payload(t, im); !bytes.Equal(p, code) && string(p) != smallPTX {
					t.Errorf("header %d, %s: payload of %s differs", size, name, im.ArchName())
				}
				if headerSize := im.PayloadOffset - im.Offset; headerSize < int64(size) {
					t.Errorf("header of %d bytes, want %d", headerSize, size)
				}
			}
			want := "[sm_90a   02090100 sm_100f    compute_120f -O3 --x a.cu ]"
			if fmt.Sprint(got) != want {
				t.Errorf("header %d, %s:\n got %v\nwant %s", size, name, got, want)
			}
		}
	}
}

func TestConcatenated(t *testing.T) {
	a, b := smallCubin("sm_80", 8), smallCubin("sm_100a", 8)
	inner := []fatbintest.Entry{
		fatbintest.SASSEntry("80", a),
		fatbintest.SASSEntry("100a", b, fatbintest.Compat([]byte{2, 9, 1, 0})),
		fatbintest.SASSEntry("90", a, fatbintest.Options("-x")),
	}
	// A raw blob lies in another of the decoder's buffers than a packed one.
	c := read(t, fatbintest.NewContainer().Concat(inner, fatbintest.Zstd).Concat(inner).SASS("75", a, fatbintest.LZ4).Concat(inner, fatbintest.LZ4).Bytes())
	if len(c.Images) != 10 || len(c.Problems) > 0 {
		t.Fatalf("%d images, %v", len(c.Images), c.Problems)
	}
	var d Decoder
	defer d.Close()
	for i, im := range c.Images {
		want := a
		if im.ArchName() == "sm_100a" {
			want = b
		}
		if got, err := d.Payload(im); err != nil || !bytes.Equal(got, want) {
			t.Errorf("image %d, %s: %v, or another payload", i, im.ArchName(), err)
		}
		if im.ArchName() == "sm_90" && im.Options != "-x" || im.ArchName() == "sm_100a" && len(im.Compat) != 4 {
			t.Errorf("image %d: options %q, compat %x", i, im.Options, im.Compat)
		}
	}
}

// TestHostileContainers lets fields lie. problem is part of what is reported,
// payload part of the error of the first image; "" is none.
func TestHostileContainers(t *testing.T) {
	code := smallCubin("80", 8)
	ptx := func(options ...fatbintest.EntryOption) *fatbintest.Container {
		return fatbintest.NewContainer().PTX("80", "8.0", smallPTX, options...)
	}
	patch32, patch64 := fatbintest.Patch32, fatbintest.Patch64
	bomb := fatbintest.CompressZstd(make([]byte, 1<<20))
	for _, c := range []struct {
		name             string
		b                []byte
		images           int
		problem, payload string
	}{
		{"sound", ptx().Bytes(), 1, "", ""},
		{"no entries", fatbintest.NewContainer().Bytes(), 0, "", ""},
		{"header size 2^32-1", ptx(patch32(4, 1<<32-1)).Bytes(), 0, "entry header size 0xffffffff", ""},
		{"header size 0", ptx(patch32(4, 0)).Bytes(), 0, "entry header size 0x0", ""},
		{"entry word", ptx(patch32(0, 1)).Bytes(), 0, "entry word is 0x0", ""},
		{"payload 2^63", ptx(patch64(8, 1<<63)).Bytes(), 0, "beyond any file", ""},
		{"payload 2^64-1", ptx(patch64(8, 1<<64-1)).Bytes(), 0, "beyond any file", ""},
		{"payload 2^62", ptx(patch64(8, 1<<62)).Bytes(), 1, "outside the container", "cut off"},
		{"payload a byte too long", ptx(patch64(8, uint64(len(smallPTX)+8)&^7+1)).Bytes(), 1, "outside the container", "cut off"},
		{"first payload covers the second entry", ptx(patch64(8, uint64(len(smallPTX)+7)&^7+64)).PTX("80", "8.0", "x").Bytes(), 1, "is cut off", ""},
		{"sizes swapped", ptx(fatbintest.Packed(make([]byte, 40)), fatbintest.Flags(0x8000), patch32(16, uint32(len(smallPTX))), patch64(56, 40)).Bytes(), 1, "beyond the payload", "cut off"},
		{"compressed size 2^32-1", ptx(fatbintest.LZ4, patch32(16, 1<<32-1)).Bytes(), 1, "beyond the payload", "cut off"},
		{"options outside", ptx(fatbintest.Options("-O3"), patch32(20, 1<<31)).Bytes(), 1, "", ""},
		{"identifier outside", ptx(fatbintest.Identifier("a"), patch32(36, 1<<31)).Bytes(), 1, "", ""},
		{"architecture 2^32-1", ptx(patch32(28, 1<<32-1)).Bytes(), 1, "", ""},
		{"obfuscated", ptx(fatbintest.Flags(uint64(FlagObfuscated))).Bytes(), 1, "", ErrObfuscated.Error()},
		{"compression unknown", ptx(fatbintest.Packed([]byte("x")), fatbintest.Flags(0x4000)).Bytes(), 1, "", ErrCompression.Error()},
		{"compressed, but no flag", ptx(fatbintest.Packed([]byte("x"))).Bytes(), 1, "", ErrCompression.Error()},
		{"LZ4 that is none", ptx(fatbintest.Packed([]byte("xyz")), fatbintest.Flags(0x2000)).Bytes(), 1, "", "LZ4 block is damaged"},
		{"LZ4 block too short", ptx(fatbintest.LZ4, patch64(56, 10_000)).Bytes(), 1, "", "LZ4 block is damaged"},
		{"LZ4 of nothing", ptx(fatbintest.LZ4, patch64(56, 0)).Bytes(), 1, "", "declares no size"},
		{"LZ4 bomb", ptx(fatbintest.LZ4, patch64(56, 1<<30)).Bytes(), 1, "", ErrTooLarge.Error()},
		{"zstd that is none", ptx(fatbintest.Packed([]byte("xyz")), fatbintest.Flags(0x8000)).Bytes(), 1, "", "zstd frame is damaged"},
		{"zstd of another size", ptx(fatbintest.Zstd, patch64(56, 10)).Bytes(), 1, "", "zstd frame is damaged"},
		{"zstd with padding counted", ptx(fatbintest.Packed(append(fatbintest.CompressZstd([]byte(smallPTX)), 0, 0, 0)), fatbintest.Flags(0x8000)).Bytes(), 1, "", "zstd frame is damaged"},
		{"zstd bomb", ptx(fatbintest.Packed(bomb), fatbintest.Flags(0x8000), patch64(56, 1<<30)).Bytes(), 1, "", ErrTooLarge.Error()},
		{"zstd 2^63", ptx(fatbintest.Packed(bomb), fatbintest.Flags(0x8000), patch64(56, 1<<63)).Bytes(), 1, "", ErrTooLarge.Error()},
		{"zstd of 1 MiB that says 10", ptx(fatbintest.Packed(bomb), fatbintest.Flags(0x8000), patch64(56, 10)).Bytes(), 1, "", "the header says 10"},
		{"concatenated without a table", fatbintest.NewContainer().Concat(nil, patch32(20, 0)).Bytes(), 0, "without a table", ""},
		{"concatenated, 2^32-1 cubins", concatenated(code, patch32(64, 1<<32-1)), 2, "more cubins", ""},
		{"concatenated, short table", concatenated(code, patch32(68, 7)), 0, "more cubins", ""},
		{"concatenated, table word", concatenated(code, patch32(64+8, 2)), 0, "table is damaged", ""},
		{"concatenated, outside", concatenated(code, patch32(64+8+4, 1<<31)), 2, "outside its concatenated blob", "outside its concatenated blob"},
		{"concatenated, too large", concatenated(code, patch64(64+8+8, 1<<63)), 2, "outside its concatenated blob", ""},
		{"concatenated, blob 2^62", concatenated(code, patch64(8, 1<<62)), 2, "outside the container", "cut off"},
		{"concatenated, bomb", concatenated(code, fatbintest.Zstd, patch64(56, 1<<62)), 2, "", ErrTooLarge.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			bounded(t, len(c.b), func() { summary(t, c.b) })
			got := read(t, c.b)
			if len(got.Images) != c.images {
				t.Errorf("%d images, want %d", len(got.Images), c.images)
			}
			if problems := fmt.Sprint(got.Problems); !strings.Contains(problems, c.problem) || c.problem == "" && len(got.Problems) > 0 {
				t.Errorf("problems %s, want %q", problems, c.problem)
			}
			if len(got.Images) == 0 {
				return
			}
			_, err := got.Images[0].Payload()
			if msg := fmt.Sprint(err); (err != nil) != (c.payload != "") || !strings.Contains(msg, c.payload) {
				t.Errorf("payload: %v, want %q", err, c.payload)
			}
		})
	}
}

// concatenated is a container of one concatenated entry with two cubins.
func concatenated(code []byte, options ...fatbintest.EntryOption) []byte {
	return fatbintest.NewContainer().Concat([]fatbintest.Entry{fatbintest.SASSEntry("80", code), fatbintest.SASSEntry("90", code)}, options...).Bytes()
}

func TestContainerHeader(t *testing.T) {
	good := fatbintest.NewContainer().PTX("80", "8.0", smallPTX).Bytes()
	change := func(at int, v uint64, n int) []byte {
		b := bytes.Clone(good)
		copy(b[at:at+n], binary.LittleEndian.AppendUint64(nil, v))
		return b
	}
	for name, b := range map[string][]byte{
		"empty": nil, "short": good[:15], "magic": change(0, 1, 4), "old": change(0, magicOld, 4), "version": change(4, 2, 2),
		"header 15": change(6, 15, 2), "header 65528": change(6, 65528, 2), "size 2^63": change(8, 1<<63, 8), "size 2^64-1": change(8, 1<<64-1, 8),
	} {
		if _, err := ReadContainer(bytes.NewReader(b), 0, int64(len(b))); err == nil {
			t.Errorf("%s: no error", name)
		} else if (name == "old") != errors.Is(err, ErrOldContainer) {
			t.Errorf("%s: %v", name, err)
		}
		if CheckHeader(b, 0, int64(len(b))) {
			t.Errorf("%s: believed", name)
		}
	}
	if !CheckHeader(good, 0, int64(len(good))) || CheckHeader(good, 0, int64(len(good)-1)) || CheckHeader(good, 1, int64(len(good))) {
		t.Error("a container is believed if it fits, and only then")
	}
	if _, err := ReadContainer(bytes.NewReader(good), 1<<62, 1<<62+8); err == nil {
		t.Error("container beyond the end")
	}
	c := read(t, change(8, 1<<62, 8))
	if len(c.Problems) == 0 || len(c.Images) != 1 {
		t.Errorf("container of 2^62 bytes: %d images, %v", len(c.Images), c.Problems)
	}
}

func TestTooManyEntries(t *testing.T) {
	entry := fatbintest.NewContainer().Other(fatbintest.KindTileIR, "80", nil).Bytes()[16:]
	b := append(fatbintest.NewContainer().Bytes(), bytes.Repeat(entry, maxEntries+1)...)
	binary.LittleEndian.PutUint64(b[8:], uint64(len(b)-16))
	c := read(t, b)
	if len(c.Images) != maxEntries || len(c.Problems) != 1 {
		t.Errorf("%d images, %v", len(c.Images), c.Problems)
	}
}

func TestWalk(t *testing.T) {
	one := fatbintest.NewContainer().PTX("80", "7.0", smallPTX).Bytes()
	zeros := make([]byte, 1<<17)
	for name, c := range map[string]struct {
		b                    []byte
		containers, problems int
	}{
		"empty":          {nil, 0, 0},
		"zeros":          {zeros, 0, 0},
		"one":            {one, 1, 0},
		"three":          {fatbintest.Join(one, one, one), 3, 0},
		"far apart":      {fatbintest.Join(zeros[:4096], one, zeros, one, zeros), 2, 0},
		"junk":           {fatbintest.Join([]byte("junk"), one, []byte("more"), one, []byte("short")), 2, 2},
		"junk at end":    {fatbintest.Join(one, bytes.Repeat([]byte("junk"), 1<<16)), 1, 1},
		"old":            {fatbintest.Join(OldMagic(), zeros[:100], one), 1, 1},
		"magic only":     {fatbintest.Join(one, Magic(), zeros[:100], one), 2, 1},
		"container size": {fatbintest.Join(append(Magic(), 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 1), one), 1, 0},
	} {
		all, problems := walk(c.b, 0, int64(len(c.b)))
		if len(all) != c.containers || len(problems) != c.problems {
			t.Errorf("%s: %d containers, %v", name, len(all), problems)
		}
	}
	// A reader that ends before the section does.
	all, problems := walk(one, 0, 1<<40)
	if len(all) != 1 || len(problems) != 1 || !strings.Contains(problems[0].Msg, io.ErrUnexpectedEOF.Error()) {
		t.Errorf("short file: %d containers, %v", len(all), problems)
	}
}

// counter counts the bytes read through it.
type counter struct {
	r io.ReaderAt
	n int64
}

func (c *counter) ReadAt(b []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(b, off)
	c.n += int64(n)
	return n, err
}

// TestReadsAreBounded counts what is read of sections made to be read over
// and over again.
func TestReadsAreBounded(t *testing.T) {
	const size = 1 << 18
	empty := fatbintest.NewContainer().Bytes()
	for name, piece := range map[string][]byte{
		"magic": Magic(), "empty containers": empty, "containers and zeros": append(bytes.Clone(empty), make([]byte, 80)...),
		"self-containing": fatbintest.NewContainer().Other(1, "80", empty).Bytes(),
	} {
		b := bytes.Repeat(piece, size/len(piece))
		r := &counter{r: bytes.NewReader(b)}
		Walk(t.Context(), r, 0, int64(len(b)), func(*Container) bool { return true })
		if r.n > 40*size {
			t.Errorf("%s: %d bytes read of %d", name, r.n, len(b))
		}
	}
}

func TestFlags(t *testing.T) {
	f := Flag64Bit | FlagLinux | flagZstd | FlagSuffixA | FlagMercury | 1<<40
	if got, want := strings.Join(f.Names(), ","), "64-bit,linux,zstd,a,mercury,0x10000000000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	hosts := FlagWindows.Host() + FlagMac.Host() + FlagLinux.Host() + Flags(0).Host()
	if hosts != "windowsmacoslinux" || len(Flags(0).Names()) != 0 {
		t.Error(hosts)
	}
	for k := Kind(0); k < 0x200; k++ {
		if k.String() == "" || k.Title() == "" {
			t.Errorf("kind %#x has no name", uint16(k))
		}
	}
}
