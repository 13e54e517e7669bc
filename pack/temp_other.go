//go:build !windows

package pack

import "os"

// createTemp makes a file that only its owner may read and takes its name away
// at once, so that nothing stays however the program ends.
func createTemp(dir string) (tempFile, error) {
	f, err := os.CreateTemp(dir, "fatview-*") // mode 0600
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
