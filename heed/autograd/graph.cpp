#include "heed/autograd/graph.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

// All that y was made from, users before makers.
std::vector<const Node*> nodes_behind(const Tensor& y) {
  HEED_CHECK(y.defined() && y.tracks_grad(),
             "[graph] the tensor was not computed from anything that requires a gradient");
  std::vector<const Node*> nodes;
  nodes.push_back(&*y.node());
  std::unordered_set<const Node*> found{nodes.front()};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    HEED_CHECK(!nodes[i]->finished(), "[graph] backward() has taken the graph apart: ask before");
    for (const Edge& edge : nodes[i]->edges()) {
      if (edge.node && found.insert(&*edge.node).second) nodes.push_back(&*edge.node);
    }
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const Node* a, const Node* b) { return a->sequence() > b->sequence(); });
  return nodes;
}

// For every node, the best way from y to it, it included; better(a, b): a rather than b.
template <typename Better>
std::unordered_map<const Node*, std::int64_t> ways(const std::vector<const Node*>& nodes,
                                                   CountsNode counts, Better better) {
  std::unordered_map<const Node*, std::int64_t> way{
      {nodes.front(), counts(*nodes.front()) ? 1 : 0}};
  for (const Node* const node : nodes) {
    const std::int64_t so_far = way.at(node);
    for (const Edge& edge : node->edges()) {
      if (!edge.node) continue;
      const std::int64_t length = so_far + (counts(*edge.node) ? 1 : 0);
      const auto [at, fresh] = way.emplace(&*edge.node, length);
      if (!fresh && better(length, at->second)) at->second = length;
    }
  }
  return way;
}

}  // namespace

std::optional<std::int64_t> shortest_path(const Tensor& y, const Tensor& leaf, CountsNode counts) {
  HEED_CHECK(leaf.tracks_grad() && leaf.node()->leaf(),
             "[graph] the path must end at a leaf: a tensor that requires a gradient");
  const auto way = ways(nodes_behind(y), counts, std::less<>());
  const auto at = way.find(&*leaf.node());
  return at == way.end() ? std::nullopt : std::optional(at->second);
}

std::int64_t longest_path(const Tensor& y, CountsNode counts) {
  const auto way = ways(nodes_behind(y), counts, std::greater<>());
  return std::max_element(way.begin(), way.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

}  // namespace heed
