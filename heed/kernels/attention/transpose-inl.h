// Transposition between rows as users store them and the feature-by-feature order of attention's
// blocks, one square of registers at a time.
#if defined(HEED_KERNELS_ATTENTION_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_TRANSPOSE_INL_H_
#undef HEED_KERNELS_ATTENTION_TRANSPOSE_INL_H_
#else
#define HEED_KERNELS_ATTENTION_TRANSPOSE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention/product-inl.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// x[i] lane j becomes x[j] lane i.
template <class D, int kLanes>
HWY_INLINE void transpose_square(D d, hn::Vec<D> (&x)[kLanes]) {
  const hn::Repartition<double, D> d64;
  using V = hn::Vec<D>;
  V t[kLanes];
  // First squares of four within the 128-bit blocks.
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; i += 4) {
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, x[i], x[i + 1]));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, x[i], x[i + 1]));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, x[i + 2], x[i + 3]));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, x[i + 2], x[i + 3]));
    t[i] = hn::BitCast(d, hn::InterleaveLower(d64, low01, low23));
    t[i + 1] = hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23));
    t[i + 2] = hn::BitCast(d, hn::InterleaveLower(d64, high01, high23));
    t[i + 3] = hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23));
  }
  // Then the blocks themselves.
  if constexpr (kLanes == 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) x[i] = t[i];
  } else if constexpr (kLanes == 8) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      x[i] = hn::ConcatLowerLower(d, t[i + 4], t[i]);
      x[i + 4] = hn::ConcatUpperUpper(d, t[i + 4], t[i]);
    }
  } else {
    static_assert(kLanes == 16);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const V low02 = hn::ConcatLowerLower(d, t[i + 8], t[i]);
      const V high02 = hn::ConcatUpperUpper(d, t[i + 8], t[i]);
      const V low13 = hn::ConcatLowerLower(d, t[i + 12], t[i + 4]);
      const V high13 = hn::ConcatUpperUpper(d, t[i + 12], t[i + 4]);
      x[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(low13), low02);
      x[i + 4] = hn::OddEvenBlocks(low13, hn::SwapAdjacentBlocks(low02));
      x[i + 8] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high13), high02);
      x[i + 12] = hn::OddEvenBlocks(high13, hn::SwapAdjacentBlocks(high02));
    }
  }
}

/// A matrix with rows `stride` elements apart.
template <typename T>
struct RowsOf {
  T* data;
  std::int64_t stride;
  T* row(std::int64_t r) const { return data + r * stride; }
};

/// to[c][r] = from[r][c] * factor for r < rows, c < cols, and 0 in the padding of `to` up to a
/// whole vector; rows of `to` are aligned.
inline void pack_transposed(RowsOf<const float> from, std::int64_t rows, std::int64_t cols,
                            RowsOf<float> to, float factor) {
  const F32 d;
  const VF scale = hn::Set(d, factor);
  for (std::int64_t r = 0; r < rows; r += kLanes) {
    const std::int64_t have = std::min(kLanes, rows - r);
    for (std::int64_t c = 0; c < cols; c += kLanes) {
      const std::int64_t n = std::min(kLanes, cols - c);
      VF x[kLanes];
      if (have == kLanes && n == kLanes) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) x[i] = hn::LoadU(d, from.row(r + i) + c);
        transpose_square(d, x);
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) hn::Store(hn::Mul(x[i], scale), d, to.row(c + i) + r);
        continue;
      }
      for (std::int64_t i = 0; i < kLanes; ++i) {
        const float* const p = from.row(r + i) + c;
        x[i] = i >= have     ? hn::Zero(d)
               : n == kLanes ? hn::LoadU(d, p)
                             : LoadFirst(d, p, static_cast<std::size_t>(n));
      }
      transpose_square(d, x);
      for (std::int64_t i = 0; i < n; ++i) hn::Store(hn::Mul(x[i], scale), d, to.row(c + i) + r);
    }
  }
}

/// to[r][c] = from[c][r] * factors[r] for r < rows, c < cols; rows of `from` are aligned.
inline void unpack_transposed(RowsOf<const float> from, std::int64_t rows, std::int64_t cols,
                              const float* factors, RowsOf<float> to) {
  const F32 d;
  for (std::int64_t r = 0; r < rows; r += kLanes) {
    const std::int64_t have = std::min(kLanes, rows - r);
    const VF factor = hn::LoadU(d, factors + r);
    for (std::int64_t c = 0; c < cols; c += kLanes) {
      const std::int64_t n = std::min(kLanes, cols - c);
      VF x[kLanes];
      if (have == kLanes && n == kLanes) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) x[i] = hn::Mul(hn::Load(d, from.row(c + i) + r), factor);
        transpose_square(d, x);
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) hn::StoreU(x[i], d, to.row(r + i) + c);
        continue;
      }
      for (std::int64_t i = 0; i < kLanes; ++i) {
        x[i] = i < n ? hn::Mul(hn::Load(d, from.row(c + i) + r), factor) : hn::Zero(d);
      }
      transpose_square(d, x);
      for (std::int64_t i = 0; i < have; ++i) {
        float* const p = to.row(r + i) + c;
        if (n == kLanes) {
          hn::StoreU(x[i], d, p);
        } else {
          StoreFirst(x[i], d, p, static_cast<std::size_t>(n));
        }
      }
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
