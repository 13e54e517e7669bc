package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// result is what the driver said of one container.
type result struct {
	load, library int // library is -1 where there is no such function
	name          string
	kernels       map[string]int
}

type answers struct {
	cc      string
	cuda    int
	results []result
}

// ask runs the probe on items.
func (c checker) ask(items []item) (answers, error) {
	var in bytes.Buffer
	for _, it := range items {
		fmt.Fprintf(&in, "%s\t%d\t%d\t%s\n", it.path, it.offset, it.size, strings.Join(it.kernels, ","))
	}
	cmd := exec.Command(c.probe)
	cmd.Stdin = &in
	b, err := cmd.Output()
	if err != nil {
		return answers{}, err
	}
	a, err := parse(b)
	if err == nil && len(a.results) != len(items) {
		err = fmt.Errorf("%d answers for %d containers", len(a.results), len(items))
	}
	return a, err
}

// parse reads the probe's lines.
func parse(b []byte) (a answers, err error) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		bad := fmt.Errorf("the probe wrote %q", lines.Text())
		if len(f) < 3 {
			return a, bad
		}
		code, err := strconv.Atoi(f[1])
		if err != nil {
			return a, bad
		}
		last := len(a.results) - 1
		switch {
		case f[0] == "gpu" && len(f) == 4:
			a.cc = f[1] + "." + f[2]
			if a.cuda, err = strconv.Atoi(f[3]); err != nil {
				return a, bad
			}
		case f[0] == "load":
			a.results = append(a.results, result{load: code, name: f[2], library: -1, kernels: map[string]int{}})
		case f[0] == "library" && last >= 0:
			a.results[last].library = code
		case f[0] == "kernel" && last >= 0 && len(f) == 4:
			a.results[last].kernels[f[3]] = code
		default:
			return a, bad
		}
	}
	if a.cc == "" {
		return a, errors.New("the probe told no GPU")
	}
	return a, lines.Err()
}
