package ui

import (
	"os"
	"path/filepath"
	"testing"
)

// damaged writes a copy of a fixture whose second container claims a size
// beyond the file, and returns its path.
func damaged(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../testdata/fixtures/mixed.so")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged.so")
	if err := os.WriteFile(path, b[:len(b)*3/4], 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestViewsCarryTheSelectionOver(t *testing.T) {
	d := newDriver(t, 120, 40, damaged(t)+",mixed.so", gpus("h100"))
	d.WantScreen("[1 browse]", "2 findings").Press("G", "h").WantSelected("mixed.so")
	d.Press("2").WantScreen("[2 findings]", "severity", "damaged.so").WantScreen("sections have no names")
	d.Press("G", "j").WantFoot("last row").Press("g", "k").WantFoot("first row")
	d.Press("2").WantFoot("already").Press("z").WantFoot("does nothing here")
	d.Enter().WantScreen("[1 browse]").WantSelected("damaged.so")
	d.Press("9").WantFoot("does nothing here")
	d.Press("2", "esc").WantScreen("[1 browse]")
	d.Press("tab").WantScreen("(1 browse)", "[details]").Press("2").WantScreen("[2 findings]", " details ")
}

func TestViewBarByMouse(t *testing.T) {
	d := newDriver(t, 120, 40, damaged(t), gpus("h100"))
	y := d.m.lay.treeTitle.y
	d.Click(14, y).WantScreen("[2 findings]").Click(3, y).WantScreen("[1 browse]")
	newDriver(t, 80, 24, "mixed.so", gpus("h100")).Press("2").WantScreen("nothing found")
}
