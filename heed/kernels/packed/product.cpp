#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/packed/product.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <type_traits>

#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/flops.h"
#include "heed/base/isa.h"
#include "heed/base/threads.h"
#include "heed/kernels/packed/block_tile-inl.h"
#include "heed/kernels/packed/product.h"
#include "heed/kernels/packed/row-inl.h"
#include "heed/kernels/packed/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// ---- what is done with sums ---------------------------------------------------------------------

// A vector of outputs of one row: adds bias and residual, and stores those that exist.
HWY_INLINE void put(const PackedProduct& call, std::int64_t row, std::int64_t at, VF value) {
  const F32 d;
  const std::int64_t left = call.weight.out - at;
  if (left <= 0) return;
  const bool whole = left >= kLanes32;
  const auto count = static_cast<std::size_t>(std::min<std::int64_t>(left, kLanes32));
  const auto load = [&](const float* from)
                        HWY_ATTR { return whole ? hn::LoadU(d, from) : LoadFirst(d, from, count); };
  if (call.bias != nullptr) value = hn::Add(value, load(call.bias + at));
  const std::int64_t place = row * call.y_stride + at;
  if (call.residual != nullptr && !call.activation) {
    value = hn::Add(value, load(call.residual + row * call.residual_stride + at));
  }
  if (whole) {
    hn::StoreU(value, d, call.y + place);
  } else {
    StoreFirst(value, d, call.y + place, count);
  }
}

// The tile of M rows from `row` and P panels from `panel`.
struct TilePlace {
  std::int64_t row, panel;
};

// Sums of a tile, [M, P, 16].
template <int M, int P>
HWY_INLINE void put_tile(const PackedProduct& call, TilePlace at, const float* sums) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < P * kPanelVectors; ++j) {
      put(call, at.row + i, at.panel * kPanelRows + j * kLanes32,
          hn::LoadU(F32(), sums + (i * P * kPanelVectors + j) * kLanes32));
    }
  }
}

template <typename Op>
HWY_INLINE void activate_row(const PackedProduct& call, std::int64_t row) {
  const F32 d;
  const std::int64_t place = row * call.y_stride, count = call.weight.out;
  float* const y = call.y + place;
  const float* const residual =
      call.residual == nullptr ? nullptr : call.residual + row * call.residual_stride;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    VF value = Op::apply(hn::LoadU(d, y + i));
    if (residual != nullptr) value = hn::Add(value, hn::LoadU(d, residual + i));
    hn::StoreU(value, d, y + i);
  }
  if (i < count) {
    const auto left = static_cast<std::size_t>(count - i);
    VF value = Op::apply(LoadFirst(d, y + i, left));
    if (residual != nullptr) value = hn::Add(value, LoadFirst(d, residual + i, left));
    StoreFirst(value, d, y + i, left);
  }
}

// The activation of a row that holds x W^T + bias.
void activate(const PackedProduct& call, std::int64_t row) {
  switch (*call.activation) {
#define HEED_X(name, functor, saves) \
  case Unary::name:                  \
    return activate_row<functor>(call, row);
    HEED_UNARY_OPS(HEED_X)
#undef HEED_X
  }
}

// ---- f32 and bf16 -------------------------------------------------------------------------------

// Columns summed at a time: the weights of a tile then stay in the second-level cache while all
// rows of a cell pass. Meanwhile the sums of a tile wait in memory, so the order of additions is
// the same.
constexpr std::int64_t kColumnsAtOnce = 1024;

// The columns of one pass.
struct ColumnPass {
  std::int64_t begin, end;
};

// `sums`, [M, P, 16], holds the sums of the passes before.
template <typename Weights, int M, int P>
HWY_INLINE void float_tile(const PackedProduct& call, const RowsOfX& x, TilePlace at,
                           ColumnPass pass, float* sums) {
  const std::int64_t in = call.weight.in, bytes = panel_bytes(call.weight.form, in);
  if (pass.begin == 0) std::fill_n(sums, M * P * kPanelRows, 0.0f);
  add_products<Weights, M, P>(Weights::numbers(x) + at.row * x.stride, x.stride,
                              call.weight.data + at.panel * bytes, bytes, pass.begin, pass.end,
                              sums);
  if (pass.end < in) return;
  put_tile<M, P>(call, at, sums);
}

// ---- int8 ---------------------------------------------------------------------------------------

