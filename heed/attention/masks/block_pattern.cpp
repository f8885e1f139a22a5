#include "heed/attention/masks/block_pattern.h"

#include <algorithm>

#include "heed/attention/masks/query_positions.h"
#include "heed/base/error.h"

namespace heed {

bool BlockPattern::visible(std::int64_t query_block, std::int64_t key_block) const {
  const std::int64_t distance = key_block - query_block;
  if (distance >= -local && distance <= local) return true;
  if (every == 0) return false;
  return far == FarBlocks::strided ? distance % every == 0 : key_block % every == every - 1;
}

namespace {

using kernels::Cover;
using kernels::Region;

class PatternBlocks : public kernels::Visibility {
 public:
  PatternBlocks(const BlockPattern& pattern, QueryPositions positions)
      : pattern_(pattern), positions_(std::move(positions)) {}

  bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const override {
    const std::int64_t end = region.col + region.cols;
    for (std::int64_t r = 0; r < region.rows; ++r) {
      const std::int64_t block = query_block(region, r);
      first[r] = region.col, last[r] = end;
      if (pattern_.every > 0) continue;
      first[r] = std::clamp((block - pattern_.local) * pattern_.size, region.col, end);
      last[r] = std::clamp((block + pattern_.local + 1) * pattern_.size, first[r], end);
    }
    return pattern_.every == 0;
  }

  Cover cover(const Region& region) const override {
    if (region.rows == 0 || region.cols == 0) return Cover::none;
    bool all = true, none = true;
    const std::int64_t last_query = query_block(region, region.rows - 1);
    const std::int64_t last_key = block_of(region.col + region.cols - 1);
    for (std::int64_t q = query_block(region, 0); q <= last_query; ++q) {
      for (std::int64_t k = block_of(region.col); k <= last_key; ++k) {
        (pattern_.visible(q, k) ? none : all) = false;
        if (!all && !none) return Cover::some;
      }
    }
    return all ? Cover::all : Cover::none;
  }

  void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const override {
    for (std::int64_t r = 0, next = 0; r < region.rows; r = next) {
      const std::int64_t block = query_block(region, r);
      const std::int64_t last = (block + 1) * pattern_.size;  // the first position after the block
      next = std::min(region.rows, r + last - positions_(region.batch, region.row + r));
      for (std::int64_t c = 0; c < region.cols; ++c) {
        const bool shown = pattern_.visible(block, block_of(region.col + c));
        std::fill_n(visible + c * stride + r, next - r, static_cast<std::uint8_t>(shown ? 1 : 0));
      }
    }
  }

 private:
  // The position of a query may be negative.
  std::int64_t block_of(std::int64_t position) const {
    const std::int64_t block = position / pattern_.size;
    return position % pattern_.size < 0 ? block - 1 : block;
  }
  std::int64_t query_block(const Region& region, std::int64_t r) const {
    return block_of(positions_(region.batch, region.row + r));
  }

  BlockPattern pattern_;
  QueryPositions positions_;
};

}  // namespace

Mask block_pattern(const BlockPattern& pattern, Corner corner) {
  HEED_CHECK(pattern.size >= 1, "[block_pattern] blocks of {}: the size must be at least 1",
             pattern.size);
  HEED_CHECK(pattern.local >= 0 && pattern.every >= 0,
             "[block_pattern] local {}, every {}: neither may be negative", pattern.local,
             pattern.every);
  BlockPattern limited = pattern;
  limited.size = std::min(pattern.size, kFarPosition);
  limited.local = std::min(pattern.local, kFarPosition);
  return position_mask<PatternBlocks>("block_pattern", limited, corner);
}

}  // namespace heed
