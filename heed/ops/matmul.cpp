#include "heed/ops/matmul.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/gemm.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// x itself if gemm can read its last two axes, else a contiguous copy.
Tensor readable(const Tensor& x) {
  const int r = x.rank();
  return kernels::gemm_reads(x.shape()[r - 2], x.shape()[r - 1], x.strides()[r - 2],
                             x.strides()[r - 1])
             ? x.detach()
             : clone_data(x);
}

template <typename T>
kernels::Matrix<T> matrix_of(const Tensor& x) {
  return {x.data<T>(), x.strides()[x.rank() - 2], x.strides()[x.rank() - 1]};
}

Shape batch_shape(const Tensor& x) {
  return Shape(x.shape().span().first(static_cast<std::size_t>(x.rank() - 2)));
}

// A view without the last two axes, so that nest_of gives the offsets of the matrices.
Tensor matrices(const Tensor& x) {
  return {x.storage(), x.dtype(), batch_shape(x),
          Strides(x.strides().span().first(static_cast<std::size_t>(x.rank() - 2))), x.offset()};
}

// c = beta c + a b, where c is contiguous and has the broadcast batch axes of a and b.
void multiply(const Tensor& a_any, const Tensor& b_any, double beta, Tensor& c) {
  const Tensor a = readable(a_any);
  const Tensor b = readable(b_any);
  visit_float("matmul", c.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::GemmCall<T> call{.shape = {a.size(-2), b.size(-1), a.size(-1)},
                              .a = matrix_of<T>(a),
                              .b = matrix_of<T>(b),
                              .c = c.mutable_data<T>(),
                              .ldc = c.strides()[c.rank() - 2],
                              .beta = static_cast<T>(beta)};
    call.batch = nest_of(batch_shape(c), matrices(a), matrices(b), matrices(c));
    kernels::gemm(call);
  });
}

// Adds the product a b to the gradient of an input, summed over the batch axes along which that
// input was broadcast.
void add_product(Backward& back, int input, const Tensor& a, const Tensor& b, const Shape& shape) {
  Shape full = broadcast_shapes("matmul", batch_shape(a), batch_shape(b));
  full.push_back(a.size(-2));
  full.push_back(b.size(-1));
  if (full == shape) {
    auto target = back.into(input);
    multiply(a, b, target.fresh ? 0.0 : 1.0, target.grad);
    return;
  }
  Tensor g = empty(full, a.dtype());
  multiply(a, b, 0.0, g);
  back.add(input, g);
}

// All axes but the last merged into one: [rows, features].
Tensor as_rows(const Tensor& x) { return view::reshape(contiguous_copy(x), {-1, x.size(-1)}); }

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  HEED_CHECK(a.rank() >= 2 && b.rank() >= 2,
             "[matmul] shapes {} and {}: both need at least 2 dimensions", to_string(a.shape()),
             to_string(b.shape()));
  HEED_CHECK(
      a.size(-1) == b.size(-2),
      "[matmul] shapes {} and {}: the last size of a ({}) must be the last but one of b ({})",
      to_string(a.shape()), to_string(b.shape()), a.size(-1), b.size(-2));
  HEED_CHECK(a.dtype() == b.dtype(), "[matmul] {} and {} do not mix: cast one of them",
             name_of(a.dtype()), name_of(b.dtype()));
  Shape shape = broadcast_shapes("matmul", batch_shape(a), batch_shape(b));
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  Tensor y = empty(shape, a.dtype());
  multiply(a, b, 0.0, y);
  return record("matmul", {a, b}, y, [a = a.detach(), b = b.detach()](Backward& back) {
    const Tensor& dy = back.dy();
    if (back.needs(0)) add_product(back, 0, dy, view::transpose(b, -2, -1), a.shape());
    if (back.needs(1)) add_product(back, 1, view::transpose(a, -2, -1), dy, b.shape());
  });
}

Tensor linear(const Tensor& x, const Tensor& weight, const LinearOptions& options) {
  const Tensor& bias = options.bias;
  HEED_CHECK(
      x.rank() >= 1 && weight.rank() == 2 && x.size(-1) == weight.size(1),
      "[linear] x {} and weight {}: weight must be [out, in] and the last size of x must be in",
      to_string(x.shape()), to_string(weight.shape()));
  HEED_CHECK(!bias.defined() || (bias.rank() == 1 && bias.size(0) == weight.size(0)),
             "[linear] bias {} for weight {}: it must be [{}]", to_string(bias.shape()),
             to_string(weight.shape()), weight.size(0));
  HEED_CHECK(x.dtype() == weight.dtype() && (!bias.defined() || bias.dtype() == x.dtype()),
             "[linear] x is {}, weight {}: they must agree; cast one of them", name_of(x.dtype()),
             name_of(weight.dtype()));
  const Tensor rows = as_rows(x);          // [N, in]
  const Tensor matrix = readable(weight);  // [out, in]
  const Tensor offset = bias.defined() ? contiguous_copy(bias) : Tensor();
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.size(0);
  Tensor y = empty(shape, x.dtype());  // […, out]
  const bool keep = options.activation && !kernels::slope_from_output(*options.activation);
  const bool taped = detail::wants_tape(detail::TensorRefs{x, weight, bias});
  Tensor before = keep && taped ? empty_like(y) : Tensor();
  visit_float("linear", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::gemm(kernels::GemmCall<T>{
        .shape = {rows.size(0), matrix.size(0), matrix.size(1)},
        .a = matrix_of<T>(rows),
        .b = matrix_of<T>(view::transpose(matrix, 0, 1)),
        .c = y.mutable_data<T>(),
        .ldc = matrix.size(0),
        .epilogue = {.bias = offset.defined() ? offset.data<T>() : nullptr,
                     .activate = options.activation.has_value(),
                     .activation = options.activation.value_or(kernels::Unary::relu),
                     .before = before.defined() ? before.template mutable_data<T>() : nullptr}});
  });
  const Tensor saved = before.defined() ? before : options.activation ? y : Tensor();
  return record("linear", {x, weight, bias}, y,
                [rows, matrix, saved, activation = options.activation](Backward& back) {
                  Tensor dy = back.dy();
                  if (activation) {  // dy = dy * act'(before)
                    visit_float("linear", dy.dtype(), [&](auto zero) {
                      using T = decltype(zero);
                      Tensor da = empty_like(dy);
                      kernels::unary_backward(*activation, nest_of(dy.shape(), saved, dy, da),
                                              saved.data<T>(), dy.data<T>(),
                                              da.template mutable_data<T>());
                      dy = da;
                    });
                  }
                  dy = as_rows(dy);
                  if (back.needs(0)) {
                    auto dx = back.into(0);
                    Tensor flat = view::reshape(dx.grad, rows.shape());
                    multiply(dy, matrix, dx.fresh ? 0.0 : 1.0, flat);
                  }
                  if (back.needs(1)) {
                    auto dw = back.into(1);
                    multiply(view::transpose(dy, 0, 1), rows, dw.fresh ? 0.0 : 1.0, dw.grad);
                  }
                  if (back.needs(2)) back.add(2, dy);
                });
}

}  // namespace heed
