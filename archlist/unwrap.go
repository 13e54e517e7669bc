package archlist

import (
	"fmt"
	"strings"
)

// value is a list without what is written around it.
type value struct {
	text   string
	offset int    // in bytes, in what was given
	name   string // the variable that it was assigned to; "" if there was none
	syntax Syntax // that the variable tells; "" if there was none
	args   bool   // the arguments of a CMake command, which spaces separate
	again  int    // the line that assigns the variable once more; 0 if none
}

// variables tell the grammar by where the list is written. CMake's are read by
// ONNX Runtime and llama.cpp as well.
var variables = []struct {
	name   string
	syntax Syntax
}{
	{"HERMETIC_CUDA_COMPUTE_CAPABILITIES", TensorFlow},
	{"TF_CUDA_COMPUTE_CAPABILITIES", TensorFlow},
	{"TORCH_CUDA_ARCH_LIST", PyTorch},
	{"CMAKE_CUDA_ARCHITECTURES", CMake},
	{"CUDA_ARCHITECTURES", CMake},
	{"CUDAARCHS", CMake},
	{"CUDA_ARCH_LIST", FindCUDA},
	{"CUDA_ARCH_NAME", FindCUDA},
	{"CUDA_ARCH", Caffe},
	{"CMAKE_CUDA_FLAGS", NVCC},
	{"CUDA_NVCC_FLAGS", NVCC},
	{"NVCC_GENCODE", NVCC},
	{"NVCC_FLAGS", NVCC},
	{"NVCCFLAGS", NVCC},
}

// unwrap finds the first assignment of a known variable and returns its value;
// without one, all of the text is the list.
func unwrap(list string) (value, error) {
	if len(list) > maxList {
		return value{}, fmt.Errorf("the list is longer than %d bytes", maxList)
	}
	var found value
	line, until := 0, 0
	for at := 0; at < len(list); {
		end := lineEnd(list, at)
		line++
		if at >= until && !strings.HasPrefix(strings.TrimLeft(list[at:end], " \t"), "#") {
			v, ok := assignment(list, at, end)
			switch {
			case ok && found.name == "":
				found = v
				until = v.offset + len(v.text)
			case ok && found.name == v.name && found.again == 0:
				found.again = line
			}
		}
		at = end + 1
	}
	if found.name == "" {
		found = value{text: list}
	}
	if found.name == "" || !found.args {
		trim(&found)
	}
	if strings.Trim(found.text, blanks) == "" {
		return value{}, errEmpty
	}
	return found, nil
}

// trim takes blanks and one pair of quotes from around a value.
func trim(v *value) {
	for range 2 {
		left := strings.TrimLeft(v.text, blanks)
		v.offset += len(v.text) - len(left)
		v.text = strings.TrimRight(left, blanks)
		if n := len(v.text); n >= 2 && (v.text[0] == '"' || v.text[0] == '\'') && strings.IndexByte(v.text[1:], v.text[0]) == n-2 {
			v.text = v.text[1 : n-1]
			v.offset++
		}
	}
}

func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}

// assignment reads a line that sets a known variable: in a Makefile, a shell, a
// Dockerfile, a .bazelrc, a CMake command line or a CMakeLists.txt.
func assignment(s string, at, end int) (value, bool) {
	for _, known := range variables {
		from := at
		for {
			i := strings.Index(s[from:end], known.name)
			if i < 0 {
				break
			}
			start := from + i
			from = start + len(known.name)
			if !alone(s, at, start, from, end) {
				continue
			}
			if v, ok := assigned(s, at, start, from, end, known.syntax); ok {
				v.name, v.syntax = known.name, known.syntax
				return v, true
			}
		}
	}
	return value{}, false
}

// alone reports whether s[start:stop] is a whole word; -D may stand before it.
func alone(s string, at, start, stop, end int) bool {
	if stop < end && wordByte(s[stop]) {
		return false
	}
	return start == at || !wordByte(s[start-1]) || strings.HasSuffix(s[at:start], "-D")
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// assigned reads what follows the variable's name.
func assigned(s string, at, start, stop, end int, syntax Syntax) (value, bool) {
	before, rest := s[at:start], s[stop:end]
	spaced := strings.TrimLeft(rest, " \t")
	gap := len(rest) - len(spaced)
	op := 0
	switch {
	case strings.HasPrefix(spaced, ":=") || strings.HasPrefix(spaced, "?=") || strings.HasPrefix(spaced, "+="):
		op = 2
	case strings.HasPrefix(spaced, "::="):
		op = 3
	case strings.HasPrefix(spaced, "="):
		op = 1
	case strings.HasPrefix(spaced, ":STRING="):
		op = len(":STRING=")
	case gap > 0 && setsInCMake(before):
		return arguments(s, stop+gap), true
	case gap > 0 && strings.HasSuffix(strings.TrimRight(before, " \t"), "ENV"):
	default:
		return value{}, false
	}
	from := stop + gap + op
	body := strings.TrimLeft(s[from:end], " \t")
	from += len(s[from:end]) - len(body)
	if body != "" && (body[0] == '"' || body[0] == '\'') {
		if n := quoted(s[from:]); n > 0 {
			return value{text: s[from+1 : from+n-1], offset: from + 1}, true
		}
	}
	stopAt := logicalEnd(s, from)
	if syntax != NVCC && syntax != Caffe && (op == 1 || op > 3) && gap == 0 && from == stop+op {
		// NAME=value without blanks is a shell's: the first blank ends it.
		if i := strings.IndexAny(s[from:stopAt], blanks); i >= 0 {
			stopAt = from + i
		}
		if i := strings.IndexAny(s[from:stopAt], `"'`); i >= 0 {
			stopAt = from + i // the quotes are around -DNAME=value
		}
	}
	return value{text: s[from:stopAt], offset: from}, true
}

// setsInCMake reports whether a line up to the variable is that of a command
// that sets it.
func setsInCMake(before string) bool {
	name, rest, open := strings.Cut(strings.ToLower(strings.TrimLeft(before, " \t")), "(")
	name = strings.TrimRight(name, " ")
	return open && (name == "set" && strings.Trim(rest, " ") == "" || name == "list" && strings.Contains(rest, "append") || strings.HasPrefix(name, "set_"))
}

// arguments reads up to the parenthesis that ends a CMake command.
func arguments(s string, from int) value {
	text := s[from:]
	if text != "" && text[0] == '"' {
		if n := quoted(text); n > 0 {
			return value{text: text[1 : n-1], offset: from + 1}
		}
	}
	if i := strings.IndexByte(text, ')'); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text, " CACHE "); i >= 0 {
		text = text[:i]
	}
	v := value{text: text, offset: from, args: true}
	trim(&v)
	return v
}

// quoted returns the length of a quoted string with its quotes, 0 if it does
// not end.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}

// logicalEnd is the end of a line that backslashes may continue, or where a
// comment begins.
func logicalEnd(s string, from int) int {
	at := from
	for {
		end := lineEnd(s, at)
		line := s[at:end]
		if i := strings.IndexByte(line, '#'); i >= 0 {
			return at + i
		}
		if end == len(s) || !strings.HasSuffix(strings.TrimRight(line, "\r"), "\\") {
			return end
		}
		at = end + 1
	}
}
