package gpu

import (
	"slices"
	"strings"
)

// rank says how well a query matches a name; lower is better.
type rank int

const (
	rankExact  rank = iota // the whole name
	rankBare               // the whole name, GeForce ignored on both sides
	rankEdge               // whole words at the beginning or the end of the name
	rankPrefix             // the beginning of the name, a word cut short
	rankWords              // whole words within the name
	rankStart              // from the beginning of a word within the name
	rankPart               // any part of the name
	rankLoose              // all words of the query, in any order
	rankNone
)

// Whole words at the end count as much as those at the beginning, because a
// brand stands before many names: "t4" is the Tesla T4. Were the beginning
// better, "rtx 4000" would silently be an RTX 4000 Ada and never a Quadro RTX
// 4000; this way it is ambiguous, which it is.

// span is where a query lies in the key of a name.
type span struct {
	rank       rank
	start, end int
}

// find returns the best place of query in name. A number is only matched whole:
// "t4" is no part of T400, and "rtx 5090" none of an RTX 50900.
func find(query, name form) span {
	best := span{rank: rankNone}
	q, n := query.key, name.key
	if q == "" || len(q) > len(n) {
		return best
	}
	for at := 0; ; at++ {
		i := strings.Index(n[at:], q)
		if i < 0 {
			return best
		}
		at += i
		end := at + len(q)
		if name.cutsNumber(at) || name.cutsNumber(end) {
			continue
		}
		if r := name.rank(at, end); r < best.rank {
			best = span{r, at, end}
		}
	}
}

func (f form) rank(start, end int) rank {
	s, e := f.edge[start], f.edge[end]
	switch {
	case start == 0 && end == len(f.key):
		return rankExact
	case s && e && (start == 0 || end == len(f.key)):
		return rankEdge
	case start == 0:
		return rankPrefix
	case s && e:
		return rankWords
	case end-start < 3:
		return rankNone // two letters within words mean nothing
	case s:
		return rankStart
	}
	return rankPart
}

// cutsNumber reports whether i lies between two digits of one word.
func (f form) cutsNumber(i int) bool {
	return i > 0 && i < len(f.key) && !f.edge[i] && digit(f.key[i-1]) && digit(f.key[i])
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// hit is a product that a query matches, and how.
type hit struct {
	Product
	form form
	span
}

// search returns the products that match a query best; all have one rank.
func search(query string) []hit {
	full, short := normalise(query), normalise(query, "geforce")
	if full.key == "" {
		return nil
	}
	hits := collect(func(e entry) hit {
		h := hit{e.Product, e.full, find(full, e.full)}
		if h.rank > rankBare && short.key != "" && short.key == e.short.key {
			h.rank = rankBare
		}
		return h
	})
	if len(hits) > 0 {
		return hits
	}
	// "geforce 5090" matches no name as written, only without the brand.
	hits = collect(func(e entry) hit { return hit{e.Product, e.short, find(short, e.short)} })
	if len(hits) > 0 {
		return hits
	}
	return collect(func(e entry) hit {
		h := hit{e.Product, e.full, span{rank: rankNone}}
		if len(full.words) > 1 && containsAll(e.full.words, full.words) {
			h.rank = rankLoose
		}
		return h
	})
}

func collect(match func(entry) hit) []hit {
	var out []hit
	best := rankNone
	for _, e := range catalogue() {
		h := match(e)
		if h.rank < best {
			best, out = h.rank, nil
		}
		if h.rank == best && h.rank != rankNone {
			out = append(out, h)
		}
	}
	return out
}

func containsAll(words, wanted []string) bool {
	for _, w := range wanted {
		if !slices.Contains(words, w) {
			return false
		}
	}
	return true
}

// Lookup turns a name into a product of the catalogue, if all that match it
// best have one capability. The product's name is then the form they share.
// exact says that the name is a product's whole name, brands aside, and not
// only a part of one. The error is an *UnknownError or an *AmbiguousError.
func Lookup(name string) (p Product, exact bool, err error) {
	hits := search(name)
	if len(hits) == 0 {
		return Product{}, false, &UnknownError{Query: name, Suggestions: suggest(name)}
	}
	exact = hits[0].rank <= rankBare
	for _, h := range hits {
		if h.CC != hits[0].CC {
			return Product{}, exact, &AmbiguousError{Query: name, Candidates: candidates(hits)}
		}
	}
	p = hits[0].Product
	p.Name = displayName(name, hits)
	return p, exact, nil
}

func resolve(query string) (Product, error) {
	p, _, err := Lookup(query)
	return p, err
}

// candidates returns the products without those that occur twice.
func candidates(hits []hit) []Product {
	var out []Product
	for _, h := range hits {
		same := func(p Product) bool { return p.Name == h.Name && p.CC == h.CC }
		if !slices.ContainsFunc(out, same) {
			out = append(out, h.Product)
		}
	}
	return out
}

// displayName names a group of products of one capability: by the name itself
// if the query is one, else by what they share up to the end of the match
// ("Tesla P100", not one of its five boards), else by the matched words alone
// ("Thor", which is part of a Jetson and of a DRIVE).
func displayName(query string, hits []hit) string {
	shortest := hits[0].Name
	if len(query) > 7 && strings.EqualFold(query[:7], "nvidia ") {
		query = query[7:]
	}
	for _, h := range hits {
		if strings.EqualFold(h.Name, query) {
			return h.Name
		}
		if len(h.Name) < len(shortest) {
			shortest = h.Name
		}
	}
	if hits[0].rank <= rankBare || hits[0].rank == rankLoose {
		return shortest
	}
	if name, ok := shared(hits, func(h hit) string { return h.Name[:h.nameEnd()] }); ok {
		return name
	}
	if name, ok := shared(hits, func(h hit) string { return h.Name[h.nameStart():h.nameEnd()] }); ok {
		return name
	}
	if name, ok := shared(hits, func(h hit) string { return h.Name[:h.form.to[h.end-1]] }); ok {
		return name // "Tesla K40" of K40c, K40m, …
	}
	return shortest
}

func shared(hits []hit, name func(hit) string) (string, bool) {
	first := name(hits[0])
	for _, h := range hits[1:] {
		if !strings.EqualFold(name(h), first) {
			return "", false
		}
	}
	return first, true
}

// nameEnd returns the end, in the product's name, of the word that the match
// ends in.
func (h hit) nameEnd() int {
	end := h.end
	for !h.form.edge[end] {
		end++
	}
	return h.form.to[end-1]
}

// nameStart returns the beginning of the word that the match begins in.
func (h hit) nameStart() int {
	start := h.start
	for !h.form.edge[start] {
		start--
	}
	return h.form.from[start]
}
