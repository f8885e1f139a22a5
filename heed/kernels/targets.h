// The instruction sets that kernels are compiled for: SSE4, AVX2 and AVX-512 on x86, NEON on Arm.
// The macro below must be defined before Highway is included, so this header comes before every
// header of Highway. The compiler flags (-march=x86-64-v2 -maes -mpclmul) make SSE4 the lowest
// target.
#pragma once

#ifdef HWY_DISABLED_TARGETS
#error "Highway was included first: include heed/kernels/foreach_target.h or simd.h instead"
#endif

// A lower bit is a better target. Targets better than AVX-512 (AVX3 in Highway) and NEON would add
// compile time and size, but no kernel here gains from them. The names are resolved when Highway
// uses the macro, so targets that an older Highway does not know need not be named.
#if defined(__aarch64__) || defined(__arm__)
#define HWY_DISABLED_TARGETS (HWY_NEON - 1)
#elif defined(HEED_WITHOUT_AVX512)
#define HWY_DISABLED_TARGETS (HWY_AVX2 - 1)
#else
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#endif
