// Block-sparse attention: the pairs of query block and key block that are computed.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attention/mask.h"

namespace heed {

/// Queries of block `query` see keys of block `key`; blocks are counted from 0.
struct BlockPair {
  std::int64_t query = 0, key = 0;
};

/// The sequences are cut into blocks of `size`; only listed pairs see each other, in every head.
Mask block_list(std::int64_t size, std::vector<BlockPair> pairs);
/// A list for each head.
Mask block_list(std::int64_t size, std::vector<std::vector<BlockPair>> pairs_of_heads);

}  // namespace heed
