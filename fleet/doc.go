// Package fleet reads what other programs wrote down about GPUs of machines
// that are not here: an inventory of a cluster, a rack or a lab. It recognises
// the format by its content, looks every GPU up in the catalogue, and folds
// equal ones into targets with a count. It opens no file and asks no machine.
//
// The formats, and where their facts come from:
//
//   - kubernetes: `kubectl get nodes -o json`, with the labels that NVIDIA's GPU
//     Feature Discovery puts on nodes (the tables in the documentation of
//     k8s-device-plugin; the .product and .replicas labels of MIG types, which
//     those leave out, as its labeller writes them). Without those labels,
//     GKE's label of the accelerator.
//   - nvidia-smi csv: `nvidia-smi --query-gpu=… --format=csv`, the fields that
//     `nvidia-smi --help-query-gpu` lists, of one host or of many, as they are
//     or with the "host: " that pdsh and clush put before each line, or under
//     the "host | CHANGED | rc=0 >>" of ansible.
//   - nvidia-smi xml: `nvidia-smi -q -x`, one document or several in a row.
//   - dcgm-exporter: the Prometheus text of NVIDIA's DCGM exporter, with the
//     labels of its own templates; numbers as dcgm_fields.h documents them.
//   - slurm: `scontrol show node`, also with -o; Gres and CfgTRES as the manuals
//     of gres.conf and slurm.conf define them.
//   - toml and csv: lists written by hand.
//
// What a source says of a GPU's compute capability goes before what the
// catalogue says of its name; that they differ is told. A GPU of which neither
// knows the capability is left out and told. A node that is not ready or down
// counts: its GPUs have not changed.
//
// MIG slices count one each where the source lists them, because each is a GPU
// to a program. GPUs that are shared by time slicing or MPS count once.
package fleet
