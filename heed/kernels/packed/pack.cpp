#include "heed/kernels/packed/pack.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "heed/base/arena.h"
#include "heed/base/dtype.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/packed/block_rows.h"
#include "heed/kernels/packed/pack_blocks.h"
#include "heed/kernels/packed/quantize_rows.h"

namespace heed::kernels {
namespace {

// Columns of a panel that are adjacent for one row.
constexpr std::int64_t group_of(PackedForm form) {
  return form == PackedForm::int8 ? kColumnGroup : form == PackedForm::bf16 ? kColumnPair : 1;
}

// The place of number (row, column) in the data of a matrix.
std::int64_t place_of(PackedForm form, std::int64_t in, std::int64_t row, std::int64_t column) {
  const std::int64_t group = group_of(form);
  const std::int64_t panel = row / kPanelRows * kPanelRows * padded_in(form, in);
  return panel + (column / group * kPanelRows + row % kPanelRows) * group + column % group;
}

// The place of the scale of columns g of a row.
std::int64_t scale_place(std::int64_t groups, std::int64_t row, std::int64_t g) {
  return (row / kPanelRows * groups + g) * kPanelRows + row % kPanelRows;
}

// Writes a panel from its rows; `rows` are fewer than kPanelRows at the end of the matrix.
template <typename T, typename From>
void fill_panel(PackedForm form, std::int64_t rows, std::int64_t in, const From& from, T* to) {
  const std::int64_t group = group_of(form), columns = padded_in(form, in);
  for (std::int64_t column = 0; column < columns; column += group) {
    for (std::int64_t row = 0; row < kPanelRows; ++row) {
      for (std::int64_t i = column; i < column + group; ++i) {
        *to++ = row < rows && i < in ? from(row, i) : T{};
      }
    }
  }
}

template <typename T, typename From>
void fill_panels(const PackTarget& to, const From& from) {
  const PackedMatrix matrix = to;
  const std::int64_t numbers = kPanelRows * padded_in(to.form, to.in);
  parallel_for(matrix.panels(), numbers, [&](std::int64_t panel) {
    const std::int64_t first = panel * kPanelRows;
    fill_panel(
        to.form, std::min(kPanelRows, to.out - first), to.in,
        [&](std::int64_t row, std::int64_t column) -> T { return from(first + row, column); },
        reinterpret_cast<T*>(to.data) + panel * numbers);
  });
}

// Copies rows of panels. A row has `units` of what is adjacent within it: a number, two of bf16 or
// four of int8.
template <typename Unit>
void copy_units(const Unit* from, std::int64_t units, std::span<const std::int32_t> rows,
                Unit* to) {
  const std::int64_t panel = units * kPanelRows, count = std::ssize(rows);
  std::fill_n(to, padded_out(count) * units, Unit{});
  parallel_for(count, units, [&](std::int64_t i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    const Unit* const source = from + row / kPanelRows * panel + row % kPanelRows;
    Unit* const target = to + i / kPanelRows * panel + i % kPanelRows;
    for (std::int64_t u = 0; u < units; ++u) target[u * kPanelRows] = source[u * kPanelRows];
  });
}

// Units of all forms but int4 have four bytes.
void copy_data(const PackedMatrix& from, std::span<const std::int32_t> rows, const PackTarget& to) {
  copy_units(reinterpret_cast<const std::uint32_t*>(from.data),
             panel_bytes(from.form, from.in) / kPanelRows / 4, rows,
             reinterpret_cast<std::uint32_t*>(to.data));
}

}  // namespace

void pack(const float* matrix, std::int64_t stride, const PackTarget& to) {
  switch (to.form) {
    case PackedForm::f32:
      return fill_panels<float>(
          to, [&](std::int64_t row, std::int64_t column) { return matrix[row * stride + column]; });
    case PackedForm::bf16:
      return fill_panels<BFloat16>(to, [&](std::int64_t row, std::int64_t column) {
        return BFloat16(matrix[row * stride + column]);
      });
    case PackedForm::int4:
      return pack_blocks(
          [&](std::int64_t row, BlockRow& one) {
            const float* const from = matrix + row * stride;
            to.blocks.bits == 8 ? round_byte_row(from, to.in, one)
                                : round_block_row(from, to.in, one);
          },
          to);
    case PackedForm::int8:
      break;
  }
  const Scratch<std::int8_t> integers(to.out * to.in);
  const Scratch<float> scales(to.out * scale_groups(to.in));
  quantize_rows({.rows = to.out, .columns = to.in, .x = matrix, .stride = stride},
                {.integers = integers.data(), .stride = to.in, .scales = scales.data()});
  pack_int8(integers.data(), scales.data(), to);
}

void pack_bf16(const BFloat16* matrix, const PackTarget& to) {
  fill_panels<BFloat16>(
      to, [&](std::int64_t row, std::int64_t column) { return matrix[row * to.in + column]; });
}

void pack_int8(const std::int8_t* matrix, const float* scales, const PackTarget& to) {
  fill_panels<std::int8_t>(
      to, [&](std::int64_t row, std::int64_t column) { return matrix[row * to.in + column]; });
  const std::int64_t groups = scale_groups(to.in);
  for (std::int64_t row = 0; row < padded_out(to.out); ++row) {
    const bool is_row = row < to.out;
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int8_t* const from = matrix + row * to.in;
      const std::int64_t end = std::min(to.in, (g + 1) * kScaleColumns);
      std::int32_t sum = 0;
      for (std::int64_t i = g * kScaleColumns; is_row && i < end; ++i) sum += from[i];
      to.sums[scale_place(groups, row, g)] = sum;
      to.scales[scale_place(groups, row, g)] = is_row ? scales[row * groups + g] : 0.0f;
    }
  }
}

