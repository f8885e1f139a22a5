// The REINFORCE loss of sampled positions (Williams 1992; as in Show, Attend and Tell, Xu et al.
// 2015): a sample becomes more probable in proportion to how much its reward exceeds the baseline.
//
//   const HardDraw drawn = layer.draw({.x = x, .memory = memory});
//   const Tensor loss = ...drawn.output...;                         // [B], one for each sequence
//   (mean(loss) + reinforce.loss(drawn.log_prob, -loss.detach(), drawn.entropy)).backward();
#pragma once

#include "heed/io/fields.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct ReinforceConfig {
  double decay = 0.9;    // decay of the baseline
  double weight = 1.0;   // weight of this term in the loss
  double entropy = 0.0;  // weight of the entropy

  void fields(io::Fields& field);
};

/// Keeps a moving average of the rewards as the baseline, unless the model learns one. Subtracting
/// it leaves the mean of the gradient unchanged, because it does not depend on the current samples,
/// and reduces its variance.
class Reinforce {
 public:
  explicit Reinforce(const ReinforceConfig& config = {}) : config_(config) {}

  /// weight * -(reward - baseline) log_prob - entropy * H, summed over positions and averaged over
  /// sequences. log_prob [B, …]; reward [B], one for each sequence, or of the shape of log_prob; no
  /// gradient goes to it. Entropies have the shape of log_prob, or are undefined. Then the baseline
  /// b becomes decay b + (1 - decay) mean(reward). Learned baselines have the shape of log_prob,
  /// too: if they are given, they are subtracted instead of b, and (learned - reward)^2 is added,
  /// which alone they learn from.
  Tensor loss(const Tensor& log_prob, const Tensor& reward, const Tensor& entropies = {},
              const Tensor& learned = {});

  /// The baseline: 0 at first, then the mean of the first rewards, updated by those that follow.
  double baseline() const { return baseline_; }
  /// The number of updates of the baseline, for saving.
  std::int64_t updates() const { return updates_; }
  void restore(double baseline, std::int64_t updates) {
    baseline_ = baseline;
    updates_ = updates;
  }

 private:
  void learn(const Tensor& reward);

  ReinforceConfig config_;
  double baseline_ = 0.0;
  std::int64_t updates_ = 0;
};

}  // namespace heed
