#include "heed/models/masked_mean.h"

#include <algorithm>
#include <vector>

#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

Tensor masked_mean(const Tensor& x, const Tensor& lengths) {
  if (!lengths.defined()) return mean(x, {1});
  const std::int64_t B = x.size(0), T = x.size(1);
  Tensor inside = empty({B, T, 1}, DType::boolean);
  Tensor share = empty({B, 1}, DType::f64);
  const std::vector<std::int64_t> counts = lengths.to_vector<std::int64_t>();
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t count = counts[static_cast<std::size_t>(b)];
    share.mutable_data<double>()[b] = 1.0 / static_cast<double>(std::max<std::int64_t>(1, count));
    std::fill_n(inside.mutable_data<bool>() + b * T, count, true);
    std::fill_n(inside.mutable_data<bool>() + b * T + count, T - count, false);
  }
  return sum(where(inside, x, 0.0), {1}) * cast_data(share, x.dtype());  // [B, E]
}

}  // namespace heed
