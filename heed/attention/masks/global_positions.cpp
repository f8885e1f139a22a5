// global_positions: listed positions attend to all and all attend to them.
#include "heed/attention/masks.h"

#include <algorithm>

#include "heed/attention/masks/query_positions.h"

namespace heed {
namespace {

using kernels::Cover;
using kernels::Region;

class Globals : public kernels::Visibility {
 public:
  Globals(const std::vector<std::int64_t>& sorted, QueryPositions positions)
      : listed_(sorted.begin(), sorted.end()), positions_(std::move(positions)) {}

  bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const override {
    const std::int64_t end = region.col + region.cols;
    const auto [from, to] = listed_in(region.col, end);
    const bool keys = from != to;
    for (std::int64_t r = 0; r < region.rows; ++r) {
      const bool global = listed(positions_(region.batch, region.row + r));
      first[r] = !global && keys ? *from : region.col;
      last[r] = global ? end : keys ? *(to - 1) + 1 : region.col;
    }
    return !keys || *(to - 1) - *from + 1 == to - from;
  }

  Cover cover(const Region& region) const override {
    const std::int64_t first = positions_(region.batch, region.row);
    const std::int64_t queries = count(first, first + region.rows);
    const std::int64_t keys = count(region.col, region.col + region.cols);
    if (queries == region.rows || keys == region.cols) return Cover::all;
    return queries == 0 && keys == 0 ? Cover::none : Cover::some;
  }

  void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const override {
    for (std::int64_t r = 0; r < region.rows; ++r) {
      const std::uint8_t all = listed(positions_(region.batch, region.row + r)) ? 1 : 0;
      for (std::int64_t c = 0; c < region.cols; ++c) visible[c * stride + r] = all;
    }
    const auto [from, to] = listed_in(region.col, region.col + region.cols);
    for (auto key = from; key != to; ++key) {
      std::fill_n(visible + (*key - region.col) * stride, region.rows, std::uint8_t{1});
    }
  }

 private:
  using Place = ArenaVector<std::int64_t>::const_iterator;
  std::pair<Place, Place> listed_in(std::int64_t first, std::int64_t last) const {
    const auto from = std::lower_bound(listed_.begin(), listed_.end(), first);
    return {from, std::lower_bound(from, listed_.end(), last)};
  }
  std::int64_t count(std::int64_t first, std::int64_t last) const {
    const auto [from, to] = listed_in(first, last);
    return to - from;
  }
  bool listed(std::int64_t position) const {
    return std::binary_search(listed_.begin(), listed_.end(), position);
  }

  ArenaVector<std::int64_t> listed_;  // each once, in order
  QueryPositions positions_;
};

}  // namespace

Mask global_positions(std::vector<std::int64_t> positions, Corner corner) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return position_mask<Globals>("global_positions", std::move(positions), corner);
}

}  // namespace heed
