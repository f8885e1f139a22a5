// Products with packed matrices: y = activation(x W^T + bias) + residual.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/packed/matrix.h"
#include "heed/kernels/packed/prepared_rows.h"

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
  const float* residual = nullptr;  // [rows, out]; may be y if there is no activation
  std::int64_t residual_stride = 0;
};

/// Computes the product on all threads. A row of the result has the same bits whatever other rows
/// there are. With bf16, x is rounded to bf16; with int8 and int4, each row of x is quantised as in
/// quantize_rows(), and the sums of products of a group or block are exact. In these three forms
/// the bits are those of every instruction set, as long as no number below 2^-126 is met.
void packed_product(const PackedProduct& call);

/// Some rows of x and some panels of outputs.
struct ProductPart {
  std::int64_t row_begin, row_end;
  std::int64_t panel_begin, panel_end;
};

namespace detail {
using ProductKernel = void (*)(const PackedProduct& call, const RowsOfX& x);
}  // namespace detail

/// A product in parts, each computed on the thread that asks for it: for callers that use a part
/// while it is in cache. How a product is divided changes no result.
class PartialProduct {
 public:
  /// Rounds x as the form of the weight needs it. `y` is not used. What the call points to must
  /// outlive it.
  explicit PartialProduct(const PackedProduct& call) : PartialProduct(call, dot_products()) {}
  /// Writes a part to y, whose rows are y_stride apart.
  void run(const ProductPart& part, float* y, std::int64_t y_stride) const;

 private:
  PartialProduct(const PackedProduct& call, DotProducts dots);

  PackedProduct call_;
  PreparedRows x_;
  detail::ProductKernel run_;
};

/// Rows of a part, at most: so many times the weights of a tile are used once they are in cache.
inline constexpr std::int64_t kPartRows = 96;

/// Panels of a part: a multiple of 4, for some microseconds of work.
inline std::int64_t panels_of_part(std::int64_t rows, std::int64_t in) {
  constexpr std::int64_t kProducts = 1 << 18, kPanels = 4;
  const std::int64_t one = std::max<std::int64_t>(1, rows * in * kPanelRows * kPanels);
  return kPanels * std::max<std::int64_t>(1, kProducts / one);
}

}  // namespace heed::kernels
