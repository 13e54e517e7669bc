package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The labels and resources that matter. GPU Feature Discovery renamed the
// driver's labels and keeps the old names beside the new ones. Its "runtime" is
// the newest CUDA version of the driver, the one that nvidia-smi shows.
const (
	resource      = "nvidia.com/gpu"
	sharedSuffix  = ".shared" // of a resource that sharing renamed
	migPrefix     = "nvidia.com/mig-"
	productSuffix = ".product"
	countSuffix   = ".count"
	gkeProduct    = "cloud.google.com/gke-accelerator"
	invalidMIG    = "-MIG-INVALID"
)

// node is the part of a Node that is read.
type node struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Status struct {
		Capacity map[string]quantity `json:"capacity"`
	} `json:"status"`
}

// quantity is a Kubernetes quantity, which is a text or a number.
type quantity string

func (q *quantity) UnmarshalJSON(b []byte) error {
	*q = quantity(strings.Trim(string(b), `"`))
	return nil
}

// readKubernetes reads documents in a row: a list with its items, a bare array
// of nodes, or a node. One node is held at a time.
func readKubernetes(r io.Reader, c *collector) error {
	in := &allowance{r: r, max: maxNode}
	in.renew()
	dec := json.NewDecoder(in)
	for {
		in.renew()
		open, err := dec.Token()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case open == json.Delim('['):
			err = readNodes(dec, in, c)
		case open == json.Delim('{'):
			err = readDocument(dec, in, c)
		default:
			err = fmt.Errorf("offset %d: neither a list of nodes nor a node", dec.InputOffset())
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
}

// readDocument reads an object after its brace. Its keys come in any order, so
// what it is, is known at its end.
func readDocument(dec *json.Decoder, in *allowance, c *collector) error {
	var n node
	list := false
	for dec.More() {
		in.renew()
		key, err := dec.Token()
		if err != nil {
			return err
		}
		switch key {
		case "kind":
			err = dec.Decode(&n.Kind)
		case "metadata":
			err = dec.Decode(&n.Metadata)
		case "status":
			err = dec.Decode(&n.Status)
		case "items":
			var open json.Token
			if open, err = dec.Token(); err == nil && open != nil {
				if open != json.Delim('[') {
					return fmt.Errorf("offset %d: items is no array", dec.InputOffset())
				}
				list = true
				err = readNodes(dec, in, c)
			}
		default:
			err = dec.Decode(new(json.RawMessage))
		}
		if err = c.mistyped(err); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	switch {
	case list, n.Kind == "List", n.Kind == "NodeList":
		return nil
	case n.Kind == "Node":
		return c.addNode(&n)
	}
	return fmt.Errorf("a %q is neither a list of nodes nor a node: use kubectl get nodes -o json", clip(n.Kind))
}

// readNodes reads the items of an array after its bracket.
func readNodes(dec *json.Decoder, in *allowance, c *collector) error {
	other := 0
	for dec.More() {
		in.renew()
		var n node
		if err := c.mistyped(dec.Decode(&n)); err != nil {
			return err
		}
		// Items of a NodeList that the API itself made have no kind.
		if n.Kind != "" && n.Kind != "Node" {
			other++
			continue
		}
		if err := c.addNode(&n); err != nil {
			return err
		}
	}
	if other > 0 {
		c.problem("", false, "%d items are no nodes", other)
	}
	_, err := dec.Token()
	return err
}

// mistyped turns a value of another type than it should have into a problem:
// the rest of the document can still be read.
func (c *collector) mistyped(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		c.problem(fmt.Sprintf("offset %d", wrong.Offset), true, "%s is a %s and should be a %s", clip(wrong.Field), wrong.Value, wrong.Type)
		return nil
	}
	return err
}

// addNode takes in the GPUs of a node: whole ones, or slices that stand for
// whole ones (MIG strategy "single"), and the slices of strategy "mixed".
func (c *collector) addNode(n *node) error {
	l := n.Metadata.Labels
	t := told{where: "node " + n.Metadata.Name, host: n.Metadata.Name, driver: driverLabel(l), cuda: cudaLabel(l)}
	if major, ok := l[resource+".compute.major"]; ok {
		t.cc = major + "." + l[resource+".compute.minor"]
	}
	sliced, err := c.addSlices(t, l)
	if err != nil {
		return err
	}
	t.name = l[resource+productSuffix]
	if value(t.name) == "" {
		t.name = l[gkeProduct]
	}
	if strings.HasSuffix(strings.ToUpper(cutSuffix(t.name, "-SHARED")), invalidMIG) {
		c.problem(t.place(), false, "MIG is set up so that no program gets a GPU (product %q)", clip(t.name))
		return nil
	}
	capacity, listed := capacityOf(n, l)
	label, counted := l[resource+countSuffix]
	switch {
	// The label counts GPUs with and without slices; the capacity only those
	// that are handed out whole.
	case sliced && listed:
		t.count = capacity
	case counted:
		t.count = number(label)
	case listed:
		t.count = capacity
	case value(t.name) != "":
		t.count = 1
	}
	if t.count == 0 {
		return nil // a node without GPUs, or one whose GPUs are all sliced
	}
	if value(t.name) == "" && t.cc == "" {
		c.problem(t.place(), true, "it has GPUs and no label says which: GPU Feature Discovery sets %s", resource+productSuffix)
		return nil
	}
	return c.add(t)
}

// addSlices takes in the labels of MIG types, nvidia.com/mig-1g.5gb.count and
// the like.
func (c *collector) addSlices(t told, labels map[string]string) (any bool, err error) {
	var types []string
	for key := range labels {
		if strings.HasPrefix(key, migPrefix) && strings.HasSuffix(key, countSuffix) && len(key) > len(migPrefix)+len(countSuffix) {
			types = append(types, strings.TrimSuffix(key, countSuffix))
		}
	}
	slices.Sort(types)
	for _, typ := range types {
		t.mig = strings.TrimPrefix(typ, migPrefix)
		t.name = labels[typ+productSuffix]
		if t.name == "" {
			t.name = labels[resource+productSuffix]
		}
		if t.count = number(labels[typ+countSuffix]); t.count == 0 {
			continue
		}
		any = true
		if err := c.add(t); err != nil {
			return any, err
		}
	}
	return any, nil
}

// capacityOf returns how many GPUs the node hands out whole. A shared one is
// handed out several times.
func capacityOf(n *node, labels map[string]string) (count int, listed bool) {
	for _, name := range []string{resource, resource + sharedSuffix} {
		q, ok := n.Status.Capacity[name]
		if !ok {
			continue
		}
		listed = true
		count += max(0, number(string(q)))
	}
	if replicas := number(labels[resource+".replicas"]); replicas > 1 {
		count = (count + replicas - 1) / replicas
	}
	return count, listed
}

func driverLabel(l map[string]string) string {
	if v := l["nvidia.com/cuda.driver-version.full"]; v != "" {
		return v
	}
	if l["nvidia.com/cuda.driver-version.major"] != "" {
		return dotted(l, "nvidia.com/cuda.driver-version.major", "nvidia.com/cuda.driver-version.minor", "nvidia.com/cuda.driver-version.revision")
	}
	return dotted(l, "nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor", "nvidia.com/cuda.driver.rev")
}

func cudaLabel(l map[string]string) string {
	if l["nvidia.com/cuda.runtime-version.major"] != "" {
		return dotted(l, "nvidia.com/cuda.runtime-version.major", "nvidia.com/cuda.runtime-version.minor")
	}
	return dotted(l, "nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor")
}

// dotted joins the values of labels up to the first that is not there.
func dotted(l map[string]string, keys ...string) string {
	var parts []string
	for _, k := range keys {
		if l[k] == "" {
			break
		}
		parts = append(parts, l[k])
	}
	return strings.Join(parts, ".")
}
