package fatbin

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fatview/arch"
	"fatview/internal/fatbintest"
)

func TestSyntheticCubin(t *testing.T) {
	for _, abi := range []uint8{7, 8} {
		for _, noOwner := range []bool{false, true} {
			want := Kernel{
				Name: "_Z3addPf", Code: 256, Registers: 40, Stack: 64, MinStack: 64, Shared: 1024, Const: 372, OtherConst: map[int]uint64{2: 8},
				Params: 20, ParamCount: 3, MaxThreads: [3]uint32{256, 1, 1}, ReqThreads: [3]uint32{128, 2, 1}, Cluster: [3]uint32{2, 1, 1}, Barriers: 1,
				Attributes: 8,
			}
			c := cubin(t, fatbintest.Cubin{
				ABI: abi, Arch: "sm_90a", Unit: "my_file.cu", ConstBytes: map[int]int{3: 64}, GlobalBytes: 1 << 20, NoOwner: noOwner, Relocatable: true,
				Kernels: []fatbintest.Kernel{{Name: "first", Registers: 1}, {
					Name: want.Name, Code: 256, Registers: 40, Stack: 64, Shared: 1024, Const: 372, OtherConst: map[int]int{2: 8},
					Params: 20, ParamCount: 3, MaxThreads: want.MaxThreads, ReqThreads: want.ReqThreads, Cluster: want.Cluster, Barriers: 1,
				}},
				Functions: []fatbintest.Function{{Name: "f", Registers: 24, Stack: 8}},
			}.Bytes())
			if fmt.Sprintf("%+v", c.Kernels[1]) != fmt.Sprintf("%+v", want) {
				t.Errorf("ABI %d\n got %+v\nwant %+v", abi, c.Kernels[1], want)
			}
			if f := (Function{Name: "f", Code: 128, Registers: 24, Stack: 8, Own: true}); len(c.Functions) != 1 || c.Functions[0] != f {
				t.Errorf("functions %+v", c.Functions)
			}
			toolkit := map[uint8]arch.Version{7: {Major: 12, Minor: 4}, 8: {Major: 13, Minor: 5}}[abi]
			if c.ABI != abi || c.Arch.SASS() != "sm_90a" || c.Unit != "my_file.cu" || c.Toolkit != toolkit || c.Virtual != 90 || !c.Relocatable ||
				c.ConstBytes[3] != 64 || c.GlobalBytes != 1<<20 || c.CodeBytes != 128+256+128 || c.Tool.Name != "ptxas" {
				t.Errorf("ABI %d: %+v", abi, c)
			}
		}
	}
}

// TestManyKernels needs more sections than ELF's 16-bit fields can number.
func TestManyKernels(t *testing.T) {
	const n = 25_000
	kernels := make([]fatbintest.Kernel, n)
	for i := range kernels {
		kernels[i] = fatbintest.Kernel{Name: fmt.Sprintf("k%d", i), Registers: i % 256, Code: 16, Shared: 1}
	}
	c := cubin(t, fatbintest.Cubin{Arch: "sm_100", Kernels: kernels}.Bytes())
	if len(c.Kernels) != n {
		t.Fatalf("%d kernels", len(c.Kernels))
	}
	for i, k := range c.Kernels {
		if k.Name != kernels[i].Name || k.Registers != uint32(i%256) || k.Shared != 1 {
			t.Fatalf("kernel %d: %+v", i, k)
		}
	}
}

func TestSuffixes(t *testing.T) {
	for _, c := range []struct {
		cubin fatbintest.Cubin
		want  string
	}{
		{fatbintest.Cubin{ABI: 7, Arch: "90a", NoNotes: true}, "sm_90a"},
		{fatbintest.Cubin{ABI: 7, Arch: "90", NoNotes: true}, "sm_90"},
		{fatbintest.Cubin{Arch: "90a"}, "sm_90a"},
		{fatbintest.Cubin{Arch: "90a", NoNotes: true}, "sm_90"}, // nothing tells
		{fatbintest.Cubin{Arch: "100", NoNotes: true, Compat: []byte{2, 9, 1, 0}}, "sm_100a"},
		{fatbintest.Cubin{Arch: "100", NoNotes: true, Compat: []byte{2, 9, 2, 0}}, "sm_100f"},
		{fatbintest.Cubin{Arch: "100", CommandLine: "-v -arch=sm_100f -m 64"}, "sm_100f"},
		{fatbintest.Cubin{Arch: "100", CommandLine: "-arch sm_90a"}, "sm_100"}, // of another one
	} {
		if got := cubin(t, c.cubin.Bytes()).Arch.SASS(); got != c.want {
			t.Errorf("%+v is %s, want %s", c.cubin, got, c.want)
		}
	}
}

