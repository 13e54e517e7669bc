package elfscan

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

var magic = []byte{0x50, 0xED, 0x55, 0xBA}

func search(t testing.TB, data []byte, ranges []Range, pattern []byte, align int64, skip int64) []int64 {
	t.Helper()
	var out []int64
	err := Search(context.Background(), bytes.NewReader(data), ranges, pattern, align, func(off int64) int64 {
		out = append(out, off)
		if skip > 0 {
			return off + skip
		}
		return 0
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// naive says what Search has to find, without chunks.
func naive(data []byte, ranges []Range, pattern []byte, align, skip int64) []int64 {
	var out []int64
	for _, r := range ranges {
		for off := r.Offset; off+int64(len(pattern)) <= r.Offset+r.Size; off++ {
			if off%align == 0 && bytes.HasPrefix(data[off:], pattern) {
				out = append(out, off)
				if skip > 0 {
					off += skip - 1
				}
			}
		}
	}
	return out
}

func TestSearchAcrossChunks(t *testing.T) {
	data := make([]byte, 3*searchBuffer)
	for _, at := range []int{0, searchBuffer - 3, searchBuffer + 9, 2*searchBuffer - 1, 2*searchBuffer + 5, len(data) - 4} {
		copy(data[at:], magic)
	}
	whole := []Range{{Size: int64(len(data))}}
	if got, want := search(t, data, whole, magic, 1, 0), naive(data, whole, magic, 1, 0); !slices.Equal(got, want) || len(got) != 6 {
		t.Errorf("got %x, want %x", got, want)
	}
	// An occurrence that ends behind the range is not in it.
	if got := search(t, data, []Range{{Offset: 1, Size: searchBuffer}}, magic, 1, 0); !slices.Equal(got, []int64{searchBuffer - 3}) {
		t.Errorf("got %x", got)
	}
}

func TestSearchMatchesNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 200_000)
	for i := range data {
		data[i] = magic[rng.IntN(4)] // dense, so that matches touch
	}
	for range 60 {
		var ranges []Range
		for pos := int64(0); pos < int64(len(data))-5000; {
			pos += rng.Int64N(300)
			size := rng.Int64N(4000)
			ranges = append(ranges, Range{Offset: pos, Size: size})
			pos += size
		}
		if rng.IntN(2) == 0 {
			rng.Shuffle(len(ranges), func(i, j int) { ranges[i], ranges[j] = ranges[j], ranges[i] })
		}
		align, skip, n := int64(1+rng.IntN(8)), int64(rng.IntN(40)), 1+rng.IntN(4)
		got := search(t, data, ranges, magic[:n], align, skip)
		if want := naive(data, ranges, magic[:n], align, skip); !slices.Equal(got, want) {
			t.Fatalf("align %d skip %d pattern %x: %d found, want %d", align, skip, magic[:n], len(got), len(want))
		}
	}
}

func TestSearchSkip(t *testing.T) {
	data := bytes.Repeat(append(magic, 0, 0, 0, 0), 100_000)
	whole := []Range{{Size: int64(len(data))}}
	for _, skip := range []int64{8, 1 << 10, searchBuffer + 16, 1 << 40} {
		if got, want := search(t, data, whole, magic, 8, skip), naive(data, whole, magic, 8, skip); !slices.Equal(got, want) {
			t.Errorf("skip %#x: %d found, want %d", skip, len(got), len(want))
		}
	}
}

func TestSearchErrors(t *testing.T) {
	data := bytes.Repeat(magic, 1000)
	r := bytes.NewReader(data)
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := Search(ctx, r, []Range{{Size: int64(len(data))}}, magic, 1, func(int64) int64 {
		if n++; n == 3 {
			cancel()
		}
		return 0
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("cancelled: %v after %d", err, n)
	}
	none := func(int64) int64 { return 0 }
	if err := Search(context.Background(), r, []Range{{Offset: 100, Size: 1 << 40}}, magic, 1, none); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("short file: %v", err)
	}
	if err := Search(context.Background(), r, []Range{{Offset: -1, Size: 4}}, magic, 1, none); err == nil {
		t.Error("negative range: no error")
	}
	if err := Search(context.Background(), r, nil, nil, 1, none); err == nil {
		t.Error("empty pattern: no error")
	}
}

// Several patterns give what one search for each gives, in order of offsets,
// and what is skipped is skipped for all.
func TestPatterns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	data := make([]byte, searchBuffer+9000)
	for i := range data {
		data[i] = "abc"[rng.IntN(3)]
	}
	list := []Pattern{{Bytes: []byte("abcab")}, {Bytes: []byte("bca"), Data: true}, {Bytes: []byte("ab"), Align: 4}, {Bytes: []byte("cccccccc"), Data: true}}
	patterns, err := NewPatterns(list...)
	if err != nil {
		t.Fatal(err)
	}
	type hit struct {
		pattern, rng int
		off          int64
	}
	for round := range 10 {
		var ranges []Range
		for pos := int64(0); pos < int64(len(data)); {
			size := min(1+rng.Int64N(searchBuffer), int64(len(data))-pos)
			if round%2 == 0 {
				size = min(size, 1+rng.Int64N(50))
			}
			ranges = append(ranges, Range{Offset: pos, Size: size, Host: rng.IntN(3) == 0})
			pos += size
		}
		skip := int64(round % 7 * round)
		var got, want []hit
		err := patterns.Search(context.Background(), bytes.NewReader(data), ranges, func(p, r int, off int64) int64 {
			got = append(got, hit{p, r, off})
			return off + skip
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range ranges {
			end := r.Offset + r.Size
			for off, free := r.Offset, int64(0); off < end; off++ {
				for k, p := range list {
					n := int64(len(p.Bytes))
					if off >= free && off+n <= end && off%max(1, p.Align) == 0 && bytes.HasPrefix(data[off:], p.Bytes) && !(p.Data && r.Host) {
						want = append(want, hit{k, i, off})
						free = off + skip
					}
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d occurrences, want %d", round, len(got), len(want))
		}
	}
}

// BenchmarkSearch goes over bytes like those of compressed device code, of
// machine code, and of a file that is hostile to the choice of the rare byte.
func BenchmarkSearch(b *testing.B) {
	const size = 64 << 20
	rng := rand.New(rand.NewPCG(3, 4))
	random := make([]byte, size)
	for i := 0; i+8 <= size; i += 8 {
		le.PutUint64(random[i:], rng.Uint64())
	}
	for _, bm := range []struct {
		name string
		data []byte
	}{
		{"random", random},
		{"zero", make([]byte, size)},
		{"hostile", bytes.Repeat(magic[1:], size/3)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			r := bytes.NewReader(bm.data)
			b.SetBytes(int64(len(bm.data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Search(context.Background(), r, []Range{{Size: int64(len(bm.data))}}, magic, 8, func(int64) int64 { return 0 }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPatterns looks for what index looks for, in the same bytes.
func BenchmarkPatterns(b *testing.B) {
	const size = 64 << 20
	rng := rand.New(rand.NewPCG(3, 4))
	random := make([]byte, size)
	for i := 0; i+8 <= size; i += 8 {
		le.PutUint64(random[i:], rng.Uint64())
	}
	patterns, err := NewPatterns(Pattern{Bytes: magic}, Pattern{Bytes: []byte{0x01, 0x5A, 0xE5, 0x1E}, Data: true}, Pattern{Bytes: []byte{0x1F, 0x8B, 8}, Data: true}, Pattern{Bytes: []byte("\x7fELF"), Data: true}, Pattern{Bytes: []byte(".version"), Data: true})
	if err != nil {
		b.Fatal(err)
	}
	for _, bm := range []struct {
		name string
		data []byte
		code bool
	}{
		{"random", random, false}, {"code", random, true}, {"zero", make([]byte, size), false},
		{"text", bytes.Repeat([]byte("_ZN2at6native7version9_functionEv\x00"), size/35), false},
	} {
		b.Run(bm.name, func(b *testing.B) {
			r := bytes.NewReader(bm.data)
			b.SetBytes(int64(len(bm.data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := patterns.Search(context.Background(), r, []Range{{Size: int64(len(bm.data)), Host: bm.code}}, func(int, int, int64) int64 { return 0 }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
