#include "heed/attention/tracked_weights.h"

#include <span>
#include <utility>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

thread_local TrackedWeights* g_tracked = nullptr;

}  // namespace

TrackedWeights::TrackedWeights(const AttentionLayer& layer)
    : layer_(layer), before_(std::exchange(g_tracked, this)) {}

TrackedWeights::~TrackedWeights() { g_tracked = before_; }

TrackedWeights* TrackedWeights::of(const AttentionLayer& layer) {
  TrackedWeights* at = g_tracked;
  while (at != nullptr && &at->layer_ != &layer) at = at->before_;
  return at;
}

// Attention whose values are the rows of the identity returns its weights, and has the gradient of
// any attention.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionSpec& spec) {
  const std::int64_t keys = k.size(2);
  std::vector<float> identity(static_cast<std::size_t>(keys * keys));
  for (std::int64_t i = 0; i < keys; ++i) identity[static_cast<std::size_t>(i * (keys + 1))] = 1.0f;
  const Tensor matrix =
      cast(from_values(std::span<const float>(identity), {keys, keys}), k.dtype());  // [Tk, Tk]
  return attention(q, k, view::expand(matrix, {k.size(0), k.size(1), keys, keys}), spec);
}

}  // namespace heed
