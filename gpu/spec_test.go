package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fatview/arch"
)

// brief is a list of targets as "name capability; …".
func brief(targets []Target) string {
	var out []string
	for _, t := range targets {
		if t.Source == SourceCapability {
			out = append(out, t.CC.String())
		} else {
			out = append(out, t.Name+" "+t.CC.String())
		}
	}
	return strings.Join(out, "; ")
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"rtx5090": "GeForce RTX 5090 12.0", "RTX 5090": "GeForce RTX 5090 12.0", "rtx-5090": "GeForce RTX 5090 12.0",
		"5090": "GeForce RTX 5090 12.0", "NVIDIA GeForce RTX 5090": "GeForce RTX 5090 12.0", "geforce 5090": "GeForce RTX 5090 12.0",
		"4090": "GeForce RTX 4090 8.9", "rtx-4090": "GeForce RTX 4090 8.9", "3090": "GeForce RTX 3090 8.6", "3050": "Geforce RTX 3050 8.6",
		"h100": "H100 9.0", "H200": "H200 9.0", "b200": "B200 10.0", "gb200": "GB200 10.0", "gh200": "GH200 9.0", "b300": "B300 10.3",
		"a100": "A100 8.0", "NVIDIA A100-SXM4-80GB": "A100-SXM4-80GB 8.0", "a10": "A10 8.6", "a10g": "A10G 8.6", "rtx a1000": "RTX A1000 8.6", "a1000": "RTX A1000 8.6",
		"t4": "Tesla T4 7.5", "l4": "L4 8.9", "l40": "L40 8.9", "l40s": "L40S 8.9", "v100": "V100 7.0", "Tesla V100-SXM2-16GB": "Tesla V100 SXM2 16GB 7.0",
		"p100": "Tesla P100 6.0", "k80": "Tesla K80 3.7", "p4": "Tesla P4 6.1", "k20": "Tesla K20 3.5", "k40": "Tesla K40 3.5",
		"gtx 980 ti": "GeForce GTX 980 Ti 5.2", "gtx 1080": "GeForce GTX 1080 6.1", "1080 ti": "GeForce GTX 1080 Ti 6.1", "gtx1650": "GeForce GTX 1650 7.5",
		"titan v": "TITAN V 7.0", "titan x": "TITAN X 6.1", "gtx titan x": "GeForce GTX TITAN X 5.2", "titan rtx": "TITAN RTX 7.5",
		"orin": "Orin 8.7", "orin nano": "Jetson Orin Nano 8.7", "thor": "Thor 11.0", "xavier": "Xavier 7.2", "tx2": "Jetson TX2 6.2", "jetson nano": "Jetson Nano 5.3",
		"dgx spark": "DGX Spark 12.1", "gb10": "GB10 12.1", "rtx pro 6000": "RTX PRO 6000 12.0", "rtx 4000 ada": "RTX 4000 Ada 8.9",
		"quadro rtx 4000": "Quadro RTX 4000 7.5", "9800 gtx+": "GeForce 9800 GTX+ 1.1", "GTX 1060 6GB": "GeForce GTX 1060 6GB 6.1",
		"94gb h100": "H100 SXM5 94GB 9.0", "4090 laptop": "GeForce RTX 4090 Laptop 8.9", "GeForce 210": "GeForce 210 1.2", "210": "GeForce 210 1.2",
		"9.0": "9.0", "90": "9.0", "sm_90": "9.0", "sm_90a": "9.0", "compute_100f": "10.0", "12.1": "12.1", "SM_86": "8.6", "101": "11.0", "sm_101a": "11.0",
		"turing": "7.5", "Ampere": "8.0; 8.6; 8.7; 8.8", "hopper": "9.0", "ada": "8.9", "Ada Lovelace": "8.9", "blackwell ultra": "10.3",
		"blackwell": "10.0; 10.3; 11.0; 12.0; 12.1", "rubin": "10.7", "kepler": "3.0; 3.2; 3.5; 3.7",
		">=10": "10.0; 10.3; 10.7; 11.0; 12.0; 12.1", ">=12": "12.0; 12.1", ">12.0": "12.1", "==8.9": "8.9", "=8.9": "8.9", "<=1.1": "1.0; 1.1",
		">=8.0,<9.0": "8.0; 8.6; 8.7; 8.8; 8.9", ">=8.0 <8.7": "8.0; 8.6", "<9.0, >= sm_86": "8.6; 8.7; 8.8; 8.9", ">8.9<10": "9.0", ">=10.1,<=10.1": "11.0",
		"h100, 8.0 ,sm_80,,h100": "H100 9.0; 8.0", "t4,>=12.0,l4": "Tesla T4 7.5; 12.0; 12.1; L4 8.9", "hopper,9.0,sm_90a": "9.0",
	} {
		got, err := Parse(in)
		if err != nil || brief(got) != want {
			t.Errorf("Parse(%q) = %s, %v; want %s", in, brief(got), err, want)
		}
	}
	all, err := Parse("ALL")
	if err != nil || len(all) != len(Capabilities()) || all[0].Name != "CC 1.0" || all[0].Source != "capability" || all[0].Driver.Known() {
		t.Errorf("all: %v, %v", all, err)
	}
	if h100, _ := Parse("h100"); h100[0].Source != "catalogue" {
		t.Errorf("%+v", h100)
	}
}

