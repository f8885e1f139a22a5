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

/// A sum of exponentials that grows block by block, with a running maximum: a new maximum rescales
/// the sum of the blocks before.
class GrowingExpSum {
 public:
  /// Adds a block of n elements; returns its maximum.
  HWY_INLINE float add(std::int64_t n, const float* x) {
    const float of_block = max_row(x, n, kLowest);
    const float before = top_;
    top_ = std::max(before, of_block);
    const float shift = top_ == kLowest ? 0.0f : top_;
    total_ = total_ * std::exp(before - shift) + exp_total(n, x, shift);
    return of_block;
  }
  /// Adds another sum.
  HWY_INLINE void add(const GrowingExpSum& other) {
    const float before = top_;
    top_ = std::max(before, other.top_);
    const float shift = top_ == kLowest ? 0.0f : top_;
    total_ = total_ * std::exp(before - shift) + other.total_ * std::exp(other.top_ - shift);
  }
  ExpSum sum() const { return {top_ == kLowest ? 0.0f : top_, total_}; }

 private:
  static constexpr float kLowest = -std::numeric_limits<float>::infinity();
  float top_ = kLowest;
  float total_ = 0.0f;
};

/// The sum of a row. Calls block(at, m, top) for each block of m elements from `at` on, whose
/// maximum is `top`, while it is in L1.
template <typename Block>
HWY_INLINE ExpSum exp_sum(std::int64_t n, const float* x, const Block& block) {
  constexpr std::int64_t kBlock = 2048;  // 8 KiB
  GrowingExpSum sum;
  for (std::int64_t at = 0; at < n; at += kBlock) {
    const std::int64_t m = std::min(kBlock, n - at);
    block(at, m, sum.add(m, x + at));
  }
  return sum.sum();
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
