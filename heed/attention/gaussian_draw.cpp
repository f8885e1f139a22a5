#include "heed/attention/gaussian_draw.h"

#include <cmath>
#include <numbers>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"

namespace heed {

GaussianDraw draw_gaussian(const Tensor& mean, double deviation, Generator& generator) {
  HEED_CHECK(mean.rank() == 2, "[gaussian] the means are {}: they must be [B, N]",
             to_string(mean.shape()));
  HEED_CHECK(std::isfinite(deviation) && deviation > 0.0,
             "[gaussian] deviation {}: it must be above 0", deviation);
  const auto N = static_cast<double>(mean.size(1));
  const Tensor noise = normal(mean.shape(), 0.0, deviation, generator, mean.dtype());  // [B, N]
  const Tensor value = mean.detach() + noise;
  // log p = -|value - mean|^2 / (2 deviation^2) - N log(deviation sqrt(2 pi))
  const double log_norm = std::log(deviation) + 0.5 * std::log(2.0 * std::numbers::pi);
  const Tensor log_prob =
      sum(square(value - mean), {1}) * (-0.5 / (deviation * deviation)) - N * log_norm;  // [B]
  return {.value = value,
          .log_prob = log_prob,
          .entropy = full({mean.size(0)}, N * (log_norm + 0.5), mean.dtype())};
}

}  // namespace heed
