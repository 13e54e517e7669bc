package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fatview/gpu"
	"fatview/internal/plain"
	"fatview/report"
)

// demoGPUs are judged for in the demo where no GPU is named.
const demoGPUs = "a100,h100,rtx5090,gtx1080"

// named returns the GPUs of --gpu and --gpus-from with the driver of --driver or
// --cuda.
func (a *app) named() ([]gpu.Target, error) {
	driver, err := a.whatIf()
	if err != nil {
		return nil, err
	}
	specs := a.gpus
	if len(specs) == 0 && len(a.gpusFrom) == 0 && a.demo {
		specs = []string{demoGPUs}
	}
	var targets []gpu.Target
	if len(specs) > 0 {
		if targets, err = gpu.Parse(strings.Join(specs, ",")); err != nil {
			return nil, usageError{err}
		}
	}
	for i := range targets {
		targets[i].Driver = driver
	}
	listed, err := a.fromInventories(driver)
	if err != nil {
		return nil, err
	}
	targets = append(targets, listed...)
	for i := range targets {
		targets[i].ForceJIT, targets[i].DisableJIT = a.forceJIT, a.disableJIT
	}
	return targets, nil
}

// whatIf returns the driver of --driver or --cuda, zero if neither is given.
func (a *app) whatIf() (d gpu.Driver, err error) {
	switch {
	case a.driver != "" && a.cuda != "":
		err = errors.New("--driver and --cuda both name a driver: give one")
	case a.driver != "":
		d, err = gpu.ParseDriver(a.driver)
	case a.cuda != "":
		d, err = gpu.DriverForCUDA(a.cuda)
	}
	if err != nil {
		return gpu.Driver{}, usageError{err}
	}
	return d, nil
}

// detect lists the local GPUs that programs can see, under the driver of
// --driver or --cuda if one is given.
func (a *app) detect(ctx context.Context) gpu.Inventory {
	inv := a.env.Detect(ctx)
	inv.Targets = a.visible(inv)
	return inv
}

// visible returns the GPUs of an inventory that programs see, in CUDA's order
// where that is known.
func (a *app) visible(inv gpu.Inventory) []gpu.Target {
	driver, err := a.whatIf()
	visible := make([]gpu.Target, 0, len(inv.Targets))
	for _, i := range inCUDAOrder(inv) {
		t := inv.Targets[i]
		if t.Hidden {
			continue
		}
		if err == nil && driver.Known() {
			t.Driver = driver
		}
		t.ForceJIT = a.forceJIT || a.env.Getenv("CUDA_FORCE_PTX_JIT") == "1"
		t.DisableJIT = a.disableJIT || a.env.Getenv("CUDA_DISABLE_PTX_JIT") == "1"
		visible = append(visible, t)
	}
	return visible
}

// inCUDAOrder returns the places of all targets, CUDA's devices in their order
// first. A GPU whose slices are the devices stays before them.
func inCUDAOrder(inv gpu.Inventory) []int {
	place := map[int]int{} // of GPUs, by the driver's number
	for n, i := range inv.Visible {
		if _, ok := place[inv.Targets[i].Index]; !ok {
			place[inv.Targets[i].Index] = n
		}
	}
	rank := func(i int) int {
		if n, ok := place[inv.Targets[i].Index]; ok {
			return n
		}
		return len(inv.Targets)
	}
	out := make([]int, len(inv.Targets))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, j int) int { return rank(i) - rank(j) })
	return out
}

// targets returns the GPUs to judge for: those named, else the local ones.
// Where there are none, note says why and what to do.
func (a *app) targets(ctx context.Context) (ts []gpu.Target, note string, err error) {
	ts, err = a.named()
	if err != nil || len(ts) > 0 {
		return ts, "", err
	}
	if a.noDetect {
		return nil, "no GPU named; add --gpu h100, or --gpu all for every compute capability", nil
	}
	inv := a.detect(ctx)
	if len(inv.Targets) > 0 {
		return inv.Targets, inv.Problem, nil
	}
	return nil, strings.TrimRight(inv.Problem, ".") + ". Name GPUs with --gpu h100, or --gpu all for every compute capability", nil
}

