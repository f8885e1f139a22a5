// Plain double-precision twins of the elementwise kernels, one scalar function per operation.
#pragma once

#include <algorithm>
#include <cmath>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/reference/math.h"

namespace heed::kernels::reference {

inline double unary(Unary op, double x) {
  switch (op) {
    case Unary::neg:
      return -x;
    case Unary::abs:
      return std::abs(x);
    case Unary::exp:
      return std::exp(x);
    case Unary::log:
      return std::log(x);
    case Unary::sqrt:
      return std::sqrt(x);
    case Unary::rsqrt:
      return 1.0 / std::sqrt(x);
    case Unary::square:
      return x * x;
    case Unary::reciprocal:
      return 1.0 / x;
    case Unary::relu:
      return x < 0.0 ? 0.0 : x;
    case Unary::elu:
      return x > 0.0 ? x : std::expm1(x);
    case Unary::gelu:
      return gelu(x);
    case Unary::gelu_tanh:
      return gelu_tanh(x);
    case Unary::silu:
      return silu(x);
    case Unary::softplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case Unary::tanh:
      return std::tanh(x);
    case Unary::sigmoid:
      return sigmoid(x);
    case Unary::erf:
      return std::erf(x);
    case Unary::sin:
      return std::sin(x);
    case Unary::cos:
      return std::cos(x);
  }
  __builtin_unreachable();
}

/// d op / dx, from the output if slope_from_output(op), else from the input.
inline double slope(Unary op, double s) {
  switch (op) {
    case Unary::neg:
      return -1.0;
    case Unary::abs:
      return s > 0.0 ? 1.0 : s < 0.0 ? -1.0 : 0.0;
    case Unary::exp:
      return s;
    case Unary::log:
      return 1.0 / s;
    case Unary::sqrt:
      return 0.5 / s;
    case Unary::rsqrt:
      return -0.5 * s * s * s;
    case Unary::square:
      return 2.0 * s;
    case Unary::reciprocal:
      return -s * s;
    case Unary::relu:
      return s > 0.0 ? 1.0 : 0.0;
    case Unary::elu:
      return s > 0.0 ? 1.0 : s + 1.0;
    case Unary::gelu:
      return gelu_slope(s);
    case Unary::gelu_tanh:
      return gelu_tanh_slope(s);
    case Unary::silu:
      return silu_slope(s);
    case Unary::softplus:
      return sigmoid(s);
    case Unary::tanh:
      return 1.0 - s * s;
    case Unary::sigmoid:
      return s * (1.0 - s);
    case Unary::erf:
      return 1.1283791670955126 * std::exp(-s * s);
    case Unary::sin:
      return std::cos(s);
    case Unary::cos:
      return -std::sin(s);
  }
  __builtin_unreachable();
}

inline double binary(Binary op, double a, double b) {
  switch (op) {
    case Binary::add:
      return a + b;
    case Binary::sub:
      return a - b;
    case Binary::mul:
      return a * b;
    case Binary::div:
      return a / b;
    case Binary::maximum:
      return a > b || std::isnan(a) ? a : b;
    case Binary::minimum:
      return a < b || std::isnan(a) ? a : b;
  }
  __builtin_unreachable();
}

}  // namespace heed::kernels::reference
