// Packing all weights of a model, for inference.
#pragma once

#include "heed/nn/module.h"
#include "heed/nn/packed_weight.h"

namespace heed {

/// Packs the matrices of all linear layers and embeddings; tied ones stay tied. The model has no
/// gradients afterwards. Throws, before a weight is packed, if one is f64 or packed in another
/// form.
void pack_weights(Module& model, PackedForm form);

/// Makes f32 tensors of all packed weights: the numbers that products used. Tied ones stay tied.
void unpack_weights(Module& model);

}  // namespace heed
