package ui

import (
	"fmt"
	"slices"
	"strings"

	"fatview/arch"
	"fatview/coverage"
	"fatview/fatbin"
	"fatview/report"
)

func sortArchSums(sums []archSum) {
	slices.SortStableFunc(sums, func(a, b archSum) int {
		rank := func(s archSum) int {
			switch {
			case strings.HasPrefix(s.name, "sm_"):
				return 0
			case strings.Contains(s.name, " PTX "):
				return 1
			}
			return 2
		}
		if x, y := rank(a), rank(b); x != y {
			return x - y
		}
		first := func(s archSum) arch.Arch {
			name, _, _ := strings.Cut(s.name, " ")
			x, _ := arch.Parse(name)
			return x
		}
		x, y := first(a), first(b)
		switch {
		case x.Less(y):
			return -1
		case y.Less(x):
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
}

// tellImage tells what the entry's header and payload say. A page of its own
// lists the kernels as well.
func (m *model) tellImage(t *teller, r row, page bool) {
	im := m.image(r)
	m.tellImageVerdict(t, r)
	t.title("image")
	t.field("holds", clean(im.Kind.Title())+" for "+im.ArchName())
	for _, f := range im.Facts() {
		switch f.Name {
		case "kind", "architecture", "debug", "Mercury", "host", "stored", "suffix": // told already, or by the flags
		case "entry version":
			if im.Kind != fatbin.KindCubin { // of a cubin it says nothing that the toolkit does not
				t.field("version", t.safe(f.Value))
			}
		case "bytecode version", "IR container version":
			t.field("version", t.safe(f.Value)+" ("+strings.TrimSuffix(f.Name, " version")+")")
		default:
			t.field(f.Name, t.safe(f.Value))
		}
	}
	if ct := m.contents(r); ct != nil {
		for _, f := range ct.Facts {
			t.field(f.Name, t.safe(f.Value))
		}
	}
	if names := im.Flags.Names(); len(names) > 0 {
		t.field("flags", clean(strings.Join(names, ", ")))
	}
	if im.Compression == fatbin.CompressionNone {
		t.field("size", report.Bytes(im.Bytes)+", not compressed")
	} else {
		size := fmt.Sprintf("%s stored, %s as %s", report.Bytes(im.StoredBytes), report.Bytes(im.Bytes), im.Compression)
		if im.Compression != fatbin.CompressionUnknown && im.Bytes > 0 {
			size = fmt.Sprintf("%s, stored as %s of %s (%d%%)", report.Bytes(im.Bytes), report.Bytes(im.StoredBytes), im.Compression, im.StoredBytes*100/im.Bytes)
		}
		t.field("size", size)
	}
	t.field("offset", fmt.Sprintf("%#x, payload at %#x", im.Offset, im.PayloadOffset))
	if im.Concatenated() {
		t.field("", "part of a concatenated entry")
	}
	m.tellPayload(t, r, page)
}

// tellImageVerdict says what became of the image on the chosen GPU.
func (m *model) tellImageVerdict(t *teller, r row) {
	g, res := m.tellGPU(t, int(r.file))
	if res == nil || int(r.cont) >= len(res.Results) {
		return
	}
	v := res.Results[r.cont]
	if int(r.img) >= len(v.Steps) {
		return
	}
	step := v.Steps[r.img]
	cov := m.files[r.file].cov[r.cont].Images[r.img]
	what := "not taken"
	if v.Image == int(r.img) {
		what = "taken"
		switch step.Refusal {
		case coverage.NeedsDriver:
			what = "waits for a driver"
		case coverage.HoldsNoKernel:
			what = "taken, and empty"
		}
	}
	s := m.rowSign(r)
	t.add(seg{s.glyph + " " + what, s.paint}, seg{" on " + gpuTitle(g), paint{}})
	t.para(paint{}, sentence(step.Why(cov, g.rules())))
	t.tellRule(step.Rule)
	if step.Fits {
		t.gap()
		t.tellLeast(step.Needs)
	}
}

func (m *model) tellPayload(t *teller, r row, page bool) {
	ct := m.contents(r)
	if ct == nil {
		t.title("payload")
		t.para(t.th.dim, "not decoded yet")
		return
	}
	if ct.Err != nil {
		t.title("payload")
		t.para(t.th.bad, "Damaged or unreadable: "+t.safe(ct.Err.Error())+".")
	}
	if !ct.Known {
		return
	}
	t.title("payload")
	t.field("kernels", coverage.Number(len(ct.Kernels)))
	if n := len(ct.Functions); n > 0 {
		t.field("functions", coverage.Number(n)+" not inlined")
	}
	if ct.Code > 0 {
		t.field("code", report.Bytes(ct.Code))
	}
	if ct.Mercury > 0 {
		t.field("mercury", report.Bytes(ct.Mercury))
	}
	if ct.Relocatable {
		t.field("linking", "relocatable: has to be linked before it can be loaded")
	}
	if len(ct.Modifiers) > 0 {
		t.field("modifiers", t.safe(strings.Join(ct.Modifiers, ", ")))
	}
	if ct.AddressSize == 32 {
		t.field("addresses", "32-bit")
	}
	t.field("toolkit", toolkit(ct.Toolkit))
	t.field("made by", t.safe(strings.TrimSpace(ct.Tool.Name+" "+ct.Tool.Version)))
	t.field("build", t.safe(ct.Tool.Build))
	t.field("command line", t.safe(strings.TrimSpace(ct.Tool.CommandLine)))
	if !page {
		return
	}
	t.title("kernels")
	for i := range ct.Kernels {
		k := &ct.Kernels[i]
		t.add(seg{m.shortName(k.Name), paint{}})
		t.add(seg{"    " + fmt.Sprintf("%d registers · %s shared · %s stack · %s code", k.Registers, report.Bytes(int64(k.Shared)), report.Bytes(int64(k.Stack)), report.Bytes(int64(k.Code))), t.th.dim})
	}
}

// tellKernel tells of one kernel in one image, and of the same kernel in the
// container's other images.
func (m *model) tellKernel(t *teller, r row) {
	k := m.kernel(r)
	if k == nil {
		return
	}
	full := k.Name
	if len(k.Name) <= 16<<10 {
		full = fatbin.FullName(k.Name)
	}
	// Names of templates fill pages, so the short one comes first and the full
	// ones last.
	short := m.shortName(k.Name)
	t.para(t.th.strong, short)
	t.gap()
	m.tellKernelVerdict(t, r)
	t.gap()
	if m.isPTX(r) {
		t.field("text", "v shows the PTX")
	} else {
		t.field("registers", fmt.Sprintf("%d for each thread", k.Registers))
		t.field("shared", report.Bytes(int64(k.Shared))+" static")
		stack := report.Bytes(int64(k.Stack))
		if k.MaxStack > 0 && k.MaxStack != k.Stack {
			stack += fmt.Sprintf(", %s with what it calls", report.Bytes(int64(k.MaxStack)))
		}
		t.field("stack", stack)
		t.field("constants", report.Bytes(int64(k.Const))+" in bank 0")
		t.field("code", report.Bytes(int64(k.Code)))
		if k.ParamCount > 0 || k.Params > 0 {
			t.field("parameters", fmt.Sprintf("%d, %s", k.ParamCount, report.Bytes(int64(k.Params))))
		}
		if k.Barriers > 0 {
			t.field("barriers", fmt.Sprint(k.Barriers))
		}
	}
	t.field("max threads", dims(k.MaxThreads))
	t.field("block size", dims(k.ReqThreads))
	t.field("cluster", dims(k.Cluster))
	m.tellTwins(t, r, k.Name)
	if full != k.Name {
		t.title("name")
		t.para(paint{}, t.safe(full))
	}
	if k.Name != short {
		t.title("raw name")
		t.para(paint{}, t.safe(k.Name))
	}
}

func dims(d [3]uint32) string {
	if d == [3]uint32{} {
		return ""
	}
	return fmt.Sprintf("%d × %d × %d", d[0], d[1], d[2])
}

func (m *model) tellKernelVerdict(t *teller, r row) {
	g, res := m.tellGPU(t, int(r.file))
	if res == nil || int(r.cont) >= len(res.Results) {
		return
	}
	v := res.Results[r.cont]
	c := m.files[r.file].conts[r.cont]
	cov := m.files[r.file].cov[r.cont]
	verdict := m.verdict(r)
	if verdict == coverage.Unknown {
		t.para(paint{}, sentence(v.Reason(cov.Container, g.rules())))
		return
	}
	t.verdictLine(verdict, g)
	served := v.Verdict == coverage.Native || v.Verdict == coverage.JIT || v.Verdict == coverage.Driver
	if served && v.Image >= 0 && !v.Relink {
		chosen := imageName(c.c.Images[v.Image])
		if verdict == coverage.Missing {
			t.para(paint{}, "The container is served by "+chosen+", which does not hold this kernel.")
			return
		}
		if v.Image != int(r.img) {
			t.para(paint{}, "It runs from "+chosen+", not from this image.")
		}
	}
	t.para(paint{}, sentence(v.Reason(cov.Container, g.rules())))
}

// tellTwins compares the kernel over the images of its container.
func (m *model) tellTwins(t *teller, r row, name string) {
	_, c := m.at(r)
	d := c.c.Decoded()
	if d == nil {
		return
	}
	t.title("in every image of the container")
	const format = "%-19s %5s %9s %9s %9s"
	t.add(seg{"  " + fmt.Sprintf(format, "", "regs", "shared", "stack", "code"), t.th.dim})
	for i := range d.Images {
		id := row{r.file, r.cont, int32(i), none}
		mark := "  "
		if int32(i) == r.img {
			mark = "> "
		}
		s := m.rowSign(id)
		line := detLine{{mark, t.th.accent}, {s.glyph + " ", s.paint}}
		im := c.c.Images[i]
		title := pad(cut(imageName(im), 19), 17)
		var twin *fatbin.Kernel
		for k := range d.Images[i].Kernels {
			if d.Images[i].Kernels[k].Name == name {
				twin = &d.Images[i].Kernels[k]
				break
			}
		}
		switch {
		case !d.Images[i].Known:
			t.add(append(line, seg{title, paint{}}, seg{" unknown", t.th.dim})...)
		case twin == nil:
			t.add(append(line, seg{title, paint{}}, seg{" not in it", t.th.missing})...)
		case im.Kind == fatbin.KindCubin:
			t.add(append(line, seg{title, paint{}}, seg{fmt.Sprintf(" %5d %9s %9s %9s", twin.Registers, report.Bytes(int64(twin.Shared)), report.Bytes(int64(twin.Stack)), report.Bytes(int64(twin.Code))), paint{}})...)
		default:
			t.add(append(line, seg{title, paint{}}, seg{" text", t.th.dim})...)
		}
	}
}
