// The instruction sets that kernels are compiled for: SSE4, AVX2 and AVX-512 on x86, NEON on Arm.
// Highway reads this before anything else of it, so this header comes before every header of
// Highway's. The compiler flags (-march=x86-64-v2 -maes -mpclmul) make SSE4 the lowest target.
#pragma once

#ifdef HWY_DISABLED_TARGETS
#error "a header of Highway came first: include heed/kernels/foreach_target.h or simd.h instead"
#endif

// A lower bit is a better target. Those above AVX-512 (AVX3 in Highway) and NEON would add compile
// time and size for instructions that no kernel here gains from. The names are looked up when
// Highway uses the macro, so that sets unknown to an older Highway need not be named.
#if defined(__aarch64__) || defined(__arm__)
#define HWY_DISABLED_TARGETS (HWY_NEON - 1)
#elif defined(HEED_WITHOUT_AVX512)
#define HWY_DISABLED_TARGETS (HWY_AVX2 - 1)
#else
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#endif
