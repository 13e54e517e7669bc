package fatbin

import (
	"bytes"
	"fmt"
	"testing"

	"fatview/internal/fatbintest"
)

func BenchmarkReadContainer(b *testing.B) {
	data := fixture(b, "multi13.so")
	at := search(data)[0].Offset
	for b.Loop() {
		if _, err := ReadContainer(bytes.NewReader(data), at, int64(len(data))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseCubin(b *testing.B) {
	many := make([]fatbintest.Kernel, 10_000)
	for i := range many {
		many[i] = fatbintest.Kernel{Name: fmt.Sprintf("kernel%d", i), Registers: 32, Shared: 1024, Const: 64, ParamCount: 4}
	}
	for name, data := range map[string][]byte{
		"sm_80":         fixture(b, "raw-sm_80.cubin"),
		"sm_120a":       fixture(b, "raw-sm_120a.cubin"),
		"10000 kernels": fatbintest.Cubin{Kernels: many}.Bytes(),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseCubin(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParsePTX(b *testing.B) {
	data := fixture(b, "raw-compute_80.ptx")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := ParsePTX(data); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkDecode(b *testing.B, name string, how Compression) {
	var d Decoder
	defer d.Close()
	var list []*Image
	var size int64
	for _, im := range images(b, search(fixture(b, name))) {
		if im.Compression == how {
			list, size = append(list, im), size+im.Bytes
		}
	}
	if len(list) == 0 {
		b.Fatal("no such image")
	}
	b.SetBytes(size)
	for b.Loop() {
		for _, im := range list {
			if _, err := d.Payload(im); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecodeZstd(b *testing.B) { benchmarkDecode(b, "mode-size.fatbin", CompressionZstd) }
func BenchmarkDecodeLZ4(b *testing.B)  { benchmarkDecode(b, "mode-speed.fatbin", CompressionLZ4) }

func BenchmarkShortName(b *testing.B) {
	for b.Loop() {
		ShortName("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEENS_6detail5ArrayIPcLi3EEEEEviT0_T1_")
	}
}
