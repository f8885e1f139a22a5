// What positions that were drawn learn from (REINFORCE, Williams 1992; as in Show, Attend and Tell,
// Xu et al. 2015): each draw becomes likelier by how much its reward exceeds what was usual.
//
//   const HardDraw drawn = layer.draw({.x = x, .memory = memory});
//   const Tensor loss = ...drawn.output...;                         // [B], one for each sequence
//   (mean(loss) + reinforce.loss(drawn.log_prob, -loss.detach(), drawn.entropy)).backward();
#pragma once

#include "heed/io/fields.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct ReinforceConfig {
  double decay = 0.9;    // of the baseline
  double weight = 1.0;   // of this term
  double entropy = 0.0;  // how much undecided weights are worth

  void fields(io::Fields& field);
};

/// Keeps a moving average of the rewards. Taking it from them leaves the mean of the gradient as it
/// is, for it knows nothing of the draws it is taken from, and makes its variance smaller.
class Reinforce {
 public:
  explicit Reinforce(const ReinforceConfig& config = {}) : config_(config) {}

  /// weight * -(reward - baseline) log_prob - entropy * H, summed over positions, in the mean over
  /// sequences. log_prob [B, …]; reward [B], of a sequence, or as log_prob; no gradient goes to it.
  /// Entropies as log_prob, or none. The baseline then moves by decay b + (1 - decay) mean(reward).
  Tensor loss(const Tensor& log_prob, const Tensor& reward, const Tensor& entropies = {});

  /// What is usual: 0 at first, then the mean of the first rewards, moved by those that followed.
  double baseline() const { return baseline_; }
  /// How many times it has moved, for saving.
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
