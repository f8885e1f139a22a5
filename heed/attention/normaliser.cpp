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

Normaliser entmax_weights(double alpha) {
  HEED_CHECK(alpha > 1.0 && alpha <= 2.0,
             "[entmax_weights] alpha is {}: it must be above 1, which is softmax_weights, and at "
             "most 2",
             alpha);
  return {"entmax_weights", kernels::Normalise::entmax, {}, 0, {}, alpha};
}

Normaliser sparsemax_weights() {
  return {"sparsemax_weights", kernels::Normalise::entmax, {}, 0, {}, 2.0};
}

Normaliser hard_weights(RandomStream random) {
  return {"hard_weights", kernels::Normalise::softmax, {}, 1, random};
}

Normaliser hard_weights(std::uint64_t seed) { return hard_weights(RandomStream{seed, 0}); }

Normaliser sigmoid_weights() { return {"sigmoid_weights", kernels::Normalise::sigmoid}; }

Normaliser no_normaliser() { return {"no_normaliser", kernels::Normalise::none}; }

}  // namespace heed
