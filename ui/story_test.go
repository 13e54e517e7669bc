package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/arch"
	"fatview/gpu"
	"fatview/index"
	"fatview/internal/fatbintest"
	"fatview/report"
)

func mixed(t *testing.T, opts ...option) *driver {
	t.Helper()
	return newDriver(t, 100, 30, "mixed.so", append([]option{gpus("h100,a100,rtx5090")}, opts...)...)
}

func TestFirstFrameComesBeforeTheFileIsRead(t *testing.T) {
	d := unstarted(t, 80, 24, "mixed.so", gpus("h100"))
	d.hold = true
	d.run(d.m.Init())
	d.WantScreen("opening", "mixed.so", "H100")
	d.release()
	d.WantSelected("mixed.so").WantScreen("3 containers", "6 kernels", "● native H100")
}

func TestWalkToAKernel(t *testing.T) {
	d := mixed(t)
	d.WantRows("mixed.so", "container 0", "container 1", "container 2")
	d.Press("j", "l").WantRows("mixed.so", "container 0", "sm_75", "sm_80", "sm_86", "compute_90 PTX 9.5", "sm_90", "container 1", "container 2")
	d.Press("l").WantSelected("sm_75").Press("l", "l").WantSelected("saxpy<double>")
	d.WantDetails("It runs from sm_90, not from this image", "in every image of the container", "10 for each thread", "_Z5saxpyIdEviT_PKS0_PS0_", "void saxpy<double>(int, double, double const*, double*)")
	d.Press("h").WantSelected("sm_75").Press("h", "h").WantSelected("container 0")
	d.Press("h").WantRows("mixed.so", "container 0", "container 1", "container 2")
	d.Press("h", "h").WantSelected("mixed.so").WantRows("mixed.so").Press("h").WantFoot("already folded")
}

func TestMove(t *testing.T) {
	d := mixed(t)
	d.Press("k").WantFoot("first row").Press("G").WantSelected("container 2").Press("j").WantFoot("last row")
	d.Press("g").WantSelected("mixed.so").Press("ctrl+d").Press("ctrl+u").WantSelected("mixed.so")
	d.Press("pgdown").WantSelected("container 2").Press("pgup", "down").WantSelected("container 0").Press("up").WantSelected("mixed.so")
	d.Press("+").Press("G").WantSelected("wide_copy").Press("-").WantSelected("container 2")
	d.Press("+").WantSelected("container 2").Press("-").WantRows("mixed.so", "container 0", "container 1", "container 2")
}

func TestContainerExplainsItsVerdict(t *testing.T) {
	d := mixed(t)
	d.Press("j", "j").WantSelected("container 1").WantDetails(
		"○ specialised on H100 9.0", "No image for 9.0", "rule per-container",
		"sm_80 is another architecture than 9.0", "registered")
	d.Press("]").WantDetails("● native on A100 8.0", "sm_80 runs on 8.0", "all 2 in the chosen image")
	d.Press("]").WantDetails("on RTX 5090 12.0", "sm_86 is another architecture than 12.0")
	d.Press("[", "[", "k").WantDetails("+ compute_90 PTX 9.5", "fits too, another image comes first")
}

func TestSearch(t *testing.T) {
	d := mixed(t)
	d.Press("/").Type("saxpy<").WantSelected("saxpy<double>").WantFoot("search: saxpy<").WantFoot("1 of 2")
	d.Type("f").WantSelected("saxpy<float>").WantFoot("1 of 1")
	d.Press("backspace").Enter().WantScreen("/saxpy< 1 of 2")
	d.Press("n").WantSelected("saxpy<float>").WantScreen("2 of 2").Press("n").WantSelected("saxpy<double>").Press("N").WantSelected("saxpy<float>")
	// The kernel is shown in the image that serves the chosen GPU.
	d.WantDetails("> ● sm_90").WantNot("It runs from")
	d.Press("esc").WantNot("2 of 2").Press("n").WantFoot("nothing searched yet")
}

