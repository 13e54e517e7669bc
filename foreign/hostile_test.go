package foreign

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"fatview/elfscan"
	"fatview/internal/fatbintest"
)

// entryOf is one row of a bundle's table.
func entryOf(off, size, idLen uint64, id string) []byte {
	return cat(u64(off), u64(size), u64(idLen), id)
}

func TestLyingTables(t *testing.T) {
	id := hipID("gfx90a")
	n := uint64(len(id))
	head := func(count uint64) []byte { return cat(bundleMagic, u64(count)) }
	good := bundle(100, id)
	none, unread := "AMD|HIP fat binary||0", "AMD|HIP fat binary||1"
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"count 2^40", cat(head(1<<40), entryOf(4096, 9, n, id), make([]byte, 8192)), none},
		{"count 2^64-1", cat(head(1<<64-1), make([]byte, 8192)), none},
		{"count beyond the bytes", cat(head(400), entryOf(200, 9, n, id), make([]byte, 900)), none},
		{"offset past the end", cat(head(1), entryOf(1<<30, 9, n, id), make([]byte, 8192)), none},
		{"size past the end", cat(head(1), entryOf(4096, 1<<62, n, id), make([]byte, 8192)), none},
		{"sum wraps", cat(head(1), entryOf(4096, 1<<64-4096, n, id), make([]byte, 8192)), none},
		{"id of 1 GiB", cat(head(1), entryOf(4096, 9, 1<<30, id), make([]byte, 8192)), none},
		{"id past the end", cat(head(1), entryOf(100, 9, 1000, id)), none},
		{"code in the table", cat(head(1), entryOf(32, 9, n, id), make([]byte, 8192)), none},
		{"cut", good[:60], none},
		{"5000 entries", bundle(1, slices.Repeat([]string{id}, 5000)...), none},
		{"entry without code", cat(head(2), entryOf(4096, 9, n, id), entryOf(4096, 0, n, hipID("gfx942")), make([]byte, 8192)), "AMD|HIP fat binary|gfx90a|1"},
		{"magic alone", []byte(bundleMagic), none},
		{"overlapping code", cat(head(2), entryOf(4096, 99, n, id), entryOf(4096, 99, n, hipID("gfx942")), make([]byte, 8192)), "AMD|HIP fat binary|gfx90a,gfx942|1"},
		{"damaged, then whole", cat(head(1<<40), noise(1000), good), "AMD|HIP fat binary|gfx90a|1"},
		{"long id is cut", bundle(9, hipID("gfx"+strings.Repeat("x", 900))), "AMD|HIP fat binary|" + "gfx" + strings.Repeat("x", 256-len(hipID("gfx"))) + "|1"},
		{"no letters", bundle(9, "hip-amdgcn-amd-amdhsa--gfx\x1b[31m\x00\xff"), "AMD|HIP fat binary|gfx\x1b[31m\x00\xff|1"},
		{"id of nothing", bundle(9, ""), "|HIP fat binary||1"},

		{"stored size past the end", padTo(cat("CCOB", u16(3), u16(1), u64(1<<40), u64(9999), u64(0), zstdMagic), 200), none},
		{"stored size wraps", padTo(cat("CCOB", u16(3), u16(1), u64(1<<64-1), u64(9999), u64(0), zstdMagic), 200), none},
		{"unpacked 2^64-1", ccobOf(3, 1, 1<<64-1, fatbintest.CompressZstd(good)), none},
		{"version 4", ccobOf(4, 1, 9999, fatbintest.CompressZstd(good)), none},
		{"method 7", ccobOf(3, 7, 9999, fatbintest.CompressZstd(good)), none},
		{"zstd that is none", ccobOf(3, 1, 9999, noise(200)), none},
		{"zstd that is damaged", ccobOf(3, 1, 9999, cat(zstdMagic, noise(200))), unread},
		{"zlib that is damaged", ccobOf(3, 0, 9999, cat("\x78\x9c", noise(200))), unread},
		{"code outside what is declared", ccobOf(3, 1, 4096, fatbintest.CompressZstd(good)), unread},
		{"another thing packed", compressed(3, 1, noise(5000)), unread},
		{"packed twice", compressed(3, 1, compressed(3, 1, good)), unread},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, section(".hip_fatbin", c.data), c.want) })
	}
}

func TestLyingBinaries(t *testing.T) {
	good := func() []byte { return offload(2, offEntry{1, 4, 0, "amdgcn-amd-amdhsa", "gfx942"}) }
	patch := func(at int, v uint64) []byte {
		b := good()
		le.PutUint64(b[at:], v)
		return b
	}
	const entry = 32
	none, unread := "|clang offload binary||0", "|clang offload binary||1"
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"size past the end", patch(8, 1<<40), none},
		{"size 0", patch(8, 0), none},
		{"entries past the end", patch(16, 1<<63), none},
		{"count 2^40", patch(24, 1<<40), none},
		{"count that wraps", patch(24, 1<<61), none},
		{"strings past the end", patch(entry+8, 1<<50), unread},
		{"strings that wrap", patch(entry+8, 1<<64-8), unread},
		{"number of strings", patch(entry+16, 1<<40), unread},
		{"more strings than are read", manyStrings(65), unread},
		{"as many as are read", manyStrings(64), "AMD|clang offload binary|gfx942|1"},
		{"image past the end", patch(entry+24, 1<<50), unread},
		{"image's size", patch(entry+32, 1<<63), unread},
		{"key past the end", patch(entry+40, 1<<63), "AMD|clang offload binary|gfx942|1"}, // the producer is left to tell
		{"text past the end", patch(entry+48, 1<<63), "AMD|clang offload binary|gfx942|1"},
		{"inflated 2^63", cat(binaryMagic, u32(3), u64(200), u64(40), u64(1), u64(1<<63), make([]byte, 160)), none},
		{"inflated less than the header", cat(binaryMagic, u32(3), u64(200), u64(40), u64(1), u64(39), make([]byte, 160)), none},
		{"inflated, but damaged", cat(binaryMagic, u32(3), u64(200), u64(40), u64(1), u64(1<<40), zstdMagic, make([]byte, 156)), unread},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, section(".llvm.offloading", c.data), c.want) })
	}
}

