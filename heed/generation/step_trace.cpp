#include "heed/generation/step_trace.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

std::vector<LayerWeights> weights_of(const Hypothesis& hypothesis, std::int64_t source) {
  const NoGrad no_grad;
  std::vector<const StepTrace*> steps;
  for (const StepTrace* at = hypothesis.trace.get(); at != nullptr; at = at->before.get()) {
    steps.push_back(at);
  }
  std::ranges::reverse(steps);
  const std::int64_t T = std::ssize(steps);
  HEED_ASSERT(T > 0 && T == std::ssize(hypothesis.token_log_probabilities));
  const auto collect = [&](std::size_t layer, Tensor LayerWeights::*which, std::int64_t keys) {
    Tensor all;
    for (std::int64_t t = 0; t < T; ++t) {
      const StepTrace& step = *steps[static_cast<std::size_t>(t)];
      const Tensor& weights = (*step.layers)[layer].*which;
      if (!weights.defined()) return Tensor();
      if (!all.defined()) all = zeros({1, weights.size(1), T, keys}, weights.dtype());
      // Step t has t + 1 keys of its own; a cache with a window has dropped the first of them. What
      // follows the keys, padding or extra keys, is left out.
      const std::int64_t last = which == &LayerWeights::self ? t + 1 : keys;
      const std::int64_t first = std::max<std::int64_t>(0, last - weights.size(3));
      Tensor to = slice(slice(all, 2, t, t + 1), 3, first, last);  // [1, H, 1, last - first]
      copy_into(to, slice(slice(weights, 0, step.row, step.row + 1), 3, 0, last - first));
    }
    return all;  // [1, H, T, keys]
  };
  std::vector<LayerWeights> layers(hypothesis.trace->layers->size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].self = collect(i, &LayerWeights::self, T);
    layers[i].cross = collect(i, &LayerWeights::cross, source);
  }
  return layers;
}

}  // namespace heed
