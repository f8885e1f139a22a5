// Fused update rules of optimisers: each reads a parameter, its gradient and its state once and
// writes parameter and state once, so memory bandwidth is the only limit. One call treats all
// parameters of a network as one long array, split into pieces of equal size, so a hundred small
// biases cost as much as one array of their total size.
#pragma once

#include <cstdint>
#include <span>

namespace heed::kernels {

/// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019), element by element:
///   g = gradient_scale * gradient + l2 * value
///   mean = beta1 mean + (1 - beta1) g,  square = beta2 square + (1 - beta2) g^2
///   value = keep * value - rate * mean / (root * sqrt(square) + epsilon)
struct AdamRule {
  double beta1;
  double beta2;
  double epsilon;
  double gradient_scale;
};

/// One parameter. The bias corrections are in rate and root, because parameters that had no
/// gradient for a while have made fewer steps.
template <typename T>
struct AdamSlice {
  std::int64_t n;
  T* value;
  const T* gradient;
  T* mean;
  T* square;
  double rate;  // learning rate / (1 - beta1^t)
  double root;  // 1 / sqrt(1 - beta2^t)
  double keep;  // AdamW: 1 - learning rate * decay; else 1
  double l2;    // Adam: the decay; else 0
};
void adam(std::span<const AdamSlice<float>> slices, const AdamRule& rule);
void adam(std::span<const AdamSlice<double>> slices, const AdamRule& rule);

/// Gradient descent, element by element:
///   g = gradient_scale * gradient + l2 * value
///   with a buffer: buffer = momentum * buffer + g, then
///     g = buffer (nesterov: g + momentum * buffer)
///   value = value - rate * g
struct SgdRule {
  double rate;
  double momentum;
  double gradient_scale;
  bool nesterov;
};
/// One parameter.
template <typename T>
struct SgdSlice {
  std::int64_t n;
  T* value;
  const T* gradient;
  T* buffer;  // null without momentum
  double l2;
};
void sgd(std::span<const SgdSlice<float>> slices, const SgdRule& rule);
void sgd(std::span<const SgdSlice<double>> slices, const SgdRule& rule);

/// average = average + (1 - decay) * (value - average).
template <typename T>
struct EmaSlice {
  std::int64_t n;
  T* average;
  const T* value;
};
void ema(std::span<const EmaSlice<float>> slices, double decay);
void ema(std::span<const EmaSlice<double>> slices, double decay);

}  // namespace heed::kernels
