#include "heed/training/sampled_loss.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/kinds.h"
#include "heed/ops/choose.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/order.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// Samples inside their rows, one after another.
struct FlatSamples {
  Tensor log_prob, entropy, reward;  // [N] each; log_prob undefined: straight-through
  Tensor baseline;                   // [N]; undefined: the model learns none
};

// Calls of a layer that goes step by step have one position each, other calls have all of them: in
// both cases positions follow one another in the list, one pass over the row after another.
Tensor in_order(const std::vector<Sampled>& calls, Tensor Sampled::*which) {
  std::vector<Tensor> all;
  for (const Sampled& call : calls) all.push_back(call.*which);
  return concat(all, 1);  // [B, passes * T]
}

FlatSamples flatten(const std::vector<Sampled>& calls, const Tensor& rewards,
                    const Tensor& lengths) {
  const Tensor entropy = in_order(calls, &Sampled::entropy);  // [B, passes * T]
  const std::int64_t B = entropy.size(0), wide = entropy.size(1), T = rewards.size(1);
  HEED_ASSERT(wide % T == 0);
  const std::vector<std::int64_t> ends = lengths.to_vector<std::int64_t>();
  std::vector<std::int64_t> inside, tokens;
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t t = 0; t < wide; ++t) {
      if (t % T >= ends[static_cast<std::size_t>(b)]) continue;
      inside.push_back(b * wide + t);
      tokens.push_back(b * T + t % T);
    }
  }
  const auto chosen = [](const Tensor& x, const std::vector<std::int64_t>& places) {
    const Tensor ids = from_values(std::span<const std::int64_t>(places), {std::ssize(places)});
    return index_select(reshape(x, {-1}), 0, ids);  // [N]
  };
  FlatSamples flat{.log_prob = {},
                   .entropy = chosen(entropy, inside),
                   .reward = chosen(rewards, tokens),
                   .baseline = {}};
  if (calls[0].log_prob.defined()) {
    flat.log_prob = chosen(in_order(calls, &Sampled::log_prob), inside);
  }
  if (calls[0].baseline.defined()) {
    flat.baseline = chosen(in_order(calls, &Sampled::baseline), inside);
  }
  return flat;
}

// The mean of a row's tokens, for each position of its source: [B, S].
Tensor mean_rewards(const SampledPass& pass, std::int64_t S) {
  const Tensor first =
      slice(rewards_to_go(pass.log_likelihoods, pass.target_lengths, 1.0), 1, 0, 1);  // [B, 1]
  return contiguous(expand(first, {first.size(0), S}));
}

// Layers with a gradient of their own and layers without may sample in one model.
std::vector<Sampled> with_log_prob(const std::vector<Sampled>& calls, bool has) {
  std::vector<Sampled> chosen;
  std::ranges::copy_if(calls, std::back_inserter(chosen),
                       [&](const Sampled& call) { return call.log_prob.defined() == has; });
  return chosen;
}

}  // namespace

void SampledLossConfig::fields(io::Fields& field) {
  reinforce.fields(field);
  field("discount", discount,
        "weight of each later token in the reward, relative to the one before; 0: a sample is "
        "rewarded for its own token alone",
        {.min = 0, .max = 1});
  field("reward", reward,
        "classify, recognise: what a label is worth: its log-likelihood, or its accuracy, 1 if it "
        "is the most probable one and else 0");
}

void SampledLossConfig::validate() const {
  HEED_CHECK(discount >= 0.0 && discount <= 1.0, "[reinforce] discount {}: it must be from 0 to 1",
             discount);
}

