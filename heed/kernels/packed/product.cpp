#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/packed/product.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>

#include "heed/base/arena.h"
#include "heed/base/flops.h"
#include "heed/base/threads.h"
#include "heed/kernels/packed/cpu.h"
#include "heed/kernels/packed/product.h"
#include "heed/kernels/packed/product_cell.h"
#include "heed/kernels/packed/quantize_rows.h"
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
    value = hn::Add(value, load(call.residual + place));
  }
  if (whole) {
    hn::StoreU(value, d, call.y + place);
  } else {
    StoreFirst(value, d, call.y + place, count);
  }
}

template <typename Op>
HWY_INLINE void activate_row(const PackedProduct& call, std::int64_t place, std::int64_t count) {
  const F32 d;
  float* const y = call.y + place;
  const float* const residual = call.residual == nullptr ? nullptr : call.residual + place;
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

// The activation of the outputs [begin, end) of a row that hold x W^T + bias.
void activate(const PackedProduct& call, std::int64_t row, std::int64_t begin, std::int64_t end) {
  const std::int64_t place = row * call.y_stride + begin;
  switch (*call.activation) {
#define HEED_X(name, functor, saves) \
  case Unary::name:                  \
    return activate_row<functor>(call, place, end - begin);
    HEED_UNARY_OPS(HEED_X)
#undef HEED_X
  }
}

// ---- f32 and bf16 -------------------------------------------------------------------------------

// Columns summed at a time: the weights of a tile then stay in the second-level cache while all
// rows of a cell pass. Meanwhile the sums of a tile wait in memory, so the order of additions is
// the same.
constexpr std::int64_t kColumnsAtOnce = 1024;

// The tile of M rows from `row` and P panels from `panel`.
struct TilePlace {
  std::int64_t row, panel;
};

// The columns of one pass.
struct ColumnPass {
  std::int64_t begin, end;
};

// `sums`, [M, P, 16], holds the sums of the passes before.
template <typename Weights, int M, int P>
HWY_INLINE void float_tile(const PackedProduct& call, TilePlace at, ColumnPass pass, float* sums) {
  const std::int64_t in = call.weight.in, bytes = panel_bytes(call.weight.form, in);
  if (pass.begin == 0) std::fill_n(sums, M * P * kPanelRows, 0.0f);
  add_products<Weights, M, P>(call.x + at.row * call.x_stride, call.x_stride,
                              call.weight.data + at.panel * bytes, bytes, pass.begin, pass.end,
                              sums);
  if (pass.end < in) return;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < P * kPanelVectors; ++j) {
      put(call, at.row + i, at.panel * kPanelRows + j * kLanes32,
          hn::LoadU(F32(), sums + i * P * kPanelRows + j * kLanes32));
    }
  }
}

// ---- int8 ---------------------------------------------------------------------------------------

template <typename Weights, int M, int P>
HWY_INLINE void int8_tile(const PackedProduct& call, const QuantizedRows& x, TilePlace at) {
  const F32 d;
  const PackedMatrix& w = call.weight;
  const std::int64_t bytes = panel_bytes(w.form, w.in), first = at.panel * kPanelRows;
  HWY_ALIGN std::int32_t sums[M * P * kPanelRows];
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < P * kPanelRows; ++j) {
      // x + 128 in place of x adds 128 times the sum of the weights to each product.
      sums[i * P * kPanelRows + j] = Weights::kUnsigned ? -128 * w.row_sums[first + j] : 0;
    }
  }
  add_products<Weights, M, P>(x.integers + at.row * x.stride, x.stride, w.data + at.panel * bytes,
                              bytes, 0, padded_in(w.form, w.in), sums);
  for (int i = 0; i < M; ++i) {
    const VF scale = hn::Set(d, x.scales[at.row + i]);
    for (int j = 0; j < P * kPanelVectors; ++j) {
      const std::int64_t out = first + j * kLanes32;
      const VI32 sum = hn::Load(I32(), sums + i * P * kPanelRows + j * kLanes32);
      const VF scales = hn::Mul(scale, hn::LoadU(d, w.scales + out));
      put(call, at.row + i, out, hn::Mul(hn::ConvertTo(d, sum), scales));
    }
  }
}

// ---- cells --------------------------------------------------------------------------------------

// Calls tile with a number of rows as a constant: M to 1.
template <int M, typename Tile>
HWY_INLINE void with_rows(std::int64_t rows, const Tile& tile) {
  if constexpr (M > 1) {
    if (rows < M) return with_rows<M - 1>(rows, tile);
  }
  tile(std::integral_constant<int, M>());
}

// Calls tile(M, P, place) for blocks of the rows of a cell, and for its panels. Blocks have at most
// kRows rows, and sizes that differ by at most one.
template <int kRows, typename Tile>
HWY_INLINE void for_row_blocks(const ProductCell& cell, const Tile& tile) {
  const std::int64_t rows = cell.row_end - cell.row_begin;
  const std::int64_t blocks = (rows + kRows - 1) / kRows;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t row = cell.row_begin + rows * b / blocks;
    const std::int64_t next = cell.row_begin + rows * (b + 1) / blocks;
    with_rows<kRows>(next - row, [&](auto m) HWY_ATTR { tile(m, row); });
  }
}

