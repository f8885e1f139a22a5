// The part of the loss of models whose attention samples positions (attention/samples.h). Samples
// of hard attention learn by REINFORCE: the reward of a sample is the mean log-likelihood of the
// tokens that it can affect, and the term
//
//   -weight (reward - baseline) log p(sample) - entropy H
//
// is added to the loss for every sample. A baseline that the model learns itself is trained by
// (baseline - reward)^2. Straight-through samples have gradients of their own and are only
// reported.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attention/reinforce.h"
#include "heed/attention/samples.h"
#include "heed/models/model.h"
#include "heed/training/batch_losses.h"
#include "heed/training/job.h"

namespace heed {

/// What a label is worth to the samples before it.
enum class LabelReward : std::uint8_t {
  likelihood,  ///< Its log-likelihood, in nats.
  accuracy,    ///< 1 if it is the most probable one, else 0.
};

/// The names that configs use.
constexpr std::array<io::EnumName<LabelReward>, 2> enum_names(LabelReward) {
  return {{{LabelReward::likelihood, "likelihood"}, {LabelReward::accuracy, "accuracy"}}};
}

struct SampledLossConfig {
  ReinforceConfig reinforce = {};
  double discount = 0.0;  // of the tokens after the sample's own
  LabelReward reward = LabelReward::likelihood;

  void fields(io::Fields& field);
  void validate() const;
};

/// What a pass over a batch sampled, and how likely its tokens were.
struct SampledPass {
  std::vector<Sampled> encoder = {};  ///< Calls of [B, Tq] that together have whole sources.
  std::vector<Sampled> decoder = {};  ///< The same for targets.
  Tensor source_lengths = {};         ///< i64 [B].
  Tensor target_lengths = {};         ///< i64 [B].
  Tensor log_likelihoods = {};        ///< [B, T]: of the target's tokens, or [B, 1]: rewards.
};

class SampledLoss {
 public:
  SampledLoss(const Model& model, const SampledLossConfig& config);

  /// Whether the model or one of its attentions samples positions.
  bool is_needed() const { return is_needed_; }
  /// Adds the samples' term and report to the loss of a batch. The value of the loss stays that of
  /// its tokens. Updates the baseline.
  void add(const SampledPass& pass, BatchLoss& loss);
  /// The same for a model that labels: `calls` sampled before its scores [B, C]. Lengths i64 [B]
  /// are those of what it has read; undefined: all positions count.
  void add_labels(std::vector<Sampled> calls, const Tensor& lengths, const LabelScores& labelled,
                  BatchLoss& loss);

  /// The state that a checkpoint keeps.
  JobState state() const { return {reinforce_.baseline(), reinforce_.updates()}; }
  void restore(const JobState& state) {
    reinforce_.restore(state.baseline, state.baseline_updates);
  }

 private:
  SampledLossConfig config_;
  Reinforce reinforce_;
  bool is_needed_;
};

/// rewards[b, t] = sum_{u >= t} d^(u - t) x[b, u] / sum_{u >= t} d^(u - t), over the tokens of each
/// row: [B, T], 0 after its end.
Tensor rewards_to_go(const Tensor& log_likelihoods, const Tensor& lengths, double discount);

}  // namespace heed