func newGPUs(a *app) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "gpus [NAME]",
		Short: "Lists the local GPUs, a fleet, what a name stands for, or the catalogue",
		Example: `  fatview gpus
  kubectl get nodes -o json | fatview gpus --gpus-from -
  fatview gpus "rtx 4000"
  fatview gpus --all`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l := gpuList{GPUs: []gpuLine{}}
			switch {
			case all && len(args) > 0:
				return usageError{errors.New("--all lists everything: give no name with it")}
			case all:
				for _, p := range gpu.Catalogue() {
					l.add(gpu.Target{Name: p.Name, CC: p.CC, Source: "catalogue"})
				}
			case len(args) > 0 || len(a.gpusFrom) > 0:
				if len(args) > 0 {
					a.gpus = args
				}
				ts, err := a.named()
				if err != nil {
					return err
				}
				l.add(ts...)
				if asJSON { // the text has them on standard error already
					l.Problem = strings.Join(a.fleetProblems(), "; ")
				}
			default:
				l.local(a, cmd.Context())
			}
			if asJSON {
				return report.EncodeJSON(a.env.Stdout, l)
			}
			return l.print(a)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the whole catalogue")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// gpuList is what `gpus` prints; its JSON names are those of the report.
type gpuList struct {
	GPUs    []gpuLine `json:"gpus"`
	Problem string    `json:"problem"` // why the list is empty or short, "" if all is well
	Note    string    `json:"note"`
}

type gpuLine struct {
	Name   string  `json:"name"`
	CC     string  `json:"cc"`
	Family string  `json:"family"`
	Driver *string `json:"driver"`
	CUDA   *string `json:"cuda"`
	Source string  `json:"source"`
	UUID   string  `json:"uuid,omitempty"`
	MIG    bool    `json:"mig,omitempty"`
	Hidden bool    `json:"hidden,omitempty"`
	// Device is CUDA's number of a local GPU or slice; absent if hidden or not known.
	Device *int `json:"cuda_device,omitempty"`
	// Count and Hosts are of inventories; a count of 1 is left out.
	Count int      `json:"count,omitempty"`
	Hosts []string `json:"hosts,omitempty"`
}

// title is the name with the count.
func (g gpuLine) title() string { return gpu.Target{Name: plain.Text(g.Name), Count: g.Count}.Title() }

// on names the first hosts.
func (g gpuLine) on() string {
	const most = 3
	if len(g.Hosts) == 0 {
		return ""
	}
	var names []string
	for _, h := range g.Hosts[:min(most, len(g.Hosts))] {
		names = append(names, plain.Text(h))
	}
	s := " on " + strings.Join(names, ", ")
	if more := len(g.Hosts) - most; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func (l *gpuList) add(ts ...gpu.Target) {
	for _, t := range ts {
		g := gpuLine{Name: t.Name, CC: t.CC.String(), Family: gpu.FamilyOf(t.CC), Source: t.Source, UUID: t.UUID, MIG: t.MIG, Hidden: t.Hidden, Hosts: t.Hosts}
		if t.Count > 1 {
			g.Count = t.Count
		}
		if t.Driver.Known() {
			cuda := t.Driver.CUDA.String()
			g.CUDA = &cuda
			if v := t.Driver.Version; v != "" {
				g.Driver = &v
			}
		}
		l.GPUs = append(l.GPUs, g)
	}
}

func (l *gpuList) local(a *app, ctx context.Context) {
	if a.noDetect {
		l.Problem = "--no-detect: local GPUs were not looked for"
		return
	}
	inv := a.env.Detect(ctx)
	l.add(inv.Targets...)
	for n, i := range inv.Visible {
		l.GPUs[i].Device = &n
	}
	l.Problem, l.Note = inv.Problem, inv.Note
}

func (l *gpuList) print(a *app) error {
	out := bufio.NewWriter(a.env.Stdout)
	w := 0
	for _, g := range l.GPUs {
		w = max(w, len([]rune(g.title())))
	}
	for _, g := range l.GPUs {
		name := g.title()
		line := name + strings.Repeat(" ", w-len([]rune(name))) + fmt.Sprintf("  %-5s %-16s", g.CC, g.Family)
		if g.Driver != nil {
			line += " driver " + plain.Text(*g.Driver)
		}
		if g.CUDA != nil {
			line += " CUDA " + *g.CUDA
		}
		switch {
		case g.Hidden:
			line += " (hidden by CUDA_VISIBLE_DEVICES)"
		case g.Device != nil && len(l.GPUs) > 1:
			line += fmt.Sprintf(" device %d", *g.Device)
		}
		fmt.Fprintln(out, strings.TrimRight(line+g.on(), " "))
	}
	for _, s := range []string{l.Problem, l.Note} {
		if s != "" {
			fmt.Fprintln(a.env.Stderr, plain.Text(s))
		}
	}
	return out.Flush()
}
