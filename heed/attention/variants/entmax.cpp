#include "heed/attention/variants/entmax.h"

#include "heed/base/error.h"

namespace heed {

void EntmaxConfig::fields(io::Fields& field) {
  multi_head.fields(field);
  field("alpha", alpha, "sparsity, above 1 (softmax) and at most 2 (sparsemax)",
        {.min = 1, .max = 2});
}

void EntmaxConfig::validate() const {
  multi_head.validate();
  multi_head.check_no_normaliser("entmax");
  HEED_CHECK(alpha > 1.0 && alpha <= 2.0,
             "[entmax] alpha {}: it must be above 1, which is softmax (multi_head), and at most 2",
             alpha);
}

EntmaxAttention::EntmaxAttention(const Config& config, Generator& generator)
    : MultiHeadAttention(valid(config).multi_head, generator), alpha_(config.alpha) {}

void EntmaxAttention::specialise(AttentionSpec& spec, Corner) const {
  spec.normaliser = entmax_weights(alpha_);
}

}  // namespace heed
