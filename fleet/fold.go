package fleet

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"fatview/arch"
	"fatview/gpu"
)

// Targets returns the GPUs of the inventory to judge for. See Targets.
func (inv *Inventory) Targets(driver gpu.Driver) []gpu.Target { return Targets(driver, inv) }

// Targets returns the GPUs of inventories, equal ones folded into one with a
// count and the names of their hosts: those of one product, capability, driver
// and MIG profile, from sources of one format. A known driver takes the place
// of the drivers that the sources tell. Newer capabilities come first, then it
// goes by name, profile and driver.
func Targets(driver gpu.Driver, invs ...*Inventory) []gpu.Target {
	type kind struct {
		product, mig, version, format string
		cc                            arch.CC
		cuda                          arch.Version
	}
	at := map[kind]int{}
	var out []gpu.Target
	hosts := map[int]map[string]bool{}
	for _, inv := range invs {
		for _, e := range inv.Entries {
			k := kind{product: e.Product, mig: e.MIG, format: inv.Format, cc: e.CC}
			if !driver.Known() {
				k.version, k.cuda = e.Driver, e.CUDA
			}
			i, ok := at[k]
			if !ok {
				i = len(out)
				at[k], hosts[i] = i, map[string]bool{}
				out = append(out, newTarget(e, inv.Format, driver))
			}
			out[i].Count = sum(out[i].Count, e.Count)
			if e.Host != "" && !hosts[i][e.Host] {
				hosts[i][e.Host] = true
				out[i].Hosts = append(out[i].Hosts, e.Host)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b gpu.Target) int {
		return cmp.Or(cmp.Compare(b.CC, a.CC), strings.Compare(a.Name, b.Name), gpu.CompareVersions(a.Driver.Version, b.Driver.Version), strings.Compare(a.Source, b.Source))
	})
	return out
}

func newTarget(e Entry, format string, driver gpu.Driver) gpu.Target {
	t := gpu.Target{Name: e.Product, CC: e.CC, Driver: driver, Source: format, MIG: e.MIG != ""}
	if !driver.Known() {
		t.Driver = gpu.Reported(e.Driver, e.CUDA)
	}
	switch e.MIG {
	case "":
	case unknownProfile:
		t.Name += " MIG"
	default:
		t.Name += " MIG " + e.MIG
	}
	return t
}

// sum adds counts and stops at what an int holds on any machine.
func sum(a, b int) int {
	if a > math.MaxInt32-b {
		return math.MaxInt32
	}
	return a + b
}
