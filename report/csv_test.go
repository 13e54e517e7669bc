package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"
)

// rows reads a report's CSV back as maps from column to cell.
func rows(t *testing.T, r *Report) []map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != strings.Count(b.String(), "\r\n") {
		t.Errorf("%d lines, and not all end in CR LF", n)
	}
	all, err := csv.NewReader(&b).ReadAll() // fails where rows differ in length
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(all[0], ","); got != "path,distribution,version,format,machine,gpu,cc,driver,cuda,container,section,linkage,label,verdict,image,arch,rule,reason" {
		t.Fatalf("header %s", got)
	}
	var out []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, c := range cells {
			row[all[0][i]] = c
		}
		out = append(out, row)
	}
	return out
}

func TestCSVHasEveryVerdict(t *testing.T) {
	r := built(t, "mixed.so", "a100,h100,rtx5090,gtx1080", "")
	// 12.0 with a driver that does not know it: rows without a verdict.
	r.GPUs[2].Problem = "too new"
	for i := range r.Files[0].Containers {
		c := &r.Files[0].Containers[i]
		c.Verdicts = append(c.Verdicts[:2:2], c.Verdicts[3])
	}
	got := rows(t, r)
	if want := 3 * 4; len(got) != want { // containers times GPUs
		t.Fatalf("%d rows, want %d", len(got), want)
	}
	i := 0
	for _, c := range r.Files[0].Containers {
		for g, gpu := range r.GPUs {
			row := got[i]
			i++
			if row["gpu"] != gpu.Name || row["cc"] != gpu.CC || row["container"] != strconv.Itoa(c.ID) || row["section"] != c.Section || row["label"] != c.Label {
				t.Errorf("row %d is %v", i, row)
			}
			if g == 2 {
				if row["verdict"] != "" || row["image"] != "" || row["reason"] != "too new" {
					t.Errorf("a verdict on what cannot be: %v", row)
				}
				continue
			}
			for _, v := range c.Verdicts {
				if v.GPU != g {
					continue
				}
				if row["verdict"] != v.Verdict || row["rule"] != v.Rule || row["reason"] != v.Reason {
					t.Errorf("row %v, want %+v", row, v)
				}
				if (v.Image == nil) != (row["image"] == "") || v.Image != nil && row["arch"] != c.Images[*v.Image].Arch {
					t.Errorf("image %q, arch %q of %+v", row["image"], row["arch"], v)
				}
			}
		}
	}
}

func TestCSVWithoutGPUsOrContainers(t *testing.T) {
	got := rows(t, built(t, "plain.so", "9.0", ""))
	if len(got) != 1 || got[0]["path"] != "plain.so" || got[0]["format"] != "elf" || got[0]["container"]+got[0]["gpu"]+got[0]["verdict"] != "" {
		t.Errorf("a file without containers: %v", got)
	}
	got = rows(t, built(t, "mixed.so", "", ""))
	if len(got) != 3 || got[2]["container"] != "2" || got[2]["gpu"]+got[2]["verdict"]+got[2]["reason"] != "" {
		t.Errorf("a report without GPUs: %v", got)
	}
}

func TestCSVDistribution(t *testing.T) {
	r := &Report{Files: []File{{Path: "a.so"}, {Path: "b.so"}}, Distributions: []Distribution{{Name: "foo", Version: "1.2", Files: []int{1}}}}
	got := rows(t, r)
	if got[0]["distribution"]+got[0]["version"] != "" || got[1]["distribution"] != "foo" || got[1]["version"] != "1.2" {
		t.Errorf("%v", got)
	}
}
