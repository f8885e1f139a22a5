// Plain double-precision twins of the functions in heed/kernels/math-inl.h, and of the activations
// built from them with their derivatives (`..._slope`, from the input).
#pragma once

#include <cmath>
#include <numbers>

namespace heed::kernels::reference {

inline double exp(double x) { return std::exp(x); }
inline double exp2(double x) { return std::exp2(x); }
inline double log(double x) { return std::log(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }

/// 1 / (1 + e^-x).
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// The normal distribution function, without cancellation in its lower tail.
inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// The normal density.
inline double normal_pdf(double x) {
  return std::exp(-0.5 * x * x) * (0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
}

/// x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel, 2016).
inline double gelu(double x) { return x * normal_cdf(x); }
inline double gelu_slope(double x) { return normal_cdf(x) + x * normal_pdf(x); }

// x (1 + tanh u) / 2 = x sigmoid(2u) with u = sqrt(2/pi) (x + 0.044715 x^3).
inline constexpr double kGeluTanhCubic = 0.044715;
inline constexpr double kGeluTanhScale = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;

/// The tanh approximation of GELU, as in BERT and GPT-2.
inline double gelu_tanh(double x) {
  return x * sigmoid(kGeluTanhScale * (x + kGeluTanhCubic * x * x * x));
}
inline double gelu_tanh_slope(double x) {
  const double twice_u = kGeluTanhScale * (x + kGeluTanhCubic * x * x * x);
  const double twice_u_slope = kGeluTanhScale * (1 + 3 * kGeluTanhCubic * x * x);
  const double s = sigmoid(twice_u);
  return s + x * s * sigmoid(-twice_u) * twice_u_slope;
}

/// x sigmoid(x).
inline double silu(double x) { return x * sigmoid(x); }
inline double silu_slope(double x) {
  const double s = sigmoid(x);
  return s + x * s * sigmoid(-x);
}

}  // namespace heed::kernels::reference
