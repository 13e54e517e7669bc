package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"fatview/arch"
)

// The columns to ask for; drivers before R510 do not know compute_cap, and
// refuse the whole query.
const (
	smiFields    = "name,compute_cap,driver_version,uuid"
	smiOldFields = "name,driver_version,uuid"
)

const maxSMIOutput = 256 << 10

// askSMI lists GPUs through nvidia-smi. It answered if there is such a program,
// even if all it had to say is why there are no GPUs.
func askSMI(ctx context.Context, getenv func(string) (string, bool)) (Inventory, bool) {
	path := findSMI(getenv)
	if path == "" {
		return Inventory{Tried: []Attempt{{SourceSMI, "not found on PATH"}}}, false
	}
	out, code, err := runSMI(ctx, path, smiFields)
	withCapability := true
	if err == nil && code == nvmlInvalidArgument {
		out, code, err = runSMI(ctx, path, smiOldFields)
		withCapability = false
	}
	if err != nil {
		reason := sanitize(err.Error())
		problem := fmt.Sprintf("nvidia-smi could not be run (%s): run it to see why, or name a GPU, such as H100", reason)
		return Inventory{Problem: problem, Tried: []Attempt{{path, reason}}}, true
	}
	if code != nvmlSuccess {
		problem := smiSentence(code)
		return Inventory{Problem: problem, Tried: []Attempt{{path, problem}}}, true
	}
	inv := parseSMI(out, withCapability)
	inv.Tried = []Attempt{{path, inv.Problem}}
	return inv, true
}

// smiSentence is codeSentence for an exit code, which is NVML's only if the
// program got that far.
func smiSentence(code int) string {
	_, named := codeNames[code]
	switch {
	case code == nvmlNotFound:
		return noGPUSentence
	case named, code == nvmlDriverNotLoaded, code == nvmlLibraryNotFound, code == nvmlVersionMismatch, code == nvmlNoPermission, code == nvmlGPULost:
		return codeSentence(code)
	}
	return fmt.Sprintf("nvidia-smi ended with exit code %d: run it to see what it says, or name a GPU, such as H100", code)
}

// findSMI looks on PATH without its relative folders, so that a program in the
// current folder is never run, and then where drivers put it.
func findSMI(getenv func(string) (string, bool)) string {
	name, more := "nvidia-smi", []string{"/usr/lib/wsl/lib", "/usr/local/nvidia/bin", "/run/nvidia/driver/usr/bin", "/run/current-system/sw/bin"}
	if runtime.GOOS == "windows" {
		name, more = "nvidia-smi.exe", nil
		for _, lib := range usualLibraries() {
			more = append(more, filepath.Dir(lib))
		}
	}
	list, _ := getenv("PATH")
	for _, dir := range append(filepath.SplitList(list), more...) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return path
		}
	}
	return ""
}

// runSMI returns the program's output and exit code, which is an NVML code. The
// error says that it could not be run to its end.
func runSMI(ctx context.Context, path, fields string) (out string, code int, err error) {
	var buf limitedBuffer
	cmd := exec.CommandContext(ctx, path, "--query-gpu="+fields, "--format=csv,noheader")
	cmd.Dir = filepath.Dir(path)
	cmd.Stdout = &buf
	// A child of the program that keeps the pipe open must not keep us.
	cmd.WaitDelay = 200 * time.Millisecond
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 && ctx.Err() == nil {
		return "", exit.ExitCode(), nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the program itself ended well
	}
	return buf.String(), 0, err
}

// limitedBuffer keeps the first part of what is written and drops the rest.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := maxSMIOutput - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// parseSMI reads lines such as "NVIDIA H200, 9.0, 570.86.10, GPU-…". The
// columns are counted from the end, because a name may hold a comma. Lines of
// another shape are messages ("No devices were found").
func parseSMI(out string, withCapability bool) Inventory {
	var inv Inventory
	var problems []string
	columns := strings.Count(smiOldFields, ",") + 1
	if withCapability {
		columns++
	}
	index := 0
	for line := range strings.Lines(out) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if len(cells) < columns || index == maxDevices {
			continue
		}
		last := len(cells) - 1
		t := Target{Source: SourceSMI, UUID: sanitize(cells[last]), Index: index}
		t.Driver = detected(sanitize(cells[last-1]), arch.Version{})
		name := cells[:last-1]
		if withCapability {
			name = cells[:last-2]
			if a, err := arch.Parse(cells[last-2]); err == nil && a.Suffix == 0 {
				t.CC = a.CC
			}
		}
		t.Name = sanitize(strings.Join(name, ","))
		index++
		if t.CC == 0 {
			t.CC, _ = capabilityByName(t.Name)
		}
		if t.CC == 0 {
			problems = append(problems, fmt.Sprintf("nvidia-smi does not tell the compute capability of GPU %d (%s): name it by its capability, such as 9.0", t.Index, t.Name))
			continue
		}
		inv.Targets = append(inv.Targets, t)
		inv.Driver = t.Driver
	}
	if len(inv.Targets) > 0 {
		inv.Source = SourceSMI
	} else if len(problems) == 0 {
		problems = append(problems, noGPUSentence)
	}
	inv.Problem = join(problems)
	return inv
}
