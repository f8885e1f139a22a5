#include "heed/attention/variants/top_k.h"

#include "heed/base/error.h"

namespace heed {

void TopKConfig::fields(io::Fields& field) {
  multi_head.fields(field);
  field("k", k, "number of keys that a position attends to", {.min = 1});
}

void TopKConfig::validate() const {
  multi_head.validate();
  multi_head.check_no_normaliser("top_k");
  HEED_CHECK(k >= 1, "[top_k] k {}: at least one key must take weight", k);
}

TopKAttention::TopKAttention(const Config& config, Generator& generator)
    : MultiHeadAttention(valid(config).multi_head, generator), k_(config.k) {}

void TopKAttention::specialise(AttentionSpec& spec, Corner) const {
  spec.normaliser = top_k_weights(k_);
}

}  // namespace heed
