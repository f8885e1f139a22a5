// A matrix [out, in] packed for products without gradients (heed/kernels/packed/matrix.h): in f32,
// bf16, int8 or int4. A row of a product has the same bits whatever other rows are computed with
// it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/io/codec.h"
#include "heed/io/file.h"
#include "heed/io/tensor_type.h"
#include "heed/kernels/packed/pack_blocks.h"
#include "heed/kernels/packed/product.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// The names of forms in flags and configs. Weights that are not quantised are packed as f32.
constexpr std::array<io::EnumName<PackedForm>, 4> enum_names(PackedForm) {
  return {{{PackedForm::f32, "none"},
           {PackedForm::bf16, "bf16"},
           {PackedForm::int8, "int8"},
           {PackedForm::int4, "int4"}}};
}

}  // namespace heed::kernels

namespace heed {

using kernels::BlockForm;
using kernels::PackedForm;

/// A matrix of integers from -127 to 127, [out, in] row by row, with a scale for 64 columns of each
/// row, [out, scale_groups(in)].
struct QuantizedMatrix {
  std::int64_t out, in;
  const std::int8_t* integers;
  const float* scales;
};

/// A matrix [out, in] in a file, row by row: in F32 or a type that kernels::dequantize() reads. The
/// bytes may begin at any address.
struct StoredMatrix {
  io::TensorType type;
  std::int64_t out, in;
  std::span<const std::byte> bytes;
  const io::MappedFile* file;  // that the bytes are in, or null
};

/// A matrix of blocks, row by row; read(row, to) fills in a row, on any thread.
struct BlockMatrix {
  std::int64_t out, in;
  BlockForm blocks;
  FunctionRef<void(std::int64_t row, kernels::BlockRow& to)> read;
};

/// How a weight is rounded.
struct PackOptions {
  BlockForm blocks = {};  // int4: of 4 or 8 bits
  bool refined = false;   // int8: keeps what rounding leaves
};

class PackedWeight {
 public:
  /// Packs a matrix [out, in] of f32 or bf16.
  PackedWeight(const Tensor& matrix, PackedForm form, PackOptions how = {});
  /// Packs a matrix of a file some rows at a time; the memory of the file's pages is given back
  /// meanwhile. With int4, blocks of GGUF files stay as they are (kernels::block_form()), and other
  /// quantised types are rounded to blocks of 8 bits.
  PackedWeight(const StoredMatrix& matrix, PackedForm form, PackOptions how = {});
  /// Packs a matrix that was quantised before, in the form int8.
  explicit PackedWeight(const QuantizedMatrix& matrix);
  /// Packs blocks, in the form int4.
  explicit PackedWeight(const BlockMatrix& matrix);

  /// int8: keeps remainders that were found before, [out, in] row by row
  /// (heed/kernels/packed/remainder.h).
  void keep_remainders(std::span<const std::int8_t> remainders);

  PackedForm form() const { return target_.form; }
  /// Of the form int4.
  BlockForm blocks() const { return target_.blocks; }
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
  /// The rows with these numbers as a matrix of their own, whose products have the same bits. Those
  /// of int4 become f32, whose products do not round x.
  PackedWeight select(std::span<const std::int32_t> rows) const;
  /// The rows with these numbers: ids […] (i32 or i64) -> […, in].
  Tensor rows(const Tensor& ids) const;
  /// The whole matrix, [out, in] of f32: the numbers that products use.
  Tensor matrix() const;
  /// For kernels.
  kernels::PackedMatrix packed() const { return target_; }
  /// int8: the integers and the scales, row by row.
  std::vector<std::int8_t> integers() const;
  std::vector<float> scales() const;
  /// The remainders that are kept, row by row; empty if none are.
  std::span<const std::int8_t> remainders() const;

 private:
  PackedWeight() = default;
  void allocate(PackedForm form, std::int64_t out, std::int64_t in, PackOptions how = {});
  /// Packs the rows [begin, end), which are f32; begin must be the first row of a panel.
  void pack_rows(const float* rows, std::int64_t begin, std::int64_t end);
  std::int8_t* mutable_remainders();

  kernels::PackTarget target_;
  Tensor data_, scales_, sums_;
  Tensor remainders_;  // [out, in] of bytes with sign, or undefined
};

}  // namespace heed
