// Plain double-precision twins of the update rules of optimisers, for elements [begin, end).
#pragma once

#include <cmath>
#include <cstdint>

#include "heed/kernels/optimizer.h"

namespace heed::kernels::reference {

inline void adam(const AdamSlice<double>& s, const AdamRule& rule, std::int64_t begin,
                 std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    const double g = rule.gradient_scale * s.gradient[i] + s.l2 * s.value[i];
    s.mean[i] = rule.beta1 * s.mean[i] + (1.0 - rule.beta1) * g;
    s.square[i] = rule.beta2 * s.square[i] + (1.0 - rule.beta2) * g * g;
    s.value[i] =
        s.keep * s.value[i] - s.rate * s.mean[i] / (s.root * std::sqrt(s.square[i]) + rule.epsilon);
  }
}

inline void sgd(const SgdSlice<double>& s, const SgdRule& rule, std::int64_t begin,
                std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    double g = rule.gradient_scale * s.gradient[i] + s.l2 * s.value[i];
    if (s.buffer != nullptr) {
      s.buffer[i] = rule.momentum * s.buffer[i] + g;
      g = rule.nesterov ? g + rule.momentum * s.buffer[i] : s.buffer[i];
    }
    s.value[i] -= rule.rate * g;
  }
}

inline void ema(const EmaSlice<double>& s, double decay, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    s.average[i] += (1.0 - decay) * (s.value[i] - s.average[i]);
  }
}

}  // namespace heed::kernels::reference
