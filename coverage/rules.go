package coverage

// Rule names one rule of what runs where.
type Rule uint8

// The rules, in the order in which they are asked.
const (
	RuleNone         Rule = iota
	RuleGroup             // SASS within its group, equal or higher minor
	RuleAlone             // integrated GPUs that stand alone
	RuleOrin              // 8.7 and 8.8 join 8.x with R595
	RuleRubin             // 10.0 and 10.3 SASS on 10.7
	RuleArchSpecific      // suffix a
	RuleFamily            // suffix f
	RuleThor              // sm_101 is sm_110
	RuleNotLoadable       // relocatable cubins, LTO IR, Tile IR …
	RulePTXForward        // PTX for an equal or higher capability
	RulePTXVersion        // the driver must know the PTX ISA version
	RulePTX32             // 32-bit PTX and map_f64_to_f32
	RuleRelink            // JIT by linking again from relocatable PTX
	RulePerContainer      // each container is resolved by itself
	RuleChoice            // SASS before PTX
	RuleGPUDriver         // a driver must know the GPU and not have dropped it
	RuleZstd              // zstd entries need R550
	RuleConcat            // concatenated entries need CUDA 13.4
	RuleRuntime           // the CUDA runtime has a floor of its own
	RuleNewerToolkit      // cubin of a newer major toolkit than the driver
	RuleLeastDriver       // what "least driver" is made of
	RuleBranch            // driver branch to CUDA version
	RuleEmpty             // an image that fits and holds no kernel
	RuleUnreadable        // a damaged image
	RuleForceJIT          // CUDA_FORCE_PTX_JIT
	RuleJITOff            // CUDA_DISABLE_PTX_JIT
	RuleUnknownArch       // an architecture that the tables do not know
)

// RuleInfo describes a rule for explanations and documents.
type RuleInfo struct {
	Rule      Rule
	ID        string // stable identifier
	Title     string
	Sources   string
	Confirmed bool // by NVIDIA's documents or by trying
	Note      string
}

var ruleInfos = []RuleInfo{
	{RuleGroup, "sass-group", "SASS runs on its own major capability at an equal or higher minor, inside its group", "CUDA C++ Programming Guide, binary compatibility; nvJitLink 12.9 to 13.5 tried", true, ""},
	{RuleAlone, "sass-alone", "integrated GPUs of 3.2, 5.3, 6.2 and 7.2 stand alone, both ways", "nvJitLink 12.9 tried; Tegra notes of the compatibility guides", true, ""},
	{RuleOrin, "sass-orin", "8.7 and 8.8 take part in 8.x from driver R595 on", "CUDA 13.2 release notes; nvJitLink 13.1 and 13.2 tried", true, "field reports agree but for one"},
	{RuleRubin, "sass-rubin", "10.0 and 10.3 SASS on 10.7", "CUDA C++ Programming Guide, binary compatibility; nvJitLink 13.5 tried", false, "NVIDIA's linker takes such a cubin by itself and refuses the same cubin inside a fat binary"},
	{RuleArchSpecific, "suffix-a", "suffix a: exactly that capability", "nvcc manual, GPU feature list; nvJitLink and ptxas tried", true, ""},
	{RuleFamily, "suffix-f", "suffix f: the family, equal or higher minor", "nvcc manual, GPU feature list; nvJitLink and ptxas tried", true, ""},
	{RuleThor, "thor-names", "sm_101 is sm_110 under its older name", "CUDA 13.0 release notes; nvJitLink 13.0 tried", true, ""},
	{RuleNotLoadable, "not-loadable", "relocatable cubins, LTO IR, Tile IR and other kinds cannot be loaded by themselves", "nvcc manual, separate compilation", true, ""},
	{RulePTXForward, "ptx-forward", "PTX is compiled for any equal or higher capability, across majors", "CUDA C++ Programming Guide, PTX compatibility; ptxas 13.5 tried", true, ""},
	{RulePTXVersion, "ptx-version", "the driver must know the PTX ISA version of the entry", "PTX ISA manual, release table; error 222", true, ""},
	{RulePTX32, "ptx-32", "32-bit PTX and map_f64_to_f32 run nowhere today", "CUDA release notes, end of 32-bit support", true, ""},
	{RuleRelink, "relink", "when no linked image fits, the driver may link again from the relocatable PTX", "nvcc manual, separate compilation", false, "documented, not proven here"},
	{RulePerContainer, "per-container", "each container is resolved by itself, at the first launch", "CUDA C++ Programming Guide, lazy loading", true, ""},
	{RuleChoice, "choice", "a SASS image that fits is used before PTX", "CUDA C++ Programming Guide", false, "nvJitLink takes a higher PTX before a lower-minor SASS; either way the kernel runs"},
	{RuleGPUDriver, "gpu-driver", "a driver must know the GPU and not have dropped it", "NVIDIA driver release notes", true, ""},
	{RuleZstd, "zstd", "zstd entries need driver R550", "CUDA 12.4 release notes; error 200", true, ""},
	{RuleConcat, "concatenated", "concatenated entries need about CUDA 13.4", "nvcc 13.5 as tried (-concat)", false, "the first driver that reads them is not confirmed"},
	{RuleRuntime, "runtime-floor", "the CUDA runtime that a library uses needs a driver of its own major: 11.x R450, 12.x R525, 13.x R580", "CUDA compatibility guide, minor version compatibility; error 35", true, ""},
	{RuleNewerToolkit, "newer-toolkit", "a cubin of a newer major toolkit than the driver's CUDA is unreadable", "CUDA compatibility guide; error 200", true, ""},
	{RuleLeastDriver, "least-driver", "the least driver is the highest that any part of the verdict asks for", "the rules above", true, ""},
	{RuleBranch, "driver-branch", "each driver branch knows CUDA up to one version", "CUDA release notes, driver table", true, "R620 is expected, not seen"},
	{RuleEmpty, "empty-image", "an image without kernels takes part in the choice and serves none", "read off shipped libraries", true, ""},
	{RuleUnreadable, "unreadable", "an image whose bytes make no sense is taken and cannot be loaded", "read off damaged files; error 200", false, "how a driver treats each kind of damage was not tried"},
	{RuleForceJIT, "force-jit", "CUDA_FORCE_PTX_JIT=1 ignores all SASS", "CUDA C++ Programming Guide, environment variables", true, ""},
	{RuleJITOff, "disable-jit", "CUDA_DISABLE_PTX_JIT=1 ignores all PTX", "CUDA C++ Programming Guide, environment variables; error 223", true, ""},
	{RuleUnknownArch, "unknown-arch", "an architecture beyond the tables is judged by number alone", "none", false, "newer than this program"},
}

// Rules returns all rules in order.
func Rules() []RuleInfo { return append([]RuleInfo(nil), ruleInfos...) }

// Info returns the description of a rule.
func (r Rule) Info() RuleInfo {
	for _, i := range ruleInfos {
		if i.Rule == r {
			return i
		}
	}
	return RuleInfo{Rule: r, ID: "none", Confirmed: true}
}

// String returns the rule's identifier.
func (r Rule) String() string { return r.Info().ID }
