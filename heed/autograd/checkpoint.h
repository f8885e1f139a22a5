// Activation checkpointing (Chen et al. 2016): a part of a network that keeps only its inputs and
// is computed again when its gradient is needed. Trades a third more arithmetic for the memory
// between.
#pragma once

#include <functional>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

using CheckpointBody = std::function<Tensor(std::span<const Tensor>)>;

/// body(inputs), with its inner activations dropped. Parameters that body captures get their
/// gradients as usual; random numbers from the default generator repeat exactly in the second run.
Tensor checkpoint(CheckpointBody body, std::span<const Tensor> inputs);

}  // namespace heed
