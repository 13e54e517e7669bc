package gpu

import (
	"context"
	"fmt"
	"sync"

	"fatview/arch"
)

// library is the part of NVML that detection needs. Every function returns
// NVML's code last, and nvmlFunctionNotFound where an old library lacks it.
type library interface {
	start() int
	stop()
	driver() (version string, code int)
	cuda() (version, code int) // 1000·major + 10·minor
	count() (n, code int)
	device(i int) (device, int)
}

// device is a GPU, or a MIG slice of one.
type device interface {
	name() (string, int)
	uuid() (string, int)
	capability() (major, minor, code int)
	slices() []device // nil unless MIG is on
}

// maxDevices bounds the answer of a library that counts nonsense.
const maxDevices = 256

// nvmlOnce keeps calls into NVML one at a time: go-nvml chooses the versions of
// its functions in variables of the process. A call that hangs keeps it, so
// later ones time out too instead of hanging as well.
var nvmlOnce sync.Mutex

type nvmlAnswer struct {
	inv     Inventory
	settled bool
}

// askNVML lists GPUs through the first of the libraries that loads. It is
// settled if a library could be asked, whatever the answer was.
func askNVML(ctx context.Context, opts Options) (Inventory, bool) {
	answer := make(chan nvmlAnswer, 1) // so that a late answer does not block
	go func() {
		var a nvmlAnswer
		defer func() {
			if r := recover(); r != nil {
				a = nvmlAnswer{inv: Inventory{Tried: []Attempt{{"NVML", fmt.Sprintf("it failed: %v", r)}}}}
			}
			answer <- a
		}()
		nvmlOnce.Lock()
		defer nvmlOnce.Unlock()
		if ctx.Err() == nil {
			a.inv, a.settled = loadNVML(opts)
		}
	}()
	select {
	case a := <-answer:
		return a.inv, a.settled
	case <-ctx.Done():
		return Inventory{Tried: []Attempt{{"NVML", "no answer: " + ctx.Err().Error()}}}, true
	}
}

func loadNVML(opts Options) (Inventory, bool) {
	var tried []Attempt
	if len(opts.LibraryPaths) == 0 {
		tried = append(tried, Attempt{"NVML", noLibraryReason})
	}
	for _, path := range opts.LibraryPaths {
		lib, err := opts.open(path)
		if err != nil {
			tried = append(tried, Attempt{path, sanitize(err.Error())})
			continue
		}
		inv, code := walk(lib)
		inv.Tried = append(tried, Attempt{path, inv.Problem})
		// With these two the library is there but useless, perhaps half of a
		// driver; nvidia-smi may know more.
		settled := code != nvmlLibraryNotFound && code != nvmlFunctionNotFound
		return inv, settled
	}
	return Inventory{Tried: tried}, false
}

// walk asks an open library for everything. The code is that of the call that
// ended it, or success.
func walk(lib library) (inv Inventory, code int) {
	if code := lib.start(); code != nvmlSuccess {
		return Inventory{Problem: codeSentence(code)}, code
	}
	defer lib.stop()

	// Neither of these is worth failing for: an unknown driver is a valid one.
	version, _ := lib.driver()
	var cuda arch.Version
	if v, code := lib.cuda(); code == nvmlSuccess && v >= 1000 && v < 100_000 {
		cuda = arch.Version{Major: v / 1000, Minor: v % 1000 / 10}
	}
	inv.Driver = detected(sanitize(version), cuda)

	n, code := lib.count()
	if code != nvmlSuccess {
		inv.Problem = codeSentence(code)
		return inv, code
	}
	var problems []string
	for i := range min(n, maxDevices) {
		targets, problem := targetsOf(lib, i, inv.Driver)
		inv.Targets = append(inv.Targets, targets...)
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(inv.Targets) > 0 {
		inv.Source = SourceNVML
	} else if len(problems) == 0 {
		problems = append(problems, noGPUSentence)
	}
	inv.Problem = join(problems)
	return inv, nvmlSuccess
}

// targetsOf returns a GPU and its MIG slices, or why it cannot be listed.
func targetsOf(lib library, index int, driver Driver) ([]Target, string) {
	d, code := lib.device(index)
	if code != nvmlSuccess {
		return nil, deviceSentence(index, code)
	}
	name, code := d.name()
	if code == nvmlGPULost {
		return nil, deviceSentence(index, code)
	}
	name = sanitize(name)
	cc, code := capabilityOf(d, name)
	if code != nvmlSuccess {
		return nil, deviceSentence(index, code)
	}
	if name == "" {
		name = "CC " + cc.String()
	}
	uuid, _ := d.uuid()
	gpu := Target{Name: name, CC: cc, Driver: driver, Source: SourceNVML, UUID: sanitize(uuid), Index: index}
	out := []Target{gpu}
	for _, s := range d.slices() {
		slice := gpu
		slice.MIG = true
		slice.Name, _ = s.name()
		if slice.Name = sanitize(slice.Name); slice.Name == "" || slice.Name == name {
			slice.Name = name + " MIG"
		}
		uuid, _ := s.uuid()
		slice.UUID = sanitize(uuid)
		out = append(out, slice)
	}
	return out, ""
}

// capabilityOf asks a device, and the catalogue where the library is too old to
// answer or the GPU is one that it does not support.
func capabilityOf(d device, name string) (arch.CC, int) {
	major, minor, code := d.capability()
	if code == nvmlSuccess {
		if major < 1 || major > 99 || minor < 0 || minor > 9 {
			return 0, nvmlNotSupported
		}
		return arch.CC(10*major + minor), nvmlSuccess
	}
	if code == nvmlFunctionNotFound || code == nvmlNotSupported {
		if cc, ok := capabilityByName(name); ok {
			return cc, nvmlSuccess
		}
	}
	return 0, code
}

// capabilityByName looks a name that a driver printed up in the catalogue.
func capabilityByName(name string) (arch.CC, bool) {
	p, err := resolve(name)
	return p.CC, err == nil
}
