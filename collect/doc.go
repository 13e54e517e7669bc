// Package collect turns what people name — files, folders, packages, standard
// input, members of all of these — into opened files, in a stable order, with
// what belongs to each.
//
// Files that are asked for by name are handed out whatever is in them. Of a
// folder or a package only those are that hold device code, CUDA's or another
// vendor's; the rest is counted, and of libraries without any the needed
// libraries are kept, because what a library leans on may run through them.
//
// Folders are listed ahead and files are read by a worker for each processor,
// while results leave in order: that of the arguments, then of the paths.
// Links are not followed, so nothing outside of a folder is read on its
// behalf. What is handed out keeps no file open for long: a folder may hold
// more libraries than a process may open.
//
// A stream (Options.Stream) keeps nothing of what it handed out, and reads no
// further ahead than a few files, so that any number of them can pass.
package collect

import (
	"context"
	"io"
	"slices"
	"sync/atomic"

	"fatview/dist"
	"fatview/index"
	"fatview/pack"
)

// Options say what to look at, and how.
type Options struct {
	// Include and Exclude are patterns of doublestar ("**/*.so") on the path
	// below a folder or package; one without a slash is for the last element.
	// An excluded folder or package is not entered.
	Include, Exclude []string
	Stdin            io.Reader // what "-" reads
	Limits           pack.Limits
	// Named, if set, opens paths that are not on disk, such as those of a
	// built-in sample; it returns nothing for a path of another kind.
	Named func(ctx context.Context, path string) ([]*index.File, error)
	// Eager hands out files that were asked for by name after their headers
	// were read. The caller calls their Outside and LookForeign.
	Eager bool
	// EachCopy hands out identical files one by one.
	EachCopy bool
	// Stream hands out files through emit alone and keeps none: emit or those
	// it gives them to close them. Identical files come one by one, files of a
	// package in the package's order, and no Others are kept.
	Stream   bool
	Progress *Progress
}

// Progress counts what was looked at so far; it is safe to read at any time.
type Progress struct {
	Entries  atomic.Int64 // files and members
	Binaries atomic.Int64 // of them libraries, objects and loose device code
	Found    atomic.Int64 // of them with device code
	Bytes    atomic.Int64 // of the binaries
}

// Severity of a finding, as in package index.
type Severity = index.Severity

// A Finding is a remark on an argument as a whole, or on something in it that
// is not handed out.
type Finding struct {
	Severity Severity
	Path     string
	Message  string
}

// A Batch is what was found at one place: a file, or the members of a static
// library. The fields below Files are set with Options.Stream only, which also
// emits batches without files: for a hard link, for a package that ended, and
// for an argument that did.
type Batch struct {
	Arg   int // number of the argument
	Place string
	Files []*index.File

	Rel []string // of each file: its path below the argument
	// Owner tells, for such a path, which distribution it belongs to, nil if
	// none is known. Any goroutine may call it. For files that lie in a package
	// (Packed) that may change until the package ends, because a manifest may
	// come after the files; for others it does not.
	Owner  func(rel string) *dist.Dist
	Packed bool
	LinkOf string // Place is another name for what lies at this place
	// Ended: the package at Place was read. It is the outermost one: all Packed
	// batches since the last package ended lie in it. Files are then those of a
	// program that the package stands behind.
	Ended bool
	Done  *Arg // this argument was read; its counts and findings are final
}

// An Other is a library without device code.
type Other struct {
	Arg                           int // number of the argument
	Path, Soname, Machine, Format string
	Needed                        []string
}

// An Arg is what became of one argument.
type Arg struct {
	Path   string
	Kind   string // "file", "folder", "archive", or the format of a package: "zip", "tar.gz" …
	Err    error  // nothing could be read; the text names the path
	Files  int    // handed out
	Counts Counts
	// Findings are in the order in which they were met, at most maxFindings.
	Findings []Finding
	Dists    *dist.Set                // names relative to the argument; nil after a stream
	rel      map[*index.File]string   // below the argument
	copies   map[*index.File][]string // likewise, of what equals it
}

// Counts says how many things an argument held.
type Counts struct {
	Entries  int64 // files and members looked at, binaries included
	Binaries int64 // libraries, objects, loose device code; members of static libraries each
	Codeless int64 // of them without device code of any vendor
	Copies   int64 // files that equal one that was handed out
	Links    int64 // symbolic links and other things that are no files: not followed
	Excluded int64 // left out by Include and Exclude
}

// A Result is what became of all arguments.
type Result struct {
	Args   []*Arg
	Files  []*index.File // in the order of arguments, then of paths
	Others []Other       // libraries without device code, at most maxOthers
	byFile map[*index.File]*Arg
}

// Dists returns the distributions that a file and its copies belong to, each
// once, that of the file itself first.
func (r *Result) Dists(f *index.File) []*dist.Dist {
	a := r.byFile[f]
	if a == nil || a.Dists == nil {
		return nil
	}
	var out []*dist.Dist
	for _, rel := range append([]string{a.rel[f]}, a.copies[f]...) {
		if d := a.Dists.Owner(rel); d != nil && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// Arg returns the argument that a file came with.
func (r *Result) Arg(f *index.File) *Arg { return r.byFile[f] }

// Close closes all files.
func (r *Result) Close() {
	for _, f := range r.Files {
		f.Close()
	}
}

// Bounds on what is kept of things that are not handed out.
const (
	maxFindings = 1000 // of an argument
	maxOthers   = 50_000
)

// Note adds a remark that is no problem.
func (a *Arg) Note(path, msg string) { a.find(index.Info, path, msg) }

func (a *Arg) find(s Severity, path, msg string) {
	switch n := len(a.Findings); {
	case n < maxFindings:
		a.Findings = append(a.Findings, Finding{s, path, msg})
	case n == maxFindings:
		a.Findings = append(a.Findings, Finding{s, a.Path, "further findings are not told"})
	case s == index.Error:
		a.Findings[maxFindings].Severity = s // as bad as the worst that is left out
	}
}
