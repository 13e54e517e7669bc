package fleet

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// smiRoot is the root element of `nvidia-smi -q -x`.
const smiRoot = "nvidia_smi_log"

// xmlDocument is what is known of the document and the GPU being read.
type xmlDocument struct {
	*collector
	path         []string
	text         strings.Builder // of the innermost element
	n            int             // documents begun
	driver, cuda string
	gpu          told
	slices       int // MIG devices of the GPU
}

// readXML reads documents in a row. Versions stand before the GPUs in all
// versions of nvidia-smi's document type.
func readXML(r io.Reader, c *collector) error {
	in := &allowance{r: r, max: maxTag}
	dec := xml.NewDecoder(in)
	d := xmlDocument{collector: c}
	for {
		in.renew()
		tok, err := dec.Token()
		if err == io.EOF && len(d.path) == 0 {
			break
		}
		if err != nil {
			return err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			err = d.start(tok)
		case xml.EndElement:
			err = d.end()
		case xml.CharData:
			if d.text.Len() <= maxText { // longer ones are no values of interest
				d.text.Write(tok)
			}
		}
		if err != nil {
			return fmt.Errorf("offset %d: %w", dec.InputOffset(), err)
		}
	}
	if d.n == 0 {
		return fmt.Errorf("there is no element %s", smiRoot)
	}
	return nil
}

func (d *xmlDocument) start(e xml.StartElement) error {
	switch {
	case len(d.path) >= maxDepth:
		return fmt.Errorf("more than %d elements in each other: %w", maxDepth, ErrLarge)
	case len(d.path) == 0 && e.Name.Local != smiRoot:
		return fmt.Errorf("the root is %q and should be %s, as nvidia-smi -q -x has it", clip(e.Name.Local), smiRoot)
	case len(d.path) == 0:
		d.n++
		d.driver, d.cuda = "", ""
	case len(d.path) == 1 && e.Name.Local == "gpu":
		d.gpu, d.slices = told{count: 1, where: fmt.Sprintf("document %d", d.n)}, 0
		for _, a := range e.Attr {
			if a.Name.Local == "id" && len(a.Value) <= maxText {
				d.gpu.where += ", gpu " + a.Value
			}
		}
	}
	d.path = append(d.path, e.Name.Local)
	d.text.Reset()
	return nil
}

// end takes what an element held. The decoder has matched it with its start.
func (d *xmlDocument) end() error {
	text := d.text.String()
	d.text.Reset()
	below := strings.Join(d.path[1:], "/")
	d.path = d.path[:len(d.path)-1]
	switch below {
	case "driver_version":
		d.driver = text
	case "cuda_version":
		d.cuda = text
	case "gpu/product_name":
		d.gpu.name = text
	case "gpu/mig_mode/current_mig":
		d.gpu.mig = migMode(text)
	case "gpu/mig_devices/mig_device":
		d.slices++
	case "gpu":
		d.gpu.driver, d.gpu.cuda = d.driver, d.cuda
		if d.gpu.mig != "" && d.slices > 0 {
			d.gpu.count = d.slices
		}
		return d.add(d.gpu)
	}
	return nil
}
