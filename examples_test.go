package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fatview/arch"
	"fatview/gpu"
	"fatview/internal/cli"
	"fatview/report"
)

// yamlValues reads the part of YAML that the examples are written in: mappings
// and lists by indentation, one-line lists, plain and quoted values. Keys are
// "spec.containers.0.image".
func yamlValues(t *testing.T, name string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	type level struct {
		indent, items int
		path          string
	}
	out, stack := map[string]string{}, []level{{-1, 0, ""}}
	line := regexp.MustCompile(`^(?:([A-Za-z0-9./_-]+):(?: (.+))?|(.+))$`)
	for n, text := range strings.Split(string(b), "\n") {
		rest := strings.TrimLeft(text, " ")
		if rest == "" || rest[0] == '#' {
			continue
		}
		indent := len(text) - len(rest)
		if indent%2 != 0 || strings.ContainsAny(text, "\t") || strings.TrimRight(text, " ") != text {
			t.Fatalf("%s:%d: indentation of %q", name, n+1, text)
		}
		for stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		if item, ok := strings.CutPrefix(rest, "- "); ok {
			top := &stack[len(stack)-1]
			stack = append(stack, level{indent, 0, fmt.Sprintf("%s.%d", top.path, top.items)})
			top.items++
			rest, indent = item, indent+2
		}
		m := line.FindStringSubmatch(rest)
		path := stack[len(stack)-1].path
		value := m[2] + m[3]
		if m[1] != "" {
			path = strings.TrimPrefix(path+"."+m[1], ".")
		}
		if _, twice := out[path]; twice {
			t.Fatalf("%s:%d: %s stands twice", name, n+1, path)
		}
		out[path] = strings.Trim(value, `"`)
		if list, ok := strings.CutPrefix(value, "["); ok {
			for i, v := range strings.Split(strings.TrimSuffix(list, "]"), ", ") {
				out[fmt.Sprintf("%s.%d", path, i)] = v
			}
		}
		if m[1] != "" && value == "" {
			stack = append(stack, level{indent, 0, path})
		}
	}
	return out
}

// commandOf returns the command of a container, with paths replaced.
func commandOf(t *testing.T, y map[string]string, at string, replace ...string) []string {
	t.Helper()
	var args []string
	for i := 0; ; i++ {
		v, ok := y[fmt.Sprintf("%s.command.%d", at, i)]
		if !ok {
			break
		}
		args = append(args, strings.NewReplacer(replace...).Replace(v))
	}
	if len(args) < 3 || filepath.Base(args[0]) != "fatview" {
		t.Fatalf("%s runs %q", at, args)
	}
	return args[1:]
}

func wantValues(t *testing.T, y map[string]string, want map[string]string) {
	t.Helper()
	for k, v := range want {
		if y[k] != v {
			t.Errorf("%s is %q, not %q", k, y[k], v)
		}
	}
}

// The Job's command does what its comments say.
func TestExampleJob(t *testing.T) {
	y := yamlValues(t, "examples/kubernetes/job.yaml")
	const pod = "spec.template.spec"
	wantValues(t, y, map[string]string{
		"apiVersion": "batch/v1", "kind": "Job", "spec.backoffLimit": "0", pod + ".restartPolicy": "Never",
		pod + ".containers.0.volumeMounts.0.mountPath": "/scan/image", pod + ".containers.0.volumeMounts.1.mountPath": "/scan/mirror",
		pod + ".containers.0.volumeMounts.2.mountPath": "/out", pod + ".volumes.0.image.reference": "my-application:1",
	})
	for i := range 4 {
		mount, volume := y[fmt.Sprintf("%s.containers.0.volumeMounts.%d.name", pod, i)], y[fmt.Sprintf("%s.volumes.%d.name", pod, i)]
		if mount == "" || mount != volume {
			t.Errorf("mount %d is of %q, volume %q", i, mount, volume)
		}
	}
	out := filepath.Join(t.TempDir(), "lines.ndjson")
	args := commandOf(t, y, pod+".containers.0", "/scan/image", "testdata/fixtures/mixed.so", "/scan/mirror", "testdata/fixtures/sass86.so", "/out/lines.ndjson", out)
	var stderr bytes.Buffer
	env := cli.Env{Stdout: io.Discard, Stderr: &stderr, Getenv: func(string) string { return "" }}
	for range 2 { // a second run may find the file of the first
		if code := cli.Main(t.Context(), env, args); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, stderr.String())
		}
	}
	b, err := os.ReadFile(out)
	if n := bytes.Count(b, []byte("\n")); err != nil || n != 2*3 {
		t.Errorf("%d lines, %v", n, err)
	}
}

// The init container lets a pod pass only on a GPU that is served.
func TestExampleInitContainer(t *testing.T) {
	y := yamlValues(t, "examples/kubernetes/init-container.yaml")
	wantValues(t, y, map[string]string{
		"apiVersion": "v1", "kind": "Pod", "spec.restartPolicy": "Never",
		"spec.initContainers.1.image":                           y["spec.containers.0.image"],
		"spec.initContainers.0.command.2":                       y["spec.initContainers.1.command.0"],
		"spec.initContainers.1.env.0.name":                      "NVIDIA_DRIVER_CAPABILITIES",
		"spec.initContainers.1.env.0.value":                     "compute,utility",
		"spec.initContainers.1.resources.limits.nvidia.com/gpu": "1",
		"spec.containers.0.resources.limits.nvidia.com/gpu":     "1",
		"spec.volumes.0.name":                                   y["spec.initContainers.1.volumeMounts.0.name"],
	})
	args := commandOf(t, y, "spec.initContainers.1", "/opt/application", "testdata/fixtures/mixed.so")
	driver, err := gpu.ParseDriver("620.10")
	if err != nil {
		t.Fatal(err)
	}
	// mixed.so serves 8.0 natively and 12.0 by JIT, and has nothing for 6.1.
	for _, c := range []struct {
		cc   arch.CC
		code int
	}{{80, cli.ExitOK}, {120, cli.ExitOK}, {61, cli.ExitNo}, {0, cli.ExitError}} {
		var inv gpu.Inventory
		if c.cc != 0 {
			d := driver
			if c.cc == 61 {
				d = gpu.Driver{} // 580 was the last for it
			}
			inv = gpu.Inventory{Source: gpu.SourceSMI, Driver: d, Targets: []gpu.Target{{Name: "local", CC: c.cc, Driver: d, Source: gpu.SourceSMI}}}
		}
		var out bytes.Buffer
		env := cli.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Detect: func(context.Context) gpu.Inventory { return inv }}
		if code := cli.Main(t.Context(), env, args); code != c.code {
			t.Errorf("%v: exit %d, not %d: %s", c.cc, code, c.code, out.String())
		}
	}
}

// docs/SCALE.md explains each key of a line, and nothing that is none.
func TestScaleExplainsLines(t *testing.T) {
	text, err := os.ReadFile("docs/SCALE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| key | |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for _, row := range strings.Split(table, "\n")[1:] {
		for _, key := range strings.Split(strings.Split(row, "|")[1], ",") {
			told = append(told, strings.Trim(key, " `"))
		}
	}
	b, err := json.Marshal(report.ErrorLine("", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(b, &line); err != nil {
		t.Fatal(err)
	}
	for key := range line {
		if !slices.Contains(told, key) {
			t.Errorf("%s is not explained", key)
		}
	}
	if len(told) != len(line) {
		t.Errorf("%d keys are explained, a line has %d", len(told), len(line))
	}
}
