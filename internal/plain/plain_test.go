package plain

import "testing"

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"saxpy<float>":          "saxpy<float>",
		"größe 核":               "größe 核",
		"a\x1b[31mb":            `a\x1b[31mb`,
		"a\x9b31mb":             `a\x9b31mb`,
		"a\u009b31mb":           `a\x9b31mb`,
		"line\nbreak\ttab\r":    `line\x0abreak\x09tab\x0d`,
		"\u202Eevil\u2066":      `\u202eevil\u2066`,
		"zero\u200bwidth\ufeff": `zero\u200bwidth\ufeff`,
		"\xff\xfe":              `\xff\xfe`,
		"p\u2028q":              `p\u2028q`,
		"\x7f":                  `\x7f`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"a|b":                       `a\|b`,
		"f<T>()":                    "f&lt;T&gt;()",
		"[x](javascript:y)":         `\[x\](javascript:y)`,
		"`code`":                    "\\`code\\`",
		"*_bold_*":                  `\*\_bold\_\*`,
		"@someone":                  "&#64;someone",
		"![i](http://x)":            `\!\[i\](http://x)`,
		"a\nb":                      `a\\x0ab`,
		"vec.cu":                    "vec.cu",
		"<img src=x onerror=y()>&a": "&lt;img src=x onerror=y()&gt;&amp;a",
	} {
		if got := Markdown(in); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"kernel", 6, "kernel"}, {"kernel", 5, "kern…"}, {"kernel", 1, "…"}, {"kernel", 0, ""}, {"ääää", 4, "ääää"}, {"ääää", 3, "ää…"}} {
		if got := Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestHTML(t *testing.T) {
	if got, want := HTML("a<b>_c_[d](e)&\x1b"), "a&#60;b&#62;&#95;c&#95;&#91;d&#93;(e)&#38;&#92;x1b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
