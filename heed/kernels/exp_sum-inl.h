// The sum of exp over a row in one pass over memory: block by block, and each block twice while it
// is in L1.
#if defined(HEED_KERNELS_EXP_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_EXP_SUM_INL_H_
#undef HEED_KERNELS_EXP_SUM_INL_H_
#else
#define HEED_KERNELS_EXP_SUM_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "heed/kernels/math-inl.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// sum of exp(x) = total * exp(shift), where no term of total exceeds 1. shift is the maximum, or 0
/// if the whole row is -inf; a NaN or +inf in the row makes total NaN.
struct ExpSum {
  float shift;
  float total;
};

HWY_INLINE float exp_total(std::int64_t n, const float* x, float shift_by) {
  const F32 d;
  const VF shift = hn::Set(d, shift_by);
  return sum_row(n, [=](auto part, std::int64_t i, VF sum) HWY_ATTR {
    return part.keep(hn::Add(sum, Exp(d, hn::Sub(part.load(x + i), shift))), sum);
  });
}

/// Computes the sum with a running maximum; a new maximum rescales the sum of the blocks before.
/// Calls block(at, m, top) for each block of m elements from `at` on, whose maximum is `top`, while
/// it is in L1.
template <typename Block>
HWY_INLINE ExpSum exp_sum(std::int64_t n, const float* x, const Block& block) {
  constexpr std::int64_t kBlock = 2048;  // 8 KiB
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  float top = kLowest;
  float total = 0.0f;
  for (std::int64_t at = 0; at < n; at += kBlock) {
    const std::int64_t m = std::min(kBlock, n - at);
    const float before = top;
    const float block_top = max_row(x + at, m, kLowest);
    top = std::max(before, block_top);
    const float shift = top == kLowest ? 0.0f : top;
    total = total * std::exp(before - shift) + exp_total(m, x + at, shift);
    block(at, m, block_top);
  }
  return {top == kLowest ? 0.0f : top, total};
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