func TestSearchFindsRawNamesAndGoesBack(t *testing.T) {
	d := mixed(t)
	d.Press("j", "/").Type("_ZN5stats").WantSelected("stats::block_sum<256>").Press("esc").WantSelected("container 0").WantNot("/_ZN5")
	d.Press("/").Type("SM_86").Enter().WantSelected("sm_86")
	d.Press("esc", "/").Type("nv_fatbin").WantFoot("of 3")
	d.Press("esc", "/").Type("zebra").WantFoot("no match").Enter().WantFoot("no match for “zebra”")
	d.Press("n").WantFoot("no match")
}

func TestFilter(t *testing.T) {
	d := mixed(t)
	d.Press("u").WantRows("mixed.so", "container 1").WantFoot("1 container not fully served on H100").WantScreen("not served")
	d.Press("]").WantRows("mixed.so", "container 2").Press("]").WantRows("mixed.so", "container 1", "container 2")
	d.Press("/").Type("saxpy").Enter().WantFoot("among what is not served").Press("esc")
	d.Press("u").WantRows("mixed.so", "container 0", "container 1", "container 2").WantFoot("showing all")
	all := newDriver(t, 80, 24, "multi13.so", gpus("a100"))
	all.Press("u").WantRows("multi13.so").WantFoot("everything is served on A100")
	none := newDriver(t, 80, 24, "multi13.so")
	none.Press("u").WantFoot("a adds one").Press("[").WantFoot("a adds one").Press("d").WantFoot("a adds one")
}

func TestAddGPU(t *testing.T) {
	d := newDriver(t, 100, 30, "multi13.so")
	d.WantScreen("none named: a adds one").WantDetails("No GPU to judge for")
	d.Press("a").Type("4090").WantScreen("GeForce RTX 4090").Press("tab").WantFoot("GeForce RTX 4090").Enter()
	d.WantFoot("added RTX 4090 8.9").WantScreen("[● native RTX 4090 8.9]")
	d.Press("a").Type("gt 730").Enter().WantScreen("can be several GPUs").WantFoot("add GPU: gt 730")
	d.Clear().Type("h1000000").Enter().WantScreen("no GPU in the catalogue")
	d.Press("esc").WantNot("catalogue").Press("]").WantFoot("the only GPU")
	d.Press("a").Type("90,sm_75").Enter().WantFoot("added 2 GPUs").WantScreen("[● native CC 9.0]")
	d.Press("a").Type("9.0").Enter().WantFoot("already there")
	d.Press("a").Type("all").Enter().WantFoot("GPUs").WantScreen("›")
	for range 40 {
		d.Press("]")
	}
	d.WantScreen("‹", "✗ X CC")
}

func TestDriver(t *testing.T) {
	d := newDriver(t, 100, 30, "mixed.so", gpus("h100,rtx5090"))
	d.Press("d").WantFoot("driver for 2 GPUs").Type("535.104").Enter().WantFoot("driver 535.104 does not know compute capability 12.0")
	d.WantDetails("▲ driver on H100 9.0, driver 535.104", "runtime linked into it needs a driver of R580", "Linux 580")
	d.Press("]").WantScreen("! no verdict RTX 5090").WantDetails("does not know compute capability 12.0")
	d.Press("d").Clear().Type("nonsense").Enter().WantFoot("nonsense").Clear().Type("13.0").Enter().WantFoot("a driver for CUDA 13.0")
	d.Press("[").WantDetails("native on H100")
	d.Press("d").Clear().Type("580").Enter().WantFoot("what if 2 GPUs had driver 580 (CUDA 13.0)")
	d.Press("d").Clear().Enter().WantFoot("driver unknown for 2 GPUs")
}

func TestDriverOfALocalGPU(t *testing.T) {
	d, _ := gpu.ParseDriver("570.86.10")
	inv := gpu.Inventory{Targets: []gpu.Target{{Name: "NVIDIA H200", CC: 90, Driver: d, Source: gpu.SourceNVML}}}
	x := newDriver(t, 100, 30, "multi12.so", gpus("a100"), inventory(inv))
	x.WantScreen("H200 9.0 here 570.86.10", "A100 8.0]")
	x.Press("[", "d").WantFoot("driver for H200").Clear().Type("580").Enter().WantScreen("H200 9.0 here 580")
	x.Press("d").Clear().Enter().WantScreen("H200 9.0 here 570.86.10")
}

