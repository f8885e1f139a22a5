// Tiles of products with matrices of blocks (blocks.h): a few rows of x by a few vectors of
// outputs. Within a block, products are sums of integers, which are exact on every instruction set;
// then
//
//   total += (sum scale + sum of x minimum) scale of x
//
// with each operation rounded apart, so that results have the same bits without fused ones.
#if defined(HEED_KERNELS_PACKED_BLOCK_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PACKED_BLOCK_TILE_INL_H_
#undef HEED_KERNELS_PACKED_BLOCK_TILE_INL_H_
#else
#define HEED_KERNELS_PACKED_BLOCK_TILE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "heed/kernels/half-inl.h"
#include "heed/kernels/packed/block_dot-inl.h"
#include "heed/kernels/packed/product.h"
#include "heed/kernels/packed/tile-inl.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int kBlockSteps = static_cast<int>(kBlockColumns / kColumnGroup);
inline constexpr int kStepBytes = static_cast<int>(kPanelRows * kColumnGroup);
/// The tile of blocks: more rows leave no registers for unpacking.
inline constexpr int kBlockTileRows = kPanelVectors == 1 ? 6 : kPanelVectors == 2 ? 4 : 2;
inline constexpr int kBlockTilePanels = kPanelVectors == 1 ? 4 : 1;

// ---- the integers of a step ---------------------------------------------------------------------

using U16 = hn::Repartition<std::uint16_t, I32>;
using U8 = hn::Repartition<std::uint8_t, I32>;

HWY_INLINE hn::Vec<U8> step_bytes(const std::byte* block, int step, int vector) {
  return hn::LoadU(U8(), reinterpret_cast<const std::uint8_t*>(block) + step * kStepBytes +
                             vector * kLanes32 * 4);
}

struct FourBits {
  static constexpr int kBits = 4;
  static constexpr bool kHasMinimum = true;
  static constexpr std::int64_t kBlockBytes = kStepBytes * kBlockSteps / 2;
  template <int kStep>
  static HWY_INLINE VI32 load(const std::byte* block, int vector) {
    const auto bytes = step_bytes(block, kStep / 2, vector);
    return hn::BitCast(I32(), kStep % 2 == 0 ? hn::And(bytes, hn::Set(U8(), std::uint8_t{15}))
                                             : hn::ShiftRight<4>(bytes));
  }
};

struct FiveBits {
  static constexpr int kBits = 5;
  static constexpr bool kHasMinimum = true;
  static constexpr std::int64_t kBlockBytes = FourBits::kBlockBytes + kStepBytes;
  template <int kStep>
  static HWY_INLINE VI32 load(const std::byte* block, int vector) {
    const auto bits = hn::BitCast(U16(), step_bytes(block, kBlockSteps / 2, vector));
    const auto moved = hn::BitCast(U8(), move<kStep>(bits));
    const auto fifth = hn::And(moved, hn::Set(U8(), std::uint8_t{16}));
    return hn::Or(FourBits::load<kStep>(block, vector), hn::BitCast(I32(), fifth));
  }

 private:
  // Bit kStep of every byte becomes bit 4.
  template <int kStep>
  static HWY_INLINE hn::Vec<U16> move(hn::Vec<U16> bits) {
    if constexpr (kStep < 4) {
      return hn::ShiftLeft<4 - kStep>(bits);
    } else {
      return hn::ShiftRight<kStep - 4>(bits);
    }
  }
};

struct EightBits {
  static constexpr int kBits = 8;
  static constexpr bool kHasMinimum = false;
  static constexpr std::int64_t kBlockBytes = kStepBytes * kBlockSteps;
  template <int kStep>
  static HWY_INLINE VI32 load(const std::byte* block, int vector) {
    return hn::BitCast(I32(), step_bytes(block, kStep, vector));
  }
};

/// Integers of fewer bits that a product with many rows has unpacked, a byte each.
template <typename Packed>
struct Unpacked : EightBits {
  static constexpr int kBits = Packed::kBits;
  static constexpr bool kHasMinimum = Packed::kHasMinimum;
};

template <typename Packed, int kStep = 0>
HWY_INLINE void unpack_block(const std::byte* block, std::byte* to) {
  if constexpr (kStep < kBlockSteps) {
#pragma GCC unroll 16
    for (int v = 0; v < kPanelVectors; ++v) {
      hn::StoreU(Packed::template load<kStep>(block, v), I32(),
                 reinterpret_cast<std::int32_t*>(to + kStep * kStepBytes) + v * kLanes32);
    }
    unpack_block<Packed, kStep + 1>(block, to);
  }
}

// ---- sums of a block ----------------------------------------------------------------------------

/// Rows of x as integers, from the first column of a block.
struct BlockOfX {
  const std::int8_t* x;
  std::int64_t stride;
};

HWY_INLINE VI32 four_columns(const std::int8_t* x) {
  std::int32_t four;
  std::memcpy(&four, x, sizeof four);
  return hn::Set(I32(), four);
}

/// Adds the products of steps [kStep, kEnd) of P panels, whose blocks are `apart` bytes apart.
template <typename Bits, typename Dot, int kStep, int kEnd, int M, int N>
HWY_INLINE void add_steps(const BlockOfX& of, const std::byte* block, std::int64_t apart,
                          VI32 (&sum)[M][N]) {
  if constexpr (kStep < kEnd) {
    typename Dot::Weights w[N];
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) {
      w[j] = Dot::prepare(
          Bits::template load<kStep>(block + j / kPanelVectors * apart, j % kPanelVectors));
    }
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const VI32 x = four_columns(of.x + i * of.stride + kStep * kColumnGroup);
#pragma GCC unroll 16
      for (int j = 0; j < N; ++j) Dot::add(sum[i][j], w[j], x);
    }
    add_steps<Bits, Dot, kStep + 1, kEnd>(of, block, apart, sum);
  }
}

