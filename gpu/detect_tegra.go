package gpu

import (
	"strconv"
	"strings"

	"fatview/arch"
	"fatview/internal/sysroot"
)

// tegraModels maps a word of the device tree's model to the capability of the
// integrated GPU. The order matters: a Jetson Orin Nano is no Jetson Nano.
var tegraModels = []struct {
	word string
	cc   arch.CC
}{
	{"thor", 110}, {"orin", 87}, {"xavier", 72}, {"tx2", 62}, {"tx1", 53}, {"nano", 53}, {"tk1", 32},
}

const (
	treeModel    = "/proc/device-tree/model"
	tegraRelease = "/etc/nv_tegra_release"
)

// askTegra recognises Jetson and DRIVE boards by the model that their device
// tree names, or by the file that NVIDIA's system image carries, where a
// container hides the tree. Before JetPack 6 these boards have neither NVML nor
// nvidia-smi. Their driver comes with the system image and has no number of its
// own here.
func askTegra(root sysroot.Root) Inventory {
	inv := Inventory{Tried: []Attempt{{Name: treeModel}}}
	name := sanitize(root.Line(treeModel)) // the model ends with a zero byte
	release, known := ReadL4T(root)
	cc := tegraCC(name)
	if cc == 0 && known {
		inv.Tried = append(inv.Tried, Attempt{Name: tegraRelease})
		name, cc = "NVIDIA Jetson ("+release.String()+")", release.cc()
	}
	last := &inv.Tried[len(inv.Tried)-1]
	switch {
	case cc != 0:
		inv.Targets = []Target{{Name: name, CC: cc, Source: SourceDeviceTree}}
		inv.Source = SourceDeviceTree
	case known:
		inv.Problem = "this is a Jetson with " + release.String() + ", and nothing tells which: name it, such as Orin"
		last.Reason = inv.Problem
	default:
		last.Reason = "not a Jetson"
	}
	return inv
}

func tegraCC(model string) arch.CC {
	lower := strings.ToLower(model)
	if !strings.Contains(lower, "jetson") && !strings.Contains(lower, "nvidia") {
		return 0
	}
	for _, m := range tegraModels {
		if strings.Contains(lower, m.word) {
			return m.cc
		}
	}
	return 0
}

// L4T is a release of NVIDIA's Linux for Tegra, which JetPack installs.
type L4T struct {
	Major    int    // 36
	Revision string // "4.3"
	Board    string // "t210ref", "t186ref", "generic"
}

// String returns "L4T R36.4.3".
func (l L4T) String() string {
	s := "L4T R" + strconv.Itoa(l.Major)
	if l.Revision != "" {
		s += "." + l.Revision
	}
	return s
}

// cc returns the capability where only one is possible: t210ref is the board of
// TX1 and Nano, and R36, which is JetPack 6, runs on Orin alone.
func (l L4T) cc() arch.CC {
	switch {
	case l.Board == "t210ref":
		return 53
	case l.Major == 36:
		return 87
	}
	return 0
}

// ReadL4T reads /etc/nv_tegra_release; ok is false where there is none.
func ReadL4T(root sysroot.Root) (l L4T, ok bool) {
	return parseL4T(root.Line(tegraRelease))
}

// parseL4T reads "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic,
// EABI: aarch64, DATE: …".
func parseL4T(line string) (L4T, bool) {
	rest, ok := strings.CutPrefix(line, "# R")
	if !ok {
		return L4T{}, false
	}
	number, _, _ := strings.Cut(rest, " ")
	major, err := strconv.Atoi(number)
	if err != nil || major < 1 || major > 999 {
		return L4T{}, false
	}
	l := L4T{Major: major}
	for field := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(field, ":")
		switch strings.TrimSpace(key) {
		case "REVISION":
			l.Revision = sanitize(value)
		case "BOARD":
			l.Board = sanitize(value)
		}
	}
	return l, true
}