Tensor rewards_to_go(const Tensor& log_likelihoods, const Tensor& lengths, double discount) {
  const Tensor x = contiguous_copy(cast_data(log_likelihoods.detach(), DType::f64));  // [B, T]
  Tensor rewards = zeros(x.shape(), DType::f64);
  const std::vector<std::int64_t> ends = lengths.to_vector<std::int64_t>();
  const std::int64_t T = x.size(1);
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    double total = 0.0, weight = 0.0;
    for (std::int64_t t = ends[static_cast<std::size_t>(b)] - 1; t >= 0; --t) {
      total = x.data<double>()[b * T + t] + discount * total;
      weight = 1.0 + discount * weight;
      rewards.mutable_data<double>()[b * T + t] = total / weight;
    }
  }
  return cast_data(rewards, log_likelihoods.dtype());
}

SampledLoss::SampledLoss(const Model& model, const SampledLossConfig& config)
    : config_(config),
      reinforce_(config.reinforce),
      is_needed_(model.samples() || std::ranges::any_of(model.choice().config().attentions(),
                                                        [](const AttentionChoice& attention) {
                                                          return attention.traits().gradient !=
                                                                 Gradient::exact;
                                                        })) {}

void SampledLoss::add(const SampledPass& pass, BatchLoss& loss) {
  std::vector<Tensor> log_probs, entropies, rewards, baselines;
  const auto take = [&](const std::vector<Sampled>& calls, const Tensor& reward,
                        const Tensor& lengths) {
    if (calls.empty()) return;
    const FlatSamples flat = flatten(calls, reward, lengths);
    loss.sampled.reward += sum(flat.reward.detach()).item();
    loss.sampled.entropy += sum(flat.entropy.detach()).item();
    loss.sampled.samples += flat.entropy.numel();
    if (!flat.log_prob.defined()) return;
    log_probs.push_back(flat.log_prob);
    entropies.push_back(flat.entropy);
    rewards.push_back(flat.reward);
    if (flat.baseline.defined()) baselines.push_back(flat.baseline);
  };
  const Tensor to_go =
      rewards_to_go(pass.log_likelihoods, pass.target_lengths, config_.discount);  // [B, T]
  for (const bool estimated : {true, false}) {
    const std::vector<Sampled> encoder = with_log_prob(pass.encoder, estimated);
    if (!encoder.empty()) {
      take(encoder, mean_rewards(pass, encoder[0].entropy.size(1)), pass.source_lengths);
    }
    take(with_log_prob(pass.decoder, estimated), to_go, pass.target_lengths);
  }
  if (log_probs.empty()) return;
  const Tensor log_prob = concat(log_probs, 0);  // [N]
  // Reinforce averages over samples; the losses of tokens are summed.
  HEED_ASSERT(baselines.empty() || baselines.size() == log_probs.size());
  const Tensor learned = baselines.empty() ? Tensor() : concat(baselines, 0);  // [N]
  const Tensor term = reinforce_.loss(log_prob, concat(rewards, 0), concat(entropies, 0), learned) *
                      static_cast<double>(log_prob.numel());
  loss.sum = loss.sum + (term - term.detach());
}

void SampledLoss::add_labels(std::vector<Sampled> calls, const Tensor& lengths,
                             const LabelScores& labelled, BatchLoss& loss) {
  if (calls.empty()) return;
  const Tensor scores = labelled.scores.detach();  // [B, C]
  const std::int64_t B = scores.size(0);
  SampledPass pass{.encoder = std::move(calls),
                   .source_lengths = lengths,
                   .target_lengths = full({B}, 1.0, DType::i64)};
  if (!lengths.defined()) {
    const auto positions = static_cast<double>(pass.encoder[0].entropy.size(1));
    pass.source_lengths = full({B}, positions, DType::i64);
  }
  const Tensor rewards =
      config_.reward == LabelReward::accuracy
          ? cast_data(equal(argmax(scores), labelled.labels), scores.dtype())
          : -cross_entropy(scores, labelled.labels, {.reduction = Reduction::none});  // [B]
  pass.log_likelihoods = unsqueeze(rewards, 1);                                       // [B, 1]
  add(pass, loss);
}

}  // namespace heed