// Calls run(P, panel) for groups of P = kPanels panels, then for those that are left one by one.
template <int kPanels, typename Run>
HWY_INLINE void for_panel_groups(const ProductCell& cell, const Run& run) {
  std::int64_t panel = cell.panel_begin;
  for (; panel + kPanels <= cell.panel_end; panel += kPanels) {
    run(std::integral_constant<int, kPanels>(), panel);
  }
  for (; panel < cell.panel_end; ++panel) run(std::integral_constant<int, 1>(), panel);
}

HWY_INLINE void finish(const PackedProduct& call, const ProductCell& cell) {
  if (!call.activation) return;
  const std::int64_t begin = cell.panel_begin * kPanelRows;
  const std::int64_t end = std::min(cell.panel_end * kPanelRows, call.weight.out);
  for (std::int64_t row = cell.row_begin; row < cell.row_end; ++row) {
    activate(call, row, begin, end);
  }
}

template <typename Weights>
HWY_INLINE void float_cell(const PackedProduct& call, const ProductCell& cell) {
  constexpr int kRows = Weights::kRows, kPanels = Weights::kPanels;
  const std::int64_t in = call.weight.in, rows = cell.row_end - cell.row_begin;
  const Scratch<float> sums(rows * kPanels * kPanelRows);
  for_panel_groups<kPanels>(cell, [&](auto p, std::int64_t panel) HWY_ATTR {
    std::int64_t begin = 0;
    do {
      const std::int64_t end = std::min(in, begin + kColumnsAtOnce);
      for_row_blocks<kRows>(cell, [&](auto m, std::int64_t row) HWY_ATTR {
        constexpr int M = decltype(m)::value, P = decltype(p)::value;
        float_tile<Weights, M, P>(call, {row, panel}, {begin, end},
                                  sums.data() + (row - cell.row_begin) * P * kPanelRows);
      });
      begin = end;
    } while (begin < in);
  });
  finish(call, cell);
}

template <typename Dot>
HWY_INLINE void int8_cell(const PackedProduct& call, const QuantizedRows& x,
                          const ProductCell& cell) {
  using Weights = Int8Weights<Dot>;
  for_panel_groups<Weights::kPanels>(cell, [&](auto p, std::int64_t panel) HWY_ATTR {
    for_row_blocks<Weights::kRows>(cell, [&](auto m, std::int64_t row) HWY_ATTR {
      int8_tile<Weights, decltype(m)::value, decltype(p)::value>(call, x, {row, panel});
    });
  });
  finish(call, cell);
}

void cell_f32(const PackedProduct& call, const ProductCell& cell) {
  float_cell<F32Weights>(call, cell);
}
void cell_bf16(const PackedProduct& call, const ProductCell& cell) {
  float_cell<Bf16Weights>(call, cell);
}
void cell_int8(const PackedProduct& call, const QuantizedRows& x, const ProductCell& cell) {
  int8_cell<PairDot>(call, x, cell);
}
void cell_vnni(const PackedProduct& call, const QuantizedRows& x, const ProductCell& cell) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  int8_cell<VnniDot>(call, x, cell);
#else
  int8_cell<PairDot>(call, x, cell);
#endif
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(cell_f32);
HWY_EXPORT(cell_bf16);
HWY_EXPORT(cell_int8);
HWY_EXPORT(cell_vnni);

void int8_product(const PackedProduct& call) {
  const std::int64_t in = call.weight.in, padded = padded_in(PackedForm::int8, in);
  const Scratch<std::int8_t> integers(call.rows * padded);
  const Scratch<float> scales(call.rows);
  const FloatRows from{.rows = call.rows, .columns = in, .x = call.x, .stride = call.x_stride};
  const QuantizedRows x{.integers = integers.data(), .stride = padded, .scales = scales.data()};
  const bool vnni = has_vnni();
  vnni ? quantize_rows_unsigned(from, x) : quantize_rows(from, x);
  const auto run = vnni ? &HEED_DISPATCH(cell_vnni) : &HEED_DISPATCH(cell_int8);
  for_product_cells(call, [&](const ProductCell& cell) { run(call, x, cell); });
}

}  // namespace

void packed_product(const PackedProduct& call) {
  if (call.rows == 0 || call.weight.out == 0) return;
  add_flops(2 * call.rows * call.weight.out * call.weight.in);
  if (call.weight.form == PackedForm::int8) return int8_product(call);
  const auto run =
      call.weight.form == PackedForm::f32 ? &HEED_DISPATCH(cell_f32) : &HEED_DISPATCH(cell_bf16);
  for_product_cells(call, [&](const ProductCell& cell) { run(call, cell); });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
