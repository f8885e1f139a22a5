// Path lengths in the graph that the tape recorded, from a result back to its inputs. A predicate
// chooses which nodes count, for example only matrix products. backward() releases the graph, so
// call these functions before it.
#pragma once

#include <cstdint>
#include <optional>

#include "heed/autograd/node.h"
#include "heed/base/threads.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Returns whether a node is counted: `[](const Node& node) { return node.name() == "gru"sv; }`.
using CountsNode = FunctionRef<bool(const Node& node)>;

/// The fewest counted nodes on any path from y back to the leaf; nullopt if y does not depend on
/// it.
std::optional<std::int64_t> shortest_path(const Tensor& y, const Tensor& leaf, CountsNode counts);

/// The most counted nodes on any path from y back: the length of the longest sequential dependency.
std::int64_t longest_path(const Tensor& y, CountsNode counts);

}  // namespace heed
