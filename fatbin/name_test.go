package fatbin

import (
	"strings"
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ mangled, short, full string }{
		{"fill", "fill", "fill"},
		{"", "", ""},
		{"_Zxx", "_Zxx", "_Zxx"},
		{"_Z5saxpyIfEviT_PKS0_PS0_", "saxpy<float>", "void saxpy<float>(int, float, float const*, float*)"},
		{"_ZN5stats9block_sumILi256EEEvPKfPfi", "stats::block_sum<256>", "void stats::block_sum<256>(float const*, float*, int)"},
		{"_Z11shared_stepf", "shared_step", "shared_step(float)"},
		{"_ZN12_GLOBAL__N_16kernelEv", "(anonymous namespace)::kernel", "(anonymous namespace)::kernel()"},
		{
			"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEENS_6detail5ArrayIPcLi3EEEEEviT0_T1_",
			"at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<…>, at::detail::Array<…>>",
			"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>>(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
		},
		{"_ZN1AlsIiEEvT_", "A::operator<< <int>", "void A::operator<< <int>(int)"},
		{"_ZN1AclIiEEvT_", "A::operator()<int>", "void A::operator()<int>(int)"},
		{"_ZN1AcviEv", "A::operator int", "A::operator int()"},
		{"_Z15operator_kernelIiEvT_", "operator_kernel<int>", "void operator_kernel<int>(int)"},
		{"_Z1fI1gI8operatorIiEEEvv", "f<g<…>>", "void f<g<operator<int>>>()"},
		{"_Z1fILb1EEN1AIiE1BET_", "f<true>", "A<int>::B f<true>(true)"},
		{"_Z5saxpyi.kd", "saxpy", "saxpy(int)"},
	} {
		if got := ShortName(c.mangled); got != c.short {
			t.Errorf("ShortName(%q)\n got %q\nwant %q", c.mangled, got, c.short)
		}
		if got := FullName(c.mangled); got != c.full {
			t.Errorf("FullName(%q)\n got %q\nwant %q", c.mangled, got, c.full)
		}
	}
}

// hostileNames nest as deeply as their length allows, or refer to themselves.
func hostileNames() []string {
	twice := "_Z1fI1aIiiE"
	for _, s := range strings.Split("S_ S0_ S1_ S2_ S3_ S4_ S5_ S6_ S7_ S8_ S9_ SA_ SB_ SC_ SD_ SE_ SF_ SG_ SH_ SI_ SJ_ SK_ SL_", " ") {
		twice += "1aI" + s + s + "E"
	}
	return []string{
		"_Z1f" + strings.Repeat("P", 8000) + "i",
		"_Z1f" + strings.Repeat("A1_", 2700) + "i",
		"_Z1f" + strings.Repeat("F", 8000),
		"_Z1f" + strings.Repeat("I1a", 2000) + strings.Repeat("E", 2000) + "vv",
		"_Z1f" + strings.Repeat("PFS_S_S_S_E", 700),
		"_Z" + strings.Repeat("N1a", 2000) + strings.Repeat("E", 2000) + "v",
		"_Z" + strings.Repeat("Z1avE", 1600) + "1b",
		"_Z" + strings.Repeat("ZN1aUl", 1300) + "v",
		"_Z1fIX" + strings.Repeat("pl", 1400) + strings.Repeat("Li1E", 1300) + "EEvv",
		"_Z1fIJiiiiiiiiEEv" + strings.Repeat("Dp", 4000) + "T_",
		"_Z1fI1aIT_EEv" + strings.Repeat("T_", 4000),
		twice + "Evv",
		strings.Repeat("_Z", 1<<19),
		"_Z1 ",
	}
}

func TestHostileNamesAreBounded(t *testing.T) {
	for _, name := range hostileNames() {
		start := time.Now()
		short, full := ShortName(name), FullName(name)
		if d := time.Since(start); d > patience {
			t.Errorf("%.40q…: %s", name, d)
		}
		if most := max(len(name), 2<<16); len(short) > most || len(full) > most {
			t.Errorf("%.40q… of %d bytes becomes %d and %d", name, len(name), len(short), len(full))
		}
	}
}
