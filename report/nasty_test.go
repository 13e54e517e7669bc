package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	neturl "net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"fatview/internal/plain"
)

// nasty are strings of strangers: each is dangerous to some reader.
var nasty = []string{
	"</script><script>alert(1)</script>",
	"<img src=x onerror=alert(1)>",
	"javascript:alert(1)",
	"\"><svg onload=alert(1)>",
	"'onmouseover='alert(1)",
	"{{.Path}} ${x} `y`",
	"]]> --> <!-- <![CDATA[ <?xml ?>",
	"&amp; &lt; &#0; &bogus;",
	"=HYPERLINK(\"http://x\",\"y\")",
	"+1", "-1", "@cmd|' /C calc'!A0", "\t=1", "\r=1",
	"a,b;c\"d\"\r\ne",
	"\x1b]0;owned\a\x1b[2J",
	"\x00NUL\x7fDEL\u0085NEL\u009bCSI",
	"\u202egnp.exe\u2066\u200b\ufeff",
	"\u2028line\u2029paragraph",
	"\xff\xfe\xed\xa0\x80 not UTF-8",
	"\ufffe\uffff",
	"[link](http://x) ![i](y) | `c` *b* @someone",
	"{0} }{ {{ }}",
	"../../etc/passwd#frag?query%00%2e",
	"C:\\windows\\x.dll",
	"größe 核 😀",
	"", " ", "\n",
	strings.Repeat("x", 5000),
}

// nastyReport is a report with s wherever a file, a package, a system or an
// inventory could put it.
func nastyReport(s string) *Report {
	zero, n, isa, off, least := 0, 3, "8.4", int64(16), "525.60.13"
	return &Report{
		Schema: Schema,
		GPUs:   []GPU{{Name: s, CC: "9.0", Driver: &s, Source: "nvml"}, {Name: s, CC: "12.0", Source: "csv", Problem: s}},
		Files: []File{
			{
				Path: s, Format: "elf", Machine: s, Size: 1024,
				Containers: []Container{
					{ID: 0, Section: s, Label: s, Linkage: "registered", Images: []Image{
						{Kind: "sass", Arch: "sm_90", Compression: "none", StoredBytes: 5, Bytes: 9, Kernels: &n},
						{ID: 1, Kind: "ptx", Arch: "compute_90", PTXISA: &isa, Compression: "zstd"}},
						Verdicts: []Verdict{{Verdict: "native", Image: &zero, Reason: s, Rule: "sass-group"}}},
					{ID: 1, Section: s, Label: s, Linkage: "registered", Images: []Image{}, Verdicts: []Verdict{{Verdict: "missing", Reason: s, Rule: "per-container"}}},
					{ID: 2, Section: s, Label: s, Linkage: "registered", Images: []Image{}, Verdicts: []Verdict{{Verdict: "driver", Reason: s, Rule: "ptx-version"}}},
					{ID: 3, Section: s, Label: s, Linkage: "registered", Images: []Image{}, Verdicts: []Verdict{{Verdict: "specialised", Reason: s, Rule: "per-container"}}},
				},
				Coverage: []Coverage{{Verdict: "partial", Reason: s, MinDriver: &least, Containers: ContainerCounts{Native: 1, Missing: 1, Driver: 1, Specialised: 1}}},
				Findings: []Finding{{Severity: "error", Offset: &off, Message: s}, {Severity: "warning", Message: s}},
				Needs:    []Need{{Name: s, Product: "CUDA runtime", Version: s, Vendor: "NVIDIA"}},
				Foreign:  []Foreign{{Vendor: "AMD", Kind: "hip", Targets: []string{s}, Section: s, text: s}},
				Copies:   []string{s}, BareCubins: []BareCubins{{Section: s, Arch: "sm_90", Count: 1, Bytes: 9}},
			},
			{Path: "b/" + s, Format: "pe", Containers: []Container{}, Coverage: []Coverage{}, Findings: []Finding{{Severity: "info", Message: s}}, Needs: []Need{}, Foreign: []Foreign{}, Copies: []string{}, BareCubins: []BareCubins{}},
		},
		Scans: []Scan{{Path: s, Kind: "folder", Files: 2, Entries: 3, Findings: []ScanFinding{{"warning", s, s}}}, {Path: s, Error: s, Findings: []ScanFinding{}}},
		Distributions: []Distribution{{Kind: "python", Name: s, Version: s, Root: s, Files: []int{0}, Variants: [][]int{},
			Coverage: []DistributionCoverage{{Verdict: "partial", Reason: s, Containers: ContainerCounts{Native: 1, Missing: 1}}}}},
		Dependencies: []Dependency{{File: 0, To: 1, Name: s, Through: []string{s}, Unserved: []Unserved{{Verdict: "none", Message: s}}}},
	}
}

