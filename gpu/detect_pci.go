package gpu

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"fatview/internal/sysroot"
)

// Seen is a GPU of which no more is known than that it is there.
type Seen struct {
	Name string // a product, or "NVIDIA GPU 10de:2684"
	Bus  string // PCI address, "0000:01:00.0"
}

const (
	pciDevices = "/sys/bus/pci/devices"
	maxPCI     = 4096
)

// pciNames are the files with the names of PCI devices, as Debian and Fedora
// install them. They have 1.5 MB.
var pciNames = []string{"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"}

const maxPCINames = 8 << 20

// askPCI looks for NVIDIA GPUs on the PCI bus, where no driver tells of any. The
// bus knows numbers only. Where the system has the list of their names, and
// the catalogue knows the name, the capability is known too.
func askPCI(root sysroot.Root) Inventory {
	inv := Inventory{Tried: []Attempt{{Name: pciDevices}}}
	names, err := root.ReadDir(pciDevices, maxPCI)
	if err != nil {
		inv.Tried[0].Reason = "there is none"
		return inv
	}
	ids := map[string]string{}
	var found []Seen
	var devices []string
	for _, n := range names {
		at := pciDevices + "/" + n
		// Class 0x03 is a display controller: VGA or, without a screen, 3D.
		if root.Line(at+"/vendor") != "0x10de" || !strings.HasPrefix(root.Line(at+"/class"), "0x03") {
			continue
		}
		device := strings.TrimPrefix(root.Line(at+"/device"), "0x")
		if len(device) != 4 || len(found) == maxDevices {
			continue
		}
		found = append(found, Seen{Name: "NVIDIA GPU 10de:" + sanitize(device), Bus: sanitize(n)})
		devices = append(devices, device)
		ids[device] = ""
	}
	if len(found) == 0 {
		inv.Tried[0].Reason = "no NVIDIA GPU is on the PCI bus"
		return inv
	}
	namePCI(root, ids)
	var problems []string
	for i, s := range found {
		name := ids[devices[i]]
		if name != "" {
			s.Name = "NVIDIA " + name
		}
		inv.Seen = append(inv.Seen, s)
		cc, ok := capabilityByName(name)
		if name == "" || !ok {
			problems = append(problems, fmt.Sprintf("%s is on the PCI bus (%s), its compute capability is unknown: name it by its capability, such as 9.0", s.Name, s.Bus))
			continue
		}
		inv.Targets = append(inv.Targets, Target{Name: s.Name, CC: cc, Source: SourcePCI, Index: i})
	}
	inv.Problem = join(problems)
	inv.Tried[0].Reason = inv.Problem
	if len(inv.Targets) > 0 {
		inv.Source = SourcePCI
		inv.Tried[0].Reason = ""
	}
	return inv
}

// namePCI fills in the product names of NVIDIA's device numbers.
func namePCI(root sysroot.Root, ids map[string]string) {
	for _, file := range pciNames {
		b, err := root.ReadFile(file, maxPCINames)
		if err != nil {
			continue
		}
		parsePCINames(b, ids)
		return
	}
}

// parsePCINames reads pci.ids: a line for a vendor, then one with a tab for each
// of its devices, "2684  AD102 [GeForce RTX 4090]". The product is what stands in
// brackets.
func parsePCINames(b []byte, ids map[string]string) {
	inside := false
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(make([]byte, 0, 4<<10), 64<<10)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			if inside {
				return
			}
			inside = strings.HasPrefix(strings.ToLower(line), "10de ")
		case inside && !strings.HasPrefix(line, "\t\t"):
			device, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			device = strings.ToLower(device)
			if _, wanted := ids[device]; !wanted {
				continue
			}
			if _, in, ok := strings.Cut(name, "["); ok {
				name, _, _ = strings.Cut(in, "]")
			}
			ids[device] = sanitize(name)
		}
	}
}
