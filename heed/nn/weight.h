// The matrix of a linear map, [out, in], as a value: its numbers, and the product with them. Layers
// hold a Weight and never look inside, so that a weight in another form is known only here.
#pragma once

#include <utility>

#include "heed/ops/matmul.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct Weight {
  Weight() = default;
  explicit Weight(Tensor matrix) : data(std::move(matrix)) {}

  bool defined() const { return data.defined(); }
  std::int64_t out() const { return data.size(0); }
  std::int64_t in() const { return data.size(1); }
  DType dtype() const { return data.dtype(); }

  /// activation(x W^T + bias): x […, in] -> […, out].
  Tensor product(const Tensor& x, const LinearOptions& options = {}) const;
  /// Rows [begin, end) as a weight of their own, sharing the numbers; differentiable.
  Weight rows(std::int64_t begin, std::int64_t end) const;

  Tensor data;  // [out, in]
};

}  // namespace heed