template <int M, int N>
HWY_INLINE void set_zero(VI32 (&sum)[M][N]) {
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) sum[i][j] = hn::Zero(I32());
  }
}

/// The exact sums of products of a block.
template <typename Bits, typename Dot, int M, int N>
HWY_INLINE void sum_block(const BlockOfX& of, const std::byte* block, std::int64_t apart,
                          VI32 (&total)[M][N]) {
  constexpr int kAtOnce = Dot::kSteps;
  set_zero(total);
  add_steps<Bits, Dot, 0, kAtOnce>(of, block, apart, total);
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) total[i][j] = Dot::total(total[i][j]);
  }
  if constexpr (kAtOnce < kBlockSteps) {
    static_assert(2 * kAtOnce == kBlockSteps);
    VI32 rest[M][N];
    set_zero(rest);
    add_steps<Bits, Dot, kAtOnce, kBlockSteps>(of, block, apart, rest);
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < N; ++j) total[i][j] = hn::Add(total[i][j], Dot::total(rest[i][j]));
    }
  }
}

// ---- scales -------------------------------------------------------------------------------------

/// The scales and minima of P panels as f32, each [P, blocks, 16].
struct WideScales {
  float* scales;
  float* minima;
};

/// The scales of one panel.
inline HWY_ATTR void widen_scales(const PackedMatrix& weight, const std::byte* from,
                                  WideScales to) {
  const F32 d;
  const hn::Rebind<std::uint8_t, F32> bytes;
  const std::int64_t blocks = block_count(weight.in);
  const auto zero = hn::Set(d, static_cast<float>(-(1 << (weight.blocks.bits - 1))));
  const auto halves = [&](const std::byte* p, int vector)
                          HWY_ATTR { return load_halves(d, p + vector * kLanes32 * 2); };
  const auto small = [&](const std::byte* p, int vector) HWY_ATTR {
    const auto* const at = reinterpret_cast<const std::uint8_t*>(p) + vector * kLanes32;
    return hn::ConvertTo(d, hn::PromoteTo(I32(), hn::LoadU(bytes, at)));
  };
  constexpr std::int64_t kHalves = kPanelRows * 2;
  const std::byte* units = from;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const bool is_nested = weight.blocks.scales == BlockScales::nested;
    if (is_nested && b % kNestedBlocks == 0) {
      units = from;
      from += 2 * kHalves;
    }
    for (int v = 0; v < kPanelVectors; ++v) {
      VF scale, minimum;
      if (is_nested) {
        scale = hn::Mul(halves(units, v), small(from, v));
        minimum = hn::Neg(hn::Mul(halves(units + kHalves, v), small(from + kPanelRows, v)));
      } else {
        scale = halves(from, v);
        minimum = weight.blocks.scales == BlockScales::shifted ? halves(from + kHalves, v)
                                                               : hn::Mul(scale, zero);
      }
      hn::StoreU(scale, d, to.scales + b * kPanelRows + v * kLanes32);
      hn::StoreU(minimum, d, to.minima + b * kPanelRows + v * kLanes32);
    }
    from += is_nested                                      ? 2 * kPanelRows
            : weight.blocks.scales == BlockScales::shifted ? 2 * kHalves
                                                           : kHalves;
  }
}

// ---- tiles --------------------------------------------------------------------------------------

/// Some rows of x, quantised, and P panels of a matrix.
struct BlockTile {
  const std::int8_t* x;
  std::int64_t stride;
  const float* x_scales;  // [M, x_groups]
  std::int64_t x_groups;
  const float* x_sums;  // [M, blocks]
  const std::byte* panels;
  std::int64_t panel_bytes, blocks;
  WideScales wide;
};

/// Writes the products of M rows and P panels, [M, P, 16].
template <typename Bits, typename Dot, int M, int P>
HWY_INLINE void multiply_blocks(const BlockTile& tile, float* totals) {
  constexpr int N = P * kPanelVectors;
  const F32 d;
  std::fill_n(totals, M * P * kPanelRows, 0.0f);
  for (std::int64_t b = 0; b < tile.blocks; ++b) {
    VI32 sum[M][N];
    sum_block<Bits, Dot>({tile.x + b * kBlockColumns, tile.stride},
                         tile.panels + b * Bits::kBlockBytes, tile.panel_bytes, sum);
    const auto place = [&](int j) {
      return (j / kPanelVectors * tile.blocks + b) * kPanelRows + j % kPanelVectors * kLanes32;
    };
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const float* const x_sum = tile.x_sums + i * tile.blocks + b;
      const VF x_scale = hn::Set(d, tile.x_scales[i * tile.x_groups + b / kBlocksOfScale]);
#pragma GCC unroll 16
      for (int j = 0; j < N; ++j) {
        VI32 exact = sum[i][j];
        if constexpr (Bits::kBits == 8) exact = Dot::centred(exact, *x_sum);
        VF product = hn::Mul(hn::ConvertTo(d, exact), hn::LoadU(d, tile.wide.scales + place(j)));
        if constexpr (Bits::kHasMinimum) {
          product = hn::Add(product,
                            hn::Mul(hn::Set(d, *x_sum), hn::LoadU(d, tile.wide.minima + place(j))));
        }
        float* const total = totals + (i * N + j) * kLanes32;
        hn::StoreU(hn::Add(hn::LoadU(d, total), hn::Mul(product, x_scale)), d, total);
      }
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
