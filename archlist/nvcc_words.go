package archlist

import (
	"fmt"
	"strings"
)

// nvccOptions are the spellings of nvcc's architecture options.
var nvccOptions = []struct{ name, option string }{
	{"--generate-code", "gencode"}, {"-gencode", "gencode"},
	{"--gpu-architecture", "arch"}, {"-arch", "arch"},
	{"--gpu-code", "code"}, {"-code", "code"},
}

// SplitArgs takes what belongs to a list out of the arguments of a command:
// nvcc's architecture options with their values, CMake's -D, and quoted runs of
// flags. The rest are the command's own flags and the other arguments.
func SplitArgs(args []string) (list, rest []string) {
	for i := 0; i < len(args); i++ {
		first, _, several := strings.Cut(args[i], " ")
		option, at := nvccOption(first)
		switch {
		case args[i] == "--":
			return list, append(rest, args[i:]...)
		case option != "" && option != "rdc" && at < 0 && !several && i+1 < len(args):
			list = append(list, args[i], args[i+1])
			i++
		case option != "", strings.HasPrefix(first, "-D"), several && strings.HasPrefix(first, "-") && !strings.HasPrefix(first, "--"):
			list = append(list, args[i])
		default:
			rest = append(rest, args[i])
		}
	}
	return list, rest
}

// nvccOption returns which option a word is, and where its value begins: -1 if
// it is the next word.
func nvccOption(word string) (option string, value int) {
	for _, f := range nvccOptions {
		rest, ok := strings.CutPrefix(word, f.name)
		switch {
		case ok && rest == "":
			return f.option, -1
		case ok && rest[0] == '=':
			return f.option, len(f.name) + 1
		}
	}
	switch word {
	case "-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c", "-dlto", "--dlink-time-opt":
		return "rdc", 0
	}
	return "", 0
}

// nvccWords cuts flags into words as a shell would, and leaves the quotes in,
// because nvcc itself reads those that a backslash protects. Semicolons are
// CMake's blanks, backslashes at a line's end are make's.
func nvccWords(v value) ([]item, error) {
	var out []item
	start := -1
	var quote byte
	s := v.text
	flush := func(end int) {
		if start >= 0 {
			out = append(out, item{s[start:end], len(out) + 1, v.offset + start})
			start = -1
		}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && (s[i+1] == '\n' || s[i+1] == '\r'):
			flush(i)
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == ';' || strings.IndexByte(blanks, c) >= 0:
			flush(i)
		default:
			if c == '"' || c == '\'' {
				quote = c
			}
			if start < 0 {
				start = i
			}
		}
		if len(out) > maxItems {
			return nil, fmt.Errorf("the list has more than %d items", maxItems)
		}
	}
	flush(len(s))
	if len(out) == 0 {
		return nil, errEmpty
	}
	return out, nil
}

var quotes = strings.NewReplacer(`\"`, "", `"`, "", `'`, "", `\'`, "")

func unquote(s string) string { return quotes.Replace(s) }

// commas cuts at commas that stand in neither brackets nor quotes.
func commas(s string) []string {
	var out []string
	depth, start := 0, 0
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth <= 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}