func TestUnitName(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "x\x00_INTERNAL_1234abcd_14_vec_cu_9f3b2a10\x00y": "vec.cu",
		"_GLOBAL__N__5b1c6f2e_11_m_y_cu_1a2b_3c": "m_y.cu", "_INTERNAL_1234abcd_12_vec_cpp_0001": "vec.cpp",
		"_INTERNAL_12_14_vec_cu_9f3b2a10": "", "_INTERNAL_1234abcd_99_vec_cu": "", "_INTERNAL_1234abcd_0_vec": "", "_INTERNAL_1234abcd_x_vec": "",
		"_INTERNAL_zz_INTERNAL_1234abcd_14_vec_cu_9f3b2a10": "vec.cu",
		"_INTERNAL_1234abcd_5_plain_more":                   "plain",
	} {
		if got := unitName([]byte(in)); got != want {
			t.Errorf("%q is of unit %q, want %q", in, got, want)
		}
	}
}

func TestNotCubins(t *testing.T) {
	good := smallCubin("80", 8)
	for name, b := range map[string][]byte{"empty": nil, "short": good[:63], "text": []byte(strings.Repeat("text", 20)), "host": fixture(t, "plain.so")} {
		if _, err := ParseCubin(b); !errors.Is(err, ErrNotCubin) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The section table comes last: without it the header still tells.
	for n := 64; n < len(good); n += 61 {
		if c, err := ParseCubin(good[:n]); err == nil && len(c.Problems) == 0 {
			t.Errorf("cubin cut at %d of %d: no error, no problem", n, len(good))
		}
	}
}

// TestCubinWords sets each word of the headers and of every section header to
// extreme values.
func TestCubinWords(t *testing.T) {
	good := smallCubin("sm_90a", 8)
	table := int(le.Uint64(good[40:]))
	places := slices.Concat(steps(0, 64), steps(table, len(good)))
	for _, at := range places {
		for _, v := range []uint32{0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, uint32(len(good))} {
			b := bytes.Clone(good)
			le.PutUint32(b[at:], v)
			describe(t, b)
		}
	}
}

func steps(from, to int) (all []int) {
	for i := from; i < to; i += 4 {
		all = append(all, i)
	}
	return all
}

// TestHostileCubinsAreBounded builds cubins whose tables claim the same bytes
// many times over, which made reading quadratic in time or memory.
func TestHostileCubinsAreBounded(t *testing.T) {
	const n = 1 << 20
	long := strings.Repeat("x", n)
	many := make([]fatbintest.Kernel, 10_000)
	for i := range many {
		many[i].Name = fmt.Sprintf("k%d", i)
	}
	for name, b := range map[string][]byte{
		"long name":        fatbintest.Cubin{Kernels: []fatbintest.Kernel{{Name: long, Shared: 8}}}.Bytes(),
		"owners by name":   fatbintest.Cubin{Kernels: many, NoOwner: true}.Bytes(),
		"unit prefixes":    fatbintest.Cubin{Kernels: []fatbintest.Kernel{{Name: strings.Repeat("_INTERNAL_", n/10)}}}.Bytes(),
		"same name":        sameName(fatbintest.Cubin{Kernels: append(many[:5000:5000], fatbintest.Kernel{Name: long})}.Bytes()),
		"same content":     sameContent(fatbintest.Cubin{Kernels: append(many[:5000:5000], fatbintest.Kernel{Name: "a", ParamCount: n / 16})}.Bytes()),
		"same symbol name": sameSymbol(fatbintest.Cubin{Kernels: append(many[:5000:5000], fatbintest.Kernel{Name: long})}.Bytes()),
	} {
		bounded(t, len(b), func() {
			c, err := ParseCubin(b)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			total := 0
			for _, k := range c.Kernels {
				total += len(k.Name)
			}
			if total > 9*len(b) || len(c.Kernels) == 0 {
				t.Errorf("%s: %d bytes of names of %d kernels from %d", name, total, len(c.Kernels), len(b))
			}
			if same := strings.HasPrefix(name, "same"); same != (len(c.Problems) > 0) {
				t.Errorf("%s: problems %v", name, c.Problems)
			}
		})
	}
}

// headers returns the section table of a cubin, and its symbols.
func headers(b []byte) (sections [][]byte, symbols []byte) {
	for table := b[le.Uint64(b[40:]):]; len(table) >= 64; table = table[64:] {
		sections = append(sections, table[:64])
	}
	at, size := le.Uint64(sections[3][24:]), le.Uint64(sections[3][32:])
	return sections, b[at : at+size]
}

// sameName gives every section the name of the last kernel's text.
func sameName(b []byte) []byte {
	sections, symbols := headers(b)
	text := sections[le.Uint16(symbols[len(symbols)-symbolSize+6:])]
	for _, s := range sections {
		copy(s[:4], text)
	}
	return b
}

// sameContent gives all attribute sections the bytes of the largest.
func sameContent(b []byte) []byte {
	sections, _ := headers(b)
	large := sections[0]
	for _, s := range sections {
		if le.Uint32(s[4:]) == shtCudaInfo && le.Uint64(s[32:]) > le.Uint64(large[32:]) {
			large = s
		}
	}
	for _, s := range sections {
		if le.Uint32(s[4:]) == shtCudaInfo {
			copy(s[24:40], large[24:40])
		}
	}
	return b
}

// sameSymbol gives every symbol the name of the last.
func sameSymbol(b []byte) []byte {
	_, symbols := headers(b)
	for i := 0; i < len(symbols); i += symbolSize {
		copy(symbols[i:i+4], symbols[len(symbols)-symbolSize:])
	}
	return b
}
