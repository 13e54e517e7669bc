//go:build unix

// Command benchrun runs commands several times each and prints a Markdown
// table of median wall time and greatest memory. scripts/bench uses it.
//
//	benchrun -n 7 NAME 'COMMAND' [NAME 'COMMAND' ...]
//
// The first command is the one that ratios are taken against.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

type result struct {
	name   string
	wall   time.Duration
	memory int64 // bytes, the greatest of all runs
}

func main() {
	n := flag.Int("n", 7, "runs of each command")
	flag.Parse()
	args := flag.Args()
	if len(args) == 0 || len(args)%2 != 0 {
		fmt.Fprintln(os.Stderr, "usage: benchrun [-n N] NAME COMMAND ...")
		os.Exit(2)
	}
	var results []result
	for i := 0; i < len(args); i += 2 {
		r, err := measure(args[i], args[i+1], *n)
		if err != nil {
			fmt.Fprintf(os.Stderr, "benchrun: %s: %v\n", args[i], err)
			os.Exit(1)
		}
		results = append(results, r)
	}
	fmt.Println("| command | wall, median | against the first | memory, most |")
	fmt.Println("|---|--:|--:|--:|")
	for _, r := range results {
		ratio := float64(results[0].wall) / float64(r.wall)
		fmt.Printf("| %s | %.1f ms | %.1f× faster | %.1f MiB |\n", r.name, float64(r.wall.Microseconds())/1000, ratio, float64(r.memory)/(1<<20))
	}
}

// measure runs a command without a shell, once to warm the cache and n times
// to count.
func measure(name, command string, n int) (result, error) {
	r := result{name: name}
	var walls []time.Duration
	for i := range n + 1 {
		words := strings.Fields(command)
		cmd := exec.Command(words[0], words[1:]...)
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return r, err
		}
		if i == 0 {
			continue
		}
		walls = append(walls, time.Since(start))
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			r.memory = max(r.memory, int64(u.Maxrss)*1024)
		}
	}
	slices.Sort(walls)
	r.wall = walls[len(walls)/2]
	return r, nil
}
