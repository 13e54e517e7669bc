package coverage

import (
	"fatview/arch"
)

// groups lists the capabilities among which SASS moves to a higher minor.
// Those below 5.0 follow the programming guide; no tool that still exists
// links for them.
var groups = [][]arch.CC{
	{10, 11, 12, 13}, {20, 21}, {30, 35, 37}, {32},
	{50, 52}, {53}, {60, 61}, {62}, {70, 75}, {72}, {80, 86, 89}, {87}, {88}, {90},
	{100, 103, 107}, {110}, {120, 121},
}

// families lists, for suffix f, the capabilities that share features.
var families = [][]arch.CC{{100, 103, 107}, {110}, {120, 121}}

// orinCUDA is where the rule about 8.7 and 8.8 changed: R595, CUDA 13.2.
var orinCUDA = arch.Version{Major: 13, Minor: 2}

// renamed maps the older name of Thor to the present one.
func renamed(c arch.CC) arch.CC {
	if c == 101 {
		return 110
	}
	return c
}

// group returns the index of a capability's group and whether it is known.
func group(c arch.CC) (int, bool) { return groupIn(groups, renamed(c)) }

func groupIn(gs [][]arch.CC, c arch.CC) (int, bool) {
	for i, g := range gs {
		for _, m := range g {
			if m == c {
				return i, true
			}
		}
	}
	return -1, false
}

func alone(c arch.CC) bool {
	i, ok := group(c)
	return ok && len(groups[i]) == 1 && (c == 53 || c == 62 || c == 72 || c == 32)
}

// fit is the answer of the architecture rules for one image.
type fit struct {
	ok      bool
	rule    Rule
	refusal Refusal
	// needs is the CUDA version that the driver must have for ok to hold; zero
	// if any that drives the GPU will do.
	needs arch.Version
}

func yes(r Rule) fit             { return fit{ok: true, rule: r} }
func no(r Rule, why Refusal) fit { return fit{rule: r, refusal: why} }

// sassFits applies the rules for machine code of a on a GPU of capability c.
func sassFits(a arch.Arch, c arch.CC) fit {
	from := renamed(a.CC)
	rule := RuleGroup
	if from != a.CC {
		rule = RuleThor
	}
	switch a.Suffix {
	case 'a':
		if from == c {
			if rule == RuleThor {
				return yes(rule)
			}
			return yes(RuleArchSpecific)
		}
		return no(RuleArchSpecific, ExactOnly)
	case 'f':
		return familyFits(from, c, true)
	}
	if from == c {
		return yes(rule)
	}
	if isOrin(from) || isOrin(c) {
		if from.Major() == 8 && c.Major() == 8 && from < c {
			return fit{ok: true, rule: RuleOrin, needs: orinCUDA}
		}
	}
	gf, known := group(from)
	gc, knownGPU := group(c)
	if !known || !knownGPU {
		return unknownSASS(from, c)
	}
	switch {
	case gf == gc && from < c && c == 107:
		return yes(RuleRubin)
	case gf == gc && from < c:
		return yes(rule)
	case from.Major() == c.Major() && from > c && !alone(from):
		return no(rule, HigherMinor)
	case from.Major() == c.Major():
		return no(RuleAlone, StandsAlone)
	}
	return no(rule, OtherMajor)
}

func isOrin(c arch.CC) bool { return c == 87 || c == 88 }

// unknownSASS is for architectures newer than the tables: the general rule,
// unconfirmed.
func unknownSASS(from, c arch.CC) fit {
	switch {
	case from.Major() != c.Major():
		return no(RuleGroup, OtherMajor)
	case from > c:
		return no(RuleGroup, HigherMinor)
	}
	return yes(RuleUnknownArch)
}

func familyFits(from, c arch.CC, sass bool) fit {
	gf, known := groupIn(families, from)
	gc, _ := groupIn(families, c)
	switch {
	case from == c:
		return yes(RuleFamily)
	case known && gf == gc && from < c && c == 107 && sass:
		return yes(RuleRubin)
	case known && gf == gc && from < c:
		return yes(RuleFamily)
	case known && gf == gc:
		return no(RuleFamily, HigherMinor)
	}
	return no(RuleFamily, OtherFamily)
}

// ptxFits applies the rules for PTX of a on a GPU of capability c.
func ptxFits(a arch.Arch, c arch.CC) fit {
	switch a.Suffix {
	case 'a':
		if renamed(a.CC) == c {
			return yes(RuleArchSpecific)
		}
		return no(RuleArchSpecific, ExactOnly)
	case 'f':
		return familyFits(renamed(a.CC), c, false)
	}
	// compute_101 compares by its own number: as PTX it was never renamed.
	if a.CC <= c {
		return yes(RulePTXForward)
	}
	return no(RulePTXForward, HigherPTX)
}

// Runs reports whether machine code for a runs on capability c with a driver
// that is new enough.
func Runs(a arch.Arch, c arch.CC) bool { return sassFits(a, c).ok }

// Compiles reports whether PTX for a can be compiled for capability c.
func Compiles(a arch.Arch, c arch.CC) bool { return ptxFits(a, c).ok }