func TestNoGPUs(t *testing.T) {
	d := newDriver(t, 100, 30, "mixed.so", inventory(gpu.Inventory{Problem: "no NVIDIA driver here"}))
	d.WantScreen("GPU no NVIDIA driver here  a adds one")
}

func TestExport(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.md")
	d := mixed(t)
	d.Press("e").WantScreen("text", "json", "md").WantFoot("export as: md").Enter().WantFoot("mixed.so.fatview.md")
	d.Clear().Type(path).Enter().WantFoot("wrote ")
	b, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b), "# CUDA coverage") || !strings.Contains(string(b), "H100") {
		t.Fatalf("%v: %s", err, b)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.Press("e").Enter().Clear().Type(path).Enter().WantFoot("out.md exists: overwrite it? (y/n)").Press("n").WantFoot("nothing written")
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Fatalf("the file was overwritten without a yes: %s", b)
	}
	d.Press("e", "esc").WantFoot("nothing written")
	d.Press("e").Enter().Clear().Type(path).Enter().Press("y").WantFoot("wrote ")
	if b, _ := os.ReadFile(path); !strings.Contains(string(b), "# CUDA coverage") {
		t.Fatalf("not written: %s", b)
	}
	// By the ending, whatever was chosen; by number, and by letter.
	json := filepath.Join(dir, "out.json")
	d.Press("e", "t").WantFoot("export as: text").Enter().Clear().Type(json).Enter().WantFoot("(json)")
	if b, _ := os.ReadFile(json); !strings.Contains(string(b), report.Schema) {
		t.Fatalf("not JSON: %s", b)
	}
	d.Press("e", "2").WantFoot("write json to: mixed.so.fatview.json").Clear().Enter().WantScreen("a file name is needed")
	d.Clear().Type(filepath.Join(dir, "no", "such", "dir.md")).Enter().WantFoot("not written")
	newDriver(t, 80, 24, "").Press("esc", "e").WantFoot("nothing to export yet")
}

// Every format is offered with what it is for, in little room, too; what is
// chosen stays in view.
func TestExportChooser(t *testing.T) {
	d := newDriver(t, 60, 20, "mixed.so", gpus("h100")).Press("e")
	for _, f := range report.Formats() {
		d.WantScreen(f + "  " + report.About(f))
	}
	d.Press("9").WantFoot("write cyclonedx to: mixed.so.fatview.cdx.json").Press("esc")
	d.Press("e", "c").WantFoot("export as: csv").Press("c").WantFoot("export as: cyclonedx").Press("esc")
	path := filepath.Join(t.TempDir(), "out.sarif")
	d.Press("e").Enter().Clear().Type(path).Enter().WantFoot("(sarif)")
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "2.1.0") {
		t.Errorf("%v: %s", err, b)
	}
	low := newDriver(t, 60, 12, "mixed.so", gpus("h100")).Press("e")
	formats := report.Formats()
	for i := range formats {
		f := formats[(3+i)%len(formats)] // from md, the third, on
		low.Press("down").WantScreen("> " + f).WantFoot("export as: " + f)
	}
}

func TestExportHoldsContainersBack(t *testing.T) {
	d := unstarted(t, 80, 24, "embedded.so", gpus("h100"))
	d.hold = true
	d.run(d.m.Init())
	// Open the file, but leave the search in the rest of it for later.
	opening := d.held
	d.held = nil
	d.hold = false
	var outside []func()
	for _, c := range opening {
		d.takeBut(c(), func(msg any) bool {
			if o, ok := msg.(outsideMsg); ok {
				outside = append(outside, func() { d.send(o) })
				return true
			}
			return false
		})
	}
	d.m.exporting = true
	for _, f := range outside {
		f()
	}
	d.WantRows("embedded.so").send(savedMsg{path: "x", format: "md"})
	d.WantRows("embedded.so", "container 0").WantFoot("wrote ")
}

