// Packing all weights of a model, for inference.
#pragma once

#include <cstdint>
#include <set>

#include "heed/nn/module.h"
#include "heed/nn/packed_weight.h"

namespace heed {

/// How the weights of a model are rounded. In the form int4, weights get 4 bits, but those with a
/// row for each token (embeddings and output layers), whose errors are errors of scores, get 8.
class PackChoices {
 public:
  explicit PackChoices(Module& model);
  /// Of a weight that is not packed yet.
  PackOptions of(const Weight& weight) const;

 private:
  std::set<std::int64_t> vocabularies_;
  std::set<ParameterKey> refined_;
};

/// Packs the matrices of all linear layers and embeddings; tied ones stay tied. The model has no
/// gradients afterwards. Throws, before a weight is packed, if one is f64 or packed in another
/// form.
void pack_weights(Module& model, PackedForm form);

/// Makes f32 tensors of all packed weights: the numbers that products used. Tied ones stay tied.
void unpack_weights(Module& model);

}  // namespace heed
