#include "heed/training/clip.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/reduce.h"
#include "heed/tensor/copy.h"

namespace heed {

double clip_scale(double norm, double max_norm) {
  HEED_CHECK(max_norm > 0.0, "[clip] max_norm {}: it must be positive, or infinite for no clipping",
             max_norm);
  return std::min(1.0, max_norm / (norm + 1e-6));
}

ClippedGradient clip(std::span<const Tensor> parameters, double max_norm) {
  double squares = 0.0;
  for (const Tensor& parameter : parameters) {
    if (!parameter.tracks_grad() || !parameter.grad().defined()) continue;
    const Tensor gradient = contiguous_copy(parameter.grad());
    visit_float("clip", gradient.dtype(), [&](auto zero) {
      squares += kernels::sum_of_squares(gradient.data<decltype(zero)>(), gradient.numel());
    });
  }
  const double norm = std::sqrt(squares);
  return {norm, clip_scale(norm, max_norm)};
}

}  // namespace heed
