package gpu

import (
	"io"
	"os"
	"strings"

	"fatview/arch"
)

// tegraModels maps a word of the device tree's model to the capability of the
// integrated GPU. The order matters: a Jetson Orin Nano is no Jetson Nano.
var tegraModels = []struct {
	word string
	cc   arch.CC
}{
	{"thor", 110}, {"orin", 87}, {"xavier", 72}, {"tx2", 62}, {"tx1", 53}, {"nano", 53}, {"tk1", 32},
}

// askDeviceTree recognises Jetson and DRIVE boards by the model that their
// device tree names. Before JetPack 6 they have neither NVML nor nvidia-smi.
// Their driver comes with the system image and has no number of its own here.
func askDeviceTree(path string) (Inventory, bool) {
	f, err := os.Open(path)
	if err != nil {
		return Inventory{}, false // no device tree, as on most computers
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, 256))
	if err != nil {
		return Inventory{}, false
	}
	name := sanitize(string(raw)) // the model ends with a zero byte
	lower := strings.ToLower(name)
	if !strings.Contains(lower, "jetson") && !strings.Contains(lower, "nvidia") {
		return Inventory{}, false
	}
	for _, m := range tegraModels {
		if strings.Contains(lower, m.word) {
			return Inventory{
				Targets: []Target{{Name: name, CC: m.cc, Source: SourceDeviceTree}},
				Source:  SourceDeviceTree,
				Tried:   []Attempt{{path, ""}},
			}, true
		}
	}
	return Inventory{}, false
}
