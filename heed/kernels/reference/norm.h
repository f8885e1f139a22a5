// The plain twins of layer norm and RMS norm. Like the SIMD versions they take ranges of rows;
// weight and bias must not be null.
#pragma once

#include <cmath>

#include "heed/kernels/norm.h"

namespace heed::kernels::reference {

inline void norm_rows(Norm kind, const NormForward<double>& c, std::int64_t first,
                      std::int64_t count) {
  const std::int64_t n = c.rows.width;
  for (std::int64_t r = first; r < first + count; ++r) {
    const double* s = c.x + r * n;
    if (c.residual != nullptr) {
      double* const sum = c.sum + r * n;
      for (std::int64_t i = 0; i < n; ++i) sum[i] = s[i] + c.residual[r * n + i];
      s = sum;
    }
    double mean = 0.0, variance = 0.0;
    if (kind == Norm::layer) {
      for (std::int64_t i = 0; i < n; ++i) mean += s[i] / static_cast<double>(n);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      variance += (s[i] - mean) * (s[i] - mean) / static_cast<double>(n);
    }
    const double rstd = 1.0 / std::sqrt(variance + c.eps);
    for (std::int64_t i = 0; i < n; ++i) {
      c.y[r * n + i] = (s[i] - mean) * rstd * c.weight[i] + c.bias[i];
    }
    c.mean[r] = mean;
    c.rstd[r] = rstd;
  }
}

/// Adds to dweight and dbias if they are not null.
inline void norm_backward_rows(Norm kind, const NormBackward<double>& c, std::int64_t first,
                               std::int64_t count) {
  const std::int64_t n = c.rows.width;
  for (std::int64_t r = first; r < first + count; ++r) {
    const double* const dy = c.dy + r * n;
    const auto normal = [&](std::int64_t i) {
      return (c.input[r * n + i] - c.mean[r]) * c.rstd[r];
    };
    double mean_g = 0.0, mean_gn = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double g = dy[i] * c.weight[i] / static_cast<double>(n);
      if (kind == Norm::layer) mean_g += g;
      mean_gn += g * normal(i);
      if (c.dweight != nullptr) c.dweight[i] += dy[i] * normal(i);
      if (c.dbias != nullptr) c.dbias[i] += dy[i];
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double dx = c.rstd[r] * (dy[i] * c.weight[i] - mean_g - normal(i) * mean_gn);
      c.dx[r * n + i] = c.dsum == nullptr ? dx : dx + c.dsum[r * n + i];
    }
  }
}

}  // namespace heed::kernels::reference
