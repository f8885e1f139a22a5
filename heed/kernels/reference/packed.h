// The plain twins of quantised rows and of products with packed matrices: f32 and bf16 in double,
// int8 with exact integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "heed/kernels/packed/pack.h"
#include "heed/kernels/packed/product.h"
#include "heed/kernels/reference/elementwise.h"

namespace heed::kernels::reference {

/// A row as integers with a scale.
struct QuantizedRow {
  std::vector<std::int8_t> integers;
  float scale;
};

/// integer = x 127 / greatest magnitude, to the nearest, to even if halfway. Rows whose numbers are
/// all at most 1e-30 become zeros. The integers of a row with NaN or infinity are unspecified.
inline QuantizedRow quantize_row(const float* x, std::int64_t n) {
  float greatest = 0.0f;
  bool is_finite = true;
  for (std::int64_t i = 0; i < n; ++i) {
    greatest = std::max(greatest, std::abs(x[i]));
    is_finite &= std::isfinite(x[i]);
  }
  QuantizedRow row{.integers = std::vector<std::int8_t>(static_cast<std::size_t>(n)),
                   .scale = greatest / 127.0f};
  if (!is_finite) row.scale = std::numeric_limits<float>::quiet_NaN();
  if (!is_finite || greatest <= 1e-30f) return row;
  const float factor = 127.0f / greatest;
  for (std::size_t i = 0; i < row.integers.size(); ++i) {
    row.integers[i] = static_cast<std::int8_t>(std::nearbyint(x[i] * factor));
  }
  return row;
}

/// x W^T for one row of x and one row of W. That of int8 is rounded as the kernel rounds it: the
/// exact sum to f32, then times the product of the scales.
inline double packed_dot(const float* x, const PackedMatrix& weight, std::int64_t out) {
  const auto n = static_cast<std::size_t>(weight.in);
  if (weight.form == PackedForm::int8) {
    const QuantizedRow row = quantize_row(x, weight.in);
    std::vector<std::int8_t> w(n);
    unpack_row(weight, out, w.data());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::int64_t{row.integers[i]} * w[i];
    return static_cast<float>(sum) * (row.scale * weight.scales[out]);
  }
  std::vector<float> w(n);
  unpack_row(weight, out, w.data());
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * w[i];
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
