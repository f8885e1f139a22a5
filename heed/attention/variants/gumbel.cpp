#include "heed/attention/variants/gumbel.h"

#include "heed/attention/attention.h"
#include "heed/attention/entropy.h"
#include "heed/attention/samples.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"

namespace heed {

void GumbelConfig::fields(io::Fields& field) {
  global.fields(field);
  field("temperature", temperature, "temperature of the softmax that the gradient flows through",
        {.min = 0});
  field("sample", sample,
        "sample outside training, too, instead of taking the most probable position");
}

void GumbelConfig::validate() const {
  global.validate();
  HEED_CHECK(temperature > 0.0, "[gumbel] temperature {}: it must be positive", temperature);
}

GumbelAttention::GumbelAttention(const Config& config, Generator& generator)
    : GlobalAttention(config.global, generator),
      temperature_(config.temperature),
      sample_(config.sample) {
  config.validate();
}

void GumbelAttention::specialise(AttentionSpec& spec, const AttentionInput&, const Place&) const {
  const bool draws = training() || sample_;
  spec.normaliser = draws ? hard_weights(default_generator().next()) : top_k_weights(1);
}

void GumbelAttention::record_entropy(const Call& call) const {
  const NoGrad no_grad;
  AttentionSpec soft = call.spec;
  soft.normaliser = softmax_weights();
  soft.observers.clear();
  recorded_samples()->push_back(
      {.log_prob = {}, .entropy = squeeze(attention_entropy(call.q, call.k, soft), 1)});
}

Tensor GumbelAttention::attend(const Call& call) const {
  const Tensor read = attention(call.q, call.k, call.v, call.spec);  // [B, 1, Tq, E']
  if (recorded_samples() != nullptr && call.spec.normaliser.draw()) record_entropy(call);
  if (!grad_enabled()) return read;
  AttentionSpec soft = call.spec;
  soft.normaliser = softmax_weights();
  soft.observers.clear();
  if (const auto& random = call.spec.normaliser.draw())
    soft.modifiers.push_back(gumbel_noise(*random));
  soft.modifiers.push_back(temperature(temperature_));
  // The gradient of the values comes from the sample, that of the scores from the soft weights.
  const Tensor all = attention(call.q, call.k, call.v.detach(), soft);  // [B, 1, Tq, E']
  return read + (all - all.detach());                                   // [B, 1, Tq, E']
}

}  // namespace heed
