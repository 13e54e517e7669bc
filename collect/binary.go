package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"fatview/dist"
	"fatview/elfscan"
	"fatview/foreign"
	"fatview/index"
	"fatview/pack"
)

// outcome is what one place yields.
type outcome struct {
	place, rel string
	named      bool
	packed     bool          // lies in a package
	pkg        bool          // is one
	dists      *dist.Set     // of the package
	files      []*index.File // to hand out
	others     []Other
	findings   []Finding
	counts     Counts
	err        error
	digest     digest      // of the content of files, for finding copies; zero: is no copy
	st         fs.FileInfo // nil inside of packages
	copyOf     string      // the place whose hard link this is
}

func (o *outcome) find(s Severity, path, msg string) {
	if len(o.findings) <= maxFindings {
		o.findings = append(o.findings, Finding{s, path, msg})
	}
}

// opened looks at something that can be read at random: a package is walked,
// anything else is a binary or of no interest. s is filled and closed.
func (a *argWalk) opened(ctx context.Context, place, rel string, r io.ReaderAt, size int64, closer io.Closer, st fs.FileInfo, named bool, s *slot) {
	defer close(s.ready)
	if s.sub != nil {
		defer s.sub.end()
	}
	s.out = outcome{place: place, rel: rel, named: named, st: st, packed: s.out.packed, dists: s.dists}
	if s.sub != nil {
		s.out.counts.Entries = 1 // a member of a package was counted by its walk
	}
	defer func() {
		if p := recover(); p != nil {
			s.out.find(index.Error, place, fmt.Sprintf("reading it failed, which is a mistake in fatview: %v", p))
		}
	}()
	if a.inner == "" || named {
		if f := pack.Recognise(r, size); f != "" && s.sub != nil {
			if f == pack.FormatZip && executable(r, size) {
				// A program with a zip behind it is a program; the zip's
				// members come besides, if it is one.
				keep := newKeeper(closer)
				keep.users.Add(1)
				a.pkg(ctx, place, rel, r, size, keep, true, s)
				closer = keep
			} else {
				if named {
					a.arg.Kind = string(f)
				}
				a.pkg(ctx, place, rel, r, size, newKeeper(closer), false, s)
				return
			}
		}
	}
	if !named && !a.filter.takes(rel) {
		s.out.counts.Excluded = 1
		closer.Close()
		return
	}
	a.binary(ctx, r, size, closer, &s.out)
}

// executable tells whether something that ends like a zip begins like a
// program or library.
func executable(r io.ReaderAt, size int64) bool {
	var head [2]byte
	if n, _ := r.ReadAt(head[:], 0); n < len(head) || string(head[:]) == "PK" {
		return false
	}
	_, err := elfscan.Scan(r, size)
	return err == nil
}

// binary opens a library, an object, a static library or loose device code.
func (a *argWalk) binary(ctx context.Context, r io.ReaderAt, size int64, closer io.Closer, out *outcome) {
	files, err := index.Read(ctx, out.place, r, size, closer)
	if err != nil {
		closer.Close()
		switch known := !errors.Is(err, index.ErrUnknown) && !errors.Is(err, index.ErrEmpty) && !errors.Is(err, index.ErrNoObject); {
		case out.named:
			out.err = err
		case ctx.Err() != nil:
		case known:
			out.counts.Binaries++
			out.counts.Codeless++
			out.find(index.Error, out.place, strings.TrimPrefix(err.Error(), out.place+": "))
		}
		return
	}
	thin := false
	for i, f := range files {
		if len(f.Thin) == 0 {
			continue
		}
		thin = true
		if members := a.thin(ctx, out, f.Thin); len(members) > 0 {
			files = append(append(files[:i:i], files[i+1:]...), members...)
			f.Close()
		}
		break // an archive has one such entry
	}
	out.files = files
	a.look(ctx, out, !out.named || !a.opt.Eager)
	// Equal thin archives may name different files.
	if len(out.files) > 0 && !out.named && !thin && !a.opt.EachCopy && !a.opt.Stream {
		out.digest = digestOf(ctx, r, size)
	}
}

