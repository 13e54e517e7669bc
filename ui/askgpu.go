package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/coverage"
	"fatview/gpu"
)

func (m *model) askGPU() {
	m.prompt = newPrompt(askGPU, "add GPU", "", "a name (h100), a capability (9.0, sm_90), a family (turing), >=8.0 or all; several with commas")
}

// driverScope returns the GPUs that a what-if driver is for: the chosen one if
// it is in this machine, else all that are not.
func (m *model) driverScope() (of []*target, name string) {
	t := m.chosenGPU()
	if t == nil {
		return nil, ""
	}
	if t.local() {
		return []*target{t}, gpuName(t)
	}
	for _, x := range m.gpus {
		if !x.local() {
			of = append(of, x)
		}
	}
	if len(of) == 1 {
		return of, gpuName(of[0])
	}
	return of, fmt.Sprintf("%d GPUs", len(of))
}

func (m *model) askDriver() {
	t := m.chosenGPU()
	if t == nil {
		m.fail("no GPU to try a driver on: a adds one")
		return
	}
	_, name := m.driverScope()
	back := "nothing: unknown"
	if t.local() {
		back = "nothing: as detected"
	}
	value := t.Driver.Version
	if value == "" && t.Driver.Known() {
		value = t.Driver.CUDA.String()
	}
	m.prompt = newPrompt(askDriver, "driver for "+name, value, "a driver (535.104, R550) or a CUDA version (12.2); "+back)
}

// parseDriver reads a driver version or a CUDA version. Drivers of today have
// three digits before the dot, CUDA versions two.
func parseDriver(s string) (gpu.Driver, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return gpu.Driver{}, nil
	}
	if rest, ok := strings.CutPrefix(strings.ToLower(s), "cuda"); ok {
		return gpu.DriverForCUDA(strings.TrimSpace(rest))
	}
	whole, _, _ := strings.Cut(s, ".")
	if len(whole) <= 2 && whole != "" && whole[0] >= '0' && whole[0] <= '9' {
		return gpu.DriverForCUDA(s)
	}
	return gpu.ParseDriver(s)
}

func (m *model) acceptGPU(value string) tea.Cmd {
	p := m.prompt
	if p.pick >= 0 && p.pick < len(p.choices) {
		m.completeGPU()
		value = strings.TrimSpace(p.in.Value())
	}
	if value == "" {
		m.prompt = nil
		return nil
	}
	targets, err := gpu.Parse(value)
	if err != nil {
		p.err = clean(err.Error())
		return nil
	}
	m.prompt = nil
	var driver gpu.Driver // that the other GPUs by name were given
	for _, t := range m.gpus {
		if !t.local() {
			driver = t.Driver
		}
	}
	first, news := -1, 0
	for _, t := range targets {
		t.Driver = driver
		at, added := m.addTarget(t)
		if first < 0 {
			first = at
		}
		if added {
			news++
		}
	}
	if first >= 0 {
		m.chooseGPU(first)
	}
	switch {
	case news == 0:
		m.say("already there: " + gpuName(m.gpus[first]))
	case news == 1 && len(targets) == 1:
		m.say("added " + gpuTitle(m.gpus[first]))
	default:
		m.say(fmt.Sprintf("added %s", counted(news, "GPU")))
	}
	if t := m.chosenGPU(); t != nil && t.problem != "" {
		m.fail(clean(t.problem))
	}
	return m.settle()
}

func (m *model) acceptDriver(value string) tea.Cmd {
	d, err := parseDriver(value)
	if err != nil {
		m.prompt.err = clean(err.Error())
		return nil
	}
	m.prompt = nil
	of, name := m.driverScope()
	problem := ""
	for _, t := range of {
		t.Driver = d
		if !d.Known() {
			t.Driver = t.detected
			if !t.local() {
				t.Driver = gpu.Driver{}
			}
		}
		t.rev++
		t.problem = coverage.Impossible(t.rules())
		if t.problem != "" && (problem == "" || t == m.chosenGPU()) {
			problem = t.problem
		}
	}
	m.forgetVerdicts()
	switch {
	case problem != "":
		m.fail(clean(problem))
	case d.Known():
		m.say("what if " + name + " had " + driverTitle(d))
	default:
		m.say(driverTitle(of[0].Driver) + " for " + name)
	}
	return m.settle()
}

// suggest lists the products that the last item of the input may mean: those
// that hold it as it is written before those that hold its words, and short
// names before long ones.
func (m *model) suggest() {
	p := m.prompt
	p.choices, p.pick = nil, -1
	value := p.in.Value()
	item := strings.ToLower(strings.TrimSpace(value[strings.LastIndexByte(value, ',')+1:]))
	if len(item) < 2 || item[0] == '>' || item[0] == '<' {
		return
	}
	words := strings.Fields(item)
	type match struct {
		gpu.Product
		rank int
	}
	var found []match
	for _, x := range gpu.Catalogue() {
		name, fits := strings.ToLower(x.Name), true
		for _, w := range words {
			fits = fits && strings.Contains(name, w)
		}
		if fits {
			rank := len(name)
			if !strings.Contains(name, item) {
				rank += 1000
			}
			found = append(found, match{x, rank})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return a.rank - b.rank })
	const most = 5
	for i, x := range found {
		if i == most {
			break
		}
		p.choices = append(p.choices, x.Name)
		p.about = append(p.about[:i], x.CC.String())
	}
}

// suggestionKey moves the mark through the suggestions and takes one over.
func (m *model) suggestionKey(name string) bool {
	p := m.prompt
	n := len(p.choices)
	switch name {
	case "down", "ctrl+n":
		if n > 0 {
			p.pick = (p.pick + 1) % n
		}
	case "up", "ctrl+p":
		if n > 0 {
			p.pick = (max(p.pick, 0) + n - 1) % n
		}
	case "tab":
		if n > 0 {
			p.pick = max(p.pick, 0)
			m.completeGPU()
		}
	default:
		return false
	}
	m.arrange()
	return true
}

// completeGPU writes the marked suggestion in place of the last item.
func (m *model) completeGPU() {
	p := m.prompt
	value := p.in.Value()
	head := value[:strings.LastIndexByte(value, ',')+1]
	p.in.SetValue(head + p.choices[p.pick])
	p.in.CursorEnd()
	p.choices, p.pick, p.err = nil, -1, ""
}
