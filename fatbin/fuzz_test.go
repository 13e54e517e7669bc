package fatbin

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"fatview/internal/fatbintest"
)

// smallCubin has one of everything.
func smallCubin(arch string, abi uint8) []byte {
	return fatbintest.Cubin{
		ABI: abi, Arch: arch, Unit: "small.cu", ConstBytes: map[int]int{3: 64}, GlobalBytes: 4096,
		Compat: []byte{2, 9, 1, 0}, Mercury: 16,
		Kernels: []fatbintest.Kernel{{
			Name: "_Z5saxpyIfEviT_PKS0_PS0_", Registers: 40, Stack: 64, Shared: 1024, Const: 372, OtherConst: map[int]int{2: 8},
			Params: 20, ParamCount: 3, MaxThreads: [3]uint32{256, 1, 1}, ReqThreads: [3]uint32{128, 1, 1}, Cluster: [3]uint32{2, 1, 1}, Barriers: 1,
		}},
		Functions: []fatbintest.Function{{Name: "_Z4stepf", Registers: 24, Stack: 8}},
	}.Bytes()
}

const smallPTX = `//
.version 8.4
.target sm_90a, debug
.address_size 64
.visible .entry fill(.param .u64 p)
.maxntid 256, 1, 1
{
	ret; // }
}
`

// patience is what hostile input of a few megabytes may take on a busy machine
// with the race detector on. Where it took quadratic time, it took minutes.
const patience = 30 * time.Second

// bounded fails if f allocates out of proportion to its input or does not
// return soon. Several images, each decompressed to harmless bytes at most,
// and the decoder's tables make up the constant.
func bounded(t *testing.T, input int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	if d := time.Since(start); d > patience {
		t.Errorf("%d bytes took %s", input, d)
	}
	runtime.ReadMemStats(&after)
	const images = 8
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(images*2*(harmless+maxRatio*input)+64<<20); got > most {
		t.Errorf("%d bytes made %d be allocated", input, got)
	}
}

// summary reads everything there is in b and says it, so that two readings
// can be compared.
func summary(t *testing.T, b []byte) string {
	var out bytes.Buffer
	var d Decoder
	defer d.Close()
	all, problems := walk(b, 0, int64(len(b)))
	fmt.Fprintln(&out, problems)
	payloads := 0
	for _, c := range all {
		fmt.Fprintln(&out, c.Offset, c.Size, c.Problems)
		for _, im := range c.Images {
			fmt.Fprintln(&out, im.Kind.Title(), im.ArchName(), im.Flags.Names(), im.Options, im.Identifier, im.StoredBytes, im.Bytes)
			if im.PayloadOffset < 0 || im.StoredBytes < 0 || im.PayloadOffset > int64(len(b)) || im.StoredBytes > int64(len(b))-im.PayloadOffset {
				t.Errorf("image at %#x stores %d bytes at %#x of %d", im.Offset, im.StoredBytes, im.PayloadOffset, len(b))
			}
			if payloads++; payloads > 8 {
				continue
			}
			p, err := d.Payload(im)
			if err != nil {
				fmt.Fprintln(&out, err)
				continue
			}
			if int64(len(p)) > im.Bytes {
				t.Errorf("image at %#x: payload of %d bytes, declared %d", im.Offset, len(p), im.Bytes)
			}
			fmt.Fprintln(&out, describe(t, p))
		}
	}
	return out.String()
}

// describe parses a payload as whatever it is.
func describe(t *testing.T, b []byte) string {
	c, err := ParseCubin(b)
	if err == nil {
		if c.CodeBytes < 0 || c.MercuryBytes < 0 || c.GlobalBytes < 0 {
			t.Errorf("negative sizes: %+v", c)
		}
		return fmt.Sprintf("%+v", c)
	}
	p, err2 := ParsePTX(b)
	if err2 == nil {
		last := -1
		for _, e := range p.Entries {
			if e.Offset <= last || e.Offset+len(".entry")+len(e.Name) > len(b) {
				t.Errorf("entry %q at %d, after one at %d, of %d", e.Name, e.Offset, last, len(b))
			}
			last = e.Offset
		}
		return fmt.Sprintf("%+v", p)
	}
	return fmt.Sprint(err, err2)
}