void copy_rows(const PackedMatrix& from, std::span<const std::int32_t> rows, const PackTarget& to) {
  HEED_ASSERT(from.form == to.form && from.form != PackedForm::int4 && from.in == to.in &&
              to.out == std::ssize(rows));
  copy_data(from, rows, to);
  if (from.form != PackedForm::int8) return;
  const std::int64_t groups = scale_groups(from.in);
  copy_units(from.scales, groups, rows, to.scales);
  copy_units(from.sums, groups, rows, to.sums);
}

void unpack_row(const PackedMatrix& matrix, std::int64_t row, float* to) {
  const auto read = [&](auto number) {
    using T = decltype(number);
    const T* const data = reinterpret_cast<const T*>(matrix.data);
    const std::int64_t groups = scale_groups(matrix.in);
    for (std::int64_t i = 0; i < matrix.in; ++i) {
      to[i] = static_cast<float>(data[place_of(matrix.form, matrix.in, row, i)]);
      if constexpr (std::is_same_v<T, std::int8_t>) {
        to[i] *= matrix.scales[scale_place(groups, row, i / kScaleColumns)];
      }
    }
  };
  switch (matrix.form) {
    case PackedForm::f32:
      return read(float{});
    case PackedForm::bf16:
      return read(BFloat16{});
    case PackedForm::int8:
      return read(std::int8_t{});
    case PackedForm::int4:
      return unpack_block_row(matrix, row, to);
  }
}

void unpack_row(const PackedMatrix& matrix, std::int64_t row, std::int8_t* to) {
  const auto* const data = reinterpret_cast<const std::int8_t*>(matrix.data);
  for (std::int64_t i = 0; i < matrix.in; ++i) {
    to[i] = data[place_of(matrix.form, matrix.in, row, i)];
  }
}

void unpack_scales(const PackedMatrix& matrix, std::int64_t row, float* to) {
  const std::int64_t groups = scale_groups(matrix.in);
  for (std::int64_t g = 0; g < groups; ++g) to[g] = matrix.scales[scale_place(groups, row, g)];
}

}  // namespace heed::kernels