// The rows and panels from a place.
HWY_INLINE Int8Tile int8_tile_at(const PackedMatrix& w, const QuantizedRows& x, TilePlace at) {
  const std::int64_t groups = scale_groups(w.in), bytes = panel_bytes(w.form, w.in);
  const std::int64_t scales = at.panel * groups * kPanelRows;
  return {.x = x.integers + at.row * x.stride,
          .stride = x.stride,
          .x_scales = x.scales + at.row,
          .x_offsets = x.offsets == nullptr ? nullptr : x.offsets + at.row,
          .across = x.across,
          .panels = w.data + at.panel * bytes,
          .panel_bytes = bytes,
          .columns = padded_in(w.form, w.in),
          .scales = w.scales + scales,
          .sums = w.sums + scales,
          .groups = groups};
}

template <typename Weights, int M, int P>
HWY_INLINE void int8_tile(const PackedProduct& call, const QuantizedRows& x, TilePlace at) {
  HWY_ALIGN float totals[M * P * kPanelRows];
  multiply_groups<Weights, M, P>(int8_tile_at(call.weight, x, at), totals);
  put_tile<M, P>(call, at, totals);
}

template <typename Weights>
HWY_INLINE void int8_row(const PackedProduct& call, const QuantizedRows& x, std::int64_t panel) {
  HWY_ALIGN float totals[kPanelRows];
  multiply_group_row<Weights>(int8_tile_at(call.weight, x, {0, panel}), totals);
  put_tile<1, 1>(call, {0, panel}, totals);
}

// ---- blocks -------------------------------------------------------------------------------------

// Some panels of a matrix of blocks: their integers, and their scales as f32.
struct BlockPanels {
  const std::byte* data;
  std::int64_t panel_bytes;
  WideScales wide;
};

template <typename Bits, typename Dot, int M, int P>
HWY_INLINE void block_tile(const PackedProduct& call, const QuantizedRows& x, TilePlace at,
                           const BlockPanels& panels) {
  HWY_ALIGN float totals[M * P * kPanelRows];
  multiply_blocks<Bits, Dot, M, P>({.x = x.integers + at.row * x.stride,
                                    .stride = x.stride,
                                    .x_scales = x.scales + at.row,
                                    .x_sums = x.sums + at.row,
                                    .across = x.across,
                                    .panels = panels.data,
                                    .panel_bytes = panels.panel_bytes,
                                    .blocks = block_count(call.weight.in),
                                    .wide = panels.wide},
                                   totals);
  put_tile<M, P>(call, at, totals);
}

template <typename Bits, typename Dot>
HWY_INLINE void block_row(const PackedProduct& call, const QuantizedRows& x, std::int64_t panel) {
  const PackedMatrix& w = call.weight;
  const std::int64_t blocks = block_count(w.in);
  HWY_ALIGN float totals[kPanelRows];
  multiply_block_row<Bits, Dot>(
      {.x = x.integers,
       .stride = x.stride,
       .x_scales = x.scales,
       .x_sums = x.sums,
       .across = x.across,
       .panels = w.data + panel * blocks * Bits::kBlockBytes,
       .panel_bytes = 0,
       .blocks = blocks,
       .wide = {}},
      ScaleReader(w, w.block_scales + panel * block_scale_bytes(w.blocks, w.in)), totals);
  put_tile<1, 1>(call, {0, panel}, totals);
}

// ---- products -----------------------------------------------------------------------------------

// Calls tile with a number of rows as a constant: M to 1.
template <int M, typename Tile>
HWY_INLINE void with_rows(std::int64_t rows, const Tile& tile) {
  if constexpr (M > 1) {
    if (rows < M) return with_rows<M - 1>(rows, tile);
  }
  tile(std::integral_constant<int, M>());
}

// Calls tile(M, row) for blocks of rows. Blocks have at most kRows rows, and sizes that differ by
// at most one.
template <int kRows, typename Tile>
HWY_INLINE void for_row_blocks(std::int64_t rows, const Tile& tile) {
  const std::int64_t blocks = (rows + kRows - 1) / kRows;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t row = rows * b / blocks, next = rows * (b + 1) / blocks;
    with_rows<kRows>(next - row, [&](auto m) HWY_ATTR { tile(m, row); });
  }
}

// Calls run(P, panel) for groups of P = kPanels panels, then for those that are left one by one.
template <int kPanels, typename Run>
HWY_INLINE void for_panel_groups(std::int64_t panels, const Run& run) {
  std::int64_t panel = 0;
  for (; panel + kPanels <= panels; panel += kPanels) {
    run(std::integral_constant<int, kPanels>(), panel);
  }
  for (; panel < panels; ++panel) run(std::integral_constant<int, 1>(), panel);
}

HWY_INLINE void finish(const PackedProduct& call) {
  if (!call.activation) return;
  for (std::int64_t row = 0; row < call.rows; ++row) activate(call, row);
}

