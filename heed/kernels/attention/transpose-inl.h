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

/// Squares within the 128-bit blocks of vectors: four floats or two doubles wide.
template <class D, int kLanes>
HWY_INLINE void transpose_in_blocks(D d, hn::Vec<D> (&x)[kLanes]) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; i += 2) {
      const auto low = hn::InterleaveLower(d, x[i], x[i + 1]);
      x[i + 1] = hn::InterleaveUpper(d, x[i], x[i + 1]);
      x[i] = low;
    }
  } else {
    const hn::Repartition<double, D> d64;
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; i += 4) {
      const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, x[i], x[i + 1]));
      const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, x[i], x[i + 1]));
      const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, x[i + 2], x[i + 3]));
      const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, x[i + 2], x[i + 3]));
      x[i] = hn::BitCast(d, hn::InterleaveLower(d64, low01, low23));
      x[i + 1] = hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23));
      x[i + 2] = hn::BitCast(d, hn::InterleaveLower(d64, high01, high23));
      x[i + 3] = hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23));
    }
  }
}

/// x[i] lane j becomes x[j] lane i.
template <class D, int kLanes>
HWY_INLINE void transpose_square(D d, hn::Vec<D> (&x)[kLanes]) {
  using V = hn::Vec<D>;
  transpose_in_blocks(d, x);
  // Then the blocks themselves.
  constexpr int kBlock = 16 / sizeof(hn::TFromD<D>), kBlocks = kLanes / kBlock;
  static_assert(kBlocks == 1 || kBlocks == 2 || kBlocks == 4);
#pragma GCC unroll 4
  for (int i = 0; i < kBlock; ++i) {
    if constexpr (kBlocks == 2) {
      const V low = hn::ConcatLowerLower(d, x[i + kBlock], x[i]);
      x[i + kBlock] = hn::ConcatUpperUpper(d, x[i + kBlock], x[i]);
      x[i] = low;
    } else if constexpr (kBlocks == 4) {
      const V low02 = hn::ConcatLowerLower(d, x[i + 2 * kBlock], x[i]);
      const V high02 = hn::ConcatUpperUpper(d, x[i + 2 * kBlock], x[i]);
      const V low13 = hn::ConcatLowerLower(d, x[i + 3 * kBlock], x[i + kBlock]);
      const V high13 = hn::ConcatUpperUpper(d, x[i + 3 * kBlock], x[i + kBlock]);
      x[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(low13), low02);
      x[i + kBlock] = hn::OddEvenBlocks(low13, hn::SwapAdjacentBlocks(low02));
      x[i + 2 * kBlock] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high13), high02);
      x[i + 3 * kBlock] = hn::OddEvenBlocks(high13, hn::SwapAdjacentBlocks(high02));
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
template <typename T = float>
void pack_transposed(RowsOf<const T> from, std::int64_t rows, std::int64_t cols, RowsOf<T> to,
                     T factor) {
  const TagOf<T> d;
  constexpr std::int64_t kStep = kLanesOf<T>;
  const VecOf<T> scale = hn::Set(d, factor);
  for (std::int64_t r = 0; r < rows; r += kStep) {
    const std::int64_t have = std::min(kStep, rows - r);
    for (std::int64_t c = 0; c < cols; c += kStep) {
      const std::int64_t n = std::min(kStep, cols - c);
      VecOf<T> x[kStep];
      if (have == kStep && n == kStep) {
#pragma GCC unroll 16
        for (int i = 0; i < kStep; ++i) x[i] = hn::LoadU(d, from.row(r + i) + c);
        transpose_square(d, x);
#pragma GCC unroll 16
        for (int i = 0; i < kStep; ++i) hn::Store(hn::Mul(x[i], scale), d, to.row(c + i) + r);
        continue;
      }
      for (std::int64_t i = 0; i < kStep; ++i) {
        const T* const p = from.row(r + i) + c;
        x[i] = i >= have    ? hn::Zero(d)
               : n == kStep ? hn::LoadU(d, p)
                            : LoadFirst(d, p, static_cast<std::size_t>(n));
      }
      transpose_square(d, x);
      for (std::int64_t i = 0; i < n; ++i) hn::Store(hn::Mul(x[i], scale), d, to.row(c + i) + r);
    }
  }
}

/// to[r][c] = from[c][r] * factors[r] for r < rows, c < cols; rows of `from` are aligned.
template <typename T = float>
void unpack_transposed(RowsOf<const T> from, std::int64_t rows, std::int64_t cols, const T* factors,
                       RowsOf<T> to) {
  const TagOf<T> d;
  constexpr std::int64_t kStep = kLanesOf<T>;
  for (std::int64_t r = 0; r < rows; r += kStep) {
    const std::int64_t have = std::min(kStep, rows - r);
    const VecOf<T> factor = hn::LoadU(d, factors + r);
    for (std::int64_t c = 0; c < cols; c += kStep) {
      const std::int64_t n = std::min(kStep, cols - c);
      VecOf<T> x[kStep];
      if (have == kStep && n == kStep) {
#pragma GCC unroll 16
        for (int i = 0; i < kStep; ++i) x[i] = hn::Mul(hn::Load(d, from.row(c + i) + r), factor);
        transpose_square(d, x);
#pragma GCC unroll 16
        for (int i = 0; i < kStep; ++i) hn::StoreU(x[i], d, to.row(r + i) + c);
        continue;
      }
      for (std::int64_t i = 0; i < kStep; ++i) {
        x[i] = i < n ? hn::Mul(hn::Load(d, from.row(c + i) + r), factor) : hn::Zero(d);
      }
      transpose_square(d, x);
      for (std::int64_t i = 0; i < have; ++i) {
        T* const p = to.row(r + i) + c;
        if (n == kStep) {
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
