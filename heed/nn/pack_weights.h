// Packing all weights of a model, for inference.
#pragma once

#include "heed/nn/module.h"
#include "heed/nn/packed_weight.h"

namespace heed {

/// Packs the matrices of all linear layers and embeddings of f32 or bf16; tied ones stay tied. The
/// model has no gradients and cannot be saved afterwards.
void pack_weights(Module& model, PackedForm form);

}  // namespace heed
