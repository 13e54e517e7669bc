package gpu

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"fatview/arch"
)

// Product is a GPU that is or was sold, by the name that NVIDIA or its driver
// gives it.
type Product struct {
	Name    string
	CC      arch.CC
	Kind    string // geforce, workstation, datacenter, jetson/embedded, soc/desktop, mining, other
	Certain bool   // false: inferred, nobody confirmed it
}

// Catalogue returns every product in the table, newest generation first. A name
// can occur with several capabilities: three different chips were sold as
// GeForce GT 730.
func Catalogue() []Product {
	out := make([]Product, len(catalogue()))
	for i, e := range catalogue() {
		out[i] = e.Product
	}
	return out
}

// entry is a product with its name prepared for searching.
type entry struct {
	Product
	full  form // without the word NVIDIA
	short form // without GeForce too
}

var catalogue = sync.OnceValue(func() []entry {
	var out []entry
	for _, r := range rows(gpusTSV, 4) {
		var c cell
		p := Product{Name: c.text(r[0]), CC: c.arch(r[1]).CC, Kind: c.text(r[2]), Certain: c.yes(r[3])}
		if !c.bad {
			out = append(out, entry{p, normalise(p.Name), normalise(p.Name, "geforce")})
		}
	}
	return slices.Clip(out)
})

// form is a name as the search sees it: its words in lower case without what
// stands between them, so that "rtx5090", "RTX 5090" and "rtx-5090" are one.
type form struct {
	words []string
	key   string // the words without spaces
	edge  []bool // edge[i]: a word starts at key[i]; edge[len(key)] is true
	from  []int  // from[i], to[i]: where the rune of key[i] lies in the name
	to    []int
}

// normalise makes the form of a name. Words are runs of letters, digits and +
// (a 9800 GTX+ is not a 9800 GTX). The word nvidia and those in drop are left
// out, wherever they stand.
func normalise(name string, drop ...string) form {
	var f form
	var b strings.Builder
	word, start := "", 0
	flush := func(end int) {
		if word != "" && word != "nvidia" && !slices.Contains(drop, word) {
			f.words = append(f.words, word)
			b.WriteString(word)
			f.index(name, start, end)
		}
		word = ""
	}
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' {
			flush(i)
			continue
		}
		if word == "" {
			start = i
		}
		word += string(unicode.ToLower(r))
	}
	flush(len(name))
	f.key = b.String()
	f.edge = append(f.edge, true)
	return f
}

// index records where each byte of the word at name[start:end] came from. Lower
// case can have another length than the original, so it goes rune by rune.
func (f *form) index(name string, start, end int) {
	first := true
	for i, r := range name[start:end] {
		for range len(string(unicode.ToLower(r))) {
			f.from = append(f.from, start+i)
			f.to = append(f.to, start+i+len(string(r)))
			f.edge = append(f.edge, first)
			first = false
		}
	}
}