// manyStrings is an offload binary whose entry names its two strings, and then
// count-2 whose offsets are zero.
func manyStrings(count int) []byte {
	b := offload(2, offEntry{1, 4, 0, "amdgcn-amd-amdhsa", "gfx942"})
	at := len(b)
	b = padTo(cat(b, b[72:120]), at+24*count)
	le.PutUint64(b[8:], uint64(len(b)))
	le.PutUint64(b[32+8:], uint64(at))
	le.PutUint64(b[32+16:], uint64(count))
	return b
}

// Tables longer than a block, more targets than are kept, and sizes that are
// not allocated.
func TestBounds(t *testing.T) {
	var ids []string
	for i := range 3000 {
		ids = append(ids, hipID(fmt.Sprintf("gfx%05d%s", i, strings.Repeat(":x+", i%20))))
	}
	plain := bundle(1, ids...)
	if table := bytes.LastIndex(plain, []byte("gfx02999")); table < zstdBlock {
		t.Fatal("table fits one block", table)
	}
	for _, data := range [][]byte{plain, compressed(3, 1, plain), compressed(2, 0, plain)} {
		codes := scanAll(t, section(".hip_fatbin", data))
		if len(codes) != 1 || len(codes[0].Targets) != 256 || codes[0].Count != 1 || codes[0].Targets[0] != "gfx00000" {
			t.Errorf("got %.200s", brief(codes))
		}
	}

	// 16 MiB of code behind the table: neither unpacked nor read.
	big := section(".hip_fatbin", compressed(3, 1, cat(bundle(9, hipID("gfx90a")), noise(1<<20), make([]byte, 16<<20))))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	codes, c := scanCounted(t, big)
	runtime.ReadMemStats(&after)
	if got := brief(codes); got != "AMD|HIP fat binary|gfx90a|1" || c.bytes.Load() > 300<<10 {
		t.Errorf("%s after %d bytes", got, c.bytes.Load())
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// Files made to take long do not: what is read is bounded.
func TestWork(t *testing.T) {
	rle := cat(zstdMagic, []byte{0, 10 << 3}) // a frame of 128 KiB blocks of one byte
	for i := range 8 {
		w := uint32(zstdBlock)<<3 | 1<<1
		if i == 7 {
			w |= 1
		}
		rle = cat(rle, u32(w)[:3], []byte{7})
	}
	bomb := align(ccobOf(3, 1, 1<<40, rle), 8)
	// Each id is the header of a table of 4000 entries, of which one lies.
	var nested []byte
	for i := range 40_000 {
		size := uint64(0)
		if i%3900 == 3899 {
			size = 1 << 62
		}
		nested = append(nested, cat(entryOf(0, size, 32, bundleMagic), u64(4000))...)
	}
	strs := offload(2, make([]offEntry, 2000)...)
	for i := range 2000 {
		le.PutUint64(strs[32+40*i+8:], 32)
		le.PutUint64(strs[32+40*i+16:], 64)
	}
	for name, data := range map[string][]byte{
		"bombs":        section(".hip_fatbin", bytes.Repeat(bomb, 50_000)),
		"overlapping":  section(".hip_fatbin", nested),
		"magics":       section(".hip_fatbin", bytes.Repeat([]byte("CCOB"), 1<<20)),
		"strings":      section(".llvm.offloading", bytes.Repeat(strs, 20)),
		"frames":       section("__CLANG_", bytes.Repeat(rle, 80_000)),
		"spir-v magic": fatbintest.ELF{Needed: []string{"libsycl.so"}, Sections: []fatbintest.HostSection{{Name: ".rodata", Data: bytes.Repeat(u32(spirvMagic), 1<<20)}}}.Bytes(),
	} {
		f, err := elfscan.Scan(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var fail error
		c := &counting{r: bytes.NewReader(data)}
		s := &scanner{allowance: 4 << 20}
		if _, err := s.object(context.Background(), view{c, 0, int64(len(data)), &fail}, &f.Objects[0]); err != nil || fail != nil {
			t.Error(err, fail)
		}
		s.close()
		// One that goes over the allowance still ends what it has begun: the
		// eight blocks of a table, or the entries of a bundle.
		if s.allowance < -1<<20-maxEntries*stepCost {
			t.Errorf("%s: allowance is %d", name, s.allowance)
		}
		// 4 MiB at 128 bytes a step, with three reads for a string.
		if reads := c.reads.Load(); reads > 3*(4<<20)/stepCost {
			t.Errorf("%s: %d reads", name, reads)
		}
	}
}
