package ui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fatview/collect"
	"fatview/gpu"
	"fatview/index"
	"fatview/internal/fatbintest"
)

// models are kept, because making one takes longer than measuring it.
var models = map[int]*model{}

// bigModel is the screen of a library with so many kernels, 50 in a container,
// each for three architectures, all decoded and unfolded.
func bigModel(b *testing.B, kernels int) *model {
	b.Helper()
	const each = 50
	var parts [][]byte
	for c := range kernels / each {
		ks := make([]fatbintest.Kernel, each)
		for k := range ks {
			ks[k] = fatbintest.Kernel{Name: fmt.Sprintf("_ZN4onnx4cuda9some_nameIfLi%dEEEvPK%di", k, c), Registers: k, Code: 128}
		}
		n := fatbintest.NewContainer()
		for _, a := range []string{"80", "90", "120a"} {
			n.SASS(a, fatbintest.Cubin{Arch: a, Kernels: ks, Unit: fmt.Sprintf("unit%d.cu", c)}.Bytes())
		}
		parts = append(parts, n.Bytes())
	}
	file := fatbintest.Join(parts...)
	targets, err := gpu.Parse("a100,h100,rtx5090")
	if err != nil {
		b.Fatal(err)
	}
	m := newModel(context.Background(), Options{
		Paths: []string{"big.fatbin"}, Targets: targets,
		Collect: collect.Options{Named: func(ctx context.Context, path string) ([]*index.File, error) {
			return index.Read(ctx, path, bytes.NewReader(file), int64(len(file)), nil)
		}},
	}, newTheme(io.Discard))
	m.tick = func() tea.Cmd { return nil }
	clock := time.Now()
	m.now = func() time.Time { return clock }
	var run func(tea.Cmd)
	run = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				run(c)
			}
		default:
			run(m.update(msg))
		}
	}
	m.update(tea.WindowSizeMsg{Width: 200, Height: 60})
	run(m.Init())
	m.openAll(true)
	if m.files[0].kernels < kernels/each*each || len(m.rows) < 3*kernels {
		b.Fatalf("%d kernels, %d rows", m.files[0].kernels, len(m.rows))
	}
	return m
}

func sizes(b *testing.B, bench func(b *testing.B, m *model)) {
	for _, n := range []int{75_000, 150_000} {
		b.Run(fmt.Sprintf("kernels=%d", n), func(b *testing.B) {
			m := models[n]
			if m == nil {
				m = bigModel(b, n)
				models[n] = m
			}
			m.filter, m.gpu = false, 0
			m.openAll(true)
			b.ReportAllocs()
			b.ResetTimer()
			bench(b, m)
		})
	}
}

// BenchmarkFrame draws the middle of the unfolded tree.
func BenchmarkFrame(b *testing.B) {
	sizes(b, func(b *testing.B, m *model) {
		m.move(len(m.rows) / 2)
		for b.Loop() {
			m.View()
		}
	})
}

// BenchmarkKey moves the cursor and draws, as holding j does.
func BenchmarkKey(b *testing.B) {
	sizes(b, func(b *testing.B, m *model) {
		key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("j")}
		for b.Loop() {
			m.update(key)
			m.View()
		}
	})
}

// BenchmarkFold folds and unfolds a container in the middle, and draws.
func BenchmarkFold(b *testing.B) {
	sizes(b, func(b *testing.B, m *model) {
		m.move(m.place(row{0, int32(len(m.files[0].conts) / 2), none, none}))
		key := tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(" ")}
		for b.Loop() {
			m.update(key)
			m.View()
		}
	})
}

// BenchmarkFilter shows only what is not served, and all again.
func BenchmarkFilter(b *testing.B) {
	sizes(b, func(b *testing.B, m *model) {
		m.chooseGPU(2)
		key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("u")}
		for b.Loop() {
			m.update(key)
			m.View()
		}
	})
}

// BenchmarkSearch is the background's part of a search.
func BenchmarkSearch(b *testing.B) {
	sizes(b, func(b *testing.B, m *model) {
		files := [][]*cont{m.files[0].conts}
		for b.Loop() {
			findAll(b.Context(), files, "nAME<float, 49>")
		}
	})
}

// BenchmarkTick takes in a tenth of a second's worth of decoding.
func BenchmarkTick(b *testing.B) {
	sizes(b, func(b *testing.B, m *model) {
		f := m.files[0]
		for b.Loop() {
			for i := range 30 {
				f.conts[i].seen = false
				f.decoded--
			}
			m.settle()
			m.View()
			m.judging = false
		}
	})
}