func TestParseAmbiguous(t *testing.T) {
	for in, want := range map[string]string{
		"gt 730":   "GeForce GT 730 (3.5), GeForce GT 730 (3.0), GeForce GT 730 (2.1)",
		"rtx 4000": "RTX 4000 Ada (8.9)", "rtx 6000": "Quadro RTX 6000 (7.5)", "jetson": "(8.7), Jetson Xavier NX (7.2), Jetson TX2 (6.2), Jetson TX1 (5.3)", "gtx 750 ti": "GeForce GTX 750 Ti (5.0), GeForce GTX 750 Ti (3.0)",
		"ion": "ION (1.2), ION (1.1)", "4000": "Quadro 4000 (2.0)", "titan": "GeForce GTX TITAN (3.5)", "h100,gt 730": "GT 730",
	} {
		got, err := Parse(in)
		var ambiguous *AmbiguousError
		if !errors.As(err, &ambiguous) || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %s, %v; want candidates with %s", in, brief(got), err, want)
		}
	}
}

func TestParseUnknown(t *testing.T) {
	for in, want := range map[string]string{
		"rtx 5900": "GeForce RTX 5090", "gtx 1008": "GeForce GTX 1080", "hoper": "Hopper", "h1000": "H100", "9.5": "9.0", "sm_95": "9.0", "95": "9.0", "14.0": "12.1",
		"rtx 50900": "GeForce RTX 5090", "rtx 509": "GeForce RTX 5090", "rtx 50": "GeForce RTX 5060", "amprere": "Ampere", "rtx 4099": "GeForce RTX 4090",
	} {
		got, err := Parse(in)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || !slices.Contains(unknown.Suggestions, want) || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %s, %v; want %s suggested", in, brief(got), err, want)
		}
	}
	for in, want := range map[string]string{
		"": "no GPU is named", " , ,": "no GPU is named", "nvidia": "no GPU in the catalogue", "---": "no GPU in the catalogue", "voodoo 3": "such as RTX 4090",
		">=": "not a comparison", ">=x": "not a comparison", "=>8.0": "not a comparison", "<>8": "not a comparison", ">=8.0 ada": "not a comparison",
		">=13": "no compute capability is >=13.0", "<8.0,>9.0": "no compute capability is <8.0 and >9.0",
		strings.Repeat("x", 500): "no GPU in the catalogue", strings.Repeat("9.0,", 5000): "longer than",
		"Radeon\x1b[31m": `\x1b`, // quoted
	} {
		got, err := Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("Parse(%.40q) = %s, %v; want an error with %q", in, brief(got), err, want)
		}
	}
}

