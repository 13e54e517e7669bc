package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"fatview/fleet"
	"fatview/gpu"
	"fatview/internal/plain"
)

// standardInput is how --gpus-from names it.
const standardInput = "-"

// inventories reads the files of --gpus-from, once: standard input is there
// only once. What is wrong with single entries is said on standard error, and
// if GPUs were left out, the exit code will say so.
func (a *app) inventories() ([]*fleet.Inventory, error) {
	if len(a.fleet) > 0 || len(a.gpusFrom) == 0 {
		return a.fleet, nil
	}
	if i := slices.Index(a.gpusFrom, standardInput); i >= 0 && slices.Contains(a.gpusFrom[i+1:], standardInput) {
		return nil, usageError{errors.New("--gpus-from - stands twice: standard input is there only once")}
	}
	var invs []*fleet.Inventory
	for _, name := range a.gpusFrom {
		inv, err := a.readInventory(name)
		if err != nil {
			return nil, err
		}
		invs = append(invs, inv)
	}
	a.fleet = invs
	a.tellProblems()
	return invs, nil
}

func (a *app) readInventory(name string) (*fleet.Inventory, error) {
	if name == standardInput {
		return fleet.Read("standard input", a.env.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return fleet.Read(name, f)
}

// tellProblems says what was found wrong, the first lines of it.
func (a *app) tellProblems() {
	const most = 20
	lines := a.fleetProblems()
	for _, l := range lines[:min(most, len(lines))] {
		fmt.Fprintln(a.env.Stderr, "fatview: "+plain.Text(l))
	}
	if more := len(lines) - most; more > 0 {
		fmt.Fprintf(a.env.Stderr, "fatview: and %d more problems with --gpus-from\n", more)
	}
	for _, inv := range a.fleet {
		a.incomplete = a.incomplete || inv.Incomplete()
	}
}

func (a *app) fleetProblems() []string {
	var lines []string
	for _, inv := range a.fleet {
		for _, p := range inv.Problems {
			s := inv.Name + ": " + p.String()
			if p.Left {
				s += "; left out"
			}
			lines = append(lines, s)
		}
	}
	return lines
}

// fromInventories returns the GPUs of --gpus-from. That there are none is an
// error: a check of no GPU must not pass.
func (a *app) fromInventories(driver gpu.Driver) ([]gpu.Target, error) {
	invs, err := a.inventories()
	if err != nil || len(invs) == 0 {
		return nil, err
	}
	targets := fleet.Targets(driver, invs...)
	if len(targets) > 0 {
		return targets, nil
	}
	var names []string
	for _, inv := range invs {
		names = append(names, inv.Name+" ("+inv.Format+")")
	}
	return nil, fmt.Errorf("--gpus-from: no GPU in %s", strings.Join(names, ", "))
}

// readsStandardInput reports whether --gpus-from does, so that nothing else
// may.
func (a *app) readsStandardInput() bool { return slices.Contains(a.gpusFrom, standardInput) }
