// Package elfscan reads the files that hold device code: ELF files, PE images,
// COFF objects, ar archives, and loose .fatbin, .cubin and .ptx files. It says
// which byte ranges may hold containers and what registers them; it never
// reads a payload, and opening costs a few small reads.
//
// Of CUDA it knows the names of the sections, the registration record and the
// four bytes a loose fat binary begins with. What is in a range is package
// fatbin's matter.
//
// The layouts come from the System V ABI with its processor supplements (ELF),
// Microsoft's "PE Format" (PE, COFF, import members, the two linker members),
// winnt.h (bigobj) and ar(5) of GNU and BSD. The section names and the record
// were read off files made by nvcc 11.8 to 13.5:
//
//	registration record, sections .nvFatBinSegment (ELF) and .nvFatBi (PE)
//	0  u32      magic 0x466243B1
//	4  u32      1, or 2 for the product of a device link
//	8  pointer  the container
//	   pointer  file name, or the list that a device link registers; the
//	            program fills that list when it starts, so it is not in the file
//
// debug/elf and debug/pe are not used: they refuse files that the loaders of
// the systems take, stop at the first damage, and read whole tables.
//
// Not promised: that the code in a range is complete, that a record's target
// is a container, or anything about code that packers or archives hide.
package elfscan

// A Format is what a file or an object in it turned out to be.
type Format string

// The formats. They are recognised by content; no file ending is looked at.
const (
	FormatELF    Format = "elf"
	FormatPE     Format = "pe"
	FormatCOFF   Format = "coff"
	FormatAR     Format = "ar"
	FormatFatbin Format = "fatbin"
	FormatCubin  Format = "cubin"
	FormatPTX    Format = "ptx"
)

// A Kind says why a range may hold device code.
type Kind int

// The kinds of ranges.
const (
	KindOther     Kind = iota // any other bytes of the file, inside a section or between
	KindFatbin                // .nv_fatbin, .nv_fatb
	KindRelFatbin             // __nv_relfatbin, __nv_rel: separately compiled code
	KindLoose                 // a whole file that is device code itself
)

func (k Kind) String() string {
	switch k {
	case KindFatbin:
		return "fatbin"
	case KindRelFatbin:
		return "relfatbin"
	case KindLoose:
		return "loose"
	}
	return "other"
}

// A Range is a stretch of the file, in most cases a section.
type Range struct {
	Name   string // of the section, as stored, at most 256 bytes; "" between sections
	Kind   Kind
	Offset int64  // in the reader that Scan was given, also for archive members
	Size   int64  // bytes that are in the file, which may be less than declared
	Addr   uint64 // virtual address of the first byte; 0 where there is none
	Host   bool   // machine code, names, relocations and the like: no data of the program
}

// A Record is a registration record: the CUDA runtime loads the container it
// points to when the program starts.
type Record struct {
	Offset    int64  // of the record
	Version   uint32 // 1, or 2 for the product of a device link
	Container int64  // offset that the record points to; -1 if that is not in the file
}

// A Finding is a problem that did not prevent reading the rest.
type Finding struct {
	Offset  int64 // -1 if no place is to blame
	Message string
}

// An Object is one linkable or loadable thing: the file itself, or a member of
// an archive.
type Object struct {
	Member      string // name in the archive, "" for the file itself; names may repeat
	Offset      int64  // where the object lies in the file
	Size        int64
	Format      Format
	Machine     string // "x86_64", "aarch64", …, "cuda", or "machine N"
	Bits        int    // 32 or 64; 0 for fatbin and PTX
	Relocatable bool   // a .o or .obj, to be linked before it runs

	// Ranges has the sections for device code first, in file order, and then
	// all other bytes in file order. Every byte of the object is in one range
	// and no more.
	Ranges  []Range
	Records []Record
	Needed  []string // shared libraries or DLLs it asks for, delay-loaded ones too
	// Soname is the name by which others ask for it, raw, at most 256 bytes: DT_SONAME of an
	// ELF file, the name in the export directory of a PE image, "" if neither.
	Soname   string
	Findings []Finding
}

// A File is what Scan found. A simple file has one object, an archive has one
// for each member that was recognised.
type File struct {
	Format   Format // FormatAR for an archive, else that of the object
	Objects  []Object
	Skipped  int // archive members that are no object: import stubs, bitcode, text
	Thin     []ThinMember
	Findings []Finding
}

// A ThinMember is a member of a thin archive, which is a file of its own.
type ThinMember struct {
	// Name is its path as stored, relative to the folder of the archive unless
	// it is absolute, raw, at most 4096 bytes.
	Name string
	// Offset is 0, or that of the member's header in Name where that is an
	// archive itself, whose member stands here.
	Offset int64
	Size   int64 // of the member, as the archive remembers it
}

const (
	maxName     = 256
	maxFindings = 32 // for each object; damage tends to repeat itself
)

func (o *Object) find(off int64, msg string) {
	switch n := len(o.Findings); {
	case n < maxFindings:
		o.Findings = append(o.Findings, Finding{off, msg})
	case n == maxFindings:
		o.Findings = append(o.Findings, Finding{-1, "further problems are not listed"})
	}
}

// kindOf tells the kind from the name of a section. Names of PE sections have
// eight characters unless a string table has the long form.
func kindOf(section string) Kind {
	switch section {
	case ".nv_fatbin", ".nv_fatb":
		return KindFatbin
	case "__nv_relfatbin", "__nv_rel":
		return KindRelFatbin
	}
	return KindOther
}

// isRecords tells whether a section holds registration records.
func isRecords(section string) bool {
	return section == ".nvFatBinSegment" || section == ".nvFatBi"
}
