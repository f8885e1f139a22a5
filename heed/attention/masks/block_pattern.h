// Block-sparse attention by rule (Child et al. 2019, Generating Long Sequences with Sparse
// Transformers, in blocks): a query sees the blocks around its own, and one in every so many of the
// others. For lists of blocks of one's own: block_list.h.
#pragma once

#include <array>
#include <cstdint>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"
#include "heed/io/codec.h"

namespace heed {

/// Which of the far blocks are seen.
enum class FarBlocks : std::uint8_t {
  fixed,    ///< The last of every so many: the same for all queries.
  strided,  ///< Those at a multiple of so many blocks from the query's own.
};

/// The names that configs use.
constexpr std::array<io::EnumName<FarBlocks>, 2> enum_names(FarBlocks) {
  return {{{FarBlocks::fixed, "fixed"}, {FarBlocks::strided, "strided"}}};
}

/// Sequences are cut into blocks of `size` positions.
struct BlockPattern {
  std::int64_t size = 16;
  std::int64_t local = 1;  ///< Blocks seen on each side of a query's own.
  std::int64_t every = 4;  ///< Of so many blocks, one is seen from afar; 0: none.
  FarBlocks far = FarBlocks::fixed;

  /// Whether a query in a block sees a key in another; blocks are counted from 0.
  bool sees(std::int64_t query_block, std::int64_t key_block) const;
};
Mask block_pattern(const BlockPattern& pattern, Corner corner = Corner::top_left);

}  // namespace heed
