// The matrix of a linear map, [out, in], as a value: its numbers, and the product with them. Layers
// hold a Weight and never look inside, so that a weight in another form is known only here.
#pragma once

#include <utility>

#include "heed/ops/matmul.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// A correction of low rank to a matrix (LoRA, Hu et al. 2021): W + scale up down.
struct Adapter {
  Tensor down;  // [rank, in], or undefined: no correction
  Tensor up;    // [out, rank]
  double scale = 1.0;

  bool defined() const { return down.defined(); }
};

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
  /// Adds the adapter to the matrix, as a new tensor, and removes it.
  void merge_adapter();

  Tensor data;      // [out, in]
  Adapter adapter;  // usually undefined
};

}  // namespace heed
