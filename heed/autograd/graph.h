// The tape as a graph: how far it is from a result back to what it was computed from. Nodes are
// weighed by a predicate, so that a path can count, say, matrix products alone. A graph that
// backward() has walked is gone.
#pragma once

#include <cstdint>
#include <optional>

#include "heed/autograd/node.h"
#include "heed/base/threads.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Whether a node is counted: `[](const Node& node) { return node.name() == "gru"sv; }`.
using CountsNode = FunctionRef<bool(const Node& node)>;

/// The fewest counted nodes on any way from y back to the leaf; none if y was not made from it.
std::optional<std::int64_t> shortest_path(const Tensor& y, const Tensor& leaf, CountsNode counts);

/// The most counted nodes on any way from y back: what must happen one after another.
std::int64_t longest_path(const Tensor& y, CountsNode counts);

}  // namespace heed
