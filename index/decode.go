package index

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"fatview/arch"
	"fatview/coverage"
	"fatview/fatbin"
)

// Decoded is what the payloads of one container say.
type Decoded struct {
	Label  string // file name of the translation unit, "" unknown
	Images []Contents
	Set    coverage.KernelSet // kernels of the SASS and PTX images together
}

// Contents is what one payload says.
type Contents struct {
	Known       bool // false for kinds without readable kernels, and on Err
	Kernels     []fatbin.Kernel
	Functions   []fatbin.Function
	Relocatable bool
	Toolkit     arch.Version
	Tool        fatbin.Tool
	Code        int64 // bytes of machine code
	Mercury     int64
	Modifiers   []string // of a PTX .target
	AddressSize int
	Facts       []fatbin.Fact // of Tile IR and LTO IR that can be read
	Err         error
}

// Decoded returns what is known of the container's payloads, or nil while
// nobody has looked.
func (c *Container) Decoded() *Decoded { return c.decoded.Load() }

// Label returns the file name of the translation unit, "" while unknown.
func (c *Container) Label() string {
	if d := c.Decoded(); d != nil {
		return d.Label
	}
	return ""
}

// Decode decompresses and reads the container's images, unless that has been
// done. Damage ends up in the file's findings, never in a panic.
func (f *File) Decode(ctx context.Context, c *Container, dec *fatbin.Decoder) {
	if c.Decoded() != nil || ctx.Err() != nil {
		return
	}
	if d := f.Peek(ctx, c, dec, nil); d != nil {
		c.decoded.CompareAndSwap(nil, d)
	}
}

// Peek decodes as Decode does and keeps nothing, so that a file can be gone
// through with the memory of one container. want, if it is not nil, chooses the
// images to read; the others' Contents are empty. The result is nil if ctx
// ended. Payloads count against the file's bounds each time they are read.
func (f *File) Peek(ctx context.Context, c *Container, dec *fatbin.Decoder, want func(*fatbin.Image) bool) (d *Decoded) {
	defer func() {
		if p := recover(); p != nil {
			f.find(Error, c.Offset, fmt.Sprintf("reading this container failed: %v", p))
			d = &Decoded{Images: make([]Contents, len(c.Images)), Set: coverage.KernelSet{In: make([]int, len(c.Images))}}
		}
	}()
	d = &Decoded{Images: make([]Contents, len(c.Images))}
	names := interner{}
	union := map[string]int{}
	d.Set.In = make([]int, len(c.Images))
	for i, im := range c.Images {
		if ctx.Err() != nil {
			return nil
		}
		if want != nil && !want(im) {
			continue
		}
		ct := &d.Images[i]
		label := f.read(ct, im, dec, names)
		switch {
		case ct.Err != nil && ct.Known:
			f.find(Warning, im.Offset, im.ArchName()+": "+ct.Err.Error())
		case ct.Err != nil:
			f.find(Error, im.Offset, im.ArchName()+": "+ct.Err.Error())
		}
		if d.Label == "" {
			d.Label = label
		}
		for _, k := range ct.Kernels {
			if last, ok := union[k.Name]; !ok || last != i {
				union[k.Name] = i // a name twice in one image counts once
				d.Set.In[i]++
			}
		}
	}
	d.Set.Total = len(union)
	if d.Label == "" {
		d.Label = c.sourceName()
	}
	return d
}

// sourceName returns the source name that old compilers leave in the
// entry header, if one does.
func (c *Container) sourceName() string {
	for _, im := range c.Images {
		if im.Identifier != "" {
			return im.Identifier
		}
	}
	return ""
}

// interner keeps one copy of each name of a container: every architecture
// repeats them.
type interner map[string]string

func (in interner) name(s string) string {
	if t, ok := in[s]; ok {
		return t
	}
	in[s] = s
	return s
}