func TestTextOfPTX(t *testing.T) {
	d := mixed(t)
	d.Press("v").WantFoot("only images have text")
	d.Press("j", "l", "j", "j", "j", "j").WantSelected("compute_90 PTX 9.5").Press("v")
	d.WantScreen("compute_90 PTX 9.5 · container 0 · mixed.so", ".version 9.5", ".target sm_90", "line 1 of")
	d.Press("/").Type("fma.rn").WantFoot("1 of 2").Enter().Press("n").WantScreen("/fma.rn 2 of 2").Press("n").WantScreen("1 of 2").Press("N").WantScreen("2 of 2")
	d.Press("esc").WantNot("2 of 2").WantScreen("fma.rn").Press("G").Press("g").WantScreen(".version 9.5")
	d.Press("l").WantNot(".version 9.5").Press("h").WantScreen(".version 9.5").Press("x").WantFoot("esc goes back")
	d.Press("esc").WantSelected("compute_90 PTX 9.5")
	// A kernel opens the text at its entry.
	d.Press("l", "l", "j").WantSelected("saxpy<float>").Enter().WantScreen("> .visible .entry _Z5saxpyIfEviT_PKS0_PS0_")
	d.Press("esc").WantSelected("saxpy<float>")
	// Machine code is told about.
	d.Press("G", "l", "j").WantSelected("sm_90a").Press("v").WantScreen("SASS text needs NVIDIA's nvdisasm", "wide_copy", "14 registers").Press("v").WantSelected("sm_90a")
}

func TestOpen(t *testing.T) {
	d := newDriver(t, 80, 24, "")
	d.WantFoot("open: ").Type("/no/such/file").Enter().WantScreen("no such file").WantDetails("This could not be opened: no such file")
	d.Press("l").WantFoot("could not be opened").Press("v").WantFoot("only images have text")
	abs, err := filepath.Abs(fixtures + "pe.dll")
	if err != nil {
		t.Fatal(err)
	}
	d.Press("o").Type(abs).Enter().WantSelected("pe.dll").WantScreen("PE x86_64").Press("e").Enter().WantFoot("pe.dll.fatview.md")
}

func TestBadFileLeavesTheGoodOne(t *testing.T) {
	d := newDriver(t, 80, 24, "text.txt,mixed.so,plain.so,empty.bin", gpus("h100"))
	d.WantScreen("text.txt", "not a format", "mixed.so", "plain.so", "no device code", "is empty")
	d.Press("G", "k").WantSelected("plain.so").Press("l").WantFoot("no device code in this file").WantDetails("No device code")
}

func TestArchive(t *testing.T) {
	d := newDriver(t, 100, 30, "archive.a", gpus("h100"))
	d.WantScreen("archive.a!").Press("+", "G")
}

func TestNoKernels(t *testing.T) {
	d := newDriver(t, 100, 30, "mixed.so", gpus("h100"), noKernels)
	d.WantScreen("kernels not decoded", "native H100")
	d.Press("/").Type("saxpy").Enter().WantFoot("they were not decoded").Press("esc")
	d.Press("j", "l").WantScreen("3 kernels").Press("l", "l", "l").WantSelected("saxpy<double>")
}

func TestHelpListsEveryKey(t *testing.T) {
	d := newDriver(t, 200, 60, "mixed.so", gpus("h100"))
	d.Press("?")
	for _, g := range d.m.keys.groups() {
		d.WantScreen(g.title)
		for _, b := range g.keys {
			d.WantScreen(b.Help().Key, b.Help().Desc)
		}
	}
	d.WantScreen("● N native", "fatview test").Press("x").WantNot("What stands before each row")
	small := newDriver(t, 60, 20, "mixed.so")
	small.Press("?", "j", "G").WantScreen("fatview test").Press("esc").WantScreen("mixed.so")
}

