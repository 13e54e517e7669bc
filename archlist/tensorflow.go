package archlist

import (
	"slices"
	"strconv"
	"strings"

	"fatview/arch"
)

// tensorflow reads the list as XLA's configuration does. If every item is a
// number, the one that sorts last as text also gets PTX: 9.0 before 12.0.
func (b *builder) tensorflow(v value) error {
	items, err := split(v, ","+blanks)
	if err != nil {
		return err
	}
	numeric := !slices.ContainsFunc(items, func(it item) bool { return strings.Count(it.text, ".") != 1 })
	var archs []arch.Arch
	for _, it := range items {
		a, withPTX, err := b.tensorflowItem(it)
		if err != nil {
			return err
		}
		archs = append(archs, a)
		b.add(SASS, a)
		if withPTX && !numeric {
			b.add(PTX, a)
		}
	}
	if !numeric {
		return nil
	}
	last, highest := archs[0], archs[0]
	for _, a := range archs[1:] {
		if a.Name() > last.Name() {
			last = a
		}
		if highest.Less(a) {
			highest = a
		}
	}
	b.add(PTX, last)
	if last != highest {
		b.note("of an all-numeric list XLA sorts the numbers as text, so PTX is built for %s, not for %s: write compute_%s", dottedName(last), dottedName(highest), highest.Name())
	}
	return nil
}

func (b *builder) tensorflowItem(it item) (a arch.Arch, withPTX bool, err error) {
	a, ok := dotted(it.text)
	withPTX = true
	if !ok {
		if a, ok = prefixed(it.text, "compute_"); !ok {
			a, ok = prefixed(it.text, "sm_")
			withPTX = false
		}
	}
	if !ok {
		return a, false, b.badTensorFlow(it)
	}
	if err := b.made(it, a); err != nil {
		return a, false, err
	}
	if a.Suffix == 'f' {
		return a, false, b.fail(it, "XLA refuses the suffix f", strings.TrimSuffix(it.text, "f"))
	}
	return a, withPTX, nil
}

func (b *builder) badTensorFlow(it item) error {
	switch {
	case strings.Contains(it.text, ";"):
		return b.fail(it, "the list is separated by commas", strings.ReplaceAll(clip(it.text), ";", ","))
	case strings.Contains(it.text, "+PTX"):
		return b.fail(it, "there is no +PTX here, compute_ means machine code and PTX", "compute_80")
	}
	if n, err := strconv.Atoi(it.text); err == nil && n >= 10 && n < 1000 {
		return b.fail(it, "a bare number is not taken", "sm_"+it.text+", compute_"+it.text+" or "+arch.CC(n).String())
	}
	return b.fail(it, "it is not an architecture", "sm_80, compute_80 or 8.0")
}
