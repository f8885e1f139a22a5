#include "heed/attention/reinforce.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"

namespace heed {

void ReinforceConfig::fields(io::Fields& field) {
  field("decay", decay, "decay of the baseline at each update", {.min = 0, .max = 1});
  field("weight", weight, "weight of the term in the loss", {.min = 0});
  field("entropy", entropy, "weight of the entropy in the loss");
}

Tensor Reinforce::loss(const Tensor& log_prob, const Tensor& reward, const Tensor& entropies,
                       const Tensor& learned) {
  HEED_CHECK(log_prob.rank() >= 1, "[reinforce] log_prob is {}: it must be [B, ...]",
             to_string(log_prob.shape()));
  const std::int64_t B = log_prob.size(0);
  HEED_CHECK(reward.shape() == Shape{B} || reward.shape() == log_prob.shape(),
             "[reinforce] reward is {}: for log_prob {} it must be {}, one for each sequence, or "
             "of the same shape",
             to_string(reward.shape()), to_string(log_prob.shape()), to_string(Shape{B}));
  HEED_CHECK(
      config_.entropy == 0.0 || (entropies.defined() && entropies.shape() == log_prob.shape()),
      "[reinforce] entropies are {}: they have a weight of {}, so they must be as log_prob "
      "{}",
      entropies.defined() ? to_string(entropies.shape()) : "undefined", config_.entropy,
      to_string(log_prob.shape()));
  HEED_CHECK(!learned.defined() || learned.shape() == log_prob.shape(),
             "[reinforce] learned baselines are {}: they must be as log_prob {}",
             to_string(learned.shape()), to_string(log_prob.shape()));
  Tensor rewards = reward.detach();
  while (rewards.rank() < log_prob.rank()) rewards = unsqueeze(rewards, -1);
  const Tensor advantage = learned.defined() ? rewards - learned.detach() : rewards - baseline_;
  const double each = 1.0 / static_cast<double>(std::max<std::int64_t>(B, 1));
  Tensor total = sum(advantage * log_prob) * (-config_.weight * each);
  if (config_.entropy != 0.0) total = total - sum(entropies) * (config_.entropy * each);
  if (learned.defined()) total = total + sum(square(learned - rewards)) * each;
  learn(reward.detach());
  return total;
}

void Reinforce::learn(const Tensor& reward) {
  if (reward.numel() == 0) return;
  const double usual = mean(reward).item();
  HEED_CHECK(std::isfinite(usual), "[reinforce] the mean reward is {}: rewards must be finite",
             usual);
  baseline_ = updates_ == 0 ? usual : config_.decay * baseline_ + (1.0 - config_.decay) * usual;
  ++updates_;
}

}  // namespace heed
