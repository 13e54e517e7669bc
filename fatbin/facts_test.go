package fatbin

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"fatview/internal/fatbintest"
)

func facts(fs []Fact) string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Name+"="+f.Value)
	}
	return strings.Join(out, "; ")
}

func TestFacts(t *testing.T) {
	version := func(major, minor int) fatbintest.EntryOption {
		return func(e *fatbintest.Entry) { e.Major, e.Minor = major, minor }
	}
	key := func(e *fatbintest.Entry) { e.Key = 0xd25f3149 }
	data := fatbintest.NewContainer().
		SASS("90a", smallCubin("sm_90a", 8), fatbintest.Identifier("kernels"), fatbintest.Flags(0x2)).
		PTX("100f", "8.8", smallPTX, fatbintest.Options("-O3 \x1b[31m")).
		Other(fatbintest.KindNVVM, "90", []byte("x"), version(1, 67), key, fatbintest.Flags(0x10000), fatbintest.Options("-opt")).
		Other(fatbintest.KindNVVM, "90", []byte("x")).
		Other(fatbintest.KindTileIR, "100", []byte("x"), version(0x0D05, 0)).
		Other(0x20, "80", []byte("x")).
		Other(0x10, "100", []byte("x"), fatbintest.Flags(0x1000000)).
		Other(0x4000, "80", []byte("x"), version(3, 4)).
		Bytes()
	c, err := ReadContainer(bytes.NewReader(data), 0, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"kind=SASS; architecture=sm_90a; suffix=a: for this capability alone; entry version=1.8; host=linux; debug=yes; identifier=kernels",
		"kind=PTX; architecture=compute_100f; suffix=f: for this family; PTX ISA=8.8; host=linux; options=-O3 \x1b[31m",
		"kind=LTO IR; architecture=compute_90; IR container version=1.67; host=linux; options=-opt; obfuscated=yes: only NVIDIA's tools read it; key=0xd25f3149",
		"kind=LTO IR; architecture=compute_90; host=linux; obfuscated=no",
		"kind=Tile IR; architecture=compute_100; bytecode version=13.5; host=linux",
		"kind=index; architecture=compute_80; host=linux",
		"kind=Mercury; architecture=compute_100; host=linux; Mercury=sections present",
		"kind=unknown kind 0x4000; architecture=compute_80; entry version=3.4; host=linux",
	} {
		if c.Images[i].Bare() {
			t.Errorf("image %d of a container is bare", i)
		}
		if got := facts(c.Images[i].Facts()); got != want {
			t.Errorf("image %d\n got %s\nwant %s", i, got, want)
		}
	}
}

// The entry that nvcc 13.5 -dlto writes: its version fields and its key were
// read with another program.
func TestFactsOfFixture(t *testing.T) {
	data := fixture(t, "lto-object.o")
	off := int64(bytes.Index(data, magicBytes[:]))
	c, err := ReadContainer(bytes.NewReader(data), off, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	got := facts(c.Images[1].Facts())
	for _, want := range []string{"kind=LTO IR", "architecture=compute_90", "IR container version=1.67", "obfuscated=yes", "key=0xd25f3149"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

// The first bytes of what nvcc 13.5 writes for -tilebc, and for -dlto -ltoir on
// sm_90 and on sm_100.
func TestPayloadFacts(t *testing.T) {
	for _, tt := range []struct {
		kind Kind
		data string
		want string
	}{
		{KindTileIR, "\x7fTileIR\x00\x0d\x05\x00\x00\x82\x10", "bytecode version=13.5"},
		{KindTileIR, "\x7fTileIR\x00\x0d\x01\xfa\x00", "bytecode version=13.1.250"},
		{KindTileIR, "\x7fTileIR\x00\x0d\x05\x00", ""},
		{KindTileIR, "\x7fTileIR\x01\x0d\x05\x00\x00", ""},
		{KindNVVM, "\xed\x43\x4e\x7f\x01\x43\x02\x83\x03\x02\x07\x00\x18\x00", "IR container version=1.67; NVVM IR version=2.131; debug version=3.2; LLVM version=7.0"},
		{KindNVVM, "\xed\x43\x4e\x7f\x01\x43\x02\x83\x03\x02\x17\x00", "IR container version=1.67; NVVM IR version=2.131; debug version=3.2; LLVM version=23.0"},
		{KindNVVM, "\xed\x43\x4e\x7f\x01\x43\x02\x83\x03\x02\x17", ""},
		{KindNVVM, "BC\xc0\xde\x01\x43\x02\x83\x03\x02\x17\x00", ""},
		{KindIndex, "\x7fTileIR\x00\x0d\x05\x00\x00", ""},
		{KindTileIR, "", ""},
	} {
		if got := facts(PayloadFacts(tt.kind, []byte(tt.data))); got != tt.want {
			t.Errorf("%v %q: %s, want %s", tt.kind, tt.data, got, tt.want)
		}
	}
}

func FuzzPayloadFacts(f *testing.F) {
	f.Add(uint16(KindTileIR), []byte("\x7fTileIR\x00\x0d\x05\x00\x00"))
	f.Add(uint16(KindNVVM), []byte("\xed\x43\x4e\x7f\x01\x43\x02\x83\x03\x02\x07\x00"))
	f.Fuzz(func(t *testing.T, kind uint16, b []byte) {
		fs := PayloadFacts(Kind(kind), b)
		if len(fs) > 4 || len(fs) > 0 && len(b) < 12 || len(fmt.Sprint(fs)) > 200 {
			t.Fatalf("%v of %x", fs, b)
		}
	})
}
