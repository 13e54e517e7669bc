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
	for i := range r.Files {
		f := &r.Files[i]
		fmt.Fprintf(b, "# %s: %s\n", plain.Text(f.Path), plain.Text(f.Summary()))
		for j := range f.Containers {
			listContainer(b, &f.Containers[j])
		}
		for _, x := range f.Findings {
			if x.Message != noCode {
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
