//go:build unix

package quiet_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/creack/pty"
)

// main does what fatview does for --help: import everything and print a line.
// The imports stand as gofmt sorts them; what matters is their paths.
const small = `package main

import (
	"fmt"

	_ "fatview/ui"
	_ "fatview/ui/quiet"
)

func main() { fmt.Println("usage") }
`

// loud is the same without quiet: it shows that the test would notice.
const loud = `package main

import (
	"fmt"

	_ "fatview/ui"
)

func main() { fmt.Println("usage") }
`

// build compiles a main package that exists only in memory.
func build(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	file, overlay, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "usage")
	at := filepath.Join(root, "ui", "quiet", "zz_usage", "main.go")
	write(t, file, source)
	write(t, overlay, `{"Replace":{"`+at+`":"`+file+`"}}`)
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", bin, "./ui/quiet/zz_usage")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// onSilentTerminal runs a program on a terminal that answers nothing, and
// returns what it wrote there and how long it took.
func onSilentTerminal(t *testing.T, bin string, args ...string) ([]byte, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "CI=", "COLORFGBG=")
	start := time.Now()
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Skip("no pseudo terminal here: " + err.Error())
	}
	defer tty.Close()
	var out []byte
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := tty.Read(b)
			out = append(out, b[:n]...)
			if asks(out) {
				cancel() // it has asked, so it would wait for seconds now
			}
			if err != nil {
				return
			}
		}
	}()
	err = cmd.Wait()
	took := time.Since(start)
	select {
	case <-read:
	case <-time.After(2 * time.Second):
		t.Fatal("the terminal does not end")
	}
	if err != nil && !asks(out) {
		t.Fatalf("%v: %s", err, out)
	}
	return out, took
}

// asks tells whether the output holds any escape sequence, such as the
// questions for a colour (OSC 11) or for the place of the cursor (CSI 6 n).
func asks(out []byte) bool { return bytes.IndexByte(out, 0x1b) >= 0 }

func TestHelpAsksTheTerminalNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	out, took := onSilentTerminal(t, build(t, small))
	if asks(out) || took > 2*time.Second {
		t.Errorf("took %v and wrote %q", took, out)
	}
	if out, _ := onSilentTerminal(t, build(t, loud)); !asks(out) {
		t.Log("bubbletea no longer asks on its own; package quiet may have become needless")
	}
}

// The program itself, because what counts are its own imports.
func TestHelpOfFatview(t *testing.T) {
	if testing.Short() {
		t.Skip("builds fatview")
	}
	bin := filepath.Join(t.TempDir(), "fatview")
	cmd := exec.Command("go", "build", "-o", bin, "fatview")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, took := onSilentTerminal(t, bin, "--help")
	if asks(out) || took > 2*time.Second || !bytes.Contains(out, []byte("fatview")) {
		t.Errorf("took %v and wrote %q", took, out)
	}
}
