package fleet

import (
	"fmt"
	"slices"
	"testing"
)

// nodeJSON is a node with labels and capacity, as JSON members.
func nodeJSON(name, labels, capacity string) string {
	return fmt.Sprintf(`{"kind":"Node","metadata":{"name":%q,"labels":{%s}},"status":{"capacity":{%s}}}`, name, labels, capacity)
}

func TestKubernetes(t *testing.T) {
	l4 := nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-L4","nvidia.com/gpu.count":"2"`, "")
	t4 := nodeJSON("n2", `"nvidia.com/gpu.product":"Tesla-T4","nvidia.com/gpu.count":"1"`, "")
	const twoL4 = "8.9 L4 × 2, unknown driver, n1"
	const oneT4 = "7.5 Tesla T4, unknown driver, n2"
	for name, c := range map[string]struct {
		json              string
		targets, problems []string
	}{
		"a node":            {l4, []string{twoL4}, nil},
		"nodes in a row":    {l4 + "\n" + t4, []string{twoL4, oneT4}, nil},
		"an array":          {"[ " + l4 + "," + t4 + "]", []string{twoL4, oneT4}, nil},
		"the API's list":    {`{"kind":"NodeList","items":[{"metadata":{"name":"n1","labels":{"nvidia.com/gpu.product":"NVIDIA-L4","nvidia.com/gpu.count":"2"}}}]}`, []string{twoL4}, nil},
		"kind comes last":   {`{"items":[` + l4 + `],"kind":"List"}`, []string{twoL4}, nil},
		"an empty list":     {`{"kind":"List","items":[]}`, nil, nil},
		"items are null":    {`{"kind":"List","items":null}`, nil, nil},
		"pods among nodes":  {`{"kind":"List","items":[{"kind":"Pod"},` + l4 + `,{"kind":"Pod"}]}`, []string{twoL4}, []string{"2 items are no nodes"}},
		"a label is wrong":  {`[{"kind":"Node","metadata":{"name":"n0","labels":{"a":1}}},` + l4 + "]", []string{twoL4}, []string{"left out: offset"}},
		"no label":          {nodeJSON("n1", "", `"nvidia.com/gpu":"4"`), nil, []string{"left out: node n1: it has GPUs and no label says which"}},
		"capacity is zero":  {nodeJSON("n1", "", `"nvidia.com/gpu":"0"`), nil, nil},
		"GKE's label":       {nodeJSON("n1", `"cloud.google.com/gke-accelerator":"nvidia-l4"`, `"nvidia.com/gpu":2`), []string{twoL4}, nil},
		"count is no count": {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-L4","nvidia.com/gpu.count":"two"`, ""), nil, []string{"left out: node n1: a count of -1"}},
		"no count at all":   {nodeJSON("n2", `"nvidia.com/gpu.product":"Tesla-T4"`, ""), []string{oneT4}, nil},
		"only capability":   {nodeJSON("n1", `"nvidia.com/gpu.compute.major":"9","nvidia.com/gpu.compute.minor":"0","nvidia.com/gpu.count":"3"`, ""), []string{"9.0 CC 9.0 × 3, unknown driver, n1"}, nil},
		"capability wins": {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-L4","nvidia.com/gpu.count":"2","nvidia.com/gpu.compute.major":"8","nvidia.com/gpu.compute.minor":"6"`, ""),
			[]string{"8.6 L4 × 2, unknown driver, n1"}, []string{`node n1: kubernetes says compute capability 8.6 of "NVIDIA-L4" and the catalogue says 8.9: 8.6 counts`}},
		// The catalogue has a GeForce GT 730 of 2.1, 3.0 and 3.5.
		"one name of three chips": {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-GeForce-GT-730","nvidia.com/gpu.compute.major":"3","nvidia.com/gpu.compute.minor":"5"`, ""),
			[]string{"3.5 GeForce GT 730, unknown driver, n1"}, nil},
		"one name, nobody knows": {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-GeForce-GT-730"`, ""), nil, []string{`left out: node n1: "GeForce-GT-730" can be several GPUs`}},
		"a new product":          {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-Z900","nvidia.com/gpu.compute.major":"10","nvidia.com/gpu.compute.minor":"3"`, ""), []string{"10.3 Z900, unknown driver, n1"}, nil},
		"MIG is invalid":         {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB-MIG-INVALID","nvidia.com/gpu.count":"0"`, ""), nil, []string{"node n1: MIG is set up so that no program gets a GPU"}},
		"all in slices": {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-A30","nvidia.com/gpu.count":"1","nvidia.com/mig-1g.6gb.count":"4","nvidia.com/mig-1g.6gb.product":"NVIDIA-A30-MIG-1g.6gb"`, `"nvidia.com/gpu":"0","nvidia.com/mig-1g.6gb":"4"`),
			[]string{"8.0 A30 MIG 1g.6gb × 4, unknown driver, n1"}, nil},
		"slices that are shared": {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-A30","nvidia.com/mig-1g.6gb.count":"4","nvidia.com/mig-1g.6gb.product":"NVIDIA-A30-MIG-1g.6gb-SHARED","nvidia.com/mig-2g.12gb.count":"0"`, `"nvidia.com/gpu":"0"`),
			[]string{"8.0 A30 MIG 1g.6gb × 4, unknown driver, n1"}, nil},
		"shared and renamed": {nodeJSON("n1", `"nvidia.com/gpu.product":"NVIDIA-A30","nvidia.com/gpu.replicas":"4","nvidia.com/mig-1g.6gb.count":"4","nvidia.com/mig-1g.6gb.product":"NVIDIA-A30-MIG-1g.6gb"`, `"nvidia.com/gpu.shared":"8"`),
			[]string{"8.0 A30 × 2, unknown driver, n1", "8.0 A30 MIG 1g.6gb × 4, unknown driver, n1"}, nil},
	} {
		t.Run(name, func(t *testing.T) { expect(t, read(t, c.json), Kubernetes, c.targets, c.problems) })
	}
}

func TestTable(t *testing.T) {
	for name, c := range map[string]struct {
		text, format      string
		targets, problems []string
	}{
		"columns in another order": {"count, cc, name\n3, 8.9, NVIDIA L4\n", CSV, []string{"8.9 L4 × 3, unknown driver"}, nil},
		"not available":            {"name, driver_version, compute_cap\nNVIDIA L4, [N/A], [Not Supported]\n", SMICSV, []string{"8.9 L4, unknown driver"}, nil},
		"a comma in a name":        {"index, name, compute_cap\n0, NVIDIA Foo, Bar, 8.9\n", SMICSV, []string{"8.9 Foo, Bar, unknown driver"}, nil},
		"quotes":                   {"name,cc\n\"Foo \"\"X\"\", Bar\",8.9\n", CSV, []string{"8.9 Foo \"X\", Bar, unknown driver"}, nil},
		"too few cells":            {"name,cc,host\nL4,8.9\n", CSV, nil, []string{`left out: line 2: "L4,8.9" has not the columns`}},
		"no name":                  {"name,cc,host\n,,h\n", CSV, nil, []string{"left out: line 2: neither a name nor a compute capability"}},
		"only capability":          {"compute_cap\n8.9\n9.0\n8.9\n", SMICSV, []string{"9.0 CC 9.0, unknown driver", "8.9 CC 8.9 × 2, unknown driver"}, nil},
		"only names":               {"NVIDIA L4\nNVIDIA L4\n", SMICSV, []string{"8.9 L4 × 2, unknown driver"}, nil},
		"no header, no maker":      {"Tesla T4, 535.104.05\n", SMICSV, []string{"7.5 Tesla T4, 535.104.05"}, nil},
		"no header, everything": {"0, NVIDIA L4, GPU-a1000000-0000-4000-8000-000000000000, 00000000:07:00.0, 535.104.05, 8.9, 23034 MiB, 5 %, 36.20 W, P8, Disabled, [N/A]\n", SMICSV,
			[]string{"8.9 L4, 535.104.05"}, nil},
		"MIG profiles":       {"name,mig,count\nA100-SXM4-80GB,1g.10gb,7\nA100-SXM4-80GB MIG 1g.10gb,,2\n", CSV, []string{"8.0 A100-SXM4-80GB MIG 1g.10gb × 9, unknown driver"}, nil},
		"count of nothing":   {"name,count\nL4,0\nL4,-1\nL4,1000001\nL4,x\nL4,\n", CSV, []string{"8.9 L4, unknown driver"}, []string{"left out: line 2: a count of 0", "left out: line 3: a count of -1"}},
		"no such capability": {"name,cc\nL4,8.9.1\nL4,12\nfoo,8\n", CSV, []string{"8.9 L4 × 2, unknown driver"}, []string{`line 2: "8.9.1" is no compute capability`, `line 3: "12" is no`, `left out: line 4: "8" is no`, `left out: line 4: "foo" is no GPU`}},
		"versions":           {"name,driver,cuda\nL4,new,latest\nL4,R550,12\n", CSV, []string{"8.9 L4, unknown driver", "8.9 L4, 550"}, []string{`line 2: "new" is no driver version`, `line 2: "latest" is no CUDA version`}},
		"host columns win":   {"pdsh1: host,name\npdsh1: real,L4\n", CSV, []string{"8.9 L4, unknown driver, real"}, nil},
		"ansible failed":     {"a | FAILED | rc=127 >>\nnvidia-smi: command not found\nb | CHANGED | rc=0 >>\nNVIDIA L4, 535.104.05\n", SMICSV, []string{"8.9 L4, 535.104.05, b"}, []string{"left out: host a: ansible could not ask it"}},
		"a remark":           {"# what we have\n\nname,count\n# none yet\n", CSV, nil, nil},
	} {
		t.Run(name, func(t *testing.T) { expect(t, read(t, c.text), c.format, c.targets, c.problems) })
	}
}

func TestXML(t *testing.T) {
	const gpu = `<gpu id="0"><product_name>%s</product_name></gpu>`
	doc := func(inner string) string {
		return `<?xml version="1.0" ?><!DOCTYPE nvidia_smi_log SYSTEM "x.dtd"><nvidia_smi_log><driver_version>535.104.05</driver_version>` + inner + "</nvidia_smi_log>\n"
	}
	expect(t, read(t, doc("")), SMIXML, nil, nil)
	expect(t, read(t, doc(fmt.Sprintf(gpu, "NVIDIA L4"))+"<nvidia_smi_log>"+fmt.Sprintf(gpu, "NVIDIA L4")+"</nvidia_smi_log>"), SMIXML,
		[]string{"8.9 L4, unknown driver", "8.9 L4, 535.104.05"}, nil)
	expect(t, read(t, doc("<gpu/>"+fmt.Sprintf(gpu, "N/A")+fmt.Sprintf(gpu, "Nope &amp; Co"))), SMIXML, nil,
		[]string{"left out: document 1: neither a name nor a compute capability is given (and 1 more", `left out: document 1, gpu 0: "Nope & Co" is no GPU`})
	// Names elsewhere in the tree are not the GPU's.
	expect(t, read(t, doc(`<gpu><product_name>NVIDIA L4</product_name><processes><process_info><product_name>H100</product_name></process_info></processes></gpu><product_name>A100</product_name>`)), SMIXML,
		[]string{"8.9 L4, 535.104.05"}, nil)
}

func TestDCGM(t *testing.T) {
	const l4 = `DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",modelName="NVIDIA L4",Hostname="n1"} 210` + "\n"
	for name, c := range map[string]struct {
		text              string
		targets, problems []string
	}{
		"host of the scrape":  {`DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",modelName="NVIDIA L4",instance="10.0.0.7:9400"} 210 1735689600000`, []string{"8.9 L4, unknown driver, 10.0.0.7:9400"}, nil},
		"host before scrape":  {`DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",modelName="NVIDIA L4",instance="10.0.0.7:9400",exported_Hostname="n1"} 210`, []string{"8.9 L4, unknown driver, n1"}, nil},
		"links name the same": {l4 + `DCGM_FI_DEV_NVLINK_X{nvlink="0",gpu="0",gpu_uuid="GPU-a",model_name="NVIDIA L4",hostname="n1"} 1`, []string{"8.9 L4, unknown driver, n1"}, nil},
		"one UUID, two hosts": {l4 + `DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",modelName="NVIDIA L4",Hostname="n2"} 210`, []string{"8.9 L4 × 2, unknown driver, n1 n2"}, nil},
		"no UUIDs":            {`DCGM_FI_X{gpu="0",modelName="NVIDIA L4"} 1` + "\n" + `DCGM_FI_X{gpu="1",modelName="NVIDIA L4"} 1` + "\n" + `DCGM_FI_Y{gpu="1",modelName="NVIDIA L4"} 1`, []string{"8.9 L4 × 2, unknown driver"}, nil},
		"CUDA as a label":     {`DCGM_FI_X{gpu="0",UUID="a",modelName="NVIDIA L4",DCGM_FI_CUDA_DRIVER_VERSION="12040"} 1`, []string{"8.9 L4, R550"}, nil},
		"CUDA as a metric":    {`DCGM_FI_CUDA_DRIVER_VERSION{gpu="0",UUID="a",modelName="NVIDIA L4"} 12400`, []string{"8.9 L4, R550"}, nil},
		"capability":          {`DCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY{gpu="0",UUID="a",modelName="Nope"} 655363`, []string{"10.3 Nope, unknown driver"}, nil},
		"instance, no profile": {`DCGM_FI_X{gpu="0",UUID="a",modelName="NVIDIA A30"} 1` + "\n" + `DCGM_FI_X{gpu="0",UUID="a",modelName="NVIDIA A30",GPU_I_ID="3"} 1`,
			[]string{"8.0 A30 MIG, unknown driver"}, nil},
		"escapes":        {`DCGM_FI_X{gpu="0",UUID="a",modelName="Foo \"9\", \\ \n{x}",cc="",Hostname="n1"} 1` + "\n" + `DCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY{gpu="0",UUID="a",Hostname="n1"} 524288`, []string{"8.0 Foo \"9\", \\ \n{x}, unknown driver, n1"}, nil},
		"not of a GPU":   {"# HELP DCGM_FI_X x\nup 1\ngo_info{version=\"go1.26\"} 1\n", nil, nil},
		"damaged":        {l4 + "DCGM_FI_X{gpu=\"0\nDCGM_FI_X{gpu\n{} 1\nDCGM_FI_X{gpu=\"0\\\n", []string{"8.9 L4, unknown driver, n1"}, []string{"line 2: it is no metric with labels (and 3 more like it)"}},
		"nobody knows":   {`DCGM_FI_X{gpu="0",UUID="a",modelName="Nope"} 1`, nil, []string{`left out: line 1: "Nope" is no GPU`}},
		"no model at al": {`DCGM_FI_X{gpu="0",UUID="a"} 1`, nil, []string{"left out: line 1: neither a name"}},
	} {
		t.Run(name, func(t *testing.T) { expect(t, read(t, c.text), DCGM, c.targets, c.problems) })
	}
}

func TestNumbersOfDCGM(t *testing.T) {
	for in, want := range map[string]string{"12020": "12.2", "12200": "12.2", "11100": "11.1", "11010": "11.1", "12000": "12.0", "1.301e+04": "13.1", "": "", "x": "", "-1": "", "NaN": "", "999": "", "1e300": ""} {
		if got := cudaNumber(in); got != want {
			t.Errorf("CUDA %q is %q, want %q", in, got, want)
		}
	}
	// 16 bits each: 8.0 is 8<<16, 12.1 is 12<<16 | 1.
	for in, want := range map[string]string{"524288": "8.0", "524297": "8.9", "786433": "12.1", "5.24297e+05": "8.9", "0": "", "-5": "", "524298": "", "9223372032559808512": ""} {
		if got := capabilityNumber(in); got != want {
			t.Errorf("capability %q is %q, want %q", in, got, want)
		}
	}
}

func TestSlurm(t *testing.T) {
	for name, c := range map[string]struct {
		gres, tres string
		targets    []string
		problems   []string
	}{
		"cores in parentheses": {"gpu:a100:2(S:0,1),gpu:l4:1(S:1)", "", []string{"8.9 L4, unknown driver, n", "8.0 A100 × 2, unknown driver, n"}, nil},
		"a type and no count":  {"gpu:a100", "", []string{"8.0 A100, unknown driver, n"}, nil},
		"no_consume":           {"gpu:a100:no_consume:4", "", []string{"8.0 A100 × 4, unknown driver, n"}, nil},
		"other resources":      {"shard:a100:8,mps:400,gpu:l4:1,craynetwork:4", "", []string{"8.9 L4, unknown driver, n"}, nil},
		"nothing":              {"(null)", "cpu=4", nil, nil},
		"zero":                 {"gpu:a100:0", "", nil, nil},
		"a K":                  {"gpu:a100:2K", "", []string{"8.0 A100 × 2048, unknown driver, n"}, nil},
		"the driver's names":   {"gpu:nvidia_a100-sxm4-80gb:4,gpu:nvidia_h100_80gb_hbm3_1g.10gb+me:7", "", []string{"9.0 H100 80GB HBM3 MIG 1g.10gb+me × 7, unknown driver, n", "8.0 A100-SXM4-80GB × 4, unknown driver, n"}, nil},
		"types in TRES":        {"gpu:16", "cpu=4,gres/gpu=16,gres/gpu:nvidia_b200=4,gres/gpu:nvidia_b200_2g.45gb=12", []string{"10.0 B200 × 4, unknown driver, n", "10.0 B200 MIG 2g.45gb × 12, unknown driver, n"}, nil},
		"only TRES":            {"", "gres/gpu=1,gres/gpu:l4=1", []string{"8.9 L4, unknown driver, n"}, nil},
		"some without type":    {"gpu:l4:1,gpu:2", "", []string{"8.9 L4, unknown driver, n"}, []string{"left out: node n: it has GPUs without a type"}},
		"fewer typed":          {"gpu:4", "gres/gpu=4,gres/gpu:l4=1", []string{"8.9 L4, unknown driver, n"}, []string{"left out: node n: it has GPUs without a type"}},
		"only a profile":       {"gpu:1g.5gb:7", "", nil, []string{"left out: node n: neither a name nor"}},
		"a vague type":         {"gpu:rtx:7", "", nil, []string{`left out: node n: "rtx" can be several GPUs`}},
		"not a number":         {"gpu:l4:99999999999999999999", "", nil, []string{`left out: node n: "l4:99999999999999999999" is no GPU`}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, read(t, "NodeName=n Arch=x86_64\n   Gres="+c.gres+"\n   GresUsed=gpu:h100:9\n   CfgTRES="+c.tres+"\n   AllocTRES=gres/gpu:h100=9\n   Reason=swap it Gres=gpu:h100:1 [root@x]\n"), Slurm, c.targets, c.problems)
		})
	}
}

func TestProfiles(t *testing.T) {
	for in, want := range map[string][2]string{
		"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb":         {"NVIDIA-A100-SXM4-40GB", "1g.5gb"},
		"NVIDIA-A100-SXM4-40GB-MIG-3g.20gb-SHARED": {"NVIDIA-A100-SXM4-40GB", "3g.20gb"},
		"NVIDIA-A100-SXM4-80GB-MIG-1g.10gb.me":     {"NVIDIA-A100-SXM4-80GB", "1g.10gb.me"},
		"h100_1g.10gb":                             {"h100", "1g.10gb"},
		"h100_1c.3g.40gb":                          {"h100", "1c.3g.40gb"},
		"NVIDIA H100 80GB HBM3 MIG 1g.10gb+me":     {"NVIDIA H100 80GB HBM3", "1g.10gb+me"},
		"rtx_pro_6000_blackwell_1g.24gb+me.all":    {"rtx_pro_6000_blackwell", "1g.24gb+me.all"},
		"1g.5gb":                                   {"", "1g.5gb"},
		"Tesla-T4-SHARED":                          {"Tesla-T4", ""},
		"A100-SXM4-80GB":                           {"A100-SXM4-80GB", ""},
		"GeForce GTX 1060 6GB":                     {"GeForce GTX 1060 6GB", ""},
		"NVIDIA-A100-SXM4-80GB-MIG-INVALID":        {"NVIDIA-A100-SXM4-80GB-MIG-INVALID", ""},
		"x1g.5gb":                                  {"x1g.5gb", ""},
	} {
		if p, m := splitProfile(in); p != want[0] || m != want[1] {
			t.Errorf("%q is %q and %q, want %q", in, p, m, want)
		}
	}
}

func TestCells(t *testing.T) {
	for in, want := range map[string][]string{
		"a, b ,c": {"a", "b", "c"}, "": {""}, ",": {"", ""}, `"a,b", "c""d" ,e`: {"a,b", `c"d`, "e"},
		`"open, x`: {"open, x"}, `a "b" c,d`: {`a "b" c`, "d"}, `"a"b,c`: {"ab", "c"},
	} {
		if got := splitCells(in); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
