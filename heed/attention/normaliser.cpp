#include "heed/attention/normaliser.h"

#include "heed/base/error.h"

namespace heed {

Normaliser softmax_weights() { return {"softmax_weights", kernels::Normalise::softmax}; }

Normaliser softmax_with_sink(const Tensor& sinks) {
  HEED_CHECK(sinks.defined() && sinks.rank() == 1,
             "[softmax_with_sink] sinks {}: they must be [H], one for each head",
             to_string(sinks.shape()));
  return {"softmax_with_sink", kernels::Normalise::softmax, sinks};
}

Normaliser top_k_weights(std::int64_t k) {
  HEED_CHECK(k >= 1, "[top_k_weights] k is {}: it must be at least 1", k);
  return {"top_k_weights", kernels::Normalise::softmax, {}, k};
}

Normaliser hard_weights(RandomStream random) {
  return {"hard_weights", kernels::Normalise::softmax, {}, 1, random};
}

Normaliser hard_weights(std::uint64_t seed) { return hard_weights(RandomStream{seed, 0}); }

Normaliser sigmoid_weights() { return {"sigmoid_weights", kernels::Normalise::sigmoid}; }

Normaliser no_normaliser() { return {"no_normaliser", kernels::Normalise::none}; }

}  // namespace heed
