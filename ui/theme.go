package ui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"fatview/coverage"
)

// A paint is a style reduced to what switches it on and off. A frame draws
// hundreds of pieces, and rendering each through lipgloss would cost more than
// everything else together.
type paint struct{ on, off string }

func (p paint) s(text string) string {
	if p.on == "" || text == "" {
		return text
	}
	return p.on + text + p.off
}

// A theme names the colours by their role. Colours are those of the user's own
// palette (the first sixteen) and one grey between black and white, which are
// readable on dark and light grounds alike: there is no asking the terminal
// for its background.
type theme struct {
	strong, dim, title, accent, bad, cursor, hit paint

	native, jit, driver, missing, partial, special paint
}

// newTheme makes the theme for what is known of the output: without colours
// (NO_COLOR, a dumb terminal, a pipe) every paint is empty, bold and reverse
// too, which is why the screen never relies on them.
func newTheme(out io.Writer) theme {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(true) // or lipgloss asks the terminal and waits
	style := func(colour string) lipgloss.Style {
		return r.NewStyle().Foreground(lipgloss.Color(colour))
	}
	return theme{
		strong:  newPaint(r.NewStyle().Bold(true)),
		dim:     newPaint(style("245")),
		title:   newPaint(style("6").Bold(true)),
		accent:  newPaint(style("6")),
		bad:     newPaint(style("1").Bold(true)),
		cursor:  newPaint(r.NewStyle().Reverse(true)),
		hit:     newPaint(style("3").Bold(true).Reverse(true)),
		native:  newPaint(style("2")),
		jit:     newPaint(style("3")),
		driver:  newPaint(style("5")),
		missing: newPaint(style("1")),
		partial: newPaint(style("9")),
		special: newPaint(style("245")),
	}
}

func newPaint(s lipgloss.Style) paint {
	const mark = "x"
	on, off, _ := strings.Cut(s.Render(mark), mark)
	return paint{on, off}
}

// A sign is how a verdict looks: never by colour alone.
type sign struct {
	glyph, letter, word string
	paint               paint
}

// sign returns the look of a verdict.
func (t *theme) sign(v coverage.Verdict) sign {
	word := v.String()
	switch v {
	case coverage.Native:
		return sign{"●", "N", word, t.native}
	case coverage.JIT:
		return sign{"◐", "J", word, t.jit}
	case coverage.Driver:
		return sign{"▲", "D", word, t.driver}
	case coverage.Missing:
		return sign{"✗", "M", word, t.missing}
	case coverage.Specialised:
		return sign{"○", "S", word, t.special}
	case coverage.Empty:
		return sign{"·", "E", word, t.dim}
	case coverage.None:
		return sign{"✗", "X", word, t.missing}
	case coverage.Partial:
		return sign{"◒", "P", word, t.partial}
	case coverage.Mixed:
		return sign{"◐", "B", word, t.jit}
	}
	return sign{" ", " ", "", t.dim}
}

// legend explains glyphs and letters, for the help.
func (t *theme) legend() []legendRow {
	var rows []legendRow
	for _, r := range []struct {
		v    coverage.Verdict
		text string
	}{
		{coverage.Native, "machine code that fits"},
		{coverage.JIT, "PTX that the driver compiles at first use"},
		{coverage.Driver, "would run with a newer driver"},
		{coverage.Missing, "general code that leaves this GPU out"},
		{coverage.Specialised, "looks built for other hardware on purpose"},
		{coverage.Empty, "holds no kernels on any architecture"},
		{coverage.None, "of a file: nothing in it serves the GPU"},
		{coverage.Partial, "of a file: some containers do not serve the GPU"},
		{coverage.Mixed, "of a file: all served, some native and some jit"},
	} {
		rows = append(rows, legendRow{t.sign(r.v), r.text})
	}
	rows = append(rows,
		legendRow{sign{"+", " ", "fits too", t.dim}, "of an image: fits, another comes first"},
		legendRow{sign{"-", " ", "refused", t.dim}, "of an image: not for this GPU"})
	return rows
}

type legendRow struct {
	sign
	text string
}
