package archlist

import (
	"slices"
	"strings"

	"fatview/arch"
	"fatview/coverage"
	"fatview/gpu"
)

// AnswerSchema names the form of an Answer in JSON. Fields are only ever added,
// and arrays are never null.
const AnswerSchema = "fatview/plan/1"

// An Answer is all that is said about a list.
type Answer struct {
	Schema       string        `json:"schema"`
	Syntax       Syntax        `json:"syntax"`
	Others       []Other       `json:"others"`
	Images       []ImageAnswer `json:"images"`
	Notes        []string      `json:"notes"`
	Toolkit      *string       `json:"toolkit"` // that the list is judged for; null if no architecture is named
	Assumed      bool          `json:"toolkit_assumed"`
	Toolkits     ToolkitAnswer `json:"toolkits"`
	Asked        bool          `json:"gpus_asked"` // false: gpus are all capabilities
	GPUs         []GPUAnswer   `json:"gpus"`
	Warnings     []string      `json:"warnings"`
	Translations []Translation `json:"translations"`

	plan Plan
}

// Other is a grammar that takes the list as well.
type Other struct {
	Syntax Syntax   `json:"syntax"`
	Builds []string `json:"builds"`
	Same   bool     `json:"same"` // as the grammar in which the list was read
}

// ImageAnswer is one image.
type ImageAnswer struct {
	Kind string  `json:"kind"`
	Arch string  `json:"arch"`
	Via  *string `json:"via"`
}

// ToolkitAnswer says which toolkits build the list.
type ToolkitAnswer struct {
	First   *string  `json:"first"`
	Last    *string  `json:"last"` // null: the newest still does
	Problem string   `json:"problem"`
	Refused []string `json:"refused"` // by the toolkit that was asked for
}

// GPUAnswer is the verdict for a GPU.
type GPUAnswer struct {
	Name             string  `json:"name"`
	CC               string  `json:"cc"`
	Driver           *string `json:"driver"`
	CUDA             *string `json:"cuda"`
	Verdict          string  `json:"verdict"`
	Served           bool    `json:"served"`
	Reason           string  `json:"reason"`
	MinDriver        *string `json:"min_driver"`
	MinDriverWindows *string `json:"min_driver_windows"`
	Count            int     `json:"count,omitempty"` // how many equal ones an inventory lists; left out for 1
}

// Translation is the plan in another grammar.
type Translation struct {
	Syntax   Syntax   `json:"syntax"`
	Variable string   `json:"variable"` // "" for nvcc
	Text     *string  `json:"text"`     // null if nothing of the plan can be said
	Lost     []string `json:"lost"`
}

// Ask answers for a plan on the GPUs, or on every compute capability if there
// are none; then only the driver of every is taken.
func Ask(p Plan, targets []gpu.Target, every gpu.Target) Answer {
	a := Answer{Schema: AnswerSchema, Syntax: p.Syntax, Others: []Other{}, Images: []ImageAnswer{}, Notes: p.Notes, Asked: len(targets) > 0,
		GPUs: []GPUAnswer{}, Warnings: Warnings(p), Translations: []Translation{}, plan: p}
	if a.Notes == nil {
		a.Notes = []string{}
	}
	for _, im := range p.Images {
		ia := ImageAnswer{Kind: im.Kind.String(), Arch: im.Name()}
		if im.Via.CC != 0 {
			via := im.Via.PTX()
			ia.Via = &via
		}
		a.Images = append(a.Images, ia)
	}
	built, assumed := BuiltWith(p)
	a.Toolkit, a.Assumed = text(built), assumed
	a.toolkits(p)
	if !a.Asked {
		for _, cc := range gpu.Capabilities() {
			t := every
			t.Name, t.CC, t.Source = "CC "+cc.String(), cc, gpu.SourceCapability
			targets = append(targets, t)
		}
	}
	c := []coverage.FileContainer{{Container: Container(p, built)}}
	for _, t := range targets {
		a.GPUs = append(a.GPUs, judged(c, t))
	}
	for _, s := range Syntaxes() {
		if s == p.Syntax {
			continue
		}
		tr := Translation{Syntax: s, Variable: s.Variable(), Lost: []string{}}
		written, lost, ok := Format(p, s)
		if ok {
			tr.Text = &written
		}
		tr.Lost = append(tr.Lost, lost...)
		a.Translations = append(a.Translations, tr)
	}
	return a
}

// Also adds what other grammars that take the list make of it.
func (a *Answer) Also(list string, syntaxes []Syntax, o Options) {
	for _, s := range syntaxes {
		p, err := Parse(list, s, o)
		if s == a.Syntax || err != nil {
			continue
		}
		other := Other{Syntax: s, Builds: []string{}, Same: slices.Equal(p.Images, a.plan.Images)}
		for _, im := range p.Images {
			other.Builds = append(other.Builds, im.Name())
		}
		a.Others = append(a.Others, other)
	}
}

func (a *Answer) toolkits(p Plan) {
	first, last, problem := Toolkits(p)
	a.Toolkits = ToolkitAnswer{First: text(first), Last: text(last), Problem: problem, Refused: []string{}}
	if !p.Toolkit.IsZero() {
		a.Toolkits.Refused = Refused(p, p.Toolkit)
	}
}

// Buildable reports whether the toolkit that was asked for, or any, builds the
// list.
func (a *Answer) Buildable() bool {
	t := a.Toolkits
	return len(t.Refused) == 0 && (t.First == nil || t.Last == nil || !conflict(a.plan))
}

func conflict(p Plan) bool {
	first, last, _ := Toolkits(p)
	return !last.IsZero() && last.Less(first)
}

// Served reports whether the list can be built and serves every GPU that was
// asked for.
func (a *Answer) Served() bool {
	return a.Buildable() && (!a.Asked || !slices.ContainsFunc(a.GPUs, func(g GPUAnswer) bool { return !g.Served }))
}

func text(v arch.Version) *string {
	if v.IsZero() {
		return nil
	}
	s := v.String()
	return &s
}

func judged(c []coverage.FileContainer, t gpu.Target) GPUAnswer {
	on := coverage.Target{CC: t.CC, Driver: t.Driver, ForceJIT: t.ForceJIT, DisableJIT: t.DisableJIT}
	g := GPUAnswer{Name: t.Name, CC: t.CC.String()}
	if t.Count > 1 {
		g.Count = t.Count
	}
	if t.Driver.Known() {
		g.CUDA = text(t.Driver.CUDA)
		if v := t.Driver.Version; v != "" {
			g.Driver = &v
		}
	}
	if s := coverage.Impossible(on); s != "" {
		g.Verdict, g.Reason = coverage.None.String(), s
		return g
	}
	if len(c[0].Images) == 0 {
		g.Verdict, g.Reason = coverage.None.String(), "the list names no architecture"
		return g
	}
	f := coverage.JudgeFile(c, on)
	g.Verdict, g.Served, g.Reason = f.Verdict.String(), f.Verdict.Served(), reason(f.Reason(c, on))
	if !f.Needs.IsZero() {
		linux, windows := coverage.LeastDriver(f.Needs)
		g.MinDriver, g.MinDriverWindows = known(linux), known(windows)
	}
	return g
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// reason leaves out what only a finished file can be said to be.
func reason(s string) string { return strings.TrimSuffix(s, "; specialised for other hardware") }
