// Path lengths between positions in a stack of layers, counted on the tape rather than derived.
// Vaswani et al. 2017, table 1: the longest path between two positions, and the number of
// sequential operations within a layer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heed/study/sequence_layer.h"

namespace heed {

/// Makes a small layer for a depth in the stack, 0 the lowest. Few features suffice, since only its
/// graph is used.
using LayerAt = std::function<std::unique_ptr<SequenceLayer>(std::int64_t depth)>;

struct PathLength {
  std::int64_t layers =
      0;  ///< The number of layers needed for the last position to depend on the first.
  std::int64_t path = 0;  ///< Ops that combine positions, from the last output to the first input.
  std::int64_t sequential = 0;  ///< Of these, the most sequential ones in one layer.
};

/// For n positions, at least 2, of `embed` features.
PathLength count_path(const LayerAt& make, std::int64_t n, std::int64_t embed);

}  // namespace heed
