// Package gpu knows NVIDIA's GPUs: which architectures exist, which toolkit,
// PTX ISA version and driver first knew each of them, which product has which
// compute capability, and which GPUs this machine has. It answers with values
// and knows nothing of the files that are inspected, nor of terminals.
//
// Facts are the tables in data/, one row a fact, read once when first asked
// for; rules are code over them, so a new GPU is a new row. They come from
//
//   - sm.tsv: the nvcc manual and the CUDA toolkit release notes (when a target
//     came and went), NVIDIA's data center driver documentation (the last
//     driver branch of a generation);
//   - ptx.tsv: the release table of the PTX ISA manual, and the driver table of
//     the CUDA toolkit release notes;
//   - drivers.tsv: the CUDA version that the drivers of a branch report;
//   - gpus.tsv: the lists on developer.nvidia.com/cuda-gpus and its page of
//     legacy GPUs, and the names that drivers print, with a column that says
//     where nobody confirmed the row.
//
// Detection asks NVML, the driver's management library, then nvidia-smi; where
// neither names a GPU it reads what the kernel module says in /proc, the PCI bus
// and the device tree of a Jetson. It reports what it tried, and when there is
// nothing to show it says why in one sentence. CUDA_VISIBLE_DEVICES, MIG and a
// forward-compatibility package count as they do for CUDA programs; visible.go
// and module.go name the sources of those rules.
package gpu
