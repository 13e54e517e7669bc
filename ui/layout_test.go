package ui

import "testing"

// Whatever the screen, the parts lie within it, do not overlap, and the panes
// have room.
func TestLayoutOfEveryScreen(t *testing.T) {
	for w := 1; w <= 220; w++ {
		for h := 1; h <= 70; h++ {
			for _, focus := range []pane{paneTree, paneDetails} {
				for _, panel := range []int{0, 3, 9, 100, 103, 109} {
					l := arrange(w, h, focus, panel%100, panel >= 100)
					if l.tooSmall != (w < leastWidth || h < leastHeight) {
						t.Fatalf("%d×%d: too small %v", w, h, l.tooSmall)
					}
					if l.tooSmall {
						continue
					}
					parts := []rect{l.header, l.gpus, l.treeTitle, l.tree, l.detailsTitle, l.details, l.panel, l.footer}
					for i, a := range parts {
						if a.w == 0 || a.h == 0 {
							continue
						}
						if a.x < 0 || a.y < 0 || a.h < 0 || a.x+a.w > w || a.y+a.h > h {
							t.Fatalf("%d×%d: part %d is outside: %+v", w, h, i, a)
						}
						for j, b := range parts[:i] {
							if b.w > 0 && b.h > 0 && a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
								t.Fatalf("%d×%d: parts %d and %d overlap: %+v %+v", w, h, j, i, b, a)
							}
						}
					}
					shown := l.tree
					if l.single && focus == paneDetails {
						shown = l.details
					}
					if shown.h < 2 && panel%100 == 0 || shown.h < 0 {
						t.Fatalf("%d×%d: no room: %+v", w, h, l)
					}
				}
			}
		}
	}
}

func TestLayoutModes(t *testing.T) {
	for _, c := range []struct {
		w, h         int
		wide, single bool
	}{{60, 20, false, true}, {80, 24, false, false}, {99, 60, false, false}, {100, 12, true, false}, {160, 45, true, false}} {
		if l := arrange(c.w, c.h, paneTree, 0, false); l.wide != c.wide || l.single != c.single {
			t.Errorf("%d×%d: wide %v, single %v", c.w, c.h, l.wide, l.single)
		}
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct{ top, cur, h, n, margin, want int }{
		{0, 0, 10, 5, 2, 0}, {0, 9, 10, 100, 2, 2}, {50, 20, 10, 100, 2, 18}, {0, 99, 10, 100, 2, 90}, {95, 99, 10, 100, 2, 90}, {5, 5, 1, 10, 2, 5}, {3, 0, 4, 0, 2, 0},
	} {
		if got := window(c.top, c.cur, c.h, c.n, c.margin); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestScrollCells(t *testing.T) {
	w := []int{10, 10, 10, 10}
	for _, c := range []struct{ top, cur, w, want int }{
		{0, 0, 40, 0}, {0, 3, 40, 0}, {0, 3, 25, 2}, {3, 0, 25, 0}, {3, 3, 100, 0}, {0, 2, 5, 2}, {9, 9, 20, 2},
	} {
		if got := scrollCells(w, c.top, c.cur, c.w); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
