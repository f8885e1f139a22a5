#include "heed/nn/packed_weight.h"

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/packed/product.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/storage.h"
#include "heed/tensor/view.h"

namespace heed {

PackedWeight::PackedWeight(const Tensor& matrix, PackedForm form) {
  HEED_CHECK(matrix.rank() == 2 && is_floating(matrix.dtype()) && matrix.dtype() != DType::f64,
             "[packed_weight] {} of {}: give a matrix [out, in] of f32 or bf16",
             to_string(matrix.shape()), name_of(matrix.dtype()));
  allocate(form, matrix.size(0), matrix.size(1));
  if (form == PackedForm::bf16 && matrix.dtype() == DType::bf16) {
    const Tensor from = contiguous_copy(matrix);  // [out, in]
    kernels::pack_bf16(from.data<BFloat16>(), target_);
  } else {
    const Tensor from = contiguous_copy(cast_data(matrix, DType::f32));  // [out, in]
    kernels::pack(from.data<float>(), in(), target_);
  }
}

PackedWeight::PackedWeight(const QuantizedMatrix& matrix) {
  allocate(PackedForm::int8, matrix.out, matrix.in);
  kernels::pack_int8(matrix.integers, matrix.scales, target_);
}

void PackedWeight::allocate(PackedForm form, std::int64_t out, std::int64_t in) {
  const std::int64_t padded = kernels::padded_out(out);
  {
    const Unpooled unpooled;
    data_ = empty({padded / kernels::kPanelRows * kernels::panel_bytes(form, in)}, DType::u8);
  }
  target_ = {.form = form,
             .out = out,
             .in = in,
             .data = reinterpret_cast<std::byte*>(data_.mutable_data<std::uint8_t>()),
             .scales = nullptr,
             .sums = nullptr};
  if (form == PackedForm::int8) {
    const Shape shape{padded * kernels::scale_groups(in)};
    scales_ = empty(shape);
    sums_ = empty(shape, DType::i32);
    target_.scales = scales_.mutable_data<float>();
    target_.sums = sums_.mutable_data<std::int32_t>();
  }
}

std::int64_t PackedWeight::bytes() const {
  return data_.numel() + (scales_.defined() ? 8 * scales_.numel() : 0);
}

// The rows [begin, end); begin must be the first row of a panel.
kernels::PackedMatrix PackedWeight::part(std::int64_t begin, std::int64_t end) const {
  HEED_ASSERT(begin % kernels::kPanelRows == 0);
  kernels::PackedMatrix matrix = target_;
  matrix.out = end - begin;
  matrix.data += begin / kernels::kPanelRows * kernels::panel_bytes(form(), in());
  if (matrix.scales != nullptr) {
    matrix.scales += begin * kernels::scale_groups(in());
    matrix.sums += begin * kernels::scale_groups(in());
  }
  return matrix;
}

Tensor PackedWeight::product(const Tensor& x, const LinearOptions& options, std::int64_t begin,
                             std::int64_t end) const {
  HEED_CHECK(x.rank() >= 1 && x.size(-1) == in() && x.dtype() == DType::f32,
             "[linear] x {} of {} and a packed weight [{}, {}]: the last size of x must be {}, and "
             "its type f32",
             to_string(x.shape()), name_of(x.dtype()), out(), in(), in());
  HEED_CHECK(!options.bias.defined() || options.bias.shape() == Shape{end - begin},
             "[linear] bias {}: it must be [{}]", to_string(options.bias.shape()), end - begin);
  if (const std::int64_t before = begin % kernels::kPanelRows; before > 0) {
    const Tensor all = product(x, {}, begin - before, end);  // with the other rows of the panel
    const Tensor y = view::slice(all, -1, before, all.size(-1));
    const Tensor sum = options.bias.defined() ? y + options.bias : y;
    return options.activation ? unary(*options.activation, sum) : sum;  // […, end - begin]
  }
  const Tensor rows = view::reshape(contiguous_copy(x), {-1, in()});  // [N, in]
  const Tensor bias = options.bias.defined() ? contiguous_copy(options.bias) : Tensor();
  Shape shape = x.shape();
  shape[shape.rank() - 1] = end - begin;
  Tensor y = empty(shape);  // […, end - begin]
  kernels::packed_product({.rows = rows.size(0),
                           .x = rows.data<float>(),
                           .x_stride = in(),
                           .weight = part(begin, end),
                           .y = y.mutable_data<float>(),
                           .y_stride = end - begin,
                           .bias = bias.defined() ? bias.data<float>() : nullptr,
                           .activation = options.activation});
  return y;
}

kernels::PackedProduct PackedWeight::call_with(const Tensor& x, const Tensor& bias) const {
  HEED_CHECK(x.rank() == 2 && x.size(1) == in() && x.dtype() == DType::f32,
             "[linear] x {} and a packed weight [{}, {}]: it must be [rows, {}]",
             to_string(x.shape()), out(), in(), in());
  return {.rows = x.size(0),
          .x = x.data<float>(),
          .x_stride = in(),
          .weight = target_,
          .y = nullptr,
          .y_stride = 0,
          .bias = bias.defined() ? bias.data<float>() : nullptr};
}

Tensor PackedWeight::rows(const Tensor& ids) const {
  check_index("embedding", "the vocabulary", ids, out());
  const Tensor numbers = contiguous_copy(ids);
  Shape shape = ids.shape();
  shape.push_back(in());
  Tensor y = empty(shape);  // […, in]
  visit_index("embedding", ids.dtype(), [&](auto zero) {
    using Index = decltype(zero);
    const Index* const from = numbers.data<Index>();
    float* const to = y.mutable_data<float>();
    parallel_for(ids.numel(), in(), [&](std::int64_t i) {
      kernels::unpack_row(target_, static_cast<std::int64_t>(from[i]), to + i * in());
    });
  });
  return y;
}

Tensor PackedWeight::matrix() const {
  Tensor all = empty({out(), in()});
  float* const to = all.mutable_data<float>();
  parallel_for(out(), in(),
               [&](std::int64_t row) { kernels::unpack_row(target_, row, to + row * in()); });
  return all;
}

std::vector<std::int8_t> PackedWeight::integers() const {
  HEED_ASSERT(form() == PackedForm::int8);
  std::vector<std::int8_t> all(static_cast<std::size_t>(out() * in()));
  parallel_for(out(), in(), [&](std::int64_t row) {
    kernels::unpack_row(target_, row, all.data() + row * in());
  });
  return all;
}

std::vector<float> PackedWeight::scales() const {
  HEED_ASSERT(form() == PackedForm::int8);
  const std::int64_t groups = kernels::scale_groups(in());
  std::vector<float> all(static_cast<std::size_t>(out() * groups));
  for (std::int64_t row = 0; row < out(); ++row) {
    kernels::unpack_scales(target_, row, all.data() + row * groups);
  }
  return all;
}

}  // namespace heed
