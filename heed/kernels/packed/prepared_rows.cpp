#include "heed/kernels/packed/prepared_rows.h"

#include <algorithm>

#include "heed/kernels/convert.h"

namespace heed::kernels {
namespace {

bool has_integers(PackedForm form) { return form == PackedForm::int8 || form == PackedForm::int4; }

// The columns of rounded rows.
std::int64_t columns_of(const PackedMatrix& weight) { return padded_in(weight.form, weight.in); }

// Rounds rows to bf16. Columns after the last are zeros.
void round_rows(const FloatRows& from, std::int64_t stride, BFloat16* to) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  if (from.stride == stride && from.columns == stride) {
    return convert({from.x, size(from.rows * stride)}, {to, size(from.rows * stride)});
  }
  for (std::int64_t row = 0; row < from.rows; ++row, to += stride) {
    convert({from.x + row * from.stride, size(from.columns)}, {to, size(from.columns)});
    std::fill(to + from.columns, to + stride, BFloat16());
  }
}

}  // namespace

PreparedRows::PreparedRows(const PackedMatrix& weight, const FloatRows& x, DotProducts dots)
    : halves_(weight.form == PackedForm::bf16 ? x.rows * columns_of(weight) : 0),
      floats_(dots.bf16 ? 0 : halves_.size()),
      integers_(has_integers(weight.form) ? x.rows * columns_of(weight) : 0),
      scales_(has_integers(weight.form) ? x.rows * scale_groups(weight.in) : 0),
      sums_(weight.form == PackedForm::int4 ? x.rows * block_count(weight.in) : 0),
      offsets_(weight.form == PackedForm::int8 && !dots.bytes ? scales_.size() : 0) {
  if (weight.form == PackedForm::f32) {
    rows_ = {.floats = x.x, .stride = x.stride};
  } else if (weight.form == PackedForm::bf16) {
    rows_.stride = columns_of(weight);
    round_rows(x, rows_.stride, halves_.data());
    if (floats_.size() == 0) {
      rows_.halves = halves_.data();
      return;
    }
    const auto count = static_cast<std::size_t>(halves_.size());
    convert(std::span<const BFloat16>(halves_.data(), count), {floats_.data(), count});
    rows_.floats = floats_.data();
  } else {
    rows_.integers = {.integers = integers_.data(),
                      .stride = columns_of(weight),
                      .scales = scales_.data(),
                      .offsets = offsets_.size() > 0 ? offsets_.data() : nullptr,
                      .sums = sums_.size() > 0 ? sums_.data() : nullptr,
                      .has_common_offset = weight.form == PackedForm::int8 && dots.bytes,
                      .across = x.rows};
    quantize_rows(x, rows_.integers);
  }
}

RowsOfX PreparedRows::from(std::int64_t row) const {
  RowsOfX rows = rows_;
  if (rows.floats != nullptr) rows.floats += row * rows.stride;
  if (rows.halves != nullptr) rows.halves += row * rows.stride;
  QuantizedRows& x = rows.integers;
  if (x.integers == nullptr) return rows;
  x.integers += row * x.stride;
  x.scales += row;
  if (x.offsets != nullptr) x.offsets += row;
  if (x.sums != nullptr) x.sums += row;
  return rows;
}

}  // namespace heed::kernels
