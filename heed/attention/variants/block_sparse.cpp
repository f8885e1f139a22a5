#include "heed/attention/variants/block_sparse.h"

#include "heed/base/error.h"

namespace heed {

void BlockSparseConfig::fields(io::Fields& field) {
  multi_head.fields(field);
  field("block", pattern.size, "positions in a block", {.min = 1});
  field("local", pattern.local, "blocks on each side of its own that a position attends to",
        {.min = 0});
  field("every", pattern.every, "one in so many far blocks is visible; 0: none", {.min = 0});
  field("far", pattern.far,
        "which one: the last of each group, or those at multiples of the distance");
}

void BlockSparseConfig::validate() const {
  multi_head.validate();
  block_pattern(pattern);
}

BlockSparseAttention::BlockSparseAttention(const Config& config, Generator& generator)
    : MultiHeadAttention(valid(config).multi_head, generator), pattern_(config.pattern) {}

void BlockSparseAttention::specialise(AttentionSpec& spec, Corner corner) const {
  spec.mask = block_pattern(pattern_, corner) & spec.mask;
}

}  // namespace heed
