// The plain twins of quantised rows and of products with packed matrices: f32 and bf16 (x rounded
// to bf16) in double, int8 and int4 with exact integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "heed/kernels/packed/pack.h"
#include "heed/kernels/packed/pack_blocks.h"
#include "heed/kernels/packed/product.h"
#include "heed/kernels/reference/elementwise.h"

namespace heed::kernels::reference {

/// A row as integers with a scale for 64 columns, and an offset if the integers have no sign.
struct QuantizedRow {
  std::vector<std::int8_t> integers;
  std::vector<float> scales;
  std::vector<std::int32_t> offsets;
};

/// Adds a group of columns: integer = x 127 / greatest magnitude, to the nearest, to even if
/// halfway. Groups whose numbers are all at most 1e-30 become zeros. The integers of a group with
/// NaN or infinity are unspecified.
inline void add_quantized_group(const float* x, std::int64_t n, QuantizedRow& row) {
  float greatest = 0.0f;
  bool is_finite = true;
  for (std::int64_t i = 0; i < n; ++i) {
    greatest = std::max(greatest, std::abs(x[i]));
    is_finite &= std::isfinite(x[i]);
  }
  row.scales.push_back(is_finite ? greatest / 127.0f : std::numeric_limits<float>::quiet_NaN());
  const float factor = is_finite && greatest > 1e-30f ? 127.0f / greatest : 0.0f;
  for (std::int64_t i = 0; i < n; ++i) {
    const float scaled = is_finite ? x[i] * factor : 0.0f;
    row.integers.push_back(static_cast<std::int8_t>(std::nearbyint(scaled)));
  }
}

inline QuantizedRow quantize_row(const float* x, std::int64_t n) {
  QuantizedRow row;
  for (std::int64_t at = 0; at < n; at += kScaleColumns) {
    add_quantized_group(x + at, std::min(kScaleColumns, n - at), row);
  }
  return row;
}

/// Adds a group of columns as integers from 0 to 127: integer = x factor - offset, where factor =
/// 126 / (greatest - least number, or 0) and offset = least factor, both rounded to the nearest.
inline void add_offset_group(const float* x, std::int64_t n, QuantizedRow& row) {
  float least = 0.0f, greatest = 0.0f;
  bool is_finite = true;
  for (std::int64_t i = 0; i < n; ++i) {
    least = std::min(least, x[i]);
    greatest = std::max(greatest, x[i]);
    is_finite &= std::isfinite(x[i]);
  }
  const float half = 0.5f * greatest - 0.5f * least;
  row.scales.push_back(is_finite ? half / 63.0f : std::numeric_limits<float>::quiet_NaN());
  const float factor = is_finite && half > 1e-30f ? 63.0f / half : 0.0f;
  const float offset = is_finite ? std::nearbyint(least * factor) : 0.0f;
  row.offsets.push_back(static_cast<std::int32_t>(offset));
  for (std::int64_t i = 0; i < n; ++i) {
    const float scaled = is_finite ? std::nearbyint(x[i] * factor) - offset : 0.0f;
    row.integers.push_back(static_cast<std::int8_t>(scaled));
  }
}

inline QuantizedRow quantize_row_with_offsets(const float* x, std::int64_t n) {
  QuantizedRow row;
  for (std::int64_t at = 0; at < n; at += kScaleColumns) {
    add_offset_group(x + at, std::min(kScaleColumns, n - at), row);
  }
  return row;
}

/// The same with a row of blocks: the exact sum of each block to f32, times its scale, plus the sum
/// of x times the minimum, all times the scale of x.
inline float block_dot(const float* x, const PackedMatrix& weight, std::int64_t out) {
  const QuantizedRow row = quantize_row(x, weight.in);
  const BlockNumbers w = numbers_of(weight, out);
  const std::int32_t zero = weight.blocks.bits == 8 ? 128 : 0;
  const auto n = static_cast<std::size_t>(weight.in);
  float total = 0.0f;
  for (std::size_t b = 0; b < w.scales.size(); ++b) {
    std::int32_t sum = 0, x_sum = 0;
    for (std::size_t i = b * kBlockColumns; i < std::min(n, (b + 1) * kBlockColumns); ++i) {
      sum += std::int32_t{row.integers[i]} * (std::int32_t{w.q[i]} - zero);
      x_sum += row.integers[i];
    }
    float product = static_cast<float>(sum) * w.scales[b];
    if (zero == 0) product += static_cast<float>(x_sum) * w.minima[b];
    total += product * row.scales[b / kBlocksOfScale];
  }
  return total;
}

/// x W^T for one row of x and one row of W. That of int8 is rounded as the kernel rounds it: the
/// exact sum of each group of columns to f32, then times the product of the scales.
inline double packed_dot(const float* x, const PackedMatrix& weight, std::int64_t out) {
  const auto n = static_cast<std::size_t>(weight.in);
  if (weight.form == PackedForm::int4) return block_dot(x, weight, out);
  if (weight.form == PackedForm::int8) {
    const QuantizedRow row = quantize_row_with_offsets(x, weight.in);
    std::vector<std::int8_t> w(n);
    std::vector<float> scales(row.scales.size());
    unpack_row(weight, out, w.data());
    unpack_scales(weight, out, scales.data());
    float total = 0.0f;
    for (std::size_t g = 0; g < scales.size(); ++g) {
      const std::size_t begin = g * kScaleColumns, end = std::min(n, begin + kScaleColumns);
      std::int32_t sum = 0;
      for (std::size_t i = begin; i < end; ++i) sum += (row.integers[i] + row.offsets[g]) * w[i];
      total += static_cast<float>(sum) * (row.scales[g] * scales[g]);
    }
    return total;
  }
  std::vector<float> w(n);
  unpack_row(weight, out, w.data());
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_rounded = weight.form == PackedForm::bf16;
    sum += static_cast<double>(is_rounded ? static_cast<float>(BFloat16(x[i])) : x[i]) * w[i];
  }
  return sum;
}

/// Writes y as [rows, out] without gaps; call.y is not used.
inline void packed_product(const PackedProduct& call, double* y) {
  for (std::int64_t row = 0; row < call.rows; ++row) {
    for (std::int64_t out = 0; out < call.weight.out; ++out) {
      double value = packed_dot(call.x + row * call.x_stride, call.weight, out);
      if (call.bias != nullptr) value += call.bias[out];
      if (call.activation) value = unary(*call.activation, value);
      if (call.residual != nullptr) value += call.residual[row * call.residual_stride + out];
      y[row * call.weight.out + out] = value;
    }
  }
}

}  // namespace heed::kernels::reference