template <typename Weights, int kRows, int kPanels>
HWY_INLINE void float_product(const PackedProduct& call, const RowsOfX& x) {
  const std::int64_t in = call.weight.in;
  const Scratch<float> sums(call.rows * kPanels * kPanelRows);
  for_panel_groups<kPanels>(call.weight.panels(), [&](auto p, std::int64_t panel) HWY_ATTR {
    std::int64_t begin = 0;
    do {
      const std::int64_t end = std::min(in, begin + kColumnsAtOnce);
      for_row_blocks<kRows>(call.rows, [&](auto m, std::int64_t row) HWY_ATTR {
        constexpr int M = decltype(m)::value, P = decltype(p)::value;
        float_tile<Weights, M, P>(call, x, {row, panel}, {begin, end},
                                  sums.data() + row * P * kPanelRows);
      });
      begin = end;
    } while (begin < in);
  });
}

template <typename Weights>
HWY_INLINE void float_product(const PackedProduct& call, const RowsOfX& x) {
  if (call.rows > Weights::kRows && call.rows <= Weights::kMostRowsFromMemory) {
    float_product<Weights, Weights::kMoreRows, Weights::kFewerPanels>(call, x);
  } else {
    float_product<Weights, Weights::kRows, Weights::kPanels>(call, x);
  }
  finish(call);
}

template <typename Weights>
HWY_INLINE void int8_product(const PackedProduct& call, const QuantizedRows& x) {
  if (call.rows == 1) {
    for (std::int64_t p = 0; p < call.weight.panels(); ++p) int8_row<Weights>(call, x, p);
    return finish(call);
  }
  for_panel_groups<Weights::kPanels>(
      call.weight.panels(), [&](auto p, std::int64_t panel) HWY_ATTR {
        for_row_blocks<Weights::kRows>(call.rows, [&](auto m, std::int64_t row) HWY_ATTR {
          int8_tile<Weights, decltype(m)::value, decltype(p)::value>(call, x, {row, panel});
        });
      });
  finish(call);
}

template <typename Bits, typename Dot, bool kUnpack>
HWY_INLINE void block_product(const PackedProduct& call, const QuantizedRows& x) {
  using Read = std::conditional_t<kUnpack, Unpacked<Bits>, Bits>;
  const PackedMatrix& w = call.weight;
  const std::int64_t blocks = block_count(w.in), numbers = blocks * kPanelRows;
  const std::int64_t bytes = blocks * Bits::kBlockBytes, read_bytes = blocks * Read::kBlockBytes;
  const std::int64_t scale_bytes = block_scale_bytes(w.blocks, w.in);
  const Scratch<float> wide(2 * kBlockTilePanels * numbers);
  const Scratch<std::byte> unpacked(kUnpack ? kBlockTilePanels * read_bytes : 0);
  const WideScales scales{wide.data(), wide.data() + kBlockTilePanels * numbers};
  for_panel_groups<kBlockTilePanels>(w.panels(), [&](auto p, std::int64_t panel) HWY_ATTR {
    constexpr int P = decltype(p)::value;
    const std::byte* const data = w.data + panel * bytes;
    for (std::int64_t i = 0; i < P; ++i) {
      widen_scales(w, w.block_scales + (panel + i) * scale_bytes,
                   {scales.scales + i * numbers, scales.minima + i * numbers});
    }
    for (std::int64_t b = 0; kUnpack && b < P * blocks; ++b) {
      unpack_block<Bits>(data + b * Bits::kBlockBytes, unpacked.data() + b * Read::kBlockBytes);
    }
    const BlockPanels panels{kUnpack ? unpacked.data() : data, read_bytes, scales};
    for_row_blocks<kBlockTileRows>(call.rows, [&](auto m, std::int64_t row) HWY_ATTR {
      block_tile<Read, Dot, decltype(m)::value, P>(call, x, {row, panel}, panels);
    });
  });
  finish(call);
}

// Weights of 5 bits are unpacked once for all rows, if there are many: 145 -> 180 GOP/s with 64
// rows on Zen 3. Those of 4 bits are unpacked fast enough each time.
template <typename Bits, typename Dot>
HWY_INLINE void block_product(const PackedProduct& call, const QuantizedRows& x) {
  constexpr std::int64_t kFewRows = 16;
  constexpr bool kUnpack = Bits::kBits == 5;
  if (call.rows == 1) {
    for (std::int64_t p = 0; p < call.weight.panels(); ++p) block_row<Bits, Dot>(call, x, p);
    finish(call);
  } else if (kUnpack && call.rows > kFewRows) {
    block_product<Bits, Dot, kUnpack>(call, x);
  } else {
    block_product<Bits, Dot, false>(call, x);
  }
}

