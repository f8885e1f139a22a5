// A matrix [out, in] packed for products without gradients (heed/kernels/packed/matrix.h): in f32,
// bf16 or int8. A row of a product has the same bits whatever other rows are computed with it.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/kernels/packed/pack.h"
#include "heed/kernels/packed/product.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/tensor.h"

namespace heed {

using kernels::PackedForm;

class PackedWeight {
 public:
  /// Packs a matrix [out, in] of f32 or bf16.
  PackedWeight(const Tensor& matrix, PackedForm form);

  PackedForm form() const { return target_.form; }
  std::int64_t out() const { return target_.out; }
  std::int64_t in() const { return target_.in; }
  /// Bytes of memory held.
  std::int64_t bytes() const;

  /// activation(x W^T + bias) with the rows [begin, end) of W: x […, in] -> […, end - begin].
  Tensor product(const Tensor& x, const LinearOptions& options, std::int64_t begin,
                 std::int64_t end) const;
  /// The product with the rows of x [rows, in] and a bias [out] or none, both contiguous, for
  /// kernels; its y is null.
  kernels::PackedProduct call_with(const Tensor& x, const Tensor& bias) const;
  /// The rows with these numbers: ids […] (i32 or i64) -> […, in].
  Tensor rows(const Tensor& ids) const;
  /// The whole matrix, [out, in] of f32: the numbers that products use.
  Tensor matrix() const;

 private:
  kernels::PackedMatrix part(std::int64_t begin, std::int64_t end) const;

  kernels::PackTarget target_;
  Tensor data_, scales_, row_sums_;
};

}  // namespace heed
