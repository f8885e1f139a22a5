#include "heed/autograd/graph.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

// All nodes that y was computed from; a node comes after all nodes that use its result.
std::vector<const Node*> reachable_nodes(const Tensor& y) {
  HEED_CHECK(y.defined() && y.tracks_grad(),
             "[graph] the tensor was not computed from anything that requires a gradient");
  std::vector<const Node*> nodes;
  nodes.push_back(&*y.node());
  std::unordered_set<const Node*> found{nodes.front()};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    HEED_CHECK(!nodes[i]->finished(),
               "[graph] backward() has released the graph: call this before backward()");
    for (const Edge& edge : nodes[i]->edges()) {
      if (edge.node && found.insert(&*edge.node).second) nodes.push_back(&*edge.node);
    }
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const Node* a, const Node* b) { return a->sequence() > b->sequence(); });
  return nodes;
}

// For every node, the best number of counted nodes on a path from y to it, both included; better(a,
// b) is true if a is better than b.
template <typename Better>
std::unordered_map<const Node*, std::int64_t> path_lengths(const std::vector<const Node*>& nodes,
                                                           CountsNode counts, Better better) {
  std::unordered_map<const Node*, std::int64_t> lengths{
      {nodes.front(), counts(*nodes.front()) ? 1 : 0}};
  for (const Node* const node : nodes) {
    const std::int64_t so_far = lengths.at(node);
    for (const Edge& edge : node->edges()) {
      if (!edge.node) continue;
      const std::int64_t length = so_far + (counts(*edge.node) ? 1 : 0);
      const auto [at, fresh] = lengths.emplace(&*edge.node, length);
      if (!fresh && better(length, at->second)) at->second = length;
    }
  }
  return lengths;
}

}  // namespace

std::optional<std::int64_t> shortest_path(const Tensor& y, const Tensor& leaf, CountsNode counts) {
  HEED_CHECK(leaf.tracks_grad() && leaf.node()->leaf(),
             "[graph] the path must end at a leaf: a tensor that requires a gradient");
  const auto lengths = path_lengths(reachable_nodes(y), counts, std::less<>());
  const auto at = lengths.find(&*leaf.node());
  return at == lengths.end() ? std::nullopt : std::optional(at->second);
}

std::int64_t longest_path(const Tensor& y, CountsNode counts) {
  const auto lengths = path_lengths(reachable_nodes(y), counts, std::greater<>());
  return std::max_element(lengths.begin(), lengths.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

}  // namespace heed
