// How far apart positions are in a stack of layers: counted on the tape, not derived. Vaswani et
// al. 2017, table 1: the longest path between two positions, and the operations that must follow
// one another within a layer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heed/study/sequence_layer.h"

namespace heed {

/// A small layer for a place in the stack, 0 the lowest: with few features, since only its graph is
/// looked at.
using LayerAt = std::function<std::unique_ptr<SequenceLayer>(std::int64_t depth)>;

struct PathLength {
  std::int64_t layers = 0;  ///< As many as it takes until the last position depends on the first.
  std::int64_t path =
      0;  ///< Ops, in which positions meet, from the last output to the first input.
  std::int64_t sequential = 0;  ///< Of these, the most that follow one another in one layer.
};

/// For n positions, at least 2, of `embed` features.
PathLength count_path(const LayerAt& make, std::int64_t n, std::int64_t embed);

}  // namespace heed
