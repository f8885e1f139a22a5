#include "heed/models/pooling.h"

#include <algorithm>
#include <vector>

#include "heed/models/masked_mean.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// The state at one position of each text.
Tensor state_at(const Tensor& states, const Tensor& lengths, Pooling pooling) {
  const std::int64_t B = states.size(0), T = states.size(1);
  if (!lengths.defined()) return select(states, 1, pooling == Pooling::first ? 0 : T - 1);
  Tensor places = empty({B}, DType::i64), is_empty = empty({B, 1}, DType::boolean);
  const std::vector<std::int64_t> counts = lengths.to_vector<std::int64_t>();
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t count = counts[static_cast<std::size_t>(b)];
    const std::int64_t last = std::max<std::int64_t>(0, count - 1);
    places.mutable_data<std::int64_t>()[b] = b * T + (pooling == Pooling::first ? 0 : last);
    is_empty.mutable_data<bool>()[b] = count == 0;
  }
  const Tensor rows = reshape(states, {B * T, states.size(2)});
  return masked_fill(index_select(rows, 0, places), is_empty, 0.0);  // [B, E]
}

}  // namespace

Tensor pool(const Tensor& states, const Tensor& lengths, Pooling pooling) {
  if (states.size(1) == 0) return zeros({states.size(0), states.size(2)}, states.dtype());
  return pooling == Pooling::mean ? masked_mean(states, lengths)
                                  : state_at(states, lengths, pooling);
}

Tensor unit_rows(const Tensor& x) {
  constexpr double kLeast = 1e-24;  // 1e-12 squared; the root of 0 has no gradient
  const Tensor squares = sum(square(x), {1}, {.keep_axes = true});  // [B, 1]
  return x / sqrt(maximum(squares, full({1}, kLeast, x.dtype())));  // [B, E]
}

}  // namespace heed
