#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/support/dot_rate.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include "benchmarks/support/dot_rate.h"
#include "benchmarks/support/measure.h"
#include "heed/kernels/packed/block_dot-inl.h"
#include "heed/kernels/packed/cpu.h"
#include "heed/kernels/packed/tile-inl.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// A tile of rows by vectors of weights. Its sums must be enough to hide the latency of an addition:
// with 8 of them, AVX-VNNI reached 432 GOP/s on Zen 5 and a product 450.
constexpr int kRows = HWY_TARGET == HWY_AVX3 ? 4 : 5;
constexpr int kWeights = HWY_TARGET == HWY_AVX3 ? 4 : 2;
constexpr int kSteps = 8;  // between two rounds the compiler moves all sums
constexpr int kRounds = 1 << 16;

// Billions of operations per second of add(sum, w, x), repeated, which multiplies kColumns numbers
// in each lane.
template <int kColumns, typename Add>
HWY_INLINE double rate_of(const Add& add) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(I32()));
  HWY_ALIGN std::int32_t numbers[kSteps * (kRows + kWeights) * kLanes] = {};
  VI32 sum[kRows][kWeights];
#pragma GCC unroll 16
  for (auto& row : sum) {
#pragma GCC unroll 16
    for (VI32& one : row) one = hn::Zero(I32());
  }
  const double start = bench::now();
  for (int i = 0; i < kRounds; ++i) {
    asm volatile("" : : "r"(numbers) : "memory");  // so that nothing is computed once for all
#pragma GCC unroll 16
    for (int step = 0; step < kSteps; ++step) {
      const std::int32_t* const from = numbers + step * (kRows + kWeights) * kLanes;
      VI32 w[kWeights];
#pragma GCC unroll 16
      for (int j = 0; j < kWeights; ++j) w[j] = hn::Load(I32(), from + j * kLanes);
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
        const VI32 x = hn::Load(I32(), from + (kWeights + row) * kLanes);
#pragma GCC unroll 16
        for (int j = 0; j < kWeights; ++j) add(sum[row][j], w[j], x);
      }
    }
  }
  const double seconds = bench::now() - start;
#pragma GCC unroll 16
  for (const auto& row : sum) {
#pragma GCC unroll 16
    for (const VI32& one : row) {
      hn::Store(one, I32(), numbers);
      asm volatile("" : : "r"(numbers) : "memory");
    }
  }
  return 2.0 * kColumns * kLanes * kRows * kWeights * kSteps * kRounds / seconds * 1e-9;
}

double int8_rate() {
  return rate_of<4>([](VI32& sum, VI32 w, VI32 x) HWY_ATTR { PairDot::add(sum, x, w); });
}
double int4_rate() {
  return rate_of<4>([](VI32& sum, VI32 w, VI32 x) HWY_ATTR { PairBlockDot<4>::add(sum, w, x); });
}
double vnni_rate() {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return rate_of<4>([](VI32& sum, VI32 w, VI32 x) HWY_ATTR { VnniDot::add(sum, x, w); });
#else
  return 0.0;
#endif
}
double bf16_rate() {
  return rate_of<2>([](VI32& sum, VI32 w, VI32 x) HWY_ATTR {
    const F32 d;
    VF total = hn::BitCast(d, sum);
    total = hn::MulAdd(hn::BitCast(d, x), hn::BitCast(d, w), total);
    total = hn::MulAdd(hn::BitCast(d, x), hn::BitCast(d, w), total);
    sum = hn::BitCast(I32(), total);
  });
}
double bf16_pair_rate() {
#if HWY_TARGET == HWY_AVX3
  return rate_of<2>([](VI32& sum, VI32 w, VI32 x) HWY_ATTR {
    VF total = hn::BitCast(F32(), sum);
    const hn::RebindToUnsigned<F32> pairs;
    Bf16Pairs::add(total, hn::BitCast(pairs, x), hn::BitCast(pairs, w));
    sum = hn::BitCast(I32(), total);
  });
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
HWY_EXPORT(bf16_rate);
HWY_EXPORT(bf16_pair_rate);

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
double bf16_rate() {
  using namespace kernels;  // NOLINT(google-build-using-namespace)
  return has_bf16_dot() ? HEED_DISPATCH(bf16_pair_rate)() : HEED_DISPATCH(kernels::bf16_rate)();
}

}  // namespace heed::bench
#endif  // HWY_ONCE
