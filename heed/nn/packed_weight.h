// A matrix [out, in] packed for products without gradients (heed/kernels/packed/matrix.h): in f32,
// bf16 or int8. A row of a product has the same bits whatever other rows are computed with it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/io/codec.h"
#include "heed/kernels/packed/pack.h"
#include "heed/kernels/packed/product.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// The names of forms in flags and configs. Weights that are not quantised are packed as f32.
constexpr std::array<io::EnumName<PackedForm>, 3> enum_names(PackedForm) {
  return {{{PackedForm::f32, "none"}, {PackedForm::bf16, "bf16"}, {PackedForm::int8, "int8"}}};
}

}  // namespace heed::kernels

namespace heed {

using kernels::PackedForm;

/// A matrix of integers from -127 to 127, [out, in] row by row, with a scale for 64 columns of each
/// row, [out, scale_groups(in)].
struct QuantizedMatrix {
  std::int64_t out, in;
  const std::int8_t* integers;
  const float* scales;
};

class PackedWeight {
 public:
  /// Packs a matrix [out, in] of f32 or bf16.
  PackedWeight(const Tensor& matrix, PackedForm form);
  /// Packs a matrix that was quantised before, in the form int8.
  explicit PackedWeight(const QuantizedMatrix& matrix);

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
  /// int8: the integers and the scales, row by row.
  std::vector<std::int8_t> integers() const;
  std::vector<float> scales() const;

 private:
  void allocate(PackedForm form, std::int64_t out, std::int64_t in);
  kernels::PackedMatrix part(std::int64_t begin, std::int64_t end) const;

  kernels::PackTarget target_;
  Tensor data_, scales_, sums_;
};

}  // namespace heed
