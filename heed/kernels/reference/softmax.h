// The plain twins of softmax and log-softmax, one row at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heed::kernels::reference {

/// The value that a row is shifted by: the maximum, or 0 if every element is -inf.
inline double softmax_shift(const double* x, std::int64_t n) {
  double top = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < n; ++i) top = std::max(top, x[i]);
  return top == -std::numeric_limits<double>::infinity() ? 0.0 : top;
}

inline void softmax(std::int64_t n, const double* x, double* y) {
  const double shift = softmax_shift(x, n);
  double total = 0.0;
  for (std::int64_t i = 0; i < n; ++i) total += y[i] = std::exp(x[i] - shift);
  for (std::int64_t i = 0; i < n; ++i) y[i] = total == 0.0 ? 0.0 : y[i] / total;
}

inline void softmax_backward(std::int64_t n, const double* y, const double* dy, double* dx) {
  double dot = 0.0;
  for (std::int64_t i = 0; i < n; ++i) dot += dy[i] * y[i];
  for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - dot);
}

inline void log_softmax(std::int64_t n, const double* x, double* y) {
  const double shift = softmax_shift(x, n);
  double total = 0.0;
  for (std::int64_t i = 0; i < n; ++i) total += std::exp(x[i] - shift);
  const double log_total = total == 0.0 ? 0.0 : std::log(total);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] - shift - log_total;
}

inline void log_softmax_backward(std::int64_t n, const double* y, const double* dy, double* dx) {
  double total = 0.0;
  for (std::int64_t i = 0; i < n; ++i) total += dy[i];
  for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] - std::exp(y[i]) * total;
}

}  // namespace heed::kernels::reference
