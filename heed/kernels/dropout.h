// Dropout whose mask is computed and never stored: element i is dropped if word i of a random
// stream is below a threshold. The backward pass computes the same words again.
#pragma once

#include <cstdint>

#include "heed/base/random.h"

namespace heed::kernels {

/// Drops the elements whose word is below `threshold` and multiplies the others by `scale`.
struct DropoutMask {
  RandomStream random;
  std::uint32_t threshold;
  double scale;
};

/// The mask that drops each element with probability p in [0, 1) and keeps the mean.
DropoutMask dropout_mask(RandomStream random, double p);

/// y = dropped(x) + residual; y may be x or residual.
template <typename T>
struct DropoutCall {
  std::int64_t n;
  const T* x;
  const T* residual;  // may be null
  T* y;
};

void dropout(const DropoutMask& mask, const DropoutCall<float>& call);
void dropout(const DropoutMask& mask, const DropoutCall<double>& call);

}  // namespace heed::kernels
