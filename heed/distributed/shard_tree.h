// The fixed tree in which the gradients of shards are added. A batch is cut into a number of shards
// that does not depend on the number of ranks. Their sum is
//
//   sum[0, 8) = sum[0, 4) + sum[4, 8),   sum[0, 4) = sum[0, 2) + sum[2, 4),   …
//
// A rank has a range of shards, and computes the sums of the largest nodes inside it. Which sums
// are added to which is the same for any number of ranks, so the result has the same bits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "heed/base/threads.h"

namespace heed {

/// Shards [begin, end): a node of the tree, or those of a rank.
struct ShardRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool contains(const ShardRange& other) const { return begin <= other.begin && other.end <= end; }
  bool overlaps(const ShardRange& other) const { return begin < other.end && other.begin < end; }
  /// The children of a node of at least two shards.
  std::pair<ShardRange, ShardRange> halves() const {
    const std::int64_t middle = begin + (size() + 1) / 2;
    return {{begin, middle}, {middle, end}};
  }
  friend bool operator==(const ShardRange&, const ShardRange&) = default;
};

/// The shards of a rank; there are at most as many ranks as shards.
inline ShardRange shards_of(int rank, int ranks, std::int64_t shards) {
  return {shards * rank / ranks, shards * (rank + 1) / ranks};
}

/// The largest nodes of the tree below `node` that are inside `own`, in order.
inline void add_nodes_of(const ShardRange& node, const ShardRange& own,
                         std::vector<ShardRange>& nodes) {
  if (!node.overlaps(own)) return;
  if (own.contains(node)) {
    nodes.push_back(node);
    return;
  }
  const auto [left, right] = node.halves();
  add_nodes_of(left, own, nodes);
  add_nodes_of(right, own, nodes);
}

inline std::vector<ShardRange> nodes_of(int rank, int ranks, std::int64_t shards) {
  std::vector<ShardRange> nodes;
  add_nodes_of({0, shards}, shards_of(rank, ranks, shards), nodes);
  return nodes;
}

/// The nodes beside the path from a node to its last shard, from the top. The sum over the node is
/// the first one + (the second + (… + the last shard)).
inline std::vector<ShardRange> beside_last(ShardRange node) {
  std::vector<ShardRange> nodes;
  while (node.size() > 1) {
    const auto [left, right] = node.halves();
    nodes.push_back(left);
    node = right;
  }
  return nodes;
}

/// The sum over a node. given(node) is whether leaf(node) has its value, which is asked for from
/// left to right; add(a, b) adds b to a.
template <typename Value, typename Given, typename Leaf, typename Add>
Value tree_sum(const ShardRange& node, const Given& given, const Leaf& leaf, const Add& add) {
  if (given(node)) return leaf(node);
  const auto [left, right] = node.halves();
  Value sum = tree_sum<Value>(left, given, leaf, add);
  add(sum, tree_sum<Value>(right, given, leaf, add));
  return sum;
}

}  // namespace heed
