package elfscan

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fatview/internal/fatbintest"
)

// sstrip zeroes the fields of an ELF64 header that lead to the section table.
func sstrip(data []byte) []byte {
	out := slices.Clone(data)
	le.PutUint64(out[40:], 0)
	le.PutUint32(out[58:], 0) // e_shentsize, e_shnum
	le.PutUint16(out[62:], 0)
	return out
}

// A file without a section table has the same records, needs and name as with
// one: the segments say where they are.
func TestStrippedFixtures(t *testing.T) {
	for _, name := range []string{"mixed.so", "multi11.so", "multi12.so", "multi13.so", "rdc-linked.so", "ptx80.so", "sass86.so", "aarch64.so", "tegra.so", "plain.so"} {
		data := fixture(t, name)
		whole := mustScan(t, data).Objects[0]
		past := slices.Clone(data) // a table that is said to be behind the end
		le.PutUint64(past[40:], uint64(len(past)))
		le.PutUint16(past[60:], 0)
		for how, stripped := range map[string][]byte{"zeroed": sstrip(data), "past the end": past} {
			o := mustScan(t, stripped).Objects[0]
			equal(t, name+" "+how+" records", records(o), records(whole))
			equal(t, name+" "+how+" needed", strings.Join(o.Needed, " "), strings.Join(whole.Needed, " "))
			if len(o.Ranges) != 1 || o.Ranges[0].Size != int64(len(data)) || o.Ranges[0].Host {
				t.Errorf("%s: ranges %+v", name, o.Ranges)
			}
			said := strings.Contains(fmt.Sprint(o.Findings), "inputs of the device link")
			if said != (name == "rdc-linked.so") {
				t.Errorf("%s %s: findings %v", name, how, o.Findings)
			}
		}
	}
}

// However the pointer is expressed, the record is found without sections.
func TestStrippedVariants(t *testing.T) {
	for _, e := range []fatbintest.ELF{
		{}, {REL: true}, {NoRelocs: true}, {Type: elf.ET_EXEC}, {Machine: elf.EM_S390, BigEndian: true},
		{Bits: 32, Machine: elf.EM_386, REL: true}, {Bits: 32, Machine: elf.EM_ARM, Needed: []string{"libc.so.6"}},
	} {
		t.Run(fmt.Sprintf("%v %d %v big=%v rel=%v", e.Type, e.Bits, e.Machine, e.BigEndian, e.REL), func(t *testing.T) {
			e.Soname = "libx.so.1"
			with := mustScan(t, synthetic(e).Bytes()).Objects[0]
			e.NoTable = true
			without := mustScan(t, synthetic(e).Bytes()).Objects[0]
			if len(with.Records) != 2 {
				t.Fatalf("records %v", with.Records)
			}
			equal(t, "records", records(without), records(with))
			equal(t, "soname", with.Soname+" "+without.Soname, "libx.so.1 libx.so.1")
		})
	}
}

// A record is believed for what it points to.
func TestStrippedFalseRecords(t *testing.T) {
	e := synthetic(fatbintest.ELF{NoTable: true})
	e.Sections[1].Data = make([]byte, 128) // no container where the second record points
	o := mustScan(t, e.Bytes()).Objects[0]
	if len(o.Records) != 1 || o.Records[0].Version != 1 {
		t.Errorf("records %+v", o.Records)
	}
	// Other versions, and magic that is not aligned, are chance.
	e = synthetic(fatbintest.ELF{NoTable: true})
	e.Sections[3].Data[4] = 3
	o = mustScan(t, e.Bytes()).Objects[0]
	if len(o.Records) != 1 || o.Records[0].Version != 2 {
		t.Errorf("records %+v", o.Records)
	}
	e = synthetic(fatbintest.ELF{NoTable: true})
	e.Sections[3].Align, e.Sections[3].Data = 8, append([]byte{1}, e.Sections[3].Data...)
	for i := range e.Pointers {
		e.Pointers[i].At++
	}
	if o = mustScan(t, e.Bytes()).Objects[0]; len(o.Records) != 0 {
		t.Errorf("records %+v", o.Records)
	}
}

// A writable segment full of record magic costs no more than reading it, and
// keeps what the limit says.
func TestStrippedHostile(t *testing.T) {
	one := fatbintest.RegistrationRecord(1, 64, le)
	var data []byte
	for range 200_000 {
		data = append(data, one...)
	}
	e := fatbintest.ELF{NoTable: true, Sections: []fatbintest.HostSection{{Name: ".data", Data: data, Align: 8}}}
	o := mustScan(t, e.Bytes()).Objects[0]
	if len(o.Records) != maxRecords || len(o.Findings) != 2 {
		t.Errorf("%d records, findings %v", len(o.Records), o.Findings)
	}
}

func TestSoname(t *testing.T) {
	p := fatbintest.PE{Sections: []fatbintest.HostSection{{Name: ".text", Data: make([]byte, 9), Code: true}}, Export: "cudart64_12.dll"}
	o := mustScan(t, p.Bytes()).Objects[0]
	equal(t, "export name", o.Soname, "cudart64_12.dll")
	for _, r := range o.Ranges {
		if r.Host != (r.Name == ".text") {
			t.Errorf("range %+v", r)
		}
	}
	p.Export = ""
	equal(t, "no export name", mustScan(t, p.Bytes()).Objects[0].Soname, "")
	// The directory may point anywhere.
	p.Export = strings.Repeat("x", 300)
	data := p.Bytes()
	equal(t, "long name", mustScan(t, data).Objects[0].Soname, strings.Repeat("x", maxName))
	for _, rva := range []uint32{0xFFFFFFF0, 1, 0x2000} {
		le.PutUint32(data[0x80+24+112:], rva)
		mustScan(t, data)
	}
	// readelf -d testdata/fixtures/mixed.so shows no SONAME.
	equal(t, "mixed.so", mustScan(t, fixture(t, "mixed.so")).Objects[0].Soname, "")
}
