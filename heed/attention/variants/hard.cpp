#include "heed/attention/variants/hard.h"

#include "heed/attention/entropy.h"
#include "heed/attention/hard.h"
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

HardDraw HardAttentionLayer::draw(const AttentionInput& in, RandomStream random) const {
  Call call = call_of(in);
  call.spec.normaliser = softmax_weights();
  const HardAttention drawn = hard_attention(call.q, call.k, call.v, call.spec, random);
  const Tensor entropy = attention_entropy(call.q, call.k, call.spec);  // [B, 1, Tq]
  return {result(drawn.output, in.x), squeeze(drawn.index, 1), squeeze(drawn.log_prob, 1),
          squeeze(entropy, 1)};
}

}  // namespace heed
