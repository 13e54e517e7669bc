package pack

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"strings"
)

// A Format names a kind of package.
type Format string

// Formats. A single packed file is named by its compression.
const (
	FormatZip      Format = "zip"
	FormatConda    Format = "conda"
	FormatTar      Format = "tar"
	FormatTarGzip  Format = "tar.gz"
	FormatTarXz    Format = "tar.xz"
	FormatTarZstd  Format = "tar.zst"
	FormatTarBzip2 Format = "tar.bz2"
	FormatDeb      Format = "deb"
	FormatDocker   Format = "docker" // docker save
	FormatOCI      Format = "oci"    // image layout
	FormatGzip     Format = "gzip"
	FormatXz       Format = "xz"
	FormatZstd     Format = "zstd"
	FormatBzip2    Format = "bzip2"
)

// tarOf is the format of a tar in a compression.
func tarOf(f Format) Format {
	switch f {
	case FormatGzip:
		return FormatTarGzip
	case FormatXz:
		return FormatTarXz
	case FormatZstd:
		return FormatTarZstd
	case FormatBzip2:
		return FormatTarBzip2
	}
	return FormatTar
}

// Recognise tells by content what kind of package r is, "" if it is none. It
// reads the beginning, the directory of a zip and the headers of a plain tar
// that begins like an image, and unpacks a few kilobytes. An image inside a
// compression is a tar to it; Walk finds out.
//
// A zip may have something in front of it, as self-extracting ones have: a
// caller that knows executables asks about those first. An ar archive is a
// package only if it is a .deb.
func Recognise(r io.ReaderAt, size int64) Format {
	src := source{at: r, have: max(size, 0), size: max(size, 0)}
	head, err := src.peek()
	if err != nil {
		return ""
	}
	w := newWalker(context.Background(), Limits{}, nil)
	defer w.store.file.done()
	switch kind := headKind(head); kind {
	case "":
		if endsInZip(src) {
			return FormatZip
		}
		return ""
	case FormatZip:
		if zr, _, err := w.openZip(src); err == nil && isConda(zr.File) {
			return FormatConda
		}
		return kind
	case FormatTar:
		if imageLike(head) {
			if _, f, err := w.findImages(src); err == nil && f != "" {
				return f
			}
		}
		return kind
	case FormatDeb:
		return kind
	default:
		stream, done, err := w.unpackStream(kind, src)
		defer done()
		if err != nil {
			return kind
		}
		if head, _ := stream.peek(); isTar(head) {
			return tarOf(kind)
		}
		return kind
	}
}

const (
	zipLocalMagic = "PK\x03\x04"
	zipEndMagic   = "PK\x05\x06" // first in an empty zip
	zipEndSize    = 22
	zipMaxComment = 1<<16 - 1
)

// headKind recognises a package by its first bytes: a zip, a deb, a tar or a
// compression, "" for anything else.
func headKind(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte(zipLocalMagic)), bytes.HasPrefix(head, []byte(zipEndMagic)) && len(head) >= zipEndSize:
		return FormatZip
	case isDeb(head):
		return FormatDeb
	case isTar(head):
		return FormatTar
	}
	return compression(head)
}

// endsInZip tells whether a zip with something in front of it ends exactly
// where the file does.
func endsInZip(src source) bool {
	b := make([]byte, min(src.have, zipEndSize+zipMaxComment))
	tail := src.window(src.have-int64(len(b)), int64(len(b)))
	if n, err := fill(tail.section(), b); err != nil || n < zipEndSize {
		return false
	}
	for at := len(b); ; {
		at = bytes.LastIndex(b[:at], []byte(zipEndMagic))
		if at < 0 {
			return false
		}
		if rest := b[at:]; len(rest) >= zipEndSize && zipEndSize+int(binary.LittleEndian.Uint16(rest[20:])) == len(rest) {
			entries := binary.LittleEndian.Uint16(rest[10:])
			return entries > 0
		}
	}
}

const tarBlock = 512

// isTar tells whether a header of tar begins the file: by its checksum, which
// the oldest tars have too.
func isTar(head []byte) bool {
	if len(head) < tarBlock || head[0] == 0 {
		return false
	}
	field := strings.Trim(string(head[148:156]), " \x00")
	if field == "" {
		return false
	}
	want := int64(0)
	for _, c := range []byte(field) {
		if c < '0' || c > '7' {
			return false
		}
		want = want<<3 | int64(c-'0')
	}
	unsigned, signed := int64(0), int64(0) // old writers summed signed bytes
	for i, c := range head[:tarBlock] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		unsigned += int64(c)
		signed += int64(int8(c))
	}
	return want == unsigned || want == signed
}
