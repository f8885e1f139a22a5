// Hard attention (Show, Attend and Tell, Xu et al. 2015): each query reads one position. In
// training it is sampled with the probability that softmax gives it, otherwise it is the most
// probable one. A sample has no gradient with respect to the scores: draw() returns what REINFORCE
// (attention/reinforce.h) needs, training jobs record it (attention/samples.h), and gumbel.h has a
// variant with a gradient.
#pragma once

#include "heed/attention/variants/global.h"

namespace heed {

struct HardConfig {
  GlobalConfig global = {};
  bool sample = false;  // outside training, too

  void fields(io::Fields& field);
  void validate() const { global.validate(); }
};

/// The result of draw(); all but the index are differentiable.
struct HardDraw {
  Tensor output;    ///< [B, Tq, E]: the layer's result; no gradient goes to the scores.
  Tensor index;     ///< [B, Tq] in i64: the sampled position, -1 if no key is visible.
  Tensor log_prob;  ///< [B, Tq]: log-probability of that position; 0 if no key is visible.
  Tensor entropy;   ///< [B, Tq]: entropy of the probabilities.
};

class HardAttentionLayer : public GlobalAttention {
 public:
  using Config = HardConfig;
  explicit HardAttentionLayer(const Config& config, Generator& generator = default_generator());

  /// Samples a position for each query, in training and outside it.
  HardDraw draw(const AttentionInput& in, RandomStream random) const;
  HardDraw draw(const AttentionInput& in) const { return draw(in, default_generator().next()); }

 protected:
  void specialise(AttentionSpec& spec, const AttentionInput& in, const Place& place) const override;
  Tensor attend(const Call& call) const override;
  std::string_view name() const override { return "hard"; }

 private:
  bool sample_;
};

inline constexpr Mechanism kHard = mechanism<HardAttentionLayer>(
    "hard",
    {.title = "Hard attention",
     .formula = "h_j with probability softmax_j(score(x_i, h_j))",
     .paper = "Xu et al. 2015, Show, Attend and Tell",
     .cost = "n^2 d",
     .composes = kWithMasks},
    {.decodes = true, .plain_values = true, .gradient = Gradient::none});

}  // namespace heed