func TestQuit(t *testing.T) {
	for _, c := range []struct {
		keys        []string
		quit, inter bool
	}{
		{[]string{"q"}, true, false},
		{[]string{"?", "q"}, true, false},
		{[]string{"ctrl+c"}, false, true},
		{[]string{"/", "ctrl+c"}, false, true},
		{[]string{"/", "q"}, false, false},
		{[]string{"tab", "q"}, true, false},
	} {
		d := mixed(t)
		d.Press(c.keys...)
		if d.quit != c.quit || d.interrupted != c.inter {
			t.Errorf("%v: quit %v, interrupted %v", c.keys, d.quit, d.interrupted)
		}
	}
	if d := mixed(t).Press("ctrl+z"); !d.suspended {
		t.Error("ctrl+z does not suspend")
	}
}

func TestEscGoesBackStepByStep(t *testing.T) {
	d := mixed(t)
	d.Press("u", "tab", "/").Type("block").Enter().Press("tab")
	d.Press("esc").WantNot("/block").Press("esc").WantScreen("[1 browse]").Press("esc").WantFoot("showing all").Press("esc").WantFoot("q quits")
}

func TestResize(t *testing.T) {
	d := mixed(t).Press("+", "G")
	for w := 1; w <= 210; w += 7 {
		for h := 1; h <= 64; h += 5 {
			d.Resize(w, h)
		}
	}
	d.Resize(30, 8).WantScreen("too small").Press("q")
	if !d.quit {
		t.Error("q does not quit a screen that is too small")
	}
	d.Resize(60, 20).WantSelected("wide_copy").WantScreen("wide_copy").Press("tab").WantScreen("[details]").Press("tab").WantScreen("[1 browse]")
}

func TestMouse(t *testing.T) {
	d := mixed(t)
	tree := d.m.lay.tree
	d.Click(20, tree.y+1).WantSelected("container 0")
	d.Click(foldColumn(d.m.rows[1]), tree.y+1).WantScreen("sm_75").Click(foldColumn(d.m.rows[1]), tree.y+1).WantNot("▸ -   sm_75")
	d.Press("+").Wheel(5, tree.y+2, true).Wheel(5, tree.y+2, true).Wheel(5, tree.y+2, false)
	at := strings.Index(strings.Split(d.m.View(), "\n")[2], "A100")
	d.Click(at, 2).WantScreen("A100 8.0]")
	d.Click(d.m.lay.details.x+3, d.m.lay.details.y+2).WantScreen("[details]")
	d.Wheel(d.m.lay.details.x+3, d.m.lay.details.y+2, true)
	d.Press("?").Wheel(1, 10, true)
}

func TestPasteIsNotCommands(t *testing.T) {
	d := mixed(t)
	d.send(pasted("q")).WantFoot("nowhere to paste")
	d.Press("/").send(pasted("saxpy\x1b[2J")).WantSelected("mixed.so")
	if d.quit {
		t.Error("pasting q quits")
	}
}

func TestUnknownKeySaysSo(t *testing.T) {
	d := mixed(t)
	d.Press("x").WantFoot("x does nothing here").Press("tab", "x").WantFoot("does nothing in the details")
}

func TestCrashInTheBackgroundIsTold(t *testing.T) {
	d := newDriver(t, 80, 24, "mixed.so,mixed.so", opener(func(context.Context, string) ([]*index.File, error) { panic("boom\x1b[31m") }))
	d.WantScreen(`mistake in fatview: boom\x1b[31m`)
	d = newDriver(t, 80, 24, "mixed.so", func(o *Options, _ *model) {
		o.Detect = func(context.Context) gpu.Inventory { panic("boom\x1b[31m") }
	})
	d.WantFoot(`something went wrong in the background: boom\x1b[31m`)
}

func TestOpenErrorIsEscaped(t *testing.T) {
	d := newDriver(t, 80, 24, "mixed.so", opener(func(context.Context, string) ([]*index.File, error) { return nil, errors.New("bad \x1b]0;x\a") }))
	d.WantFoot(`bad \x1b]0;x\x07`)
}

