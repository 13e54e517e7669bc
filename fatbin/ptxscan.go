package fatbin

import "bytes"

// scanner finds the directives that ParsePTX wants. Bodies of functions are
// most of a module, so it looks for the few words rather than reading every
// token; a word inside a comment or a string does not count. Each byte is
// looked at a fixed number of times at most, whatever the text.
type scanner struct {
	b []byte
	p int
	// plain is the offset up to which bodies are read word by word, because
	// an enclosing one could not be jumped over.
	plain int
}

// directive returns the next of the directives of interest and its offset,
// leaving the scanner behind the word. It returns "" at the end.
func (s *scanner) directive() (string, int) {
	for s.p < len(s.b) {
		i := bytes.IndexAny(s.b[s.p:], "./\"{")
		if i < 0 {
			break
		}
		at := s.p + i
		s.p = at + 1
		switch s.b[at] {
		case '"':
			s.skipString()
		case '/':
			s.skipComment(at)
		case '{':
			s.skipBody(at)
		case '.':
			if w := s.directiveAt(at); w != "" {
				s.p = at + len(w)
				return w, at
			}
		}
	}
	s.p = len(s.b)
	return "", 0
}

var directives = []string{".entry", ".func", ".version", ".target", ".address_size", ".maxntid", ".reqntid"}

// directiveAt returns the directive that stands at offset at as a word of its
// own.
func (s *scanner) directiveAt(at int) string {
	if at > 0 && !boundary(s.b[at-1]) {
		return "" // an instruction's modifier, such as ld.entry
	}
	if at+1 < len(s.b) {
		switch s.b[at+1] { // most words are .param, .reg, .b32: leave early
		case 'e', 'f', 'v', 't', 'a', 'm', 'r':
		default:
			return ""
		}
	}
	for _, w := range directives {
		if bytes.HasPrefix(s.b[at:], []byte(w)) {
			if end := at + len(w); end == len(s.b) || boundary(s.b[end]) {
				return w
			}
		}
	}
	return ""
}

// boundary reports whether a directive may begin behind c and end before it.
func boundary(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', ';', '{', '}', '(', ')', ',', '/', '"':
		return true
	}
	return false
}

// skipBody jumps behind the brace that closes the body opened at offset at.
// Bodies are nearly all of a module, and looking for braces alone is much
// faster than looking at each directive. Braces in line comments do not
// count; a body with other comments or strings is read word by word instead,
// and so is one that is never closed.
func (s *scanner) skipBody(at int) {
	if at < s.plain {
		return
	}
	end := closing(s.b, at)
	if end < 0 {
		s.plain = len(s.b)
		return
	}
	body := s.b[at:end]
	if bytes.IndexByte(body, '"') >= 0 || bytes.Contains(body, []byte("/*")) {
		s.plain = end
		return
	}
	s.p = end
}

// closing returns the offset of the brace that closes the one at offset at,
// or -1.
func closing(b []byte, at int) int {
	depth := 1
	open, shut := at, at // next of each from p on, as far as known
	comment := false     // p lies in a line comment
	for p := at + 1; ; {
		open, shut = next(b, open, p, '{'), next(b, shut, p, '}')
		if shut == len(b) {
			return -1
		}
		brace := min(open, shut)
		if i := bytes.LastIndexByte(b[p:brace], '\n'); i >= 0 {
			p, comment = p+i, false
		}
		comment = comment || bytes.Contains(b[p:brace], []byte("//"))
		p = brace + 1
		switch {
		case comment:
		case b[brace] == '{':
			depth++
		default:
			if depth--; depth == 0 {
				return brace
			}
		}
	}
}

// next returns the offset of the first c from p on, or len(b). known is what
// it returned last, for an earlier p.
func next(b []byte, known, p int, c byte) int {
	if known >= p {
		return known
	}
	if i := bytes.IndexByte(b[p:], c); i >= 0 {
		return p + i
	}
	return len(b)
}

// skipString moves behind a string whose opening quote was just read. A
// string does not go on past the end of its line.
func (s *scanner) skipString() {
	for ; s.p < len(s.b); s.p++ {
		switch s.b[s.p] {
		case '\\':
			s.p++
		case '"', '\n':
			s.p++
			return
		}
	}
	s.p = len(s.b)
}

// skipComment moves behind the comment that begins with the slash at offset
// at, or behind the slash if none does.
func (s *scanner) skipComment(at int) {
	begin, end := []byte("//"), []byte("\n")
	if bytes.HasPrefix(s.b[at:], []byte("/*")) {
		begin, end = []byte("/*"), []byte("*/")
	}
	s.p = at + 1
	if !bytes.HasPrefix(s.b[at:], begin) {
		return
	}
	if i := bytes.Index(s.b[at+2:], end); i >= 0 {
		s.p = at + 2 + i + len(end)
	} else {
		s.p = len(s.b)
	}
}

// skipSpace moves over white space and comments.
func (s *scanner) skipSpace() {
	for s.p < len(s.b) {
		switch s.b[s.p] {
		case ' ', '\t', '\n', '\r':
			s.p++
		case '/':
			at := s.p
			if s.skipComment(at); s.p == at+1 {
				s.p = at
				return
			}
		default:
			return
		}
	}
}

// word reads the name or number that follows, over white space; "" if
// something else does.
func (s *scanner) word() string {
	s.skipSpace()
	if s.p < len(s.b) && s.b[s.p] == '.' {
		return "" // the next directive
	}
	start := s.p
	for s.p < len(s.b) && inWord(s.b[s.p]) {
		s.p++
	}
	return string(s.b[start:s.p])
}

func inWord(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c >= 0x80:
		return true
	}
	return c == '_' || c == '$' || c == '%' || c == '.'
}

// list reads words separated by commas.
func (s *scanner) list() []string {
	var list []string
	for {
		w := s.word()
		if w == "" {
			return list
		}
		list = append(list, w)
		if s.skipSpace(); s.p == len(s.b) || s.b[s.p] != ',' {
			return list
		}
		s.p++
	}
}
