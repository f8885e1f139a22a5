// The output layer of models that predict tokens: scores (logits) over the vocabulary, and the loss
// of predictions. Its matrix may be that of the embeddings.
#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/packed/likeliest.h"
#include "heed/nn/linear.h"
#include "heed/ops/linear_cross_entropy.h"

namespace heed {

/// Parameters "weight" [V, E] and, if there is one, "bias" [V].
///
/// If the weight is `refined` and packed as int8, the tokens that find_likeliest() finds, and
/// score(), are as exact as 16 bits; the scores of all tokens are those of int8.
class OutputLayer : public Linear {
 public:
  /// Scores are c tanh(score / c) if `soft_cap` is c > 0 (Gemma 2).
  explicit OutputLayer(Weight of, Tensor with = {}, double soft_cap = 0.0)
      : Linear(std::move(of), std::move(with)), soft_cap_(soft_cap) {}

  /// States […, E] -> scores […, V].
  Tensor operator()(const Tensor& states) const;
  /// Whether find_likeliest() can be used: the weight is packed, and there is no cap.
  bool can_find_likeliest() const { return weight.packed && soft_cap_ <= 0.0; }
  /// The outputs with the greatest scores, without storing all scores: states [rows, E]. The scores
  /// of `call` are set here.
  void find_likeliest(const Tensor& states, kernels::PackedLikeliest call) const;
  /// The score of one token, without a cap: state [1, E].
  float score(const Tensor& state, std::int64_t token) const;
  /// The layer of some tokens alone, without gradients; its scores are those of these tokens.
  OutputLayer select(std::span<const std::int32_t> tokens) const;
  /// The loss of the predictions from states […, E] with targets […], without storing all scores if
  /// there is no cap and the weight is not packed.
  LinearCrossEntropy loss(const Tensor& states, const Tensor& targets,
                          const CrossEntropyOptions& options = {}) const;

 private:
  double soft_cap_;
};

}  // namespace heed
