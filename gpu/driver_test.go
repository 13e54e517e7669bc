package gpu

import (
	"strings"
	"testing"

	"fatview/arch"
)

func TestParseDriver(t *testing.T) {
	for in, want := range map[string]string{
		"535.104.05": "535.104.05 R535 12.2 8.2 true", "535": "535 R535 12.2 8.2 true", "R535": "535 R535 12.2 8.2 true",
		"r580": "580 R580 13.0 9.0 true", " 570.86.10 ": "570.86.10 R570 12.8 8.7 true",
		"551": "551 R550 12.4 8.4 true", "551.61": "551.61 R550 12.4 8.4 true", "537.13": "537.13 R535 12.2 8.2 true",
		"572": "572 R570 12.8 8.7 true", "560": "560 R560 12.6 8.5 true", "430.40": "430.40 R430 10.2 6.5 false",
		"435": "435 R435 10.1 6.4 false", "620": "620 R620 13.5 9.5 false", "999": "999 R620 13.5 9.5 false",
		"346": "346 R346 7.0 4.2 true", "617.1": "617.1 R617 13.4 9.4 true", "452.39": "452.39 R450 11.0 7.0 true",
	} {
		d, err := ParseDriver(in)
		got := strings.Join([]string{d.Version, Driver{Branch: d.Branch}.String(), d.CUDA.String(), d.PTX.String(), map[bool]string{true: "true", false: "false"}[d.Certain]}, " ")
		if err != nil || got != want || !d.Known() {
			t.Errorf("ParseDriver(%q) = %s, %v; want %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "not a driver version", "abc": "not a driver version", "R": "not a driver version", "535.": "not a driver version",
		".5": "not a driver version", "535.104.05-1": "not a driver version", "-535": "not a driver version", "RR535": "not a driver version",
		"1.2.3.4.5": "not a driver version", "535535535": "not a driver version", "٥٣٥": "not a driver version",
		"340.108": "out of range", "12.2": "out of range", "0": "out of range", "1000": "out of range", "53510": "out of range",
	} {
		d, err := ParseDriver(in)
		if err == nil || d != (Driver{}) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "535.104.05") {
			t.Errorf("ParseDriver(%q) = %+v, %v; want an error with %q and how to write it", in, d, err, want)
		}
	}
	if (Driver{}).Known() || (Driver{}).String() != "unknown driver" {
		t.Error("the zero driver is unknown")
	}
}

func TestDriverForCUDA(t *testing.T) {
	for in, want := range map[string]int{"12.2": 535, "12": 525, "10.2": 440, "10.1": 418, "9.1": 387, "7.5": 352, "12.6": 560, "13.5": 620, "13.4": 615, "11.0": 450} {
		d, err := DriverForCUDA(in)
		if err != nil || d.Branch != want || d.Version != "" || d.Certain != (in != "13.5") {
			t.Errorf("DriverForCUDA(%q) = %+v, %v; want R%d", in, d, err, want)
		}
	}
	for in, want := range map[string]string{
		"11.9": "11.8 came with R520 and 12.0 with R525", "6.5": "the oldest in the table is 7.0 with R346",
		"13.9": "the newest in the table is 13.5 with R620", "x": "write it like 12.2", "": "write it like 12.2", "12.2.1": "write it like 12.2",
	} {
		if d, err := DriverForCUDA(in); err == nil || d.Known() || !strings.Contains(err.Error(), want) {
			t.Errorf("DriverForCUDA(%q) = %+v, %v; want %q", in, d, err, want)
		}
	}
}

func TestMinDriverForCUDA(t *testing.T) {
	for in, want := range map[string]string{
		"12.0": "525.60.13 527.41", "11.9": "525.60.13 527.41", "12.6": "560 560", "12.7": "565 565", "13.0": "580.65.06 580",
		"9.1": "390.46 391.29", "10.2": "440.33 441.22", "13.5": "620 620", "13.6": "", "6.5": "", "0.0": "",
	} {
		linux, windows, branch, ok := MinDriverForCUDA(version(t, in))
		if got := strings.TrimSpace(linux + " " + windows); got != want || ok != (want != "") || (branch != 0) != ok {
			t.Errorf("MinDriverForCUDA(%s) = %q, %d, %v; want %q", in, got, branch, ok, want)
		}
	}
}

func TestDetectedDriver(t *testing.T) {
	v := func(major, minor int) arch.Version { return arch.Version{Major: major, Minor: minor} }
	for _, c := range []struct {
		version string
		cuda    arch.Version
		want    Driver
	}{
		{"570.86.10", v(12, 8), Driver{"570.86.10", 570, v(12, 8), v(8, 7), true}},
		{"570.86.10", v(0, 0), Driver{"570.86.10", 570, v(12, 8), v(8, 7), true}},
		{"535.104.05", v(12, 6), Driver{"535.104.05", 535, v(12, 6), v(8, 5), true}}, // a compat package
		{"340.108", v(0, 0), Driver{Version: "340.108", Branch: 340}},
		{"700.1", v(14, 2), Driver{"700.1", 620, v(14, 2), v(9, 5), false}},
		{"", v(12, 2), Driver{"", 535, v(12, 2), v(8, 2), true}},
		{"?", v(0, 0), Driver{Version: "?"}},
	} {
		if got := detected(c.version, c.cuda); got != c.want {
			t.Errorf("detected(%q, %s) = %+v, want %+v", c.version, c.cuda, got, c.want)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	order := []string{"", "450", "450.51.05", "450.51.06", "525.60.13", "525.105.17", "R535", "535.54.03", "535.104.05", "570.26", "570.86.10", "1000", "99999999999999999999999"}
	for i, a := range order {
		for j, b := range order {
			if got := CompareVersions(a, b); got != sign(i-j) {
				t.Errorf("CompareVersions(%q, %q) = %d", a, b, got)
			}
		}
	}
	for _, p := range [][2]string{{"535", "535.0"}, {"R535", "535"}, {"570.086", "570.86"}, {"535.104-1", "535.104"}} {
		if CompareVersions(p[0], p[1]) != 0 {
			t.Errorf("%q and %q are the same version", p[0], p[1])
		}
	}
}

func FuzzParseDriver(f *testing.F) {
	for _, s := range []string{"535.104.05", "R535", "551", "", "R", "999.999", "1.2.3.4.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDriver(s); (err == nil) != d.Known() {
			t.Errorf("ParseDriver(%q) = %+v, %v", s, d, err)
		}
		DriverForCUDA(s)
		detected(s, arch.Version{})
		if CompareVersions(s, s) != 0 {
			t.Errorf("%q differs from itself", s)
		}
	})
}
