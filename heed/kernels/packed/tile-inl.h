// Tiles of products with packed matrices: a few rows of x by a few vectors of outputs, summed in
// registers over all columns. What differs between the forms of the numbers is in the Weights
// types.
#if defined(HEED_KERNELS_PACKED_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PACKED_TILE_INL_H_
#undef HEED_KERNELS_PACKED_TILE_INL_H_
#else
#define HEED_KERNELS_PACKED_TILE_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "heed/base/dtype.h"
#include "heed/kernels/bf16-inl.h"
#include "heed/kernels/elementwise-inl.h"
#include "heed/kernels/packed/dot-inl.h"
#include "heed/kernels/packed/product.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int kLanes32 = static_cast<int>(hn::MaxLanes(F32()));
/// Vectors of one panel.
inline constexpr int kPanelVectors = static_cast<int>(kPanelRows) / kLanes32;

/// Sums in f32 of weights in f32.
struct F32Weights {
  using Sum = VF;
  using X = float;
  using First = F32Weights;  // what a step adds: its loads and numbers of x
  using Second = void;
  static constexpr std::int64_t kGroup = 1;                   // columns per step
  static constexpr std::int64_t kStepBytes = kPanelRows * 4;  // of a panel
  // With 32 registers, 6 rows by 4 vectors; with 16, 6 by 2.
  static constexpr int kRows = kPanelVectors > 2 ? 3 : 6;
  static constexpr int kPanels = kPanelVectors == 1 ? 4 : 1;
  // Some more rows than that use each weight as often as possible when it comes from memory. On Ice
  // Lake, 16 x 512 x 8000: 109 GF/s with 6 rows by 4 vectors, 124 with 12 by 2.
  static constexpr int kMoreRows = kPanelVectors == 1 ? 12 : kRows;
  static constexpr int kFewerPanels = kPanelVectors == 1 ? 2 : 1;
  static constexpr std::int64_t kMostRowsFromMemory = 36;

  static const X* numbers(const RowsOfX& x) { return x.floats; }
  static HWY_INLINE VF load(const std::byte* panel, std::int64_t column, int vector) {
    return hn::LoadU(
        F32(), reinterpret_cast<const float*>(panel) + column * kPanelRows + vector * kLanes32);
  }
  static HWY_INLINE VF broadcast(const X* x) { return hn::Set(F32(), *x); }
  static HWY_INLINE void add(Sum& sum, VF x, VF w) { sum = hn::MulAdd(x, w, sum); }
};

/// Pairs of bf16 of a panel.
HWY_INLINE VPairs load_pairs(const std::byte* panel, std::int64_t column, int vector) {
  return hn::LoadU(PairTag(), reinterpret_cast<const std::uint32_t*>(panel) +
                                  column / kColumnPair * kPanelRows + vector * kLanes32);
}

/// One number of each pair: the first (0) or the second (1).
template <int kPlace>
struct HalfOfPairs {
  static HWY_INLINE VF load(const std::byte* panel, std::int64_t column, int vector) {
    return half_of<kPlace>(load_pairs(panel, column, vector));
  }
  static HWY_INLINE VF broadcast(const float* x) { return hn::Set(F32(), x[kPlace]); }
};

/// Sums in f32 of pairs of weights in bf16, in the order of Bf16Pairs. Products of two numbers of
/// bf16 are exact in f32, so that the bits are the same with and without fused additions.
struct Bf16Weights : F32Weights {
  using First = HalfOfPairs<1>;
  using Second = HalfOfPairs<0>;
  static constexpr std::int64_t kGroup = kColumnPair;
  static constexpr std::int64_t kStepBytes = kPanelRows * kColumnPair * 2;
};

#if HWY_TARGET == HWY_AVX3
/// The same with dot products of pairs.
struct Bf16Pairs : Bf16Weights {
  using X = BFloat16;
  using First = Bf16Pairs;
  using Second = void;

  static const X* numbers(const RowsOfX& x) { return x.halves; }
  static HWY_INLINE VPairs load(const std::byte* panel, std::int64_t column, int vector) {
    return load_pairs(panel, column, vector);
  }
  static HWY_INLINE VPairs broadcast(const X* x) { return repeat_pair(x); }
  static HWY_INLINE void add(Sum& sum, VPairs x, VPairs w) { sum = add_pair_products(sum, x, w); }
};
#endif

