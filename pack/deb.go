package pack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Layout of a .deb (deb(5)): an ar archive of debian-binary, control.tar and
// data.tar, the tars compressed or not. An ar archive is the magic, then
// members, each a header of 60 bytes and its data, padded to an even offset:
//
//	0   name  16  padded with blanks
//	48  size  10  decimal
//	58  end    2  "`\n"
const (
	arMagic      = "!<arch>\n"
	arHeaderSize = 60
	debFirst     = "debian-binary"
	debControl   = "DEBIAN/" // where dpkg-deb -R puts control files
)

// isDeb tells a .deb from any other ar archive, by its first member.
func isDeb(head []byte) bool {
	if !bytes.HasPrefix(head, []byte(arMagic)) || len(head) < len(arMagic)+arHeaderSize {
		return false
	}
	name, _, err := arHeader(head[len(arMagic):])
	return err == nil && name == debFirst
}

func arHeader(b []byte) (name string, size int64, err error) {
	if b[58] != '`' || b[59] != '\n' {
		return "", 0, errors.New("header of an ar member is damaged")
	}
	size, err = strconv.ParseInt(strings.TrimRight(string(b[48:58]), " "), 10, 64)
	if err != nil || size < 0 {
		return "", 0, errors.New("size of an ar member is no number")
	}
	return strings.TrimSuffix(strings.TrimRight(string(b[:16]), " "), "/"), size, nil
}

// walkDeb hands out the members of both tars. Files that dpkg does not know
// either, such as signatures, are not.
func (w *walker) walkDeb(pl place, src source) error {
	w.setFormat(pl, FormatDeb)
	data := false
	for pos := int64(len(arMagic)); pos < src.have; {
		var b [arHeaderSize]byte
		if n, err := fill(src.window(pos, arHeaderSize).section(), b[:]); n < len(b) {
			if err == io.EOF {
				err = errCut
			}
			return fmt.Errorf("ar header at offset %#x: %w", pos, err)
		}
		name, size, err := arHeader(b[:])
		if err != nil {
			return fmt.Errorf("%w at offset %#x", err, pos)
		}
		if err := w.entry(1); err != nil {
			return err
		}
		pos += arHeaderSize
		inner := src.window(pos, size)
		var rename func(string) string
		switch {
		case strings.HasPrefix(name, "control.tar"):
			rename = func(s string) string { return debControl + s }
		case strings.HasPrefix(name, "data.tar"):
			data = true
		}
		if strings.Contains(name, ".tar") && (rename != nil || strings.HasPrefix(name, "data.tar")) {
			if err := w.transparent(pl, pl.prefix+name, inner, rename); err != nil {
				return err
			}
		}
		if size > src.have-pos {
			return fmt.Errorf("ar member %q at offset %#x: %w", name, pos, inner.cutError())
		}
		pos += size + size&1
	}
	if !data {
		return errors.New("there is no data.tar in the deb")
	}
	return nil
}
