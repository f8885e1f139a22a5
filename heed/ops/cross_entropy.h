// The loss of classifiers and language models: cross entropy with the softmax fused in, so that no
// probabilities are kept for the gradient, only the logits and one number per row.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

/// How the losses of the rows are combined.
enum class Reduction : std::uint8_t { none, mean, sum };

/// Options of cross_entropy and linear_cross_entropy.
struct CrossEntropyOptions {
  double label_smoothing = 0.0;      // share of each target that is spread evenly over all classes
  std::int64_t ignore_index = -100;  // rows with this target do not count
  Reduction reduction = Reduction::mean;
};

/// -log softmax(logits)[target] for logits [..., V] and targets [...] (classes, i64 or i32). The
/// mean is over the rows that count. If no row counts, loss and gradient are 0 (PyTorch: NaN), so
/// that a batch of only padding does not destroy a training run.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options = {});

}  // namespace heed
