package coverage

import (
	"math/rand/v2"
	"testing"

	"fatview/arch"
	"fatview/fatbin"
	"fatview/gpu"
)

// rank orders verdicts of a kernel from worst to best.
func rank(v Verdict) int {
	switch v {
	case Native:
		return 3
	case JIT:
		return 2
	case Driver:
		return 1
	}
	return 0
}

// kernelVerdict is the verdict of a kernel that images with Kernels > 0 hold.
func kernelVerdict(c Container, t Target) Verdict {
	r := Judge(c, t)
	if r.Image >= 0 && (r.Verdict == Native || r.Verdict == JIT || r.Verdict == Driver) {
		if c.Images[r.Image].Kernels == 0 {
			return Missing
		}
		return r.Verdict
	}
	return Missing
}

// randomContainer makes images of random architectures; every one holds the
// kernel. Compression and PTX ISA vary unless plain.
func randomContainer(rnd *rand.Rand, plain bool) Container {
	archs := gpu.Archs()
	var c Container
	isa := []arch.Version{{Major: 7}, {Major: 8, Minor: 4}, {Major: 8, Minor: 7}, {Major: 9, Minor: 1}}[rnd.IntN(4)]
	for range 1 + rnd.IntN(5) {
		im := Image{Kind: fatbin.KindCubin, Arch: archs[rnd.IntN(len(archs))].Arch, Kernels: 1}
		if rnd.IntN(3) == 0 {
			im.Kind, im.ISA = fatbin.KindPTX, isa
		}
		if !plain && rnd.IntN(3) == 0 {
			im.Compression = fatbin.CompressionZstd
		}
		if !plain && rnd.IntN(5) == 0 {
			im.Toolkit = arch.Version{Major: 11 + rnd.IntN(3)}
		}
		c.Images = append(c.Images, im)
	}
	return c
}

// A newer driver never makes a kernel worse, among the drivers that drive the
// GPU, as long as every image holds the kernel.
func TestNewerDriverIsNeverWorse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for range 3000 {
		c := randomContainer(rnd, false)
		cc := gpu.Capabilities()[rnd.IntN(len(gpu.Capabilities()))]
		last, had := Verdict(0), Target{}
		for _, b := range gpu.Branches() {
			if b.Number == 430 || b.Number == 387 {
				continue // CUDA 10.2 before 435's 10.1; 9.1 twice: the table is out of order there
			}
			target := Target{CC: cc, Driver: gpu.Driver{Branch: b.Number, CUDA: b.CUDA, PTX: b.PTX, Certain: b.Certain}}
			if Impossible(target) != "" {
				continue
			}
			v := kernelVerdict(c, target)
			if had.Driver.Known() {
				compared++
				if rank(v) < rank(last) {
					t.Fatalf("%s on %s: %s with R%d, but %s with R%d", names(c), cc, last, had.Driver.Branch, v, b.Number)
				}
			}
			last, had = v, target
		}
	}
	if compared < 10000 {
		t.Errorf("only %d pairs of drivers were compared", compared)
	}
}

func names(c Container) (s string) {
	for _, im := range c.Images {
		s += im.Name() + " " + im.Compression.String() + " "
	}
	return s
}

// Adding an image that the driver can read never makes a kernel worse, unless
// the new image lacks it: then it takes the place of one that does not.
func TestMoreImagesAreNeverWorse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	worse := 0
	for range 20000 {
		c := randomContainer(rnd, true)
		more := Container{Images: append([]Image(nil), c.Images...)}
		extra := randomContainer(rnd, true).Images[0]
		if extra.ISA = c.Images[0].ISA; extra.Kind == fatbin.KindPTX {
			extra.ISA = arch.Version{Major: 7}
		}
		for i := range more.Images {
			if more.Images[i].Kind == fatbin.KindPTX {
				more.Images[i].ISA = arch.Version{Major: 7}
			}
		}
		c.Images = append([]Image(nil), more.Images...)
		more.Images = append(more.Images, extra)
		target := Target{CC: gpu.Capabilities()[rnd.IntN(len(gpu.Capabilities()))]}
		before, after := kernelVerdict(c, target), kernelVerdict(more, target)
		if rank(after) < rank(before) {
			t.Fatalf("%s on %s: %s, and %s with one image more", names(more), target.CC, before, after)
		}
		more.Images[len(more.Images)-1].Kernels = 0
		if rank(kernelVerdict(more, target)) < rank(before) {
			worse++
		}
	}
	if worse == 0 {
		t.Error("an added image without the kernel never took the place of one that has it: rule empty-image is not in force")
	}
}

// SASS without suffix serves at least what its f form serves.
func TestPlainServesWhatFamilyServes(t *testing.T) {
	for _, a := range gpu.Archs() {
		if a.Arch.Suffix != 'f' {
			continue
		}
		for _, cc := range gpu.Capabilities() {
			family := sassFits(a.Arch, cc)
			plain := sassFits(arch.Arch{CC: a.Arch.CC}, cc)
			if family.ok && !plain.ok {
				t.Errorf("%s serves %s, and plain %s does not", a.Arch.SASS(), cc, arch.Arch{CC: a.Arch.CC}.SASS())
			}
		}
	}
}

// Every row of the tables of drivers and PTX ISA: a driver compiles what it
// knows and refuses what is newer.
func TestDriverTable(t *testing.T) {
	for _, row := range table(t, "drivers.tsv") {
		d, err := gpu.ParseDriver(row[0])
		if err != nil {
			t.Fatal(err)
		}
		knows, err := arch.ParseVersion(row[2])
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range table(t, "ptx.tsv") {
			isa, err := arch.ParseVersion(p[0])
			if err != nil {
				t.Fatal(err)
			}
			c := Container{Images: []Image{{Kind: fatbin.KindPTX, Arch: arch.New(20, 0), ISA: isa, Kernels: 1}}}
			cc := arch.CC(50) // a GPU that this driver drives
			if d.Branch > gpu.LastBranch(cc) {
				cc = 80
			}
			r := Judge(c, Target{CC: cc, Driver: d})
			// ISA 8.5 came with 12.5 and is what 12.6 knows as well: the rule
			// compares what the branch knows.
			if got, want := r.Verdict == JIT, !knows.Less(isa); got != want {
				t.Errorf("PTX ISA %s with R%s, which knows %s: %s", isa, row[0], knows, r.Verdict)
			}
		}
	}
}