// look searches the files of an outcome for hidden device code if deep, and
// sorts out those without any.
func (a *argWalk) look(ctx context.Context, out *outcome, deep bool) {
	all := out.files
	for _, f := range all {
		if a.asked(f) {
			out.counts.Binaries++
		}
	}
	if !deep {
		out.files = slices.DeleteFunc(all, func(f *index.File) bool {
			if !a.asked(f) {
				f.Close()
				return true
			}
			return false
		})
		return
	}
	var kept []*index.File
	for _, f := range all {
		a.progress.Bytes.Add(f.Size)
		a.progress.Binaries.Add(1)
		if err := f.Search(ctx); err != nil && ctx.Err() == nil {
			out.find(index.Error, f.Path, "searching it: "+err.Error())
		}
		if err := f.LookForeign(ctx); err != nil && ctx.Err() == nil {
			out.find(index.Error, f.Path, "searching it for code of other vendors: "+err.Error())
		}
		if a.asked(f) && (len(f.Containers) > 0 || len(f.Foreign()) > 0 || damaged(f)) {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 && (out.named && a.inner == "" || a.exact(all)) {
		// It was asked for, so it is shown; the members of a library that has
		// nothing are not all shown.
		kept = a.firstAsked(all)
	}
	keep := map[*index.File]bool{}
	for _, f := range kept {
		keep[f] = true
	}
	for _, f := range all {
		if keep[f] {
			a.progress.Found.Add(1)
			continue
		}
		if a.asked(f) {
			out.counts.Codeless++
		}
		for _, x := range f.Findings() {
			if a.asked(f) {
				out.find(x.Severity, f.Path, x.Message)
			}
		}
		if !f.Relocatable && (f.Format == "elf" || f.Format == "pe") {
			out.others = append(out.others, Other{0, f.Path, f.Soname, f.Machine, f.Format, f.Needed})
		}
		f.Close()
	}
	out.files = kept
}

// damaged tells whether something of a file could not be read: what that was
// nobody knows, so the file is shown.
func damaged(f *index.File) bool {
	return slices.ContainsFunc(f.Findings(), func(x index.Finding) bool { return x.Severity == index.Error })
}

// asked tells whether a file is, or lies in, what was asked for.
func (a *argWalk) asked(f *index.File) bool { return a.inner == "" || within(f.Path, a.arg.Path) }

// exact tells whether one of the files is the very member that was asked for.
func (a *argWalk) exact(files []*index.File) bool {
	for _, f := range files {
		if a.inner != "" && f.Path == a.arg.Path {
			return true
		}
	}
	return false
}

// firstAsked returns what stands for files without device code.
func (a *argWalk) firstAsked(files []*index.File) []*index.File {
	for _, f := range files {
		if f.Path == a.arg.Path {
			return []*index.File{f}
		}
	}
	files[0].StandForLibrary()
	return files[:1]
}

// promising tells from its first bytes whether a member may be worth
// unpacking.
func promising(head []byte, size int64) bool {
	if _, err := elfscan.Scan(bytes.NewReader(head), int64(len(head))); err != nil &&
		(errors.Is(err, elfscan.ErrUnknown) || errors.Is(err, elfscan.ErrEmpty)) {
		return foreign.Sniff(head) || size > int64(len(head)) && onlyComment(head)
	}
	return true
}

// onlyComment tells whether a text is one comment so far: PTX may come after
// a long licence.
func onlyComment(head []byte) bool {
	s := strings.TrimLeft(string(head), " \t\r\n\ufeff")
	for {
		end := ""
		switch {
		case strings.HasPrefix(s, "//"):
			end = "\n"
		case strings.HasPrefix(s, "/*"):
			end = "*/"
		default:
			return s == ""
		}
		_, rest, ok := strings.Cut(s[2:], end)
		if !ok {
			return true
		}
		s = strings.TrimLeft(rest, " \t\r\n")
	}
}
