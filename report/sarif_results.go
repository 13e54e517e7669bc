package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"fatview/internal/plain"
)

// sarifRules are all rules of the SARIF form. Their identifiers are kept:
// alerts are told apart by them.
func sarifRules() []sarifRule {
	rule := func(id, name, level, short, help string) sarifRule {
		return sarifRule{id, name, sarifMessage{short}, sarifMessage{help}, sarifLevel{level}}
	}
	return []sarifRule{
		rule("coverage/missing", "MissingDeviceCode", "error", "Device code for a GPU is missing",
			"Nothing in these containers fits the GPU: a kernel of them fails with \"no kernel image is available for execution on the device\". Build for its architecture, or add PTX of an equal or lower one."),
		rule("coverage/driver", "DriverTooOld", "warning", "Device code waits for a newer driver",
			"These containers would run with a newer driver; the message says which."),
		rule("coverage/specialised", "SpecialisedDeviceCode", "note", "Device code is made for other hardware",
			"These containers have no code for the GPU and look built for other hardware on purpose, such as kernels for one architecture that a program chooses among by itself."),
		rule("coverage/dependency", "DependencyNotServed", "warning", "A needed library has no code for a GPU",
			"The file runs on the GPU, and a library that it needs does not, or not all of it."),
		rule("finding/error", "UnreadablePart", "error", "A part of a file could not be read", "The rest is judged; what could not be read is not."),
		rule("finding/warning", "SuspiciousPart", "warning", "A part of a file is unusual", "It was read, and is not as tools write it."),
		rule("finding/info", "Remark", "note", "A remark on a file", "Something that is good to know and changes no verdict."),
	}
}

// sarifCollector makes results from a report.
type sarifCollector struct {
	r       *Report
	results []sarifResult
	uris    map[string]string // by path
}

func (c *sarifCollector) collect() {
	needs := map[int][]*Dependency{}
	for i := range c.r.Dependencies {
		d := &c.r.Dependencies[i]
		needs[d.File] = append(needs[d.File], d)
	}
	for i := range c.r.Files {
		f := &c.r.Files[i]
		for j := range f.Coverage {
			for _, kind := range []string{"missing", "driver", "specialised"} {
				c.shortfall(f, &f.Coverage[j], kind)
			}
		}
		for _, d := range needs[i] {
			c.dependency(f, d)
		}
		for _, x := range f.Findings {
			properties := map[string]any{}
			if x.Offset != nil {
				properties["offset"] = *x.Offset
			}
			c.finding(f.Path, x.Severity, x.text(), properties)
		}
	}
	for _, s := range c.r.Scans {
		for _, x := range s.Findings {
			c.finding(x.Path, x.Severity, x.Message, nil)
		}
	}
}

// shortfall makes a result of a file's containers of one verdict on one GPU, if
// there are any.
func (c *sarifCollector) shortfall(f *File, on *Coverage, kind string) {
	containers, kernels := on.Containers.Missing, on.Kernels.Missing
	says := "without code for it"
	level := "error"
	switch kind {
	case "driver":
		containers, kernels, says, level = on.Containers.Driver, on.Kernels.Driver, "waiting for a newer driver", "warning"
	case "specialised":
		containers, kernels, says, level = on.Containers.Specialised, on.Kernels.Specialised, "made for other hardware", "note"
	}
	if containers == 0 {
		return
	}
	properties := c.about(on.GPU)
	properties["verdict"] = on.Verdict
	properties["containers"] = on.Containers
	properties["kernels"] = on.Kernels
	properties["min_driver"] = on.MinDriver
	properties["min_driver_windows"] = on.MinDriverWindows
	properties["rules"] = f.rulesOf(on.GPU, kind)
	text := fmt.Sprintf("%s: %s %s", c.r.GPUs[on.GPU].Title(), counted(containers, "container"), says)
	if kernels > 0 {
		text += fmt.Sprintf(" (%s)", counted(kernels, "kernel"))
	}
	text += "; the file is " + on.Verdict + ": " + on.Reason
	if kind == "driver" && on.MinDriver != nil {
		text += "; least driver: " + on.Least()
	}
	c.add("coverage/"+kind, level, f.Path, text, properties, c.mark(on.GPU))
}

// dependency makes a result for each GPU on which a file runs and what it needs
// does not.
func (c *sarifCollector) dependency(f *File, d *Dependency) {
	for _, u := range d.Unserved {
		properties := c.about(u.GPU)
		properties["verdict"] = u.Verdict
		properties["needs"] = plain.Text(d.Name)
		properties["path"] = plain.Text(c.r.Files[d.To].Path)
		c.add("coverage/dependency", "warning", f.Path, c.r.GPUs[u.GPU].Title()+": "+u.Message, properties, c.mark(u.GPU)+"\x00"+d.Name)
	}
}

func (c *sarifCollector) finding(path, severity, text string, properties map[string]any) {
	level := map[string]string{"error": "error", "warning": "warning"}[severity]
	if level == "" {
		severity, level = "info", "note"
	}
	c.add("finding/"+severity, level, path, text, properties, text)
}

// about names a GPU in the properties of a result.
func (c *sarifCollector) about(g int) map[string]any {
	gpu := c.r.GPUs[g]
	about := map[string]any{"gpu": plain.Text(gpu.Name), "cc": gpu.CC}
	if gpu.Driver != nil {
		about["driver"] = plain.Text(*gpu.Driver)
	}
	return about
}

// mark tells a GPU apart from others, across reports: by what it is and not by
// its place.
func (c *sarifCollector) mark(g int) string {
	gpu := c.r.GPUs[g]
	return gpu.Name + "\x00" + gpu.CC + "\x00" + text(gpu.Driver)
}

// rulesOf lists the rules that led to a verdict on a GPU.
func (f *File) rulesOf(gpu int, verdict string) []string {
	out := []string{}
	for i := range f.Containers {
		for _, v := range f.Containers[i].Verdicts {
			if v.GPU == gpu && v.Verdict == verdict && !slices.Contains(out, v.Rule) {
				out = append(out, v.Rule)
			}
		}
	}
	slices.Sort(out)
	return out
}

// add takes in a result. The fingerprint lasts from report to report while the
// numbers in the text change.
func (c *sarifCollector) add(rule, level, path, text string, properties map[string]any, mark string) {
	uri, ok := c.uris[path]
	if !ok {
		uri = sarifURI(path)
		c.uris[path] = uri
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{rule, path, mark}, "\x00")))
	c.results = append(c.results, sarifResult{
		RuleID: rule, Level: level, Message: sarifText(text), Properties: properties,
		Locations:    []sarifLocation{{sarifPhysical{sarifArtifact{uri}, sarifRegion{1}}}},
		Fingerprints: map[string]string{"fatview/v1": hex.EncodeToString(sum[:16])},
	})
}
