package fleet

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// sample is what a line of metrics tells of a GPU.
type sample struct {
	metric, value string
	gpu, uuid     string
	model, host   string
	driver, cuda  string
	instance      string // GPU_I_ID
	profile       string // GPU_I_PROFILE
	scraped       string // the label that a scrape adds
}

// readDCGM reads Prometheus text. A GPU is in as many lines as there are
// metrics; one is told apart by its host, UUID and MIG instance.
func readDCGM(r io.Reader, c *collector) error {
	d := metrics{at: map[string]int{}, sliced: map[string]bool{}}
	err := eachLine(r, func(n int, line string) error { return d.line(n, line, c) })
	if err != nil {
		return err
	}
	for _, g := range d.gpus {
		if g.mig == "" && d.sliced[g.id] {
			continue // listed by its instances
		}
		if err := c.add(g.told); err != nil {
			return err
		}
	}
	return nil
}

type metrics struct {
	gpus   []metricGPU
	at     map[string]int // index into gpus
	sliced map[string]bool
}

type metricGPU struct {
	told
	id string // of the whole GPU
}

func (d *metrics) line(n int, line string, c *collector) error {
	if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
		return nil
	}
	s, ok := parseSample(line)
	if !ok {
		c.problem(fmt.Sprintf("line %d", n), false, "it is no metric with labels")
		return nil
	}
	if s.model == "" && s.uuid == "" {
		return nil // of a switch, a CPU or the exporter itself
	}
	if s.host == "" {
		s.host = s.scraped
	}
	whole := s.host + "\x00" + s.uuid
	if s.uuid == "" {
		whole += s.gpu
	}
	id := whole
	if s.instance != "" || s.profile != "" {
		id += "\x00" + s.instance + "\x00" + s.profile
	}
	i, ok := d.at[id]
	if !ok {
		if i = len(d.gpus); i >= c.limits.entries {
			return fmt.Errorf("more than %d GPUs: %w", c.limits.entries, ErrLarge)
		}
		id, whole = strings.Clone(id), strings.Clone(whole)
		d.at[id] = i
		d.gpus = append(d.gpus, metricGPU{told{line: n, count: 1, host: c.keep(s.host), mig: s.mig(c)}, whole})
		if id != whole {
			d.sliced[whole] = true
		}
	}
	g := &d.gpus[i]
	for _, x := range []struct {
		have *string
		told string
	}{{&g.name, s.model}, {&g.driver, s.driver}, {&g.cuda, cudaNumber(s.cuda)}} {
		if *x.have == "" && x.told != "" {
			*x.have = c.keep(x.told)
		}
	}
	switch s.metric {
	case "DCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY":
		g.cc = c.keep(capabilityNumber(s.value))
	case "DCGM_FI_CUDA_DRIVER_VERSION":
		g.cuda = c.keep(cudaNumber(s.value))
	}
	return nil
}

func (s *sample) mig(c *collector) string {
	switch {
	case s.profile != "":
		return c.keep(strings.ToLower(s.profile))
	case s.instance != "":
		return unknownProfile
	}
	return ""
}

// cudaNumber reads 1000·major and the minor, which dcgm_fields.h puts at the
// hundreds (11100 is 11.1) and the driver itself at the tens (11010).
func cudaNumber(s string) string {
	n := whole(s)
	if n < 1000 || n > 99_999 {
		return ""
	}
	minor := n % 1000 / 10
	if n%1000 >= 100 {
		minor = n % 1000 / 100
	}
	return fmt.Sprintf("%d.%d", n/1000, minor)
}

// capabilityNumber reads 16 bits of major and 16 bits of minor version.
func capabilityNumber(s string) string {
	n := whole(s)
	if major, minor := n>>16, n&0xFFFF; n > 0 && major < 100 && minor < 10 {
		return fmt.Sprintf("%d.%d", major, minor)
	}
	return ""
}

// whole reads a whole number as Prometheus writes it, "524288" or
// "5.24288e+05"; 0 if it is none.
func whole(s string) int {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f < 1<<31) {
		return 0
	}
	return int(f)
}

// parseSample reads one line: metric{label="value",…} value [timestamp]. Within
// values \\, \" and \n are escapes.
func parseSample(line string) (s sample, ok bool) {
	open := strings.IndexAny(line, "{ \t")
	if open <= 0 {
		return s, false
	}
	s.metric = line[:open]
	if line[open] != '{' {
		return s, true
	}
	rest := line[open+1:]
	for {
		rest = strings.TrimLeft(rest, ", \t")
		if after, end := strings.CutPrefix(rest, "}"); end {
			if fields := strings.Fields(after); len(fields) > 0 {
				s.value = fields[0]
			}
			return s, true
		}
		key, after, found := strings.Cut(rest, "=")
		after = strings.TrimLeft(after, " \t")
		if !found || after == "" || after[0] != '"' {
			return s, false
		}
		text, n := quoted(after)
		if n < 0 {
			return s, false
		}
		s.label(strings.TrimSpace(key), text)
		rest = after[n:]
	}
}

// label takes one label. The second name of each is that of the exporter's
// metrics about links; exported_ is how Prometheus keeps a label that its own
// scrape has too.
func (s *sample) label(key, text string) {
	switch strings.TrimPrefix(key, "exported_") {
	case "gpu":
		s.gpu = text
	case "UUID", "uuid", "gpu_uuid":
		s.uuid = text
	case "modelName", "model_name":
		s.model = text
	case "Hostname", "hostname":
		s.host = text
	case "instance":
		s.scraped = text
	case "DCGM_FI_DRIVER_VERSION":
		s.driver = text
	case "DCGM_FI_CUDA_DRIVER_VERSION":
		s.cuda = text
	case "GPU_I_ID":
		s.instance = text
	case "GPU_I_PROFILE":
		s.profile = text
	}
}

// quoted reads a quoted text at the beginning of s and returns how long it is
// with its quotes, -1 if it does not end.
func quoted(s string) (text string, n int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), i + 1
		case '\\':
			if i++; i >= len(s) {
				return "", -1
			}
			if s[i] == 'n' {
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return "", -1
}
