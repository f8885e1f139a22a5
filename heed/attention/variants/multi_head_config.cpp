#include "heed/attention/variants/multi_head_config.h"

#include <cmath>

#include "heed/base/error.h"

namespace heed {

Normaliser normaliser_of(HeadWeights weights) {
  switch (weights) {
    case HeadWeights::softmax:
      break;
    case HeadWeights::sparsemax:
      return sparsemax_weights();
    case HeadWeights::entmax15:
      return entmax_weights(1.5);
  }
  return softmax_weights();
}

void MultiHeadConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("heads", heads, "heads of queries", {.min = 1});
  field("kv_heads", kv_heads, "heads of keys and values; 0: as many as heads", {.min = 0});
  field("head_size", head_size, "features of a head; 0: embed / heads", {.min = 0});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("joint", joint,
        "whether queries, keys and values come from one matrix; three if the memory has another "
        "size");
  field("bias", bias, "whether the linear layers have biases");
  field("qkv_bias", qkv_bias, "whether queries, keys and values have biases; none: as bias");
  field("qkv_activation", qkv_activation, "activation of queries, keys and values");
  field("output_activation", output_activation, "activation f of the output layer, f(W h + b)");
  field("qk_norm", qk_norm, "whether each head of queries and keys has an RMS norm");
  field("qk_norm_eps", qk_norm_eps, "epsilon of these norms", {.min = 0});
  field("scale", scale, "factor of the scores; 0: 1 / sqrt(head_size)", {.min = 0});
  field("soft_cap", soft_cap, "limit c of the scores, c tanh(score / c); 0: none", {.min = 0});
  field("normaliser", normaliser,
        "how scores become weights: softmax, or sparse weights by sparsemax or entmax15");
  field("bias_kv", bias_kv, "whether there is one more learned key and value");
  field("zero_attn", zero_attn, "whether there is one more key and value of zeros");
  field("dropout", dropout, "dropout probability of attention weights", {.min = 0, .max = 1});
  field("position", position, "position code of queries and keys");
}

void MultiHeadConfig::validate() const {
  HEED_CHECK(embed >= 1 && heads >= 1 && head_size >= 0 && (head_size > 0 || embed % heads == 0),
             "[multi_head] embed {} is not a multiple of heads {}: change one of them, or give "
             "head_size",
             embed, heads);
  HEED_CHECK(kv_heads >= 0 && (kv_heads == 0 || heads % kv_heads == 0),
             "[multi_head] heads {} is not a multiple of kv_heads {}", heads, kv_heads);
  HEED_CHECK(memory_embed >= 0, "[multi_head] memory_embed {}: give the features of the memory",
             memory_embed);
  HEED_CHECK(qk_norm_eps >= 0.0 && std::isfinite(qk_norm_eps),
             "[multi_head] qk_norm_eps {}: it must be at least 0 and finite", qk_norm_eps);
  HEED_CHECK(scale >= 0.0 && std::isfinite(scale),
             "[multi_head] scale {}: give a positive factor, or 0 for 1 / sqrt(head_size)", scale);
  HEED_CHECK(soft_cap >= 0.0 && std::isfinite(soft_cap),
             "[multi_head] soft_cap {}: give a positive limit, or 0 for none", soft_cap);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[multi_head] dropout {}: it must be at least 0 and below 1", dropout);
}

void MultiHeadConfig::check_no_normaliser(std::string_view variant) const {
  HEED_CHECK(normaliser == HeadWeights::softmax,
             "[{}] normaliser {}: this mechanism has its own; leave the option out", variant,
             io::enum_name(normaliser));
}

}  // namespace heed