// Every name in the catalogue finds its own capability, or says that it has
// several.
func TestCatalogue(t *testing.T) {
	want := table(t, "gpus.tsv")
	if len(Catalogue()) != len(want) {
		t.Fatalf("%d of %d rows were read", len(Catalogue()), len(want))
	}
	kinds := []string{"geforce", "workstation", "datacenter", "jetson/embedded", "soc/desktop", "mining", "other"}
	caps := Capabilities()
	for i, p := range Catalogue() {
		row := want[i]
		if p.Name != row["name"] || p.CC.String() != row["compute_capability"] || p.Kind != row["kind"] || p.Certain != (row["certain"] == "yes") {
			t.Errorf("row %d: %+v, want %v", i, p, row)
		}
		if !slices.Contains(kinds, p.Kind) || !slices.Contains(caps, p.CC) || strings.Contains(p.Name, ",") {
			t.Errorf("%+v: its kind or capability is unknown, or its name cannot be written in a list", p)
		}
		for _, spec := range []string{p.Name, "NVIDIA " + strings.ToUpper(p.Name), strings.ReplaceAll(p.Name, " ", "-")} {
			got, err := Parse(spec)
			var ambiguous *AmbiguousError
			switch {
			case errors.As(err, &ambiguous):
				if !slices.ContainsFunc(ambiguous.Candidates, func(c Product) bool { return c.Name == p.Name && c.CC == p.CC }) {
					t.Errorf("Parse(%q): %s is not among %v", spec, p.CC, ambiguous.Candidates)
				}
			case err != nil || len(got) != 1 || got[0].CC != p.CC || got[0].Source != SourceCatalogue:
				t.Errorf("Parse(%q) = %s, %v; want %s", spec, brief(got), err, p.CC)
			}
		}
	}
}

// What the catalogue calls ambiguous is only what the table gives several
// capabilities for one name: no name is ambiguous through another.
func TestCatalogueAmbiguity(t *testing.T) {
	ccs := map[string]map[arch.CC]bool{}
	for _, p := range Catalogue() {
		key := normalise(p.Name).key
		if ccs[key] == nil {
			ccs[key] = map[arch.CC]bool{}
		}
		ccs[key][p.CC] = true
	}
	for _, p := range Catalogue() {
		_, err := Parse(p.Name)
		if several := len(ccs[normalise(p.Name).key]) > 1; several != (err != nil) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"5900", "5090", 1}, {"ab", "ba", 1}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"abc", "xyz", 3}, {"kitten", "sitting", 3}, {"a", "abcdefgh", 4}} {
		if got := distance(c.a, c.b, 3); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"NVIDIA GeForce RTX 5090": "geforce rtx 5090", "A100-SXM4-80GB": "a100 sxm4 80gb", "GeForce 9800 GTX+": "geforce 9800 gtx+",
		"GA102 [GeForce RTX 3080]": "ga102 geforce rtx 3080", "": "", "\xff—": "", "İx": "i̇x",
	} {
		f := normalise(in)
		if got := strings.Join(f.words, " "); got != want && in != "İx" {
			t.Errorf("normalise(%q) = %q, want %q", in, got, want)
		}
		if len(f.edge) != len(f.key)+1 || len(f.from) != len(f.key) || len(f.to) != len(f.key) {
			t.Errorf("normalise(%q): %d edges and %d places for %d bytes", in, len(f.edge), len(f.from), len(f.key))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"rtx 5090", "sm_90a,9.0", ">=8.0,<9.0", "all", "gt 730", "ada", "5900", "İ", "\xff", "<>=", ">= 8 < 9", "geforce"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Parse(s)
		if (err == nil) != (len(got) > 0) {
			t.Errorf("Parse(%q) = %v, %v", s, got, err)
		}
		for _, target := range got {
			if target.CC == 0 || target.Name == "" {
				t.Errorf("Parse(%q) has %+v", s, target)
			}
			// What is shown can be typed again, unless the name was cut out of
			// longer ones of several capabilities.
			if target.Source == SourceCapability {
				again, err := Parse(target.CC.String())
				if err != nil || again[0].CC != target.CC {
					t.Errorf("Parse(%q): %v", target.CC, err)
				}
			}
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Error("an error that fills the screen: ", fmt.Sprint(err))
		}
	})
}