func TestParseDriver(t *testing.T) {
	for in, cuda := range map[string]string{"535.104": "12.2", "R535": "12.2", "12.2": "12.2", "cuda 12.4": "12.4", "13.0": "13.0"} {
		d, err := parseDriver(in)
		if v, _ := arch.ParseVersion(cuda); err != nil || d.CUDA != v {
			t.Errorf("%s: %v %v", in, d.CUDA, err)
		}
	}
	if d, err := parseDriver(" "); err != nil || d.Known() {
		t.Error("nothing is not an unknown driver")
	}
}

// Every row of every fixture can be looked at, for every GPU.
func TestEveryFixture(t *testing.T) {
	paths, err := filepath.Glob(fixtures + "*")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	for _, p := range paths {
		d := newDriver(t, 100, 30, filepath.Base(p), gpus("h100,a100,gtx1080,rtx5090,8.7"))
		d.Press("+")
		for range len(d.m.rows) {
			d.Press("j", "]")
		}
		d.Press("d").Type("11.8").Enter()
		for range min(20, len(d.m.rows)) {
			d.Press("k", "[")
		}
		d.Press("u", "+", "G", "v", "esc", "tab", "G")
	}
}

func TestRelocatableInputsAreToldApart(t *testing.T) {
	d := newDriver(t, 100, 30, "rdc-linked.so", gpus("a100"))
	d.WantDetails("counted nowhere").WantScreen("relocatable")
	d.Press("G").WantScreen("container")
}

// The screen ticks while something is going on, and is still otherwise.
func TestTicksOnlyWhileBusy(t *testing.T) {
	d := unstarted(t, 80, 24, "mixed.so", gpus("h100"))
	ticks := 0
	d.m.tick = func() tea.Cmd { ticks++; return nil }
	d.hold = true
	d.run(d.m.Init())
	if ticks != 1 || !d.m.busy() {
		t.Fatalf("%d ticks, busy %v", ticks, d.m.busy())
	}
	d.send(tickMsg{})
	if ticks != 2 {
		t.Fatalf("%d ticks while a file is being opened", ticks)
	}
	d.release().send(tickMsg{})
	before := ticks
	d.Press("j", "k")
	if ticks != before || d.m.busy() {
		t.Fatalf("%d ticks too many, busy %v", ticks-before, d.m.busy())
	}
}

// Kernels fill in while one looks: what is unfolded and the cursor stay.
func TestDecodingLeavesCursorAndFoldsAlone(t *testing.T) {
	d := newDriver(t, 100, 30, "mixed.so", gpus("h100"), noKernels)
	d.Press("G").WantSelected("container 2")
	f := d.m.files[0]
	var jobs []decodeJob
	for _, c := range f.conts {
		jobs = append(jobs, decodeJob{f.f, c})
	}
	d.m.open[row{0, 0, none, none}] = true
	d.m.open[row{0, 0, 0, none}] = true
	d.m.rebuild()
	d.WantSelected("container 2").run(d.m.decode(jobs))
	d.WantSelected("container 2").WantScreen("saxpy<double>", "6 kernels", "▾ -   sm_75")
}

func TestFilterCountsKernelsMissingFromTheChosenImage(t *testing.T) {
	a := fatbintest.Cubin{Arch: "80", Kernels: []fatbintest.Kernel{{Name: "both"}, {Name: "only80"}}}
	b := fatbintest.Cubin{Arch: "86", Kernels: []fatbintest.Kernel{{Name: "both"}}}
	file := fatbintest.NewContainer().SASS("80", a.Bytes()).SASS("86", b.Bytes()).Bytes()
	d := newDriver(t, 100, 30, "x", gpus("8.6"), made("x.fatbin", file))
	d.Press("j").WantDetails("● native", "1 of 2 in the chosen image", "missing from the chosen image: 1 kernel only80")
	d.Press("u", "+").WantRows("x.fatbin", "container 0", "sm_80", "only80", "sm_86")
	d.Press("j", "j").WantSelected("only80").WantDetails("✗ missing on CC 8.6", "The container is served by sm_86, which does not hold this kernel")
	d.Press("/").Type("only").Enter().WantScreen("/only 1 of 1").Press("/").Type("both").Enter().WantFoot("no match")
}
