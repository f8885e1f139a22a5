// Products with packed matrices: y = activation(x W^T + bias) + residual.
#pragma once

#include <cstdint>
#include <optional>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/packed/matrix.h"

namespace heed::kernels {

struct PackedProduct {
  std::int64_t rows;
  const float* x;  // [rows, in]
  std::int64_t x_stride;
  PackedMatrix weight;
  float* y;  // [rows, out]
  std::int64_t y_stride;
  const float* bias = nullptr;  // [out]
  std::optional<Unary> activation = {};
  const float* residual = nullptr;  // [rows, out], laid out as y; may be y
};

/// Computes the product on all threads. A row of the result has the same bits whatever other rows
/// there are. With int8, each row of x is quantised as in quantize_rows(), and the sums of products
/// are exact.
void packed_product(const PackedProduct& call);

}  // namespace heed::kernels
