// Elementwise arithmetic over strided, broadcast operands. All operations are listed below. float
// uses SIMD (elementwise-inl.h), double the plain twin (reference/elementwise.h).
#pragma once

#include <cstdint>

#include "heed/kernels/nest.h"

namespace heed::kernels {

// name, struct in elementwise-inl.h, what the derivative is computed from (whichever is cheaper to
// keep)
#define HEED_UNARY_OPS(X)             \
  X(neg, NegOp, input)                \
  X(abs, AbsOp, input)                \
  X(exp, ExpOp, output)               \
  X(log, LogOp, input)                \
  X(sqrt, SqrtOp, output)             \
  X(rsqrt, RsqrtOp, output)           \
  X(square, SquareOp, input)          \
  X(reciprocal, ReciprocalOp, output) \
  X(relu, ReluOp, output)             \
  X(elu, EluOp, output)               \
  X(gelu, GeluOp, input)              \
  X(gelu_tanh, GeluTanhOp, input)     \
  X(silu, SiluOp, input)              \
  X(softplus, SoftplusOp, input)      \
  X(tanh, TanhOp, output)             \
  X(sigmoid, SigmoidOp, output)       \
  X(erf, ErfOp, input)                \
  X(sin, SinOp, input)                \
  X(cos, CosOp, input)

/// An operation with one operand.
enum class Unary : std::uint8_t {
#define HEED_X(name, functor, saves) name,
  HEED_UNARY_OPS(HEED_X)
#undef HEED_X
};

// name, struct in elementwise-inl.h
#define HEED_BINARY_OPS(X) \
  X(add, AddOp)            \
  X(sub, SubOp) X(mul, MulOp) X(div, DivOp) X(maximum, MaximumOp) X(minimum, MinimumOp)

/// An operation with two operands.
enum class Binary : std::uint8_t {
#define HEED_X(name, functor) name,
  HEED_BINARY_OPS(HEED_X)
#undef HEED_X
};

namespace detail {
/// Strides of the innermost axis, in the order of a nest's operands.
struct Steps {
  std::int64_t a, b, y;
  bool stream;  // the result bypasses the caches
};
}  // namespace detail

/// True if the derivative of op is computed from its output rather than its input.
bool slope_from_output(Unary op);

/// y = op(x). Operands: x, y.
void unary(Unary op, const Nest<2>& nest, const float* x, float* y);
void unary(Unary op, const Nest<2>& nest, const double* x, double* y);

/// dx = dy * op'(saved), where saved is y if slope_from_output(op), else x. Operands: saved, dy,
/// dx.
void unary_backward(Unary op, const Nest<3>& nest, const float* saved, const float* dy, float* dx);
void unary_backward(Unary op, const Nest<3>& nest, const double* saved, const double* dy,
                    double* dx);

/// y = op(a, b). Operands: a, b, y; y may be a.
void binary(Binary op, const Nest<3>& nest, const float* a, const float* b, float* y);
void binary(Binary op, const Nest<3>& nest, const double* a, const double* b, double* y);

/// y = x * scale + shift. Operands: x, y; y may be x.
void affine(const Nest<2>& nest, const float* x, double scale, double shift, float* y);
void affine(const Nest<2>& nest, const double* x, double scale, double shift, double* y);

}  // namespace heed::kernels
