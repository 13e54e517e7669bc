package doctor

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fatview/check"
	"fatview/internal/sysroot"
)

func step(t *testing.T, r *Report, id string) Step {
	t.Helper()
	for _, s := range r.Steps {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("there is no step %s", id)
	return Step{}
}

// expect checks one step: its answer, a part of what was seen, and a part of
// what to do ("" where there is nothing to do).
func expect(t *testing.T, name string, r *Report, id string, status Status, seen, do string) {
	t.Helper()
	s := step(t, r, id)
	if s.Status != status || !strings.Contains(s.Seen, seen) || !strings.Contains(strings.Join(s.Do, "\n"), do) || (do == "") != (len(s.Do) == 0) {
		t.Errorf("%s: %s: %s %q %q\nwant %s %q %q", name, id, s.Status, s.Seen, s.Do, status, seen, do)
	}
}

func TestAllIsWell(t *testing.T) {
	r := Run(host().world(t))
	for _, s := range r.Steps {
		if s.Status != Pass && s.Status != Skip || len(s.Do) > 0 || s.Seen == "" {
			t.Errorf("%+v", s)
		}
	}
	if !r.OK || r.Conclusion != "CUDA should work here." {
		t.Errorf("%v %q", r.OK, r.Conclusion)
	}
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"✓ pass  kernel module: nvidia 535.104.05 is loaded\n",
		"✓ pass  device nodes: /dev/nvidia1, /dev/nvidiactl and /dev/nvidia-uvm are there and may be used\n",
		"libcuda.so.1 in " + lib + " (535.104.05), ",
		"✓ pass  driver versions: kernel module and libcuda are both 535.104.05\n",
		"– skip  container: this is no container\n",
		"✓ pass  GPUs: NVIDIA H200 (9.0); driver 535.104.05, CUDA 12.2\n",
		"✓ pass  driver and GPU: 535.104.05 supports NVIDIA H200\n",
		"✓ pass  JIT cache: /home/u/.nv/ComputeCache does not exist yet, and can be made\n",
		"\nCUDA should work here.\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, Run(bare().world(t))); err != nil {
		t.Fatal(err)
	}
	var r struct {
		Schema string
		OK     bool
		Steps  []struct {
			ID, Title, Status, Seen string
			Do                      *[]string
			Details                 *[]string
		}
		Conclusion string
	}
	if err := json.Unmarshal(b.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != "fatview/doctor/1" || r.OK || r.Conclusion != "CUDA does not work here; begin with: kernel module." || len(r.Steps) != 14 {
		t.Errorf("%+v", r)
	}
	for _, s := range r.Steps {
		if s.Do == nil || s.Details == nil || s.ID == "" || s.Title == "" {
			t.Errorf("null in %+v", s)
		}
	}
}

func TestOtherSystems(t *testing.T) {
	for goos, want := range map[string]string{"darwin": "CUDA is not for macOS", "freebsd": "CUDA has no driver for freebsd"} {
		r := Run(&World{Root: sysroot.Root{Dir: t.TempDir(), GOOS: goos}})
		expect(t, goos, r, "system", Fail, want, "name a GPU with --gpu")
		if len(r.Steps) != 1 || r.OK || r.Conclusion != "CUDA does not run on this system." {
			t.Errorf("%s: %+v", goos, r)
		}
	}
}

func TestFiles(t *testing.T) {
	zero, one := 0, 1
	p := host()
	p.tweak = func(w *World) {
		w.Asked, w.GPUNames = true, []string{"H200 (9.0)", "T4 (7.5)"}
		w.Files = []check.Line{
			{Path: "a.so", GPU: &zero, OK: true, Verdict: "native", Reason: "it fits"},
			{Path: "a.so", GPU: &one, OK: false, Verdict: "none", Reason: "no image fits"},
			{Path: "b.so", GPU: &zero, OK: true, Verdict: "jit", Reason: "compute_80 fits"},
			{Path: "plain.so", OK: true, Reason: "no device code"},
		}
	}
	r := Run(p.world(t))
	steps := r.Steps[len(r.Steps)-4:]
	for i, want := range []struct {
		status      Status
		title, seen string
	}{
		{Pass, "a.so on H200 (9.0)", "native, it fits"},
		{Fail, "a.so on T4 (7.5)", "none, no image fits"},
		{Pass, "b.so on H200 (9.0)", "jit, compute_80 fits"},
		{Skip, "plain.so", "no device code"},
	} {
		if s := steps[i]; s.Status != want.status || s.Title != want.title || s.Seen != want.seen {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	if r.OK || r.Conclusion != "CUDA should work here; in 1 of 3 cases a file does not run on a GPU as it should." {
		t.Errorf("%q", r.Conclusion)
	}
	// Without the compiler for PTX what needs it fails.
	p2 := p.without(lib + "/libnvidia-ptxjit")
	p2.tweak = p.tweak
	r = Run(p2.world(t))
	if s := r.Steps[len(r.Steps)-2]; s.Status != Fail || !strings.Contains(s.Seen, "libnvidia-ptxjitcompiler.so.1, which compiles PTX, was not found (error 221)") {
		t.Errorf("%+v", s)
	}
	p.tweak = func(w *World) { w.Asked = true }
	r = Run(p.world(t))
	expect(t, "no GPU named", r, "file", Skip, "there is no GPU to judge for", "--gpu h100")
	if r.Conclusion != "CUDA should work here." {
		t.Errorf("%q", r.Conclusion)
	}
}

// Text from variables and files is escaped where it is shown.
func TestHostileText(t *testing.T) {
	p := host().set("CUDA_VISIBLE_DEVICES", "0\x1b[2J", "CUDA_HOME", "/x\x1b]0;evil\x07", "NVIDIA_VISIBLE_DEVICES", "\u202ex", "CUDA_CACHE_MAXSIZE", "\n\nfake line").with("/.dockerenv", "")
	var b bytes.Buffer
	if err := Text(&b, Run(p.world(t))); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\x07\u202e") || strings.Contains(b.String(), "\nfake") {
		t.Errorf("%q", b.String())
	}
}

func FuzzDoctor(f *testing.F) {
	f.Add("CUDA_VISIBLE_DEVICES", "0,1", "nvidia 1\n", "include x\n/usr/local/cuda/compat\n")
	f.Add("NVIDIA_REQUIRE_CUDA", "cuda>=12.8 brand=tesla,driver>=535", "nouveau 1\n", "")
	f.Add("LD_LIBRARY_PATH", ":/a/stubs:$ORIGIN", "\x00\xff", "#")
	f.Add("CUDA_CACHE_MAXSIZE", "99999999999999999999", "", "/")
	w := host().with("/.dockerenv", "", "/a/stubs/libcuda.so.1", elf()).world(f)
	f.Fuzz(func(t *testing.T, name, value, modules, conf string) {
		for p, text := range map[string]string{"proc/modules": modules, "etc/ld.so.conf": conf} {
			if err := os.WriteFile(filepath.Join(w.Root.Dir, p), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		one := *w
		one.Env = map[string]string{name: value, "HOME": "/home/u"}
		// All steps that read what is made up here; looking for runtimes reads a
		// hundred folders, which is slow and the same each time.
		r := &Report{}
		for _, x := range steps["linux"] {
			if x.id != "runtime" {
				s := x.look(&one)
				s.Title = x.title
				r.Steps = append(r.Steps, s)
			}
		}
		var b bytes.Buffer
		if err := Text(&b, r); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\x07\r\u202e") {
			t.Fatalf("%q", b.String())
		}
		for _, s := range r.Steps {
			if s.Seen == "" || s.Status == "" {
				t.Fatalf("%+v", s)
			}
		}
	})
}