func FuzzContainer(f *testing.F) {
	cubin := smallCubin("sm_90a", 8)
	for _, o := range []fatbintest.EntryOption{fatbintest.Zstd, fatbintest.LZ4, fatbintest.Options("-O3"), fatbintest.HeaderSize(312)} {
		f.Add(fatbintest.NewContainer().SASS("90a", cubin, o).PTX("90", "8.4", smallPTX, o, fatbintest.Identifier("a.cu")).Bytes())
	}
	inner := []fatbintest.Entry{fatbintest.SASSEntry("80", cubin), fatbintest.SASSEntry("100f", cubin, fatbintest.Compat([]byte{2, 9, 2, 0}))}
	f.Add(fatbintest.NewContainer().Concat(inner).Concat(inner, fatbintest.Zstd).Bytes())
	f.Add(fatbintest.Join(fatbintest.NewContainer().Bytes(), OldMagic(), []byte("junk"), fatbintest.NewContainer().PTX("80", "7.0", smallPTX).Bytes()))
	f.Add(fixture(f, "debug.fatbin"))
	f.Add(fixture(f, "mode-concat.fatbin"))
	f.Add(fixture(f, "lto-object.o")[896:4600])
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, len(b), func() {
			first, second := summary(t, b), summary(t, b)
			if first != second {
				t.Error("two readings differ")
			}
		})
	})
}

func FuzzCubin(f *testing.F) {
	f.Add(smallCubin("sm_90a", 8))
	f.Add(smallCubin("sm_75", 7))
	f.Add(fatbintest.Cubin{Kernels: []fatbintest.Kernel{{Name: "a", Shared: 8}, {Name: "b", Const: 8}}, NoOwner: true}.Bytes())
	f.Add(fixture(f, "raw-sm_35.cubin"))
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, len(b), func() { describe(t, b) })
	})
}

func FuzzPTX(f *testing.F) {
	f.Add([]byte(smallPTX))
	for _, c := range ptxCases {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, len(b), func() { describe(t, b) })
	})
}

func FuzzName(f *testing.F) {
	for _, name := range hostileNames() {
		f.Add(name[:min(len(name), 300)])
	}
	f.Add("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEENS_6detail5ArrayIPcLi3EEEEEviT0_T1_")
	f.Fuzz(func(t *testing.T, name string) {
		bounded(t, len(name), func() {
			if s := ShortName(name); s == "" && name != "" {
				t.Errorf("%q has an empty short name", name)
			}
			FullName(name)
		})
	})
}

// TestTruncated cuts files at many lengths: images that are whole stay.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"multi13.so", "mode-concat.fatbin", "rdc-object.o"} {
		b := fixture(t, name)
		whole := search(b)
		start, end := whole[0].Offset, whole[len(whole)-1].Offset+whole[len(whole)-1].Size
		for n := start; n < end; n += max(1, (end-start)/499) {
			all, _ := walk(b[:n], start, n)
			// Reading up to the declared end finds the same, by way of errors.
			again, _ := walk(b[:n], start, end)
			got, sure := flat(all), 0
			if fmt.Sprint(offsets(got)) != fmt.Sprint(offsets(flat(again))) {
				t.Errorf("%s cut at %d: %v and %v", name, n, offsets(got), offsets(flat(again)))
			}
			for _, c := range whole {
				for _, im := range c.Images {
					if im.PayloadOffset+im.StoredBytes <= n && !im.Concatenated() {
						sure++
						if !slices.Contains(offsets(got), im.Offset) {
							t.Fatalf("%s cut at %d: image at %d is lost", name, n, im.Offset)
						}
					}
				}
			}
			intact := 0
			for _, im := range got {
				if _, err := im.Payload(); err == nil && !im.Concatenated() {
					intact++
				}
			}
			// A raw payload is whole only with its padding.
			if intact != sure {
				t.Errorf("%s cut at %d: %d intact images, want %d", name, n, intact, sure)
			}
		}
	}
}

func flat(all []*Container) (list []*Image) {
	for _, c := range all {
		list = append(list, c.Images...)
	}
	return list
}

func offsets(list []*Image) (all []int64) {
	for _, im := range list {
		all = append(all, im.Offset)
	}
	return all
}

func TestWalkStops(t *testing.T) {
	one := fatbintest.NewContainer().PTX("80", "7.0", smallPTX).Bytes()
	b := fatbintest.Join(one, one, one)
	n := 0
	Walk(context.Background(), bytes.NewReader(b), 0, int64(len(b)), func(*Container) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d containers after yield returned false for the second", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	Walk(ctx, bytes.NewReader(b), 0, int64(len(b)), func(*Container) bool { t.Error("cancelled, but a container came"); return true })
}