template <template <int> typename Dot>
HWY_INLINE void block_product(const PackedProduct& call, const QuantizedRows& x) {
  switch (call.weight.blocks.bits) {
    case 4:
      return block_product<FourBits, Dot<4>>(call, x);
    case 5:
      return block_product<FiveBits, Dot<5>>(call, x);
    default:
      return block_product<EightBits, Dot<8>>(call, x);
  }
}

void product_f32(const PackedProduct& call, const RowsOfX& x) {
  float_product<F32Weights>(call, x);
}
void product_bf16(const PackedProduct& call, const RowsOfX& x) {
  float_product<Bf16Weights>(call, x);
}
void product_bf16_dot(const PackedProduct& call, const RowsOfX& x) {
#if HWY_TARGET == HWY_AVX3
  float_product<Bf16Pairs>(call, x);
#else
  float_product<Bf16Weights>(call, x);
#endif
}
void product_int8(const PackedProduct& call, const RowsOfX& x) {
  int8_product<Int8Weights<PairDot>>(call, x.integers);
}
void product_vnni(const PackedProduct& call, const RowsOfX& x) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  int8_product<Int8Weights<VnniDot>>(call, x.integers);
#else
  int8_product<Int8Weights<PairDot>>(call, x.integers);
#endif
}
void product_blocks(const PackedProduct& call, const RowsOfX& x) {
  block_product<PairBlockDot>(call, x.integers);
}
void product_blocks_vnni(const PackedProduct& call, const RowsOfX& x) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  block_product<VnniBlockDot>(call, x.integers);
#else
  block_product<PairBlockDot>(call, x.integers);
#endif
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(product_f32);
HWY_EXPORT(product_bf16);
HWY_EXPORT(product_bf16_dot);
HWY_EXPORT(product_int8);
HWY_EXPORT(product_vnni);
HWY_EXPORT(product_blocks);
HWY_EXPORT(product_blocks_vnni);

detail::ProductKernel kernel_of(PackedForm form, DotProducts dots) {
  switch (form) {
    case PackedForm::f32:
      return HEED_DISPATCH(product_f32);
    case PackedForm::bf16:
      return dots.bf16 ? HEED_DISPATCH(product_bf16_dot) : HEED_DISPATCH(product_bf16);
    case PackedForm::int8:
      return dots.bytes ? HEED_DISPATCH(product_vnni) : HEED_DISPATCH(product_int8);
    case PackedForm::int4:
      break;
  }
  return dots.bytes ? HEED_DISPATCH(product_blocks_vnni) : HEED_DISPATCH(product_blocks);
}

}  // namespace

PartialProduct::PartialProduct(const PackedProduct& call, DotProducts dots)
    : call_(call),
      x_(call.weight,
         {.rows = call.rows, .columns = call.weight.in, .x = call.x, .stride = call.x_stride},
         dots),
      run_(kernel_of(call.weight.form, dots)) {}

void PartialProduct::run(const ProductPart& part, float* y, std::int64_t y_stride) const {
  const std::int64_t first = part.panel_begin * kPanelRows;
  PackedProduct local = call_;
  local.rows = part.row_end - part.row_begin;
  local.y = y;
  local.y_stride = y_stride;
  local.weight =
      rows_of(call_.weight, first, std::min(part.panel_end * kPanelRows, call_.weight.out));
  if (call_.bias != nullptr) local.bias += first;
  if (call_.residual != nullptr) local.residual += part.row_begin * call_.residual_stride + first;
  run_(local, x_.from(part.row_begin));
}

void packed_product(const PackedProduct& call) {
  if (call.rows == 0 || call.weight.out == 0) return;
  HEED_ASSERT(!call.activation || call.residual != call.y);
  add_flops(2 * call.rows * call.weight.out * call.weight.in);
  const PartialProduct product(call);
  const std::int64_t rows = std::min(call.rows, kPartRows), panels = call.weight.panels();
  const std::int64_t wide = std::min(panels_of_part(rows, call.weight.in), panels);
  const std::int64_t across = (panels + wide - 1) / wide, down = (call.rows + rows - 1) / rows;
  const std::int64_t cost = rows * wide * kPanelRows * std::max<std::int64_t>(1, call.weight.in);
  parallel_for(across * down, cost, [&](std::int64_t i) {
    const std::int64_t row = i / across * rows, panel = i % across * wide;
    product.run({.row_begin = row,
                 .row_end = std::min(row + rows, call.rows),
                 .panel_begin = panel,
                 .panel_end = std::min(panel + wide, panels)},
                call.y + row * call.y_stride + panel * kPanelRows, call.y_stride);
  });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
