// Hard attention (Show, Attend and Tell, Xu et al. 2015): each query reads one position, drawn with
// the probability that softmax gives it while training, the likeliest one in use. What is drawn has
// no gradient by the scores: draw() returns what REINFORCE (attention/reinforce.h) learns from, and
// gumbel.h is the way with a gradient.
#pragma once

#include "heed/attention/variants/global.h"

namespace heed {

struct HardConfig {
  GlobalConfig global = {};
  bool sample = false;  // in use, too

  void fields(io::Fields& field);
  void validate() const { global.validate(); }
};

/// What draw() returns; differentiable but for the index.
struct HardDraw {
  Tensor output;    ///< [B, Tq, E]: the layer's result; its gradient goes not to scores.
  Tensor index;     ///< [B, Tq] in i64: the position drawn, -1 where none is seen.
  Tensor log_prob;  ///< [B, Tq]: of that position; 0 where none is seen.
  Tensor entropy;   ///< [B, Tq]: of the probabilities.
};

class HardAttentionLayer : public GlobalAttention {
 public:
  using Config = HardConfig;
  explicit HardAttentionLayer(const Config& config, Generator& generator = default_generator());

  /// Draws a position for each query, in training and in use.
  HardDraw draw(const AttentionInput& in, RandomStream random) const;
  HardDraw draw(const AttentionInput& in) const { return draw(in, default_generator().next()); }

 protected:
  void specialise(AttentionSpec& spec, const AttentionInput& in, const Place& place) const override;
  std::string_view name() const override { return "hard"; }

 private:
  bool sample_;
};

inline constexpr Mechanism kHard =
    mechanism<HardAttentionLayer>("hard",
                                  {.title = "Hard attention",
                                   .formula = "h_j with probability softmax_j(score(x_i, h_j))",
                                   .paper = "Xu et al. 2015, Show, Attend and Tell",
                                   .cost = "n^2 d",
                                   .composes = kWithMasks},
                                  {.decodes = true, .gradient = Gradient::none});

}  // namespace heed
