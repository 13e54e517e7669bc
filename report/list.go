package report

import (
	"bufio"
	"fmt"
	"io"

	"fatview/internal/plain"
)

// List writes one line for each image: container, image, architecture, kind
// with its PTX ISA, compression, stored and real size in bytes, offset of the
// container, linkage and section. Columns are separated by at least one space
// and none but the last can hold one, so that awk can read them.
func List(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	for i := range r.Scans {
		if s := &r.Scans[i]; !s.plainFile() {
			fmt.Fprintf(b, "# %s: %s\n", plain.Text(s.Path), plain.Text(s.Summary()))
			for _, x := range s.Findings {
				fmt.Fprintf(b, "# %s: %s: %s\n", x.Severity, plain.Text(x.Path), plain.Text(x.Message))
			}
		}
	}
	for i := range r.Files {
		f := &r.Files[i]
		fmt.Fprintf(b, "# %s: %s\n", plain.Text(f.Path), plain.Text(f.Summary()))
		for j := range f.Containers {
			listContainer(b, &f.Containers[j])
		}
		for _, x := range f.Foreign {
			fmt.Fprintf(b, "# not CUDA: %s\n", plain.Text(x.String()))
		}
		if text := BareText(f.BareCubins); text != "" {
			fmt.Fprintf(b, "# %s\n", plain.Text(text))
		}
		for _, x := range f.Findings {
			if x.Message != f.noCode() {
				fmt.Fprintf(b, "# %s: %s\n", x.Severity, plain.Text(x.Message))
			}
		}
	}
	return b.Flush()
}

func listContainer(b *bufio.Writer, c *Container) {
	for _, im := range c.Images {
		kind := im.Kind
		if im.PTXISA != nil {
			kind += "-" + *im.PTXISA
		}
		section := plain.Text(c.Section)
		if section == "" {
			section = "-"
		}
		fmt.Fprintf(b, "%5d %3d %-13s %-10s %-5s %10d %10d %#12x %-11s %s\n",
			c.ID, im.ID, im.Arch, kind, im.Compression, im.StoredBytes, im.Bytes, c.Offset, c.Linkage, section)
	}
}
