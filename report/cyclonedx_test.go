package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Expected values are examples of the purl specification's type definitions,
// or made by its rules.
func TestPURL(t *testing.T) {
	for _, c := range []struct{ kind, name, version, want string }{
		{"python", "Django", "1.11.1", "pkg:pypi/django@1.11.1"},
		{"python", "django_allauth", "12.23", "pkg:pypi/django-allauth@12.23"},
		{"python", "A.-_b", "", "pkg:pypi/a-b"},
		{"python", "torch", "2.7.0+cu128", "pkg:pypi/torch@2.7.0%2Bcu128"},
		{"npm", "foobar", "12.3.1", "pkg:npm/foobar@12.3.1"},
		{"npm", "@Angular/animation", "12.3.1", "pkg:npm/%40angular/animation@12.3.1"},
		{"npm", "@x", "1", "pkg:npm/%40x@1"},
		{"deb", "attr", "1:2.4.47-2+b1", "pkg:deb/debian/attr@1:2.4.47-2%2Bb1"},
		{"deb", "attr", "2.4-1ubuntu3", "pkg:deb/ubuntu/attr@2.4-1ubuntu3"},
		{"conda", "absl-py", "0.4.1", "pkg:conda/absl-py@0.4.1"},
		{"nuget", "EnterpriseLibrary.Common", "6.0.1304", "pkg:nuget/EnterpriseLibrary.Common@6.0.1304"},
		{"jar", "org.apache.xmlgraphics:batik-anim", "1.9.1", "pkg:maven/org.apache.xmlgraphics/batik-anim@1.9.1"},
		{"odd", "a/b@c?d#e", "ä %", "pkg:generic/a%2Fb%40c%3Fd%23e@%C3%A4%20%25"},
		{"python", "", "1", ""},
	} {
		if got := purl(c.kind, c.name, c.version); got != c.want {
			t.Errorf("purl(%s, %s, %s) = %s, want %s", c.kind, c.name, c.version, got, c.want)
		}
	}
}

func properties(list []bomProperty) map[string]string {
	out := map[string]string{}
	for _, p := range list {
		out[p.Name] = p.Value
	}
	return out
}

func TestCycloneDX(t *testing.T) {
	r := built(t, "mixed.so", "h100,rtx5090", "")
	r.Files = append(r.Files, built(t, "sass86.so", "h100,rtx5090", "").Files...)
	r.Distributions = []Distribution{{Kind: "python", Name: "Foo_Bar", Version: "1.2", Files: []int{1}, Coverage: []DistributionCoverage{{GPU: 0, Verdict: "none"}}}}
	r.Dependencies = []Dependency{{File: 0, To: 1}, {File: 0, To: 1}, {File: 1, To: 0}}
	r.Version, r.Made = "1.0", time.Unix(1e9, 0)
	var b bytes.Buffer
	if err := CycloneDX(&b, r); err != nil {
		t.Fatal(err)
	}
	var got bom
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "CycloneDX" || got.SpecVersion != "1.6" || got.Metadata.Timestamp != "2001-09-09T01:46:40Z" || got.Metadata.Tools.Components[0].Version != "1.0" {
		t.Errorf("%+v", got)
	}
	if p := properties(got.Metadata.Properties); p["fatview:gpu:0"] != "H100" || p["fatview:cc:1"] != "12.0" {
		t.Errorf("%v", p)
	}
	if len(got.Components) != 2 {
		t.Fatalf("%+v", got.Components)
	}
	d, f := got.Components[0], got.Components[1]
	if d.PURL != "pkg:pypi/foo-bar@1.2" || d.Ref != "distribution-0" || len(d.Components) != 1 || d.Components[0].Ref != "file-1" || properties(d.Properties)["fatview:verdict:0"] != "none" {
		t.Errorf("%+v", d)
	}
	p := properties(f.Properties)
	for name, want := range map[string]string{
		"fatview:architectures": "sm_75,sm_80,sm_86,sm_90,sm_90a", "fatview:ptx": "compute_90", "fatview:containers": "3",
		"fatview:verdict:0": "native", "fatview:verdict:1": "jit", "fatview:min_driver:0": text(r.Files[0].Coverage[0].MinDriver),
	} {
		if p[name] != want || want == "" {
			t.Errorf("%s is %q, want %q", name, p[name], want)
		}
	}
	if want := []bomDepends{{"file-0", []string{"file-1"}}, {"file-1", []string{"file-0"}}}; !reflect.DeepEqual(got.Dependencies, want) {
		t.Errorf("%+v", got.Dependencies)
	}
}
