// Elementwise functions, differentiable. Shapes broadcast; dtypes must agree (f32 or f64).
#pragma once

#include "heed/kernels/elementwise.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Applies any function of the list HEED_UNARY_OPS in kernels/elementwise.h.
Tensor unary(kernels::Unary op, const Tensor& x);

inline Tensor abs(const Tensor& x) { return unary(kernels::Unary::abs, x); }
inline Tensor exp(const Tensor& x) { return unary(kernels::Unary::exp, x); }
inline Tensor log(const Tensor& x) { return unary(kernels::Unary::log, x); }
inline Tensor sqrt(const Tensor& x) { return unary(kernels::Unary::sqrt, x); }
inline Tensor rsqrt(const Tensor& x) { return unary(kernels::Unary::rsqrt, x); }
inline Tensor square(const Tensor& x) { return unary(kernels::Unary::square, x); }
inline Tensor reciprocal(const Tensor& x) { return unary(kernels::Unary::reciprocal, x); }
inline Tensor relu(const Tensor& x) { return unary(kernels::Unary::relu, x); }
inline Tensor elu(const Tensor& x) { return unary(kernels::Unary::elu, x); }
/// x Phi(x), exact.
inline Tensor gelu(const Tensor& x) { return unary(kernels::Unary::gelu, x); }
/// The tanh approximation of GELU, as in GPT-2.
inline Tensor gelu_tanh(const Tensor& x) { return unary(kernels::Unary::gelu_tanh, x); }
inline Tensor silu(const Tensor& x) { return unary(kernels::Unary::silu, x); }
inline Tensor softplus(const Tensor& x) { return unary(kernels::Unary::softplus, x); }
inline Tensor tanh(const Tensor& x) { return unary(kernels::Unary::tanh, x); }
inline Tensor sigmoid(const Tensor& x) { return unary(kernels::Unary::sigmoid, x); }
inline Tensor erf(const Tensor& x) { return unary(kernels::Unary::erf, x); }
inline Tensor sin(const Tensor& x) { return unary(kernels::Unary::sin, x); }
inline Tensor cos(const Tensor& x) { return unary(kernels::Unary::cos, x); }

/// x * scale + shift.
Tensor affine(const Tensor& x, double scale, double shift);
/// x to a constant power.
Tensor pow(const Tensor& x, double exponent);
/// The larger (smaller) element of each pair. Where they are equal, the gradient goes to a.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
/// x limited to [low, high]; no gradient outside.
Tensor clamp(const Tensor& x, double low, double high);

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
inline Tensor operator-(const Tensor& x) { return unary(kernels::Unary::neg, x); }

inline Tensor operator+(const Tensor& x, double c) { return affine(x, 1.0, c); }
inline Tensor operator+(double c, const Tensor& x) { return affine(x, 1.0, c); }
inline Tensor operator-(const Tensor& x, double c) { return affine(x, 1.0, -c); }
inline Tensor operator-(double c, const Tensor& x) { return affine(x, -1.0, c); }
inline Tensor operator*(const Tensor& x, double c) { return affine(x, c, 0.0); }
inline Tensor operator*(double c, const Tensor& x) { return affine(x, c, 0.0); }
inline Tensor operator/(const Tensor& x, double c) { return affine(x, 1.0 / c, 0.0); }
inline Tensor operator/(double c, const Tensor& x) { return affine(reciprocal(x), c, 0.0); }

}  // namespace heed