func (ct *Contents) read(im *fatbin.Image, dec *fatbin.Decoder, names interner) (label string) {
	switch im.Kind {
	case fatbin.KindCubin, fatbin.KindPTX, fatbin.KindRelocatablePTX:
	case fatbin.KindTileIR, fatbin.KindNVVM:
		// LTO IR is obfuscated nearly always; that is no damage.
		if b, err := dec.Payload(im); err == nil {
			ct.Facts = fatbin.PayloadFacts(im.Kind, b)
		}
		return ""
	default:
		return ""
	}
	b, err := dec.Payload(im)
	if err != nil {
		ct.Err = err
		return ""
	}
	if im.Kind == fatbin.KindCubin {
		return ct.readCubin(b, names)
	}
	p, err := fatbin.ParsePTX(b)
	if err != nil {
		ct.Err = err
		return ""
	}
	ct.Known, ct.Modifiers, ct.AddressSize = true, p.Modifiers, p.AddressSize
	ct.Kernels = make([]fatbin.Kernel, len(p.Entries))
	for i, e := range p.Entries {
		ct.Kernels[i] = fatbin.Kernel{Name: names.name(e.Name), MaxThreads: e.MaxThreads, ReqThreads: e.ReqThreads}
	}
	return ""
}

func (ct *Contents) readCubin(b []byte, names interner) (label string) {
	c, err := fatbin.ParseCubin(b)
	if err != nil {
		ct.Err = err
		return ""
	}
	ct.Known, ct.Kernels, ct.Functions = true, c.Kernels, c.Functions
	ct.Relocatable, ct.Toolkit, ct.Tool = c.Relocatable, c.Toolkit, c.Tool
	ct.Code, ct.Mercury = c.CodeBytes, c.MercuryBytes
	for i := range ct.Kernels {
		ct.Kernels[i].Name = names.name(ct.Kernels[i].Name)
	}
	for i := range ct.Functions {
		ct.Functions[i].Name = names.name(ct.Functions[i].Name)
	}
	if len(c.Problems) > 0 {
		ct.Err = fmt.Errorf("%s at %#x of the cubin", c.Problems[0].Msg, c.Problems[0].Off)
	}
	return c.Unit
}

// Progress counts containers while they are decoded; it is safe to read at
// any time.
type Progress struct{ Done, Total atomic.Int64 }

// DecodeAll decodes the containers of all files with a worker per processor,
// in order, and returns when all are done or ctx ends. p may be nil.
func DecodeAll(ctx context.Context, files []*File, p *Progress) {
	type job struct {
		f *File
		c *Container
	}
	var jobs []job
	for _, f := range files {
		for _, c := range f.Containers {
			jobs = append(jobs, job{f, c})
		}
	}
	if p == nil {
		p = &Progress{}
	}
	p.Total.Add(int64(len(jobs)))
	Each(ctx, len(jobs), func(i int, dec *fatbin.Decoder) {
		jobs[i].f.Decode(ctx, jobs[i].c, dec)
		p.Done.Add(1)
	})
}

// Each calls do for 0 to n-1 in order, with a worker and a decoder for each
// processor, and returns when all are done or ctx ends.
func Each(ctx context.Context, n int, do func(i int, dec *fatbin.Decoder)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			var dec fatbin.Decoder
			defer dec.Close()
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				do(int(i), &dec)
			}
		})
	}
	wg.Wait()
}

// Contents reads one image's payload and keeps nothing of it, for those who
// need to know less than Decode finds out. Damage is a finding.
func (f *File) Contents(im *fatbin.Image, dec *fatbin.Decoder) (ct *Contents) {
	ct = &Contents{}
	defer func() {
		if p := recover(); p != nil {
			f.find(Error, im.Offset, fmt.Sprintf("reading this image failed: %v", p))
		}
	}()
	f.read(ct, im, dec, interner{})
	if ct.Err != nil {
		f.find(Error, im.Offset, im.ArchName()+": "+ct.Err.Error())
	}
	return ct
}
