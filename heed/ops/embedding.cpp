#include "heed/ops/embedding.h"

#include "heed/ops/index.h"

namespace heed {

Tensor embedding(const Tensor& weight, const Tensor& ids, const EmbeddingOptions& options) {
  HEED_CHECK(weight.rank() == 2, "[embedding] weight {}: it must be [V, E]",
             to_string(weight.shape()));
  const std::int64_t padding = options.padding_index.value_or(-1);
  HEED_CHECK(!options.padding_index || (padding >= 0 && padding < weight.size(0)),
             "[embedding] padding_index {} is outside the vocabulary of size {}", padding,
             weight.size(0));
  return detail::take({.op = "embedding", .what = "the vocabulary", .skip = padding}, weight, 0,
                      ids);
}

}  // namespace heed
