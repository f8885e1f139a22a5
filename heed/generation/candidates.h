// The tokens among which the next one of a sentence is chosen, if they are not all: a short list
// makes the output layer, often the largest of a translator, small (shortlist.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/models/output_layer.h"

namespace heed {

struct Candidates {
  std::vector<std::int32_t> tokens;        ///< Ascending, each once.
  std::optional<OutputLayer> output = {};  ///< Of these tokens; none: the model gives scores.
};

}  // namespace heed