/// Sums in i32 of weights in int8, four columns at a time.
template <typename Dot>
struct Int8Weights {
  using Sum = VI32;
  using X = std::int8_t;
  using First = Int8Weights;
  using Second = void;
  static constexpr std::int64_t kGroup = kColumnGroup;
  static constexpr std::int64_t kStepBytes = kPanelRows * kColumnGroup;
  static constexpr int kRows = kPanelVectors == 1 ? 8 : kPanelVectors == 2 ? 6 : 2;
  static constexpr int kPanels = kPanelVectors == 1 ? 2 : 1;
  static constexpr bool kHasOffsets = Dot::kHasOffsets;

  static HWY_INLINE VI32 load(const std::byte* panel, std::int64_t column, int vector) {
    return hn::LoadU(I32(), reinterpret_cast<const std::int32_t*>(panel) +
                                column / kGroup * kPanelRows + vector * kLanes32);
  }
  static HWY_INLINE VI32 broadcast(const X* x) {
    std::int32_t four;
    std::memcpy(&four, x, sizeof four);
    return hn::Set(I32(), four);
  }
  static HWY_INLINE void add(Sum& sum, VI32 x, VI32 w) { Dot::add(sum, x, w); }
};

inline constexpr std::int64_t kCacheLine = 64;

/// Fetches weights that products of one row will use soon. The hardware alone stops at the end of a
/// page. On Zen 5, weights of 4 bits come at 36, 39, 43 and 46 GB/s with 512, 1024, 2048 and 4096
/// bytes.
HWY_INLINE void fetch_ahead(const std::byte* weights) {
  constexpr std::int64_t kBytesAhead = 4096;
  hwy::Prefetch(weights + kBytesAhead);
}

// Loops over registers are unrolled, else the compiler keeps them in memory.

/// Adds to sum what the numbers of `Part` add in the step at a column.
template <typename Weights, typename Part, int M, int N>
HWY_INLINE void add_step(const typename Weights::X* x, std::int64_t x_stride,
                         const std::byte* panels, std::int64_t panel_bytes, std::int64_t column,
                         typename Weights::Sum (&sum)[M][N]) {
  decltype(Part::load(panels, column, 0)) w[N];
#pragma GCC unroll 16
  for (int j = 0; j < N; ++j) {
    w[j] = Part::load(panels + j / kPanelVectors * panel_bytes, column, j % kPanelVectors);
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
    const auto one = Part::broadcast(x + i * x_stride + column);
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) Weights::add(sum[i][j], one, w[j]);
  }
}

/// Adds to sum the products of M rows of x and P panels over the columns [begin, end). Panels are
/// `panel_bytes` apart.
template <typename Weights, int M, int P>
HWY_INLINE void add_products(const typename Weights::X* x, std::int64_t x_stride,
                             const std::byte* panels, std::int64_t panel_bytes, std::int64_t begin,
                             std::int64_t end, typename Weights::Sum (&sum)[M][P * kPanelVectors]) {
  for (std::int64_t column = begin; column < end; column += Weights::kGroup) {
    if constexpr (M == 1) {  // memory is the limit
      const std::byte* const step = panels + column / Weights::kGroup * Weights::kStepBytes;
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) fetch_ahead(step + p * panel_bytes);
    }
    add_step<Weights, typename Weights::First>(x, x_stride, panels, panel_bytes, column, sum);
    if constexpr (!std::is_void_v<typename Weights::Second>) {
      add_step<Weights, typename Weights::Second>(x, x_stride, panels, panel_bytes, column, sum);
    }
  }
}

