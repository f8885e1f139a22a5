// How well an epoch of a packed corpus is shuffled, compared with a random order of all pairs.
#pragma once

#include <cstdint>

#include "heed/data/packed_stream.h"

namespace heed {

/// Statistics of the order of one epoch. The places of pairs are counted in the corpus and in the
/// epoch, from 0 to 1.
struct Shuffling {
  double moved = 0.0;        ///< Mean distance of both places; random: 1/3.
  double correlation = 0.0;  ///< Of both places; random: about 0.
  double neighbours = 0.0;   ///< Mean distance in the epoch of neighbours in a block; random: 1/3.
  double same_block = 0.0;   ///< Share of pairs of rows of a batch that come from one block.
  double padding = 0.0;      ///< Share of padding in the batches.
};

/// Measures one epoch: plans all its windows, and reads no tokens.
Shuffling measure_shuffling(const PackedPairs& corpus, const PackedStreamOptions& options,
                            std::int64_t epoch);

}  // namespace heed
