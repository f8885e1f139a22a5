// Cross entropy of rows of logits against one class each, fused with softmax. With p = softmax(x),
// smoothing s and V classes,
//   loss = (1 - s) * -log p[target] + s * mean over classes of -log p
// Logits are read once from memory, and each block twice while it is in L1. Only the log-sum-exp of
// the softmax is kept.
#pragma once

#include "heed/kernels/rows.h"

namespace heed::kernels {

/// The target of a row that does not count: its loss and gradient are 0.
inline constexpr std::int64_t kIgnoredTarget = -1;

/// Arguments of the forward pass.
template <typename T>
struct CrossEntropyForward {
  Rows rows;  // width: the number of classes, V
  double smoothing;
  const T* logits;
  const std::int64_t* targets;  // [rows], each in [0, V) or kIgnoredTarget
  T* loss;                      // [rows]
  T* log_sum_exp;               // [rows]
};

/// Arguments of the backward pass: dlogits = dloss * (p - (1 - s) * onehot(target) - s / V).
template <typename T>
struct CrossEntropyBackward {
  Rows rows;
  double smoothing;
  const T* logits;
  const std::int64_t* targets;
  const T* log_sum_exp;
  const T* dloss;  // [rows]
  T* dlogits;
  const T* smoothings = nullptr;  // [rows]: the smoothing of each row, instead of `smoothing`
};

void cross_entropy(const CrossEntropyForward<float>& call);
void cross_entropy(const CrossEntropyForward<double>& call);

void cross_entropy_backward(const CrossEntropyBackward<float>& call);
void cross_entropy_backward(const CrossEntropyBackward<double>& call);

}  // namespace heed::kernels
