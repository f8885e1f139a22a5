// Block-sparse attention by rule (Child et al. 2019, Generating Long Sequences with Sparse
// Transformers, in blocks): a query attends to the blocks around its own and to one in every few of
// the others. block_list (masks.h) takes any pairs of blocks.
#pragma once

#include <array>
#include <cstdint>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"
#include "heed/io/codec.h"

namespace heed {

/// Which of the far blocks are visible.
enum class FarBlocks : std::uint8_t {
  fixed,    ///< The last of every `every` blocks: the same for all queries.
  strided,  ///< Those at a multiple of `every` blocks from the query's own.
};

/// The names that configs use.
constexpr std::array<io::EnumName<FarBlocks>, 2> enum_names(FarBlocks) {
  return {{{FarBlocks::fixed, "fixed"}, {FarBlocks::strided, "strided"}}};
}

/// Sequences are cut into blocks of `size` positions.
struct BlockPattern {
  std::int64_t size = 16;
  std::int64_t local = 1;  ///< Visible blocks on each side of the query's own.
  std::int64_t every = 4;  ///< One in this many far blocks is visible; 0: none.
  FarBlocks far = FarBlocks::fixed;

  /// Whether queries of a block attend to the keys of another; blocks are counted from 0.
  bool visible(std::int64_t query_block, std::int64_t key_block) const;
};
Mask block_pattern(const BlockPattern& pattern, Corner corner = Corner::top_left);

}  // namespace heed
