package elfscan

import (
	"bytes"
	"strings"
)

// The magic numbers of a container; the second is that of CUDA 5 and older,
// which package fatbin names and refuses.
const (
	fatbinMagic    = 0xBA55ED50
	fatbinMagicOld = 0x1EE55A01
)

func isFatbin(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	m := le.Uint32(head)
	return m == fatbinMagic || m == fatbinMagicOld
}

// maxPreamble is how far into a file PTX may begin; comments with a licence
// come first in some.
const maxPreamble = 64 << 10

// isPTX looks for the directives that PTX must begin with: .version, then
// .target, with nothing but comments and blanks before and between.
func isPTX(v view, head []byte) bool {
	// Text that is not PTX shows it in the first bytes, so that the longer
	// read is for files that begin with a comment.
	if _, ok := ptxDirective(strings.TrimPrefix(string(head), bom), ".version"); !ok && !openComment(head) {
		return false
	}
	text := strings.TrimPrefix(string(v.bytes(0, maxPreamble)), bom)
	rest, ok := ptxDirective(text, ".version")
	if !ok {
		return false
	}
	number := strings.TrimLeft(rest, " \t")
	i := 0
	for i < len(number) && (number[i] >= '0' && number[i] <= '9' || number[i] == '.') {
		i++
	}
	_, ok = ptxDirective(number[i:], ".target")
	return ok && i > 0
}

const bom = "\ufeff"

// ptxDirective skips blanks and comments and returns what follows the word.
func ptxDirective(s, word string) (string, bool) {
	s = skipComments(s)
	if rest, ok := strings.CutPrefix(s, word); ok && rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		return rest, true
	}
	return "", false
}

func skipComments(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		end := ""
		switch {
		case strings.HasPrefix(s, "//"):
			end = "\n"
		case strings.HasPrefix(s, "/*"):
			end = "*/"
		default:
			return s
		}
		_, after, ok := strings.Cut(s[2:], end)
		if !ok {
			return ""
		}
		s = after
	}
}

// openComment tells whether head begins like a commented text.
func openComment(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(bom)), " \t\r\n")
	return len(head) == 0 || head[0] == '/' || head[0] == '.'
}
