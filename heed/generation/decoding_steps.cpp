#include "heed/generation/decoding_steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

std::vector<std::int64_t> identity(std::int64_t rows) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

}  // namespace

Tensor ids_of(std::span<const std::int32_t> tokens, std::int64_t rows) {
  const std::vector<std::int64_t> wide(tokens.begin(), tokens.end());
  const std::int64_t length = rows > 0 ? std::ssize(wide) / rows : 1;
  return from_values(std::span<const std::int64_t>(wide), {rows, length});  // [rows, T]
}

DecodingSteps::DecodingSteps(const OutputLayer& output, std::int64_t rows,
                             std::unique_ptr<Decoding> decoding, ObservedWeights observed)
    : output_(output),
      rows_(rows),
      decoding_(std::move(decoding)),
      observed_(observed),
      parents_(identity(rows)) {
  if (observed_ != ObservedWeights::none) decoding_->observe(now_, observed_);
}

TokenScores DecodingSteps::step(std::span<const std::int32_t> last) {
  const NoGrad no_grad;
  HEED_ASSERT(std::ssize(last) == rows_);
  const Tensor y = decoding_->step(ids_of(last, rows_));  // [rows, 1, E]
  if (observed_ != ObservedWeights::none) {
    Step step{std::exchange(parents_, identity(rows_)), now_};
    if (observed_ == ObservedWeights::cross) {
      for (LayerWeights& layer : step.layers) {
        if (layer.cross.defined()) layer.cross = mean(layer.cross, {1}, {.keep_axes = true});
      }
    }
    steps_.push_back(std::move(step));
  }
  return {squeeze(y, 1), output_};
}

void DecodingSteps::reorder(std::span<const std::int64_t> from) {
  rows_ = std::ssize(from);
  decoding_->reorder(from);
  if (observed_ == ObservedWeights::none) return;
  std::vector<std::int64_t> next;
  next.reserve(from.size());
  for (const std::int64_t row : from) next.push_back(parents_[static_cast<std::size_t>(row)]);
  parents_ = std::move(next);
}

// The row that the hypothesis had at each step.
std::vector<std::int64_t> DecodingSteps::rows_of(const Hypothesis& hypothesis) const {
  const std::size_t count = hypothesis.token_log_probabilities.size();
  HEED_ASSERT(count <= steps_.size() && hypothesis.row >= 0);
  std::vector<std::int64_t> rows(count);
  std::int64_t row = hypothesis.row;
  for (std::size_t t = count; t-- > 0;) {
    rows[t] = row;
    row = steps_[t].parents[static_cast<std::size_t>(row)];
  }
  return rows;
}

std::vector<LayerWeights> DecodingSteps::weights_of(const Hypothesis& hypothesis,
                                                    std::int64_t source) const {
  const NoGrad no_grad;
  const std::vector<std::int64_t> rows = rows_of(hypothesis);
  const std::int64_t T = std::ssize(rows);
  const auto collect = [&](std::size_t layer, Tensor LayerWeights::*which, std::int64_t keys) {
    Tensor all;
    for (std::int64_t t = 0; t < T; ++t) {
      const Tensor& weights = steps_[static_cast<std::size_t>(t)].layers[layer].*which;
      if (!weights.defined()) return Tensor();
      if (!all.defined()) all = zeros({1, weights.size(1), T, keys}, weights.dtype());
      // Step t has t + 1 keys of its own; a cache with a window has dropped the first of them. What
      // follows the keys, padding or extra keys, is left out.
      const std::int64_t last = which == &LayerWeights::self ? t + 1 : keys;
      const std::int64_t first = std::max<std::int64_t>(0, last - weights.size(3));
      const std::int64_t row = rows[static_cast<std::size_t>(t)];
      Tensor to = slice(slice(all, 2, t, t + 1), 3, first, last);  // [1, H, 1, last - first]
      copy_into(to, slice(slice(weights, 0, row, row + 1), 3, 0, last - first));
    }
    return all;  // [1, H, T, keys]
  };
  std::vector<LayerWeights> layers(now_.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].self = collect(i, &LayerWeights::self, T);
    layers[i].cross = collect(i, &LayerWeights::cross, source);
  }
  return layers;
}

}  // namespace heed