// readers say for each format whether a reader of it gets through, and that
// nothing is in it but what fatview put there. A format without one fails.
var readers = map[string]func(t *testing.T, s, out string){
	"text": func(*testing.T, string, string) {},
	"md": func(t *testing.T, s, out string) {
		for _, bad := range []string{"<script", "<img", "<svg", "](http"} {
			if strings.Contains(strings.ReplaceAll(out, `\]`, ""), bad) {
				t.Errorf("%q makes %s in Markdown", s, bad)
			}
		}
	},
	"junit": readsXML,
	"html":  readsHTML,
	"sarif": func(t *testing.T, s, out string) {
		var log sarifLog
		if err := json.Unmarshal([]byte(out), &log); err != nil {
			t.Fatal(err)
		}
		for _, x := range log.Runs[0].Results {
			uri := x.Locations[0].Physical.Artifact.URI
			u, err := neturl.Parse(uri)
			if err != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "" {
				t.Errorf("%q makes the URI %s: %v", s, uri, err)
			}
			if strings.Contains(strings.ReplaceAll(x.Message.Text, `\](`, ""), "](") || strings.Contains(strings.NewReplacer("{{", "", "}}", "").Replace(x.Message.Text), "{") {
				t.Errorf("%q makes a link or an argument: %s", s, x.Message.Text)
			}
		}
	},
	"cyclonedx": func(t *testing.T, s, out string) {
		var b bom
		if err := json.Unmarshal([]byte(out), &b); err != nil {
			t.Fatal(err)
		}
		url := b.Components[0].PURL
		if u, err := neturl.Parse(url); url != "" && (err != nil || u.Scheme != "pkg" || u.RawQuery != "" || u.Fragment != "") {
			t.Errorf("%q makes the package URL %s: %v", s, url, err)
		}
	},
	"json": func(t *testing.T, s, out string) {
		var back Report
		if err := json.Unmarshal([]byte(out), &back); err != nil {
			t.Fatal(err)
		}
		if got := back.Files[0].Containers[0].Label; got != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("JSON says %q for %q", got, s)
		}
	},
	"ndjson": func(t *testing.T, s, out string) {
		// a line for each file, for each finding of damage in the first, for what
		// was left out of the folder, and for the argument whose error has a text
		lines, want := strings.Split(strings.TrimSuffix(out, "\n"), "\n"), 6
		if s == "" {
			want--
		}
		if len(lines) != want {
			t.Errorf("%.40q makes %d lines", s, len(lines))
		}
		for _, l := range lines {
			var back map[string]any
			if err := json.Unmarshal([]byte(l), &back); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if back["schema"] != LineSchema {
				t.Errorf("%q makes the line %s", s, l)
			}
		}
	},
	"csv": func(t *testing.T, s, out string) {
		all, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range all {
			for _, c := range row {
				if c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) {
					t.Errorf("the cell %q could be a formula", c)
				}
			}
		}
		if got, want := all[1][0], plain.Text(s); got != want && got != "'"+want {
			t.Errorf("the path is %q, want %q", got, want)
		}
	},
}

// readsXML reads a document to its end, strictly.
func readsXML(t *testing.T, s, out string) {
	d := xml.NewDecoder(strings.NewReader(out))
	for {
		x, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if start, ok := x.(xml.StartElement); ok {
			if !strings.Contains(" testsuites testsuite properties property testcase failure error skipped system-out ", " "+start.Name.Local+" ") {
				t.Errorf("%q makes an element %s", s, start.Name.Local)
			}
		}
	}
}

// Every writer takes every nasty string everywhere: it succeeds, twice the
// same, in valid UTF-8 without a character that acts on a terminal, and its
// readers read it.
func TestNastyStringsInEveryFormat(t *testing.T) {
	for _, format := range Formats() {
		read := readers[format]
		if read == nil {
			t.Errorf("no reader of %s is in this test", format)
			continue
		}
		t.Run(format, func(t *testing.T) {
			for _, s := range nasty {
				var first, second bytes.Buffer
				if err := Write(&first, format, nastyReport(s)); err != nil {
					t.Fatalf("%q: %v", s, err)
				}
				if err := Write(&second, format, nastyReport(s)); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
					t.Errorf("%q: written twice it differs, %v", s, err)
				}
				out := first.String()
				if !utf8.ValidString(out) {
					t.Errorf("%q: not UTF-8", s)
				}
				for _, r := range out {
					if r != '\n' && r != '\r' && plain.Hostile(r) {
						t.Errorf("%q: %q is in it", s, r)
						break
					}
				}
				read(t, s, out)
			}
		})
	}
}
