package dist

import (
	"path"
	"strings"
)

// Paths name files in folders and in archives: "env/a.whl!torch/lib/x.so".
// Inside the package they are compared in one cleaned form, where "!" and a
// backslash, which RECORDs written on Windows have, are slashes too.

// clean is the form paths are compared in; "" is the top.
func clean(p string) string {
	p = path.Clean("/" + slashes.Replace(p))
	return p[1:]
}

// slashes only reads its tables after it is made.
var slashes = strings.NewReplacer("!", "/", `\`, "/")

// unbox splits a path into the archive it lies in, "" if none, and the path
// inside of it.
func unbox(p string) (box, rest string) {
	i := strings.LastIndexByte(p, '!')
	if i < 0 {
		return "", p
	}
	return strings.TrimRight(p[:i], "!/"), strings.TrimLeft(p[i+1:], "/")
}

// rebox is the reverse; a folder "" is the archive itself.
func rebox(box, folder string) string {
	switch {
	case box == "":
		return folder
	case folder == "":
		return box
	}
	return box + "!" + folder
}

// parent is the folder, or the archive, that a path lies in, "" at the top.
func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return ""
	}
	return strings.TrimRight(p[:i], "/")
}

func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// join is the cleaned path of an entry of a list that counts from a folder of
// an archive. Absolute entries count from the top of the archive, or of what is
// scanned, as they do in the image of a file system. It returns false for what
// leaves the archive and for drive letters.
func join(box, folder, entry string) (string, bool) {
	entry = slashes.Replace(entry)
	if entry == "" || len(entry) > maxPath || strings.ContainsRune(entry, 0) {
		return "", false
	}
	if len(entry) > 1 && entry[1] == ':' {
		return "", false
	}
	if !strings.HasPrefix(entry, "/") {
		entry = folder + "/" + entry
	}
	rel := path.Clean(strings.TrimLeft(entry, "/"))
	if rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", false
	}
	return clean(box + "/" + rel), true
}

func depthOf(cleaned string) int {
	if cleaned == "" {
		return 0
	}
	return 1 + strings.Count(cleaned, "/")
}

// endings are those of files that are text beyond doubt and are therefore
// not kept: nine lines of ten in a RECORD. PTX is text too, and is kept.
const endings = " .py .pyc .pyo .pyi .pyx .pxd .h .hh .hpp .hxx .cuh .c .cc .cpp .cxx .cu .java .js .mjs .cjs .ts" +
	" .map .css .html .htm .xml .yaml .yml .toml .cfg .ini .csv .svg .ipynb .cmake .pc .md .rst .txt .json .po .tcl "

// mayHoldCode tells whether a file could be a binary or a loose device file.
func mayHoldCode(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return len(ext) < 2 || len(ext) > 8 || !strings.Contains(endings, " "+ext+" ")
}
