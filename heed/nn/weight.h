// The matrix of a linear map, [out, in], as a value: its numbers, and the product with them. Layers
// hold a Weight and never look inside, so that a weight in another form is known only here. A copy
// of a Weight shares its numbers.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "heed/nn/packed_weight.h"
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

  bool defined() const { return data.defined() || packed; }
  std::int64_t out() const { return packed ? packed->out() : data.size(0); }
  std::int64_t in() const { return packed ? packed->in() : data.size(1); }
  /// The type of the results of products.
  DType dtype() const { return packed ? DType::f32 : data.dtype(); }

  /// activation(x W^T + bias): x […, in] -> […, out].
  Tensor product(const Tensor& x, const LinearOptions& options = {}) const;
  /// Rows [begin, end) as a weight of their own, sharing the numbers; differentiable. Not for
  /// packed weights.
  Weight rows(std::int64_t begin, std::int64_t end) const;
  /// The rows with these numbers as a weight of their own, without gradients.
  Weight select(std::span<const std::int32_t> rows) const;
  /// The product with the rows [begin, end) of the matrix: x […, in] -> […, end - begin].
  Tensor product_of_rows(const Tensor& x, std::int64_t begin, std::int64_t end,
                         const LinearOptions& options = {}) const;
  /// The rows with these numbers: ids […] (i32 or i64) -> […, in]. Row `padding` gets no gradient.
  Tensor lookup(const Tensor& ids, std::optional<std::int64_t> padding = {}) const;
  /// Packs the matrix, with its adapter, for products without gradients, and forgets the numbers
  /// that it is made of.
  void pack(PackedForm form, PackOptions how = {});
  /// Adds the adapter to the matrix, as a new tensor, and removes it.
  void merge_adapter();

  Tensor data;                                 // [out, in]; undefined if packed
  Adapter adapter;                             // usually undefined
  bool refined = false;                        // whether int8 keeps what rounding left
  std::shared_ptr<const PackedWeight> packed;  // usually null

 private:
  void check_rows(std::int64_t begin, std::int64_t end) const;
};

}  // namespace heed
