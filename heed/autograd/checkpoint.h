// Activation checkpointing (Chen et al. 2016): a part of a network keeps only its inputs and is
// computed again when its gradient is needed. This saves the memory of its activations and costs a
// third more arithmetic.
#pragma once

#include <functional>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

/// The function that is computed again in the backward pass.
using CheckpointBody = std::function<Tensor(std::span<const Tensor>)>;

/// Returns body(inputs) without keeping its inner activations. Parameters that body captures get
/// their gradients as usual. Random numbers from the default generator are the same in the second
/// run.
Tensor checkpoint(CheckpointBody body, std::span<const Tensor> inputs);

}  // namespace heed
