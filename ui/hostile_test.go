package ui

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"fatview/index"
	"fatview/internal/fatbintest"
)

// made opens a file that a test made in memory.
func made(name string, containers ...[]byte) option {
	file := fatbintest.Join(containers...)
	return opener(func(ctx context.Context, _ string) ([]*index.File, error) {
		return index.Read(ctx, name, bytes.NewReader(file), int64(len(file)), nil)
	})
}

// hostile are names that try to break a screen.
func hostile() []string {
	return []string{
		"\x1b[2J\x1b[1;1Howned\x1b]0;title\a",
		"\x9b31mred", "tab\tnew\nline\rback\b\b\b", "bidi \u202eabc\u202c \u2066x\u2069",
		"zero\u200bwidth\u200djoin\ufeff", "\xff\xfe\x80broken", "宽字符宽字符宽字符宽字符宽字符宽字符宽字符宽字符",
		"combining" + strings.Repeat("\u0301", 400), "flags 🇩🇪🇫🇷 👩‍👩‍👧 ❤️ 👍🏽 ﷽﷽﷽", "\u2028\u2029\u0085", "ｆｕｌｌｗｉｄｔｈ",
		"한글 자모 각 ㅤhidden", strings.Repeat("long::", 170000) + "end", strings.Repeat("宽", 300000), "_Z" + strings.Repeat("9", 5000), "",
		"nul\x00inside", "e\u0301\u0301 ก็็็็็็ ا̷̢",
	}
}

// hostileFile holds every such name wherever a file can hold a name.
func hostileFile() [][]byte {
	var out [][]byte
	for _, n := range hostile() {
		kernel := strings.ReplaceAll(n, "\x00", "")
		k := []fatbintest.Kernel{{Name: kernel, Registers: 3, Stack: 1 << 30, Shared: 1 << 30}, {Name: "ok"}}
		short := n[:min(len(n), 3000)]
		cubin := fatbintest.Cubin{Arch: "80", Kernels: k, Unit: strings.ReplaceAll(short, "\x00", ""), CommandLine: short}.Bytes()
		out = append(out, fatbintest.NewContainer().
			SASS("80", cubin, fatbintest.Identifier(short)).
			PTX("90", "8.4", ".version 8.4\n.target sm_90\n// "+n+"\n.visible .entry k(){}\n"+n+"\n", fatbintest.Options(short)).
			Bytes())
	}
	return out
}

// forbidden tells of a rune that must never reach a terminal from a name.
func forbidden(r rune) bool {
	return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == '\ufffd'
}

// checkPlain asserts that what is drawn is text and nothing else.
func (d *driver) checkPlain() {
	d.t.Helper()
	d.check()
	for _, r := range d.m.View() {
		if forbidden(r) {
			d.t.Fatalf("the screen holds %U:\n%q", r, d.m.View())
		}
	}
}

func TestHostileNames(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {101, 31}} {
		d := newDriver(t, size[0], size[1], "\x1b[31mevil\u202e.so", gpus("a100,h100"), made("dir/\x1b[31mevil\u202e!\tm.o", hostileFile()...))
		d.Press("+")
		for range len(d.m.rows) {
			d.Press("j")
			d.checkPlain()
		}
		d.Press("tab", "pgdown")
		d.checkPlain()
		d.Press("tab", "/").Type("宽\u0301e").Enter()
		d.checkPlain()
		d.Press("esc", "e").Enter()
		d.checkPlain()
		d.Press("esc")
	}
}

func TestHostileText(t *testing.T) {
	d := newDriver(t, 60, 20, "x", gpus("a100"), made("x.fatbin", hostileFile()...))
	d.Press("+")
	for i, r := range d.m.rows {
		if r.kind() != kindImage {
			continue
		}
		d.m.move(i)
		d.Press("v")
		d.checkPlain()
		d.Press("G", "l", "l", "/").Type("e").Enter().Press("n")
		d.checkPlain()
		d.Press("esc", "esc")
	}
}

// FuzzLine: whatever a name holds, a line keeps its width and its manners.
func FuzzLine(f *testing.F) {
	for _, n := range hostile() {
		f.Add(n[:min(len(n), 2000)], 17)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = max(0, min(w, 300))
		text := cleanTo(s, w)
		for _, r := range text {
			if forbidden(r) {
				t.Fatalf("%q keeps %U", s, r)
			}
		}
		for _, l := range []string{fill(w, seg{text, paint{}}), fill(w, seg{"ab", paint{}}, seg{cutMiddle(text, w/2), paint{}})} {
			if n := ansi.StringWidth(l); n != w {
				t.Fatalf("%q is %d wide, not %d", l, n, w)
			}
		}
		for _, l := range wrap(text, max(w, 2)) {
			if n := ansi.StringWidth(l); n > max(w, 2) {
				t.Fatalf("wrapped %q is %d wide, not %d", l, n, w)
			}
		}
	})
}

func TestWrapKeepsEverything(t *testing.T) {
	for _, s := range []string{
		"one two three four five", "void ns::f<a::b::c, d>(int)", "averyveryverylongwordwithoutanymark and more", "  leading", "a  b", "宽字符宽字符 ab",
	} {
		for w := 2; w < 30; w++ {
			got := strings.ReplaceAll(strings.Join(wrap(s, w), ""), " ", "")
			if want := strings.ReplaceAll(s, " ", ""); got != want {
				t.Fatalf("width %d: %q became %q", w, s, wrap(s, w))
			}
			for _, l := range wrap(s, w) {
				if width(l) > w {
					t.Fatalf("width %d: %q", w, l)
				}
			}
		}
	}
	if got := fmt.Sprint(wrap("void onnxruntime::kernel<float>(int)", 20)); got != "[void onnxruntime:: kernel<float>(int)]" {
		t.Error(got)
	}
}

func TestFitName(t *testing.T) {
	const name = "onnx::contrib::(anonymous namespace)::kDequant<onnx::BFloat16, 512>"
	if got := fitName(name, 200); got != name {
		t.Error(got)
	}
	if got := fitName(name, 30); got != "kDequant<BFloat16, 512>" {
		t.Error(got)
	}
}
