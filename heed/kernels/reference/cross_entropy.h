// The plain twins of cross entropy, for one row.
#pragma once

#include <algorithm>
#include <cmath>

#include "heed/kernels/cross_entropy.h"
#include "heed/kernels/reference/softmax.h"

namespace heed::kernels::reference {

inline void cross_entropy_row(const CrossEntropyForward<double>& c, std::int64_t row) {
  const std::int64_t n = c.rows.width;
  const double* const x = c.logits + row * n;
  const double shift = softmax_shift(x, n);
  double total = 0.0, smooth = 0.0;
  for (std::int64_t i = 0; i < n; ++i) total += std::exp(x[i] - shift);
  const double log_sum_exp = shift + std::log(total);
  if (c.smoothing > 0.0) {
    for (std::int64_t i = 0; i < n; ++i) smooth += (log_sum_exp - x[i]) / static_cast<double>(n);
  }
  c.loss[row] = (1.0 - c.smoothing) * (log_sum_exp - x[c.targets[row]]) + c.smoothing * smooth;
  c.log_sum_exp[row] = log_sum_exp;
}

inline void cross_entropy_backward_row(const CrossEntropyBackward<double>& c, std::int64_t row) {
  const std::int64_t n = c.rows.width;
  const double smoothing = c.smoothings != nullptr ? c.smoothings[row] : c.smoothing;
  for (std::int64_t i = 0; i < n; ++i) {
    const double p = std::exp(c.logits[row * n + i] - c.log_sum_exp[row]);
    const double wanted =
        (i == c.targets[row] ? 1.0 - smoothing : 0.0) + smoothing / static_cast<double>(n);
    c.dlogits[row * n + i] = c.dloss[row] * (p - wanted);
  }
}

}  // namespace heed::kernels::reference
