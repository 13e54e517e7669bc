package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fatview": main})
}

// TestScripts runs the commands as a user types them; see testdata/script.
func TestScripts(t *testing.T) {
	fixtures, err := filepath.Abs("testdata/fixtures")
	if err != nil {
		t.Fatal(err)
	}
	inventories, err := filepath.Abs("fleet/testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("FIX", fixtures)
			e.Setenv("FLEET", inventories)
			// No test may depend on the GPUs of the machine it runs on.
			e.Setenv("CUDA_VISIBLE_DEVICES", "")
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "root" && os.Geteuid() == 0, nil },
	})
}