/// The same with sums in memory, [M, P, 16].
template <typename Weights, int M, int P>
HWY_INLINE void add_products(const typename Weights::X* x, std::int64_t x_stride,
                             const std::byte* panels, std::int64_t panel_bytes, std::int64_t begin,
                             std::int64_t end, float* sums) {
  constexpr int N = P * kPanelVectors;
  const F32 d;
  VF sum[M][N];
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) sum[i][j] = hn::LoadU(d, sums + (i * N + j) * kLanes32);
  }
  add_products<Weights, M, P>(x, x_stride, panels, panel_bytes, begin, end, sum);
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) hn::StoreU(sum[i][j], d, sums + (i * N + j) * kLanes32);
  }
}

/// Some rows of x as integers, and P panels of a matrix of int8. Groups are columns that share a
/// scale.
struct Int8Tile {
  const std::int8_t* x;
  std::int64_t stride;
  const float* x_scales;          // [groups, across], the first M of each row
  const std::int32_t* x_offsets;  // the same, unless they have a common offset
  std::int64_t across;
  const std::byte* panels;
  std::int64_t panel_bytes, columns;
  const float* scales;       // [P, groups, 16]
  const std::int32_t* sums;  // [P, groups, 16]
  std::int64_t groups;

  // The place of a vector of the first panels among scales and sums.
  HWY_INLINE std::int64_t place(std::int64_t group, int vector) const {
    return (vector / kPanelVectors * groups + group) * kPanelRows +
           vector % kPanelVectors * kLanes32;
  }
  HWY_INLINE std::int64_t end_of(std::int64_t group) const {
    return std::min((group + 1) * kScaleColumns, columns);
  }
};

/// What the offsets of x add to the sums of a row. If all rows have the same one, the compiler
/// computes it once. On Zen, a multiplication for each row would take the place of one of 16 dot
/// products: two of its four units multiply, and conversions, additions and shifts have the others.
template <typename Weights>
HWY_INLINE VI32 first_sum(const Int8Tile& tile, std::int64_t group, int row, int vector) {
  const VI32 sums = hn::LoadU(I32(), tile.sums + tile.place(group, vector));
  if constexpr (Weights::kHasOffsets) {
    return hn::Mul(sums, hn::Set(I32(), tile.x_offsets[group * tile.across + row]));
  } else {
    static_assert(kCommonOffset == -(1 << 7));
    return hn::Neg(hn::ShiftLeft<7>(sums));
  }
}

/// Adds to totals, [M, P, 16] of f32, the products of a group. Multiplication and addition are
/// rounded apart, so that results have the same bits without fused ones.
template <typename Weights, int M, int P>
HWY_INLINE void add_group(const Int8Tile& tile, std::int64_t group, float* totals) {
  constexpr int N = P * kPanelVectors;
  const F32 d;
  VI32 sum[M][N];
#pragma GCC unroll 16
  for (int j = 0; j < N; ++j) {
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) sum[i][j] = first_sum<Weights>(tile, group, i, j);
  }
  add_products<Weights, M, P>(tile.x, tile.stride, tile.panels, tile.panel_bytes,
                              group * kScaleColumns, tile.end_of(group), sum);
  VF scales[N];
#pragma GCC unroll 16
  for (int j = 0; j < N; ++j) scales[j] = hn::LoadU(d, tile.scales + tile.place(group, j));
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
    const VF scale = hn::Set(d, tile.x_scales[group * tile.across + i]);
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) {
      float* const total = totals + (i * N + j) * kLanes32;
      const VF product = hn::Mul(hn::ConvertTo(d, sum[i][j]), hn::Mul(scale, scales[j]));
      hn::StoreU(hn::Add(hn::LoadU(d, total), product), d, total);
    }
  }
}

/// Sets so many vectors to 0. std::fill_n became `rep stos`: half a percent of the time of a
/// product with 2048 columns.
template <int kVectors>
HWY_INLINE void clear(float* numbers) {
#pragma GCC unroll 32
  for (int v = 0; v < kVectors; ++v) hn::StoreU(hn::Zero(F32()), F32(), numbers + v * kLanes32);
}

/// Writes the products of M rows and P panels, [M, P, 16].
template <typename Weights, int M, int P>
HWY_INLINE void multiply_groups(const Int8Tile& tile, float* totals) {
  clear<M * P * kPanelVectors>(totals);
  for (std::int64_t g = 0; g < tile.groups; ++g) add_group<Weights, M, P>(tile, g, totals);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
