#include "heed/ops/elementwise.h"

#include <limits>

#include "heed/autograd/tape.h"
#include "heed/ops/choose.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::Binary;
using kernels::Unary;

const char* name_of(Unary op) {
  switch (op) {
#define HEED_X(name, functor, saves) \
  case Unary::name:                  \
    return #name;
    HEED_UNARY_OPS(HEED_X)
#undef HEED_X
  }
  __builtin_unreachable();
}

// Computes the value without recording it. Each binary op records its own gradient.
Tensor binary_value(const char* name, Binary op, const Tensor& a, const Tensor& b) {
  HEED_CHECK(a.dtype() == b.dtype(), "[{}] {} and {} do not mix: cast one of them", name,
             name_of(a.dtype()), name_of(b.dtype()));
  const Shape shape = broadcast_shapes(name, a.shape(), b.shape());
  return visit_float(name, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor y = empty(shape, a.dtype());
    kernels::binary(op, nest_of(shape, a, b, y), a.data<T>(), b.data<T>(), y.mutable_data<T>());
    return y;
  });
}

Tensor unary_gradient(Unary op, const Tensor& saved, const Tensor& dy) {
  return visit_float(name_of(op), dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor dx = empty_like(dy);
    kernels::unary_backward(op, nest_of(dy.shape(), saved, dy, dx), saved.data<T>(), dy.data<T>(),
                            dx.mutable_data<T>());
    return dx;
  });
}

}  // namespace

Tensor unary(Unary op, const Tensor& x) {
  return visit_float(name_of(op), x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor y = empty_like(x);
    kernels::unary(op, nest_of(x.shape(), x, y), x.data<T>(), y.mutable_data<T>());
    const Tensor saved = kernels::slope_from_output(op) ? y : x.detach();
    return record(name_of(op), {x}, y,
                  [op, saved](Backward& b) { b.add(0, unary_gradient(op, saved, b.dy())); });
  });
}

Tensor affine(const Tensor& x, double scale, double shift) {
  return visit_float("affine", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor y = empty_like(x);
    kernels::affine(nest_of(x.shape(), x, y), x.data<T>(), scale, shift, y.mutable_data<T>());
    return record("affine", {x}, y, [scale](Backward& b) {
      b.add(0, scale == 1.0 ? b.dy() : affine(b.dy(), scale, 0.0));
    });
  });
}

Tensor operator+(const Tensor& a, const Tensor& b) {
  return record("add", {a, b}, binary_value("add", Binary::add, a, b), [](Backward& back) {
    back.add(0, back.dy());
    back.add(1, back.dy());
  });
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  return record("sub", {a, b}, binary_value("sub", Binary::sub, a, b), [](Backward& back) {
    back.add(0, back.dy());
    if (back.needs(1)) back.add(1, -back.dy());
  });
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  return record("mul", {a, b}, binary_value("mul", Binary::mul, a, b),
                [a = a.detach(), b = b.detach()](Backward& back) {
                  if (back.needs(0)) back.add(0, back.dy() * b);
                  if (back.needs(1)) back.add(1, back.dy() * a);
                });
}

Tensor operator/(const Tensor& a, const Tensor& b) {
  const Tensor y = binary_value("div", Binary::div, a, b);
  return record("div", {a, b}, y, [b = b.detach(), y](Backward& back) {
    const Tensor da = back.dy() / b;
    back.add(0, da);
    if (back.needs(1)) back.add(1, -(da * y));
  });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  return record("maximum", {a, b}, binary_value("maximum", Binary::maximum, a, b),
                [a = a.detach(), b = b.detach()](Backward& back) {
                  const Tensor first = greater_equal(a, b);
                  if (back.needs(0)) back.add(0, where(first, back.dy(), 0.0));
                  if (back.needs(1)) back.add(1, where(first, 0.0, back.dy()));
                });
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  return record("minimum", {a, b}, binary_value("minimum", Binary::minimum, a, b),
                [a = a.detach(), b = b.detach()](Backward& back) {
                  const Tensor first = less_equal(a, b);
                  if (back.needs(0)) back.add(0, where(first, back.dy(), 0.0));
                  if (back.needs(1)) back.add(1, where(first, 0.0, back.dy()));
                });
}

Tensor clamp(const Tensor& x, double low, double high) {
  HEED_CHECK(low <= high, "[clamp] low {} is above high {}", low, high);
  return minimum(maximum(x, scalar(low, x.dtype())), scalar(high, x.dtype()));
}

Tensor pow(const Tensor& x, double exponent) {
  if (exponent == 2.0) return square(x);
  if (exponent == 0.5) return sqrt(x);
  // Common exponents are handled above; others are rare, so a plain loop is enough.
  return visit_float("pow", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor in = contiguous_copy(x);
    Tensor y = empty_like(x);
    const T* const from = in.data<T>();
    T* const to = y.mutable_data<T>();
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      to[i] = static_cast<T>(std::pow(static_cast<double>(from[i]), exponent));
    }
    return record("pow", {x}, y, [x = x.detach(), exponent](Backward& b) {
      b.add(0, b.dy() * (pow(x, exponent - 1.0) * exponent));
    });
  });
}

}  // namespace heed
