package archlist

import (
	"fmt"

	"fatview/arch"
	"fatview/gpu"
)

// nvccSpecial resolves all, all-major and native as nvcc does.
func (b *builder) nvccSpecial(name string) error {
	t := b.plan.Toolkit
	if name == "native" {
		if !t.IsZero() && t.Less(nativeSince) {
			return fmt.Errorf("native takes nvcc of CUDA %s or newer, not %s", nativeSince, t)
		}
		ccs, err := b.localGPUs("native")
		for _, cc := range ccs {
			b.add(SASS, arch.Arch{CC: cc})
		}
		b.note("native builds machine code for the GPUs of this machine and no PTX")
		return err
	}
	if t.IsZero() {
		return needsToolkit(name)
	}
	if t.Less(allSince) {
		return fmt.Errorf("%s takes nvcc of CUDA %s or newer, not %s", name, allSince, t)
	}
	targets := buildable(t)
	if len(targets) == 0 {
		return fmt.Errorf("no architecture is known for CUDA %s", t)
	}
	for i, a := range targets {
		if name == "all" || i == 0 || a.CC.Minor() == 0 {
			b.add(SASS, a)
		}
	}
	newest := targets[len(targets)-1]
	b.add(PTX, arch.Arch{CC: newest.CC - arch.CC(newest.CC.Minor())})
	b.note("%s is read for CUDA %s", name, t)
	return nil
}

// A NeedError says that a list leaves something to the toolkit or to the
// machine that builds, and that Options did not tell it.
type NeedError struct {
	Word string // all, native, Auto …
	GPUs bool   // Options.Native is missing; else Options.Toolkit is
}

func (e *NeedError) Error() string {
	if e.GPUs {
		return fmt.Sprintf("what %s means depends on the GPUs of the machine that builds, and none is known here: name them, or write architectures", e.Word)
	}
	return fmt.Sprintf("what %s means depends on the CUDA toolkit: give its version, for example 12.8", e.Word)
}

func needsToolkit(name string) error { return &NeedError{Word: name} }

func (b *builder) localGPUs(name string) ([]arch.CC, error) {
	if len(b.native) == 0 {
		return nil, &NeedError{Word: name, GPUs: true}
	}
	return b.native, nil
}

// buildable returns the architectures without suffix that a toolkit builds.
func buildable(t arch.Version) []arch.Arch {
	var out []arch.Arch
	for _, info := range gpu.Archs() {
		if info.Arch.Suffix == 0 && builds(info, t) {
			out = append(out, info.Arch)
		}
	}
	return out
}

func builds(info gpu.ArchInfo, t arch.Version) bool {
	return !t.Less(info.FirstToolkit) && (info.LastToolkit.IsZero() || !info.LastToolkit.Less(t))
}
