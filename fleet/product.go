package fleet

import (
	"regexp"
	"strings"
)

// unknownProfile stands for the profile of a slice of which the source tells
// none, or of a GPU that has MIG on and whose slices the source does not list.
const unknownProfile = "MIG"

// profileAtEnd is a MIG profile at the end of a name, as NVIDIA's MIG user guide
// writes them (1g.5gb, 1c.3g.20gb, 1g.10gb+me), with the dots and dashes that
// labels and Slurm have in place of the plus, and what stands between it and
// the name: "-MIG-" in Kubernetes, "_" in Slurm.
var profileAtEnd = regexp.MustCompile(`(?i)(?:^|[-_ .]+)(?:mig[-_ ]+)?((?:[1-9]c\.)?[1-9][0-9]?g\.[0-9]{1,4}gb(?:[+._-](?:me|gfx)(?:[+._-](?:all|me|gfx))*)?)$`)

// splitProfile takes the mark of shared GPUs off a name, and the MIG profile.
func splitProfile(name string) (product, profile string) {
	name = cutSuffix(name, "-SHARED")
	if m := profileAtEnd.FindStringSubmatchIndex(name); m != nil {
		return name[:m[0]], strings.ToLower(name[m[2]:m[3]])
	}
	return name, ""
}

// bare returns a name without the maker's, so that "NVIDIA-A100-SXM4-80GB" and
// "nvidia_a100-sxm4-80gb" find what "A100-SXM4-80GB" finds.
func bare(name string) string {
	const maker = "nvidia"
	if len(name) > len(maker)+1 && strings.EqualFold(name[:len(maker)], maker) && strings.ContainsRune(" -_", rune(name[len(maker)])) {
		return name[len(maker)+1:]
	}
	return name
}

func cutSuffix(s, suffix string) string {
	if n := len(s) - len(suffix); n >= 0 && strings.EqualFold(s[n:], suffix) {
		return s[:n]
	}
	return s
}
