// block_list: pairs of blocks, kept as a table of [query block][key block].
#include "heed/attention/masks.h"

#include <algorithm>

#include "heed/base/arena_vector.h"
#include "heed/base/error.h"

namespace heed {
namespace {

using kernels::Cover;
using kernels::Region;
using Lists = std::vector<std::vector<BlockPair>>;

// A table of the listed pairs.
class ListedBlocks : public kernels::Visibility {
 public:
  ListedBlocks(std::int64_t size, std::int64_t query_blocks, std::int64_t key_blocks,
               const Lists& lists)
      : size_(size),
        query_blocks_(query_blocks),
        key_blocks_(key_blocks),
        one_list_(lists.size() == 1),
        listed_(lists.size() * static_cast<std::size_t>(query_blocks * key_blocks)) {
    for (std::size_t h = 0; h < lists.size(); ++h) {
      for (const BlockPair& pair : lists[h]) {
        table(static_cast<std::int64_t>(h), pair.query)[pair.key] = 1;
      }
    }
  }

  bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const override {
    const std::int64_t end = region.col + region.cols;
    bool exact = true;
    for (std::int64_t r = 0; r < region.rows; ++r) {
      if (r > 0 && (region.row + r) % size_ != 0) {  // the same block as the previous row
        first[r] = first[r - 1], last[r] = last[r - 1];
        continue;
      }
      const std::uint8_t* const keys = row(region, r);
      const std::uint8_t* const from = std::find(keys, keys + key_blocks_, 1);
      const std::uint8_t* to = keys + key_blocks_;
      while (to > from && to[-1] == 0) --to;
      exact = exact && std::find(from, to, 0) == to;
      first[r] = std::clamp((from - keys) * size_, region.col, end);
      last[r] = std::clamp((to - keys) * size_, first[r], end);
    }
    return exact;
  }

  Cover cover(const Region& region) const override {
    bool all = true, none = true;
    for (std::int64_t r = 0; r < region.rows; r += size_ - (region.row + r) % size_) {
      const std::uint8_t* const keys = row(region, r);
      for (std::int64_t c = 0; c < region.cols; c += size_ - (region.col + c) % size_) {
        const bool visible = keys[(region.col + c) / size_] != 0;
        all = all && visible;
        none = none && !visible;
      }
    }
    return none ? Cover::none : all ? Cover::all : Cover::some;
  }

  void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const override {
    for (std::int64_t r = 0; r < region.rows; ++r) {
      const std::uint8_t* const keys = row(region, r);
      for (std::int64_t c = 0; c < region.cols; ++c) {
        visible[c * stride + r] = keys[(region.col + c) / size_];
      }
    }
  }

 private:
  std::uint8_t* table(std::int64_t list, std::int64_t query_block) {
    return listed_.data() + (list * query_blocks_ + query_block) * key_blocks_;
  }
  const std::uint8_t* row(const Region& region, std::int64_t r) const {
    const std::int64_t list = one_list_ ? 0 : region.head;
    return listed_.data() + (list * query_blocks_ + (region.row + r) / size_) * key_blocks_;
  }

  std::int64_t size_, query_blocks_, key_blocks_;
  bool one_list_;
  ArenaVector<std::uint8_t> listed_;  // [heads or 1, query blocks, key blocks]
};

class BlockList : public MaskImpl {
 public:
  BlockList(std::int64_t size, Lists lists, bool per_head)
      : size_(size), lists_(std::move(lists)), per_head_(per_head) {}
  std::string name() const override { return "block_list"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    const auto count = static_cast<std::int64_t>(lists_.size());
    HEED_CHECK(!per_head_ || count == shape.H,
               "[attention] block_list has lists for {} heads, q has {}: give one for each head, "
               "or one for all",
               count, shape.H);
    const std::int64_t query_blocks = (shape.Tq + size_ - 1) / size_;
    const std::int64_t key_blocks = (shape.Tk + size_ - 1) / size_;
    for (const auto& list : lists_) {
      for (const BlockPair& pair : list) {
        HEED_CHECK(
            pair.query >= 0 && pair.query < query_blocks && pair.key >= 0 && pair.key < key_blocks,
            "[attention] block_list has the pair ({}, {}): {} queries and {} keys make {} x "
            "{} blocks of {}",
            pair.query, pair.key, shape.Tq, shape.Tk, query_blocks, key_blocks, size_);
      }
    }
    return std::make_unique<ListedBlocks>(size_, query_blocks, key_blocks, lists_);
  }

 private:
  std::int64_t size_;
  Lists lists_;
  bool per_head_;
};

Mask make(std::int64_t size, Lists lists, bool per_head) {
  HEED_CHECK(size >= 1, "[block_list] blocks of {}: the size must be at least 1", size);
  return make_mask<BlockList>(size, std::move(lists), per_head);
}

}  // namespace

Mask block_list(std::int64_t size, std::vector<BlockPair> pairs) {
  return make(size, {std::move(pairs)}, false);
}

Mask block_list(std::int64_t size, std::vector<std::vector<BlockPair>> pairs_of_heads) {
  return make(size, std::move(pairs_of_heads), true);
}

}  // namespace heed
