// How scores become weights, as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "heed/base/random.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

class Normaliser {
 public:
  /// `name` must be a literal.
  Normaliser(const char* name, kernels::Normalise kind, Tensor sinks = {}, std::int64_t top_k = 0,
             std::optional<RandomStream> draw = {}, double alpha = 0.0)
      : name_(name),
        kind_(kind),
        sinks_(std::move(sinks)),
        top_k_(top_k),
        draw_(draw),
        alpha_(alpha) {}

  /// The name of the function that makes it, for messages.
  std::string_view name() const { return name_; }
  kernels::Normalise kind() const { return kind_; }
  /// [H], or undefined.
  const Tensor& sinks() const { return sinks_; }
  /// If positive, a query attends only to its top_k best keys.
  std::int64_t top_k() const { return top_k_; }
  /// If set, Gumbel noise of this stream is added to the scores first.
  const std::optional<RandomStream>& draw() const { return draw_; }
  /// Of entmax_weights.
  double alpha() const { return alpha_; }
  /// Whether rows have a log-sum-exp of the scores without noise.
  bool has_log_sum_exp() const { return kind_ == kernels::Normalise::softmax && !draw_; }

 private:
  const char* name_;
  kernels::Normalise kind_;
  Tensor sinks_;
  std::int64_t top_k_;
  std::optional<RandomStream> draw_;
  double alpha_;
};

/// Softmax: e^score, divided by its sum over all visible keys of a query.
Normaliser softmax_weights();
/// The same with one more term e^sinks[h] in the sum: weight that goes to no value (Xiao et al.
/// 2023; gpt-oss). sinks [H], learned or not.
Normaliser softmax_with_sink(const Tensor& sinks);
/// Softmax over the k best keys of each query; of equal scores the earlier keys win. The choice of
/// keys has no gradient.
Normaliser top_k_weights(std::int64_t k);
/// Alpha-entmax (Peters et al. 2019), 1 < alpha <= 2: weights that sum to 1, of which many are
/// exactly 0. They are max(0, (alpha - 1) score - t)^(1 / (alpha - 1)) with a threshold t for each
/// query; alpha near 1 is close to softmax. A block of queries keeps its scores of all keys.
Normaliser entmax_weights(double alpha = 1.5);
/// Entmax with alpha = 2 (Martins and Astudillo 2016): the weights closest to the scores, by
/// Euclidean distance, among all that are not negative and sum to 1.
Normaliser sparsemax_weights();
/// All weight goes to one key, sampled with the probability that softmax gives it (hard attention,
/// Xu et al. 2015). The gradient goes to the values alone, because a sample has none with respect
/// to the scores; hard_attention (attention/hard.h) returns what the score function estimator
/// needs.
Normaliser hard_weights(RandomStream random);
/// The same from the first stream of a seed.
Normaliser hard_weights(std::uint64_t seed);
/// 1 / (1 + e^-score), each key independently.
Normaliser sigmoid_weights();
/// The scores themselves; 0 for hidden keys.
Normaliser no_normaliser();

}  // namespace heed
