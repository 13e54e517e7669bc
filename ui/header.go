package ui

import (
	"fmt"
	"strings"

	"fatview/coverage"
	"fatview/report"
)

// formatTitle says a format and a machine as people do.
func formatTitle(format, machine string) string {
	title := map[string]string{"elf": "ELF", "pe": "PE", "coff": "COFF", "ar": "archive", "fatbin": "fat binary", "ptx": "PTX"}[format]
	if title == "" {
		title = format
	}
	if machine == "cuda" {
		return title // a file for no host
	}
	return strings.TrimSpace(title + " " + clean(machine))
}

// drawHeader draws what is open: its name and make, its totals, and at the
// right what the background is doing.
func (m *model) drawHeader(out []string) []string {
	w := m.w
	left := []seg{{"fatview ", m.th.title}}
	right := m.activity()
	fi := m.shownFile()
	if fi < 0 || fi >= len(m.files) {
		switch {
		case m.opening != "":
			left = append(left, seg{" opening " + cutMiddle(clean(m.opening), max(10, w-30)), paint{}})
		default:
			left = append(left, seg{" see which CUDA kernels in a library run on which GPU", m.th.dim})
		}
		out = append(out, ends(w, left, right))
		if m.lay.header.h > 1 {
			out = append(out, fill(w))
		}
		return out
	}
	f := m.files[fi]
	place := ""
	if len(m.files) > 1 {
		place = fmt.Sprintf("  %d of %d files", fi+1, len(m.files))
	}
	if f.err != nil {
		left = append(left, seg{" " + f.name, m.th.strong}, seg{place, m.th.dim})
		out = append(out, ends(w, left, right))
		if m.lay.header.h > 1 {
			out = append(out, fill(w, seg{"could not be opened", m.th.bad}))
		}
		return out
	}
	facts := formatTitle(f.f.Format, f.f.Machine) + " · " + report.Bytes(f.f.Size)
	room := w - segsWidth(right) - width("fatview ") - width(facts) - width(place) - 4
	left = append(left, seg{" " + cutMiddle(f.name, max(room, 12)), m.th.strong}, seg{"  " + facts, paint{}}, seg{place, m.th.dim})
	if m.lay.header.h == 1 {
		return append(out, ends(w, left, right))
	}
	out = append(out, ends(w, left, right))
	return append(out, m.drawTotals(f))
}

func (m *model) drawTotals(f *file) string {
	if len(f.conts) == 0 {
		text := m.codeless(f)
		if !f.searched {
			text = "no device code in the usual sections, searching the rest …"
		}
		return ends(m.w, []seg{{text, m.th.accent}}, m.findingsSegs(f))
	}
	kernels := "kernels not decoded"
	if f.decoded > 0 || !m.opt.NoKernels {
		kernels = counted(f.kernels, "kernel")
		if f.decoded < len(f.conts) {
			kernels += " so far"
		}
	}
	text := counted(len(f.conts), "container") + " · " + counted(f.images, "image") + " · " + kernels
	right := m.findingsSegs(f)
	room := m.w - width(text) - segsWidth(right) - 4
	return ends(m.w, []seg{{text, paint{}}, {"  " + archList(f.archs, room), m.th.accent}}, right)
}

func (m *model) findingsSegs(f *file) []seg {
	n := f.findings
	if n == 0 {
		return nil
	}
	return []seg{{" " + counted(n, "finding"), m.th.bad}}
}

// archList fits architectures into w columns: the prefix is said once where
// all would not fit, and what is left out is counted.
func archList(archs []string, w int) string {
	if w <= 0 {
		return ""
	}
	full := strings.Join(archs[:min(len(archs), w)], " ")
	if len(archs) <= w && width(full) <= w {
		return full
	}
	var short []string
	last := ""
	for _, a := range archs {
		prefix, number, _ := strings.Cut(a, "_")
		if prefix != last {
			short = append(short, a)
			last = prefix
		} else {
			short = append(short, number)
		}
	}
	for n := min(len(short), max(w, 0)); n > 0; n-- { // each takes two columns at least
		s := strings.Join(short[:n], " ")
		if n < len(short) {
			s += fmt.Sprintf(" +%d", len(short)-n)
		}
		if width(s) <= w {
			return s
		}
	}
	return ""
}

// activity is what goes on in the background.
func (m *model) activity() []seg {
	var parts []string
	if m.opening != "" && len(m.files) > 0 {
		text := "opening " + cutMiddle(clean(base(m.opening)), 24)
		if n := m.coming.Entries.Load(); n > 1 {
			text += ": " + counted(int(n), "file")
		}
		parts = append(parts, text)
	}
	if done := m.work.done.Load(); done < m.work.total {
		parts = append(parts, fmt.Sprintf("kernels %s/%s", coverage.Number(int(done)), coverage.Number(int(m.work.total))))
	} else if m.work.search > 0 && m.opening == "" {
		parts = append(parts, "searching the rest of the file")
	}
	if m.find.running {
		parts = append(parts, "searching names")
	}
	if m.exporting {
		parts = append(parts, "writing")
	}
	if parts == nil {
		return nil
	}
	return []seg{{" " + strings.Join(parts, " · ") + " …", m.th.accent}}
}
