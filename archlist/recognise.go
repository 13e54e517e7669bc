package archlist

import (
	"slices"
	"strings"

	"fatview/arch"
	"fatview/gpu"
)

// Recognise returns the grammars that a list can be, the likeliest first. A
// variable that the list is assigned to decides; else every grammar whose
// reader would take it is a candidate. A list that none takes gets the one that
// it looks like, so that its error can be shown; an empty one gets none.
func Recognise(list string) []Syntax {
	v, err := unwrap(list)
	if err != nil {
		return nil
	}
	if v.syntax != "" && v.syntax != CMake {
		return []Syntax{v.syntax}
	}
	if v.syntax == CMake {
		return takers(list, []Syntax{CMake, ONNXRuntime, LlamaCpp}, CMake)
	}
	text := strings.Trim(v.text, blanks)
	if strings.HasPrefix(text, "-") || strings.Contains(text, "arch=") {
		return []Syntax{NVCC}
	}
	guess := PyTorch
	switch {
	case text == "native":
		guess = CMake
	case strings.Contains(text, "sm_"), strings.Contains(text, "compute_"), strings.Contains(text, ",") && !strings.Contains(text, ";"):
		guess = TensorFlow
	case strings.Contains(text, "-real"), strings.Contains(text, "-virtual"), digit(text) && !strings.Contains(text, "."):
		guess = CMake
	}
	return takers(list, []Syntax{CMake, PyTorch, TensorFlow, FindCUDA, ONNXRuntime, LlamaCpp}, guess)
}

// takers returns the grammars that take a list, the guess first.
func takers(list string, of []Syntax, guess Syntax) []Syntax {
	all := gpu.PTXTable()
	o := Options{Toolkit: all[len(all)-1].CUDA, Native: []arch.CC{90}}
	var out []Syntax
	for _, s := range of {
		if _, err := Parse(list, s, o); err == nil {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return []Syntax{guess}
	}
	if i := slices.Index(out, guess); i > 0 {
		out = slices.Insert(slices.Delete(out, i, i+1), 0, guess)
	}
	return out
}
