// The Transformer as searches drive it: with what its layers remember, or, as the plain twin and
// for attention that cannot go step by step, by reading everything again for each token.
#pragma once

#include <memory>

#include "heed/generation/step_model.h"
#include "heed/models/transformer.h"

namespace heed {

enum class Stepping : std::uint8_t {
  automatic,  // cached if every attention of the decoder can
  cached,
  replayed,
};

/// Sequences written for each row of the memory. The model must outlive it.
std::unique_ptr<StepModel> make_steps(const Transformer& model, const Memory& memory,
                                      Stepping stepping = Stepping::automatic);

}  // namespace heed
