#include "heed/attention/variants/hard.h"

#include "heed/attention/entropy.h"
#include "heed/attention/hard.h"
#include "heed/attention/samples.h"
#include "heed/ops/view.h"

namespace heed {

void HardConfig::fields(io::Fields& field) {
  global.fields(field);
  field("sample", sample,
        "sample outside training, too, instead of taking the most probable position");
}

HardAttentionLayer::HardAttentionLayer(const Config& config, Generator& generator)
    : GlobalAttention(config.global, generator), sample_(config.sample) {}

void HardAttentionLayer::specialise(AttentionSpec& spec, const AttentionInput&,
                                    const Place&) const {
  const bool draws = training() || sample_;
  spec.normaliser = draws ? hard_weights(default_generator().next()) : top_k_weights(1);
}

Tensor HardAttentionLayer::attend(const Call& call) const {
  std::vector<Sampled>* const samples = recorded_samples();
  const std::optional<RandomStream>& random = call.spec.normaliser.draw();
  if (samples == nullptr || !random) return GlobalAttention::attend(call);
  AttentionSpec soft = call.spec;
  soft.normaliser = softmax_weights();
  const HardAttention drawn = hard_attention(call.q, call.k, call.v, soft, *random);
  soft.observers.clear();
  samples->push_back({.log_prob = squeeze(drawn.log_prob, 1),  // [B, Tq]
                      .entropy = squeeze(attention_entropy(call.q, call.k, soft), 1)});
  return drawn.output;  // [B, 1, Tq, E']
}

HardDraw HardAttentionLayer::draw(const AttentionInput& in, RandomStream random) const {
  Call call = call_of(in);
  call.spec.normaliser = softmax_weights();
  const HardAttention drawn = hard_attention(call.q, call.k, call.v, call.spec, random);
  const Tensor entropy = attention_entropy(call.q, call.k, call.spec);  // [B, 1, Tq]
  return {result(drawn.output, in.x), squeeze(drawn.index, 1), squeeze(drawn.log_prob, 1),
          squeeze(entropy, 1)};
}

}  // namespace heed
