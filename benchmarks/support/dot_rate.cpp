#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/support/dot_rate.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include "benchmarks/support/dot_rate.h"
#include "benchmarks/support/measure.h"
#include "heed/kernels/packed/block_dot-inl.h"
#include "heed/kernels/packed/cpu.h"
#include "heed/kernels/packed/matrix.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

constexpr int kSums = 8;          // independent ones, as a tile has
constexpr int kRounds = 1 << 20;  // each of kSums vectors of four columns

// Billions of operations per second of add(sum, w, x), repeated.
template <typename Add>
HWY_INLINE double rate_of(const Add& add) {
  HWY_ALIGN std::int32_t numbers[(1 + kSums) * hn::MaxLanes(I32())] = {1, 2, 3};
  VI32 sum[kSums];
#pragma GCC unroll 16
  for (int j = 0; j < kSums; ++j) sum[j] = hn::Zero(I32());
  const double start = bench::now();
  for (int i = 0; i < kRounds; ++i) {
    asm volatile("" : : "r"(numbers) : "memory");  // so that nothing is computed once for all
    const VI32 x = hn::Load(I32(), numbers);
#pragma GCC unroll 16
    for (int j = 0; j < kSums; ++j) {
      add(sum[j], hn::Load(I32(), numbers + (1 + j) * hn::Lanes(I32())), x);
    }
  }
  const double seconds = bench::now() - start;
#pragma GCC unroll 16
  for (int j = 0; j < kSums; ++j) {
    hn::Store(sum[j], I32(), numbers);
    asm volatile("" : : "r"(numbers) : "memory");
  }
  return 2.0 * 4.0 * static_cast<double>(hn::Lanes(I32())) * kSums * kRounds / seconds * 1e-9;
}

double int8_rate() {
  return rate_of([](VI32& sum, VI32 w, VI32 x) HWY_ATTR { PairDot::add(sum, x, w); });
}
double int4_rate() {
  return rate_of([](VI32& sum, VI32 w, VI32 x) HWY_ATTR { PairBlockDot<4>::add(sum, w, x); });
}
double vnni_rate() {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return rate_of([](VI32& sum, VI32 w, VI32 x) HWY_ATTR { VnniDot::add(sum, x, w); });
#else
  return 0.0;
#endif
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(int8_rate);
HWY_EXPORT(int4_rate);
HWY_EXPORT(vnni_rate);

}  // namespace heed::kernels

namespace heed::bench {

double int8_rate() {
  using namespace kernels;  // NOLINT(google-build-using-namespace): HEED_DISPATCH needs plain names
  return has_vnni() ? HEED_DISPATCH(vnni_rate)() : HEED_DISPATCH(kernels::int8_rate)();
}
double int4_rate() {
  using namespace kernels;  // NOLINT(google-build-using-namespace)
  return has_vnni() ? HEED_DISPATCH(vnni_rate)() : HEED_DISPATCH(kernels::int4_rate)();
}

}  // namespace heed::bench
#endif  // HWY_ONCE
