// Average attention (AAN; Zhang, Xiong and Su 2018): all visible positions have the same weight, so
// no scores are computed, and the cost of a decoding step does not depend on the number of earlier
// positions.
//   y_t = FFN(mean of x_1 .. x_t),  [i; f] = sigmoid(W [x_t; y_t]),  result i * x_t + f * y_t
// If not causal, the mean is taken over all positions. The caller adds the residual connection and
// the norm.
#pragma once

#include "heed/attention/mechanism.h"
#include "heed/nn/feed_forward.h"

namespace heed {

struct AverageConfig {
  std::int64_t embed = 64;
  std::int64_t hidden = 0;  // size of the feed-forward layer; 0: 4 embed
  double dropout = 0.0;     // inside the feed-forward layer

  void fields(io::Fields& field);
};

/// Parameters "feed_forward" and "gate" [2 E, 2 E].
class AverageAttention : public AttentionLayer {
 public:
  using Config = AverageConfig;
  explicit AverageAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, T, E].
  Tensor operator()(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;

  FeedForward feed_forward;
  Linear gate;

 private:
  class State;
  void check(const AttentionInput& in) const;
  Tensor gated(const Tensor& x, const Tensor& average) const;
  void observe(const AttentionInput& in) const;

  Config config_;
};

inline constexpr Mechanism kAverage = mechanism<AverageAttention>(
    "average",
    {.title = "Average attention",
     .formula = "i * x_t + f * y_t, y_t = FFN(mean(x_1..x_t)), [i; f] = sigmoid(W [x_t; y_t])",
     .paper = "Zhang, Xiong and Su 2018, Accelerating Neural Transformer via an Average Attention "
              "Network",
     .cost = "n d^2, of which the average n d",
     .composes = "lengths, causal, decoding in constant time and memory",
     .sample = "hidden=24"},
    {.cross = false, .mask = false, .decodes = true, .fused = false, .growth = 1.0});

}  // namespace heed
