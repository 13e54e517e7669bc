package elfscan

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"
	"time"

	"fatview/internal/fatbintest"
)

// The bytes follow what GNU ar 2.40 writes for ar rcsT: see ar(5) and the
// builder. "/6:170" is a member of the archive plain.a whose header stands at 170.
func TestThinArchive(t *testing.T) {
	text := "!<thin>\n" +
		"//                                              16        `\n" + "aa.o/\nplain.a/\n\n" +
		"/0              0           0     0     644     4         `\n" +
		"/6:170          0           0     0     644     2         `\n"
	f := mustScan(t, []byte(text))
	want := []ThinMember{{Name: "aa.o", Size: 4}, {Name: "plain.a", Offset: 170, Size: 2}}
	if fmt.Sprint(f.Thin) != fmt.Sprint(want) || len(f.Objects) != 0 || f.Format != FormatAR {
		t.Errorf("got %+v, want %+v", f.Thin, want)
	}
	if len(f.Findings) != 0 {
		t.Errorf("findings %v", f.Findings)
	}

	var members []fatbintest.ThinMember
	for i := range 600 {
		members = append(members, fatbintest.ThinMember{Name: fmt.Sprintf("dir with spaces/%d/%s.o", i, strings.Repeat("x", i)), Size: i})
	}
	members[599].Name = strings.Repeat("y", 5000)
	f = mustScan(t, fatbintest.ArThinMembers(members...))
	if len(f.Thin) != len(members) {
		t.Fatalf("%d members", len(f.Thin))
	}
	for i, m := range f.Thin {
		if i < 599 && (m.Name != members[i].Name || m.Size != int64(i) || m.Offset != 0) {
			t.Errorf("member %d is %+v", i, m)
		}
	}
	if n := len(f.Thin[599].Name); n != maxThinName {
		t.Errorf("long name has %d bytes", n)
	}

	// Damage: a name that is not there, one in the header, a cut header.
	text = "!<thin>\n" +
		"/99             0           0     0     644     4         `\n" +
		"b.o/            0           0     0     644     7         `\n" +
		"/0:x            0           0"
	f = mustScan(t, []byte(text))
	if fmt.Sprint(f.Thin) != fmt.Sprint([]ThinMember{{Name: "/99", Size: 4}, {Name: "b.o", Size: 7}}) || len(f.Findings) != 1 {
		t.Errorf("%+v, findings %v", f.Thin, f.Findings)
	}
}

// Six hundred members of all sorts, in each dialect.
func TestBigArchive(t *testing.T) {
	object := synthetic(fatbintest.ELF{Type: elf.ET_REL}).Bytes()
	plain := fatbintest.ELF{Type: elf.ET_REL, Sections: []fatbintest.HostSection{{Name: ".text", Data: make([]byte, 33), Code: true}}}.Bytes()
	broken := append([]byte(nil), object...)
	broken[elf.EI_CLASS] = 9
	kinds := []struct {
		data    []byte
		object  bool
		finding bool
	}{
		{object, true, false},
		{plain, true, false},
		{broken, false, true},
		{nil, false, false},
		{[]byte("BC\xc0\xde bitcode of odd length"), false, false},
		{[]byte("\n"), false, false},
	}
	var members []fatbintest.ArMember
	for i := range 600 {
		name := fmt.Sprintf("member%d.o", i)
		if i%2 == 0 {
			name = "the_same_long_name_for_half_of_them.o"
		}
		members = append(members, fatbintest.ArMember{Name: name, Data: kinds[i%len(kinds)].data})
	}
	for name, build := range map[string]func(...fatbintest.ArMember) []byte{"gnu": fatbintest.ArGNU, "bsd": fatbintest.ArBSD, "ms": fatbintest.ArMS} {
		data := build(members...)
		began := time.Now()
		f := mustScan(t, data)
		if d := time.Since(began); d > 2*time.Second { // milliseconds, on a machine at rest
			t.Errorf("%s: took %v", name, d)
		}
		if len(f.Objects) != 200 || f.Skipped != 400 {
			t.Fatalf("%s: %d objects, %d skipped", name, len(f.Objects), f.Skipped)
		}
		if len(f.Findings) != maxFindings { // of 100 broken ones
			t.Errorf("%s: %d findings", name, len(f.Findings))
		}
		at := 0
		for i, m := range members {
			if !kinds[i%len(kinds)].object {
				continue
			}
			o := f.Objects[at]
			if at++; o.Member != m.Name || string(data[o.Offset:o.Offset+o.Size]) != string(m.Data) {
				t.Errorf("%s: object %d is %q at %#x, want %q", name, at-1, o.Member, o.Offset, m.Name)
			}
		}
	}
}

func BenchmarkScanArchive(b *testing.B) {
	object := synthetic(fatbintest.ELF{Type: elf.ET_REL}).Bytes()
	var members []fatbintest.ArMember
	for i := range 600 {
		members = append(members, fatbintest.ArMember{Name: fmt.Sprintf("member%d.o", i), Data: object})
	}
	data := fatbintest.ArGNU(members...)
	for b.Loop() {
		if _, err := scanBytes(data); err != nil {
			b.Fatal(err)
		}
	}
}
