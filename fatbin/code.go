package fatbin

import "bytes"

// Code is the machine code of a kernel of a cubin: all of its text section,
// which a kernel has to itself and which is as long as its symbol says in all
// files met.
type Code struct {
	Section int    // number in the section table; equal for kernels that share one
	Off     int64  // in the cubin
	Bytes   []byte // part of the cubin; empty if there is no such section
}

// ParseCode is ParseCubin with the code of each kernel, in the order of
// Kernels.
func ParseCode(b []byte) (*Cubin, []Code, error) {
	r, err := parseCubin(b)
	if err != nil {
		return nil, nil, err
	}
	out := make([]Code, len(r.texts))
	for i, n := range r.texts {
		if uint64(n) >= uint64(len(r.sections)) {
			continue
		}
		if s := &r.sections[n]; bytes.HasPrefix(s.name, []byte(".text.")) {
			out[i] = Code{int(n), int64(s.off), s.data}
		}
	}
	return r.cubin, out, nil
}
