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
inline constexpr int kBlockTileRows = kPanelVectors == 1 ? 8 : kPanelVectors == 2 ? 4 : 2;
inline constexpr int kBlockTilePanels = kPanelVectors == 1 ? 2 : 1;

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

/// Reads the scales of one panel, block by block.
class ScaleReader {
 public:
  HWY_INLINE ScaleReader(const PackedMatrix& weight, const std::byte* from)
      : form_(weight.blocks.scales), zero_(-(1 << (weight.blocks.bits - 1))), next_(from) {}

  /// Goes to the next block, or to the first one.
  HWY_INLINE void next() {
    if (form_ == BlockScales::nested && block_++ % kNestedBlocks == 0) {
      units_ = next_;
      next_ += 2 * kHalves;
    }
    at_ = next_;
    next_ += form_ == BlockScales::nested    ? 2 * kPanelRows
             : form_ == BlockScales::shifted ? 2 * kHalves
                                             : kHalves;
  }
  HWY_INLINE VF scale(int vector) const {
    const VF first = halves(form_ == BlockScales::nested ? units_ : at_, vector);
    return form_ == BlockScales::nested ? hn::Mul(first, small(at_, vector)) : first;
  }
  HWY_INLINE VF minimum(int vector) const {
    switch (form_) {
      case BlockScales::centred:
        return hn::Mul(scale(vector), hn::Set(F32(), static_cast<float>(zero_)));
      case BlockScales::shifted:
        return halves(at_ + kHalves, vector);
      case BlockScales::nested:
        break;
    }
    return hn::Neg(hn::Mul(halves(units_ + kHalves, vector), small(at_ + kPanelRows, vector)));
  }

 private:
  static constexpr std::int64_t kHalves = kPanelRows * 2;

  static HWY_INLINE VF halves(const std::byte* from, int vector) {
    return load_halves(F32(), from + vector * kLanes32 * 2);
  }
  static HWY_INLINE VF small(const std::byte* from, int vector) {
    const hn::Rebind<std::uint8_t, F32> bytes;
    const auto* const at = reinterpret_cast<const std::uint8_t*>(from) + vector * kLanes32;
    return hn::ConvertTo(F32(), hn::PromoteTo(I32(), hn::LoadU(bytes, at)));
  }

  BlockScales form_;
  int zero_;
  std::int64_t block_ = 0;
  const std::byte* next_;
  const std::byte* at_ = nullptr;
  const std::byte* units_ = nullptr;  // of nested scales
};

/// All scales of one panel.
inline HWY_ATTR void widen_scales(const PackedMatrix& weight, const std::byte* from,
                                  WideScales to) {
  ScaleReader reader(weight, from);
  for (std::int64_t b = 0; b < block_count(weight.in); ++b) {
    reader.next();
    for (int v = 0; v < kPanelVectors; ++v) {
      hn::StoreU(reader.scale(v), F32(), to.scales + b * kPanelRows + v * kLanes32);
      hn::StoreU(reader.minimum(v), F32(), to.minima + b * kPanelRows + v * kLanes32);
    }
  }
}

// ---- tiles --------------------------------------------------------------------------------------

/// Some rows of x, quantised, and P panels of a matrix.
struct BlockTile {
  const std::int8_t* x;
  std::int64_t stride;
  const float* x_scales;  // [groups, across], the first M of each row
  const float* x_sums;    // [blocks, across], the same
  std::int64_t across;
  const std::byte* panels;
  std::int64_t panel_bytes, blocks;
  WideScales wide;
};

/// The sum of a block of a row, in units of the scale of x.
template <typename Bits, typename Dot>
HWY_INLINE VF scaled_block(VI32 exact, float x_sum, VF scale, VF minimum) {
  const F32 d;
  if constexpr (Bits::kBits == 8) exact = Dot::centred(exact, x_sum);
  const VF product = hn::Mul(hn::ConvertTo(d, exact), scale);
  if constexpr (!Bits::kHasMinimum) return product;
  return hn::Add(product, hn::Mul(hn::Set(d, x_sum), minimum));
}

/// Writes the products of M rows and P panels, [M, P, 16].
template <typename Bits, typename Dot, int M, int P>
HWY_INLINE void multiply_blocks(const BlockTile& tile, float* totals) {
  constexpr int N = P * kPanelVectors;
  const F32 d;
  clear<M * N>(totals);
  for (std::int64_t b = 0; b < tile.blocks; ++b) {
    VI32 sum[M][N];
    sum_block<Bits, Dot>({tile.x + b * kBlockColumns, tile.stride},
                         tile.panels + b * Bits::kBlockBytes, tile.panel_bytes, sum);
    const auto place = [&](int j) {
      return (j / kPanelVectors * tile.blocks + b) * kPanelRows + j % kPanelVectors * kLanes32;
    };
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const float x_sum = tile.x_sums[b * tile.across + i];
      const VF x_scale = hn::Set(d, tile.x_scales[b / kBlocksOfScale * tile.across + i]);
#pragma GCC unroll 16
      for (int j = 0; j < N; ++j) {
        const VF product =
            scaled_block<Bits, Dot>(sum[i][j], x_sum, hn::LoadU(d, tile.wide.scales + place(j)),
                                    hn::LoadU(d, tile.wide.minima + place(j)));
        float* const total = totals + (i * N + j) * kLanes32;
        hn::StoreU(hn::Add(hn::LoadU(d, total), hn::Mul(product, x_scale)), d, total);
      }
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
