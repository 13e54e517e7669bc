package ui

import (
	"slices"
	"strings"

	"fatview/advice"
	"fatview/coverage"
)

// adviceSystems are the build systems whose lists the pane has room for; the
// command explain writes them for all.
var adviceSystems = []string{"nvcc", "CMake", "PyTorch"}

// tellAdvice says what to do about a GPU that is not served as it should be.
func (t *teller) tellAdvice(cov []coverage.FileContainer, target coverage.Target, res coverage.FileResult) {
	a := advice.For(cov, []coverage.Target{target}, []coverage.FileResult{res})
	if len(a.Options)+len(a.Drivers) == 0 {
		return
	}
	t.title("what to do")
	for _, s := range a.Drivers {
		t.para(paint{}, sentence(strings.TrimPrefix(s, "on "+target.CC.String()+": ")))
	}
	for _, s := range a.Notes {
		t.para(paint{}, sentence(s))
	}
	for i, o := range a.Options {
		or := "Rebuild with "
		if i > 0 {
			or = "Or with "
		}
		text := or + o.Title + ": add " + strings.Join(o.Added(), ", ") + "; " + o.Toolkit
		if o.Caution != "" {
			text += ", but " + o.Caution
		}
		t.para(paint{}, sentence(text))
		for _, f := range o.Flags() {
			if slices.Contains(adviceSystems, f.System) {
				t.field("  "+f.System, f.Text)
			}
		}
	}
}
