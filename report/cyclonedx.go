package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"fatview/internal/plain"
)

// The parts of a CycloneDX 1.6 document that are written (ECMA-424, "CycloneDX
// Bill of Materials specification").
type (
	bom struct {
		Schema       string         `json:"$schema"`
		Format       string         `json:"bomFormat"`
		SpecVersion  string         `json:"specVersion"`
		Version      int            `json:"version"`
		Metadata     bomMetadata    `json:"metadata"`
		Components   []bomComponent `json:"components"`
		Dependencies []bomDepends   `json:"dependencies"`
	}
	bomMetadata struct {
		Timestamp  string        `json:"timestamp,omitempty"`
		Tools      bomTools      `json:"tools"`
		Properties []bomProperty `json:"properties,omitempty"`
	}
	bomTools struct {
		Components []bomComponent `json:"components"`
	}
	bomComponent struct {
		Type       string         `json:"type"`
		Ref        string         `json:"bom-ref,omitempty"`
		Name       string         `json:"name"`
		Version    string         `json:"version,omitempty"`
		PURL       string         `json:"purl,omitempty"`
		Properties []bomProperty  `json:"properties,omitempty"`
		Components []bomComponent `json:"components,omitempty"`
	}
	bomProperty struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	bomDepends struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// CycloneDX writes a bill of materials: a component for each distribution with
// its files inside, and for each other file, with what device code they hold as
// properties. The same report gives the same bytes, so there is no serial
// number, and a time only where r.Made says one.
//
// Properties with a number, "fatview:verdict:0", speak of the GPU that the
// property fatview:gpu:0 of the metadata names.
func CycloneDX(w io.Writer, r *Report) error {
	b := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Components: []bomComponent{}, Dependencies: []bomDepends{},
	}
	if !r.Made.IsZero() {
		b.Metadata.Timestamp = r.Made.UTC().Format(time.RFC3339)
	}
	b.Metadata.Tools.Components = []bomComponent{{Type: "application", Name: "fatview", Version: r.Version}}
	for i, g := range r.GPUs {
		n := strconv.Itoa(i)
		p := bomProperties{&b.Metadata.Properties}
		p.add("gpu:"+n, g.Name)
		p.add("cc:"+n, g.CC)
		p.add("driver:"+n, text(g.Driver))
	}
	for i := range r.Distributions {
		b.Components = append(b.Components, r.bomDistribution(i))
	}
	for _, i := range r.loners() {
		b.Components = append(b.Components, r.bomFile(i))
	}
	b.Dependencies = r.bomDependencies()
	return EncodeJSON(w, b)
}

// bomProperties adds to a list what has a value.
type bomProperties struct{ list *[]bomProperty }

func (p bomProperties) add(name, value string) {
	if value != "" {
		*p.list = append(*p.list, bomProperty{"fatview:" + name, plain.Text(value)})
	}
}

func (r *Report) bomDistribution(i int) bomComponent {
	d := &r.Distributions[i]
	c := bomComponent{Type: "library", Ref: distRef(i), Name: plain.Text(d.Name), Version: plain.Text(d.Version), PURL: purl(d.Kind, d.Name, d.Version)}
	p := bomProperties{&c.Properties}
	p.add("kind", d.Kind)
	p.add("root", d.Root)
	for _, v := range d.Coverage {
		p.add(fmt.Sprintf("verdict:%d", v.GPU), v.Verdict)
	}
	for _, f := range d.Files {
		c.Components = append(c.Components, r.bomFile(f))
	}
	return c
}

func (r *Report) bomFile(i int) bomComponent {
	f := &r.Files[i]
	c := bomComponent{Type: "library", Ref: fileRef(i), Name: plain.Text(f.Path)}
	p := bomProperties{&c.Properties}
	p.add("format", f.Format)
	p.add("machine", f.Machine)
	p.add("size", strconv.FormatInt(f.Size, 10))
	p.add("containers", strconv.Itoa(len(f.Containers)))
	sass, ptx := f.architectures()
	p.add("architectures", strings.Join(sass, ","))
	p.add("ptx", strings.Join(ptx, ","))
	for _, v := range f.Coverage {
		n := strconv.Itoa(v.GPU)
		p.add("verdict:"+n, v.Verdict)
		p.add("min_driver:"+n, text(v.MinDriver))
		p.add("min_driver_windows:"+n, text(v.MinDriverWindows))
	}
	for _, x := range f.Needs {
		p.add("needs", x.String())
	}
	for _, x := range f.Foreign {
		p.add("foreign", x.String())
	}
	return c
}

// architectures lists what a file has SASS and PTX for, in order.
func (f *File) architectures() (sass, ptx []string) {
	for _, row := range f.ArchRows() {
		list := &sass
		switch row.Kind {
		case "sass":
		case "ptx":
			list = &ptx
		default:
			continue
		}
		if !slices.Contains(*list, row.Arch) {
			*list = append(*list, row.Arch)
		}
	}
	return sass, ptx
}

// bomDependencies lists, for each file that leans on others, which.
func (r *Report) bomDependencies() []bomDepends {
	out := []bomDepends{}
	at := map[int]int{}
	for _, d := range r.Dependencies {
		n, ok := at[d.File]
		if !ok {
			n = len(out)
			at[d.File] = n
			out = append(out, bomDepends{Ref: fileRef(d.File)})
		}
		if to := fileRef(d.To); !slices.Contains(out[n].DependsOn, to) {
			out[n].DependsOn = append(out[n].DependsOn, to)
		}
	}
	return out
}

// References are by place in the report: paths may be there twice.
func distRef(i int) string { return "distribution-" + strconv.Itoa(i) }
func fileRef(i int) string { return "file-" + strconv.Itoa(i) }
