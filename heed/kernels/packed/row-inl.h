// Products of one row of x, whose limit is how fast the weights come from memory. Tiles
// (tile-inl.h) read several panels side by side; here each panel is read from front to back, one
// after another, as one stream. The sums of integers are exact in any order, so that several of
// them share the steps of one panel and none waits for the one before.
#if defined(HEED_KERNELS_PACKED_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PACKED_ROW_INL_H_
#undef HEED_KERNELS_PACKED_ROW_INL_H_
#else
#define HEED_KERNELS_PACKED_ROW_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/kernels/packed/block_tile-inl.h"
#include "heed/kernels/packed/tile-inl.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Sums that share the steps of a panel.
inline constexpr int kRowSums = 4;

/// Adds to sum the products of one row and one panel over the columns [begin, end).
template <typename Weights>
HWY_INLINE void add_row_products(const std::int8_t* x, const std::byte* panel, std::int64_t begin,
                                 std::int64_t end, VI32 (&sum)[kPanelVectors]) {
  constexpr std::int64_t kColumns = Weights::kGroup * kRowSums;
  VI32 sums[kRowSums][kPanelVectors];
#pragma GCC unroll 16
  for (int s = 0; s < kRowSums; ++s) {
#pragma GCC unroll 16
    for (int j = 0; j < kPanelVectors; ++j) sums[s][j] = s == 0 ? sum[j] : hn::Zero(I32());
  }
  const auto add = [&](std::int64_t column, int s) HWY_ATTR {
    const VI32 one = Weights::broadcast(x + column);
    fetch_ahead(panel + column / Weights::kGroup * Weights::kStepBytes);
#pragma GCC unroll 16
    for (int j = 0; j < kPanelVectors; ++j) {
      Weights::add(sums[s][j], one, Weights::load(panel, column, j));
    }
  };
  std::int64_t column = begin;
  for (; column + kColumns <= end; column += kColumns) {
#pragma GCC unroll 16
    for (int s = 0; s < kRowSums; ++s) add(column + s * Weights::kGroup, s);
  }
  for (; column < end; column += Weights::kGroup) add(column, 0);
#pragma GCC unroll 16
  for (int j = 0; j < kPanelVectors; ++j) {
    sum[j] = hn::Add(hn::Add(sums[0][j], sums[1][j]), hn::Add(sums[2][j], sums[3][j]));
  }
}

/// Writes the products of one row and one panel, [16], as multiply_groups() does.
template <typename Weights>
HWY_INLINE void multiply_group_row(const Int8Tile& tile, float* totals) {
  const F32 d;
  VF total[kPanelVectors];
#pragma GCC unroll 16
  for (int j = 0; j < kPanelVectors; ++j) total[j] = hn::Zero(d);
  for (std::int64_t g = 0; g < tile.groups; ++g) {
    VI32 sum[kPanelVectors];
#pragma GCC unroll 16
    for (int j = 0; j < kPanelVectors; ++j) sum[j] = first_sum<Weights>(tile, g, 0, j);
    add_row_products<Weights>(tile.x, tile.panels, g * kScaleColumns, tile.end_of(g), sum);
    const VF scale = hn::Set(d, tile.x_scales[g * tile.across]);
#pragma GCC unroll 16
    for (int j = 0; j < kPanelVectors; ++j) {
      const VF scales = hn::LoadU(d, tile.scales + tile.place(g, j));
      total[j] = hn::Add(total[j], hn::Mul(hn::ConvertTo(d, sum[j]), hn::Mul(scale, scales)));
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < kPanelVectors; ++j) hn::StoreU(total[j], d, totals + j * kLanes32);
}

/// Writes the products of one row and one panel of blocks, [16], as multiply_blocks() does. Scales
/// are read where they are.
template <typename Bits, typename Dot>
HWY_INLINE void multiply_block_row(const BlockTile& tile, ScaleReader scales, float* totals) {
  const F32 d;
  VF total[kPanelVectors];
#pragma GCC unroll 16
  for (int j = 0; j < kPanelVectors; ++j) total[j] = hn::Zero(d);
  for (std::int64_t b = 0; b < tile.blocks; ++b) {
    const std::byte* const block = tile.panels + b * Bits::kBlockBytes;
#pragma GCC unroll 16
    for (std::int64_t at = 0; at < Bits::kBlockBytes; at += kCacheLine) fetch_ahead(block + at);
    VI32 sum[1][kPanelVectors];
    sum_block<Bits, Dot>({tile.x + b * kBlockColumns, tile.stride}, block, 0, sum);
    scales.next();
    const VF x_scale = hn::Set(d, tile.x_scales[b / kBlocksOfScale * tile.across]);
#pragma GCC unroll 16
    for (int j = 0; j < kPanelVectors; ++j) {
      const VF product = scaled_block<Bits, Dot>(sum[0][j], tile.x_sums[b * tile.across],
                                                 scales.scale(j), scales.minimum(j));
      total[j] = hn::Add(total[j], hn::Mul(product, x_scale));
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < kPanelVectors; ++j) hn::StoreU(total[j], d, totals + j * kLanes32);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
