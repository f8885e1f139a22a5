#include "heed/attention/variants/projected_tanh.h"

namespace heed {

MultiHeadConfig ProjectedTanhConfig::default_multi_head() {
  return {.heads = 1, .qkv_activation = Activation::tanh};
}

ProjectedTanhAttention::ProjectedTanhAttention(const Config& config, Generator& generator)
    : MultiHeadAttention(config.multi_head, generator) {}

}  // namespace heed
