package ui

import "testing"

// The golden files are screens as a user sees them, without colours. Read them
// before keeping them.
func TestGolden(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {160, 45}, {200, 60}} {
		w, h := size[0], size[1]
		d := newDriver(t, w, h, "mixed.so", gpus("h100,a100,rtx5090"))
		d.WantGolden("mixed")
		d.Press("]", "]", "j", "l", "j").WantGolden("mixed-image")
		d.Press("/").Type("saxpy<f").WantGolden("mixed-search")
		d.Enter().Press("tab").WantGolden("mixed-kernel")
		d.Press("tab", "esc", "a").Type("rtx 40").WantGolden("mixed-add")
		d.Press("esc", "e").WantGolden("mixed-export").Press("esc")
		d.Press("g", "-", "u").WantGolden("mixed-unserved").Press("u")
		d.Press("?").WantGolden("help")

		d = newDriver(t, w, h, "multi13.so", gpus("h100,b200,rtx5090,gtx1080"))
		d.Press("]", "]", "]", "+", "j").WantGolden("multi13")
		d.Press("/").Type("compute_120").Enter().Press("esc", "l", "l", "j", "v").WantGolden("multi13-ptx")
		newDriver(t, w, h, "").WantGolden("nothing")
	}
}
