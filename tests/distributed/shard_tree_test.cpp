// The tree of shards: which sums are added to which does not depend on the number of ranks.
#include "heed/distributed/shard_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace heed {
namespace {

// The sum of all shards as a formula, as ranks compute it: each its own nodes, then the rest.
std::string formula(int ranks, std::int64_t shards) {
  std::vector<ShardRange> computed;
  for (int r = 0; r < ranks; ++r) {
    for (const ShardRange& node : nodes_of(r, ranks, shards)) computed.push_back(node);
  }
  const auto add = [](std::string& a, const std::string& b) { a = "(" + a + "+" + b + ")"; };
  const auto inside = [&](const ShardRange& node) {
    return tree_sum<std::string>(
        node, [](const ShardRange& n) { return n.size() == 1; },
        [](const ShardRange& n) { return std::to_string(n.begin); }, add);
  };
  return tree_sum<std::string>(
      {0, shards},
      [&](const ShardRange& n) { return std::ranges::find(computed, n) != computed.end(); }, inside,
      add);
}

TEST(ShardTree, IsTheSameForAnyNumberOfRanks) {
  EXPECT_EQ(formula(1, 8), "(((0+1)+(2+3))+((4+5)+(6+7)))");
  EXPECT_EQ(formula(1, 5), "(((0+1)+2)+(3+4))");
  for (const std::int64_t shards : {1, 2, 3, 5, 7, 8, 12, 64}) {
    for (int ranks = 1; ranks <= shards; ++ranks) {
      EXPECT_EQ(formula(ranks, shards), formula(1, shards)) << ranks << " ranks";
    }
  }
}

TEST(ShardTree, RanksHaveAllShardsAndFewNodes) {
  for (int ranks = 1; ranks <= 24; ++ranks) {
    std::int64_t next = 0;
    for (int r = 0; r < ranks; ++r) {
      const ShardRange own = shards_of(r, ranks, 24);
      EXPECT_EQ(own.begin, next);
      EXPECT_GE(own.size(), 24 / ranks);
      EXPECT_LE(own.size(), 24 / ranks + 1);
      for (const ShardRange& node : nodes_of(r, ranks, 24)) {
        EXPECT_EQ(node.begin, next);
        next = node.end;
      }
    }
    EXPECT_EQ(next, 24);
  }
  for (const int ranks : {1, 2, 4, 8}) {
    EXPECT_EQ(nodes_of(0, ranks, 8).size(), 1u) << "such ranks send each element once";
  }
}

}  // namespace
}  // namespace heed
