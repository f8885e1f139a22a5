// Tells during a backward pass when the gradient of a leaf is final: no node that is still to run
// adds to it. What is done with gradients, such as sending them to other processes, can then begin
// before the pass ends.
//
//   const FinalGradients watch([&](const Node& leaf) { send(leaf); });
//   loss.backward();
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "heed/autograd/node.h"

namespace heed {

/// While it lives, backward() on this thread calls `is_final` for leaves that y depends on, once
/// each, after the last node that adds to the gradient has run. A node that runs a pass of its own
/// (activation checkpointing, reversible layers) may add to any leaf, so leaves are final only
/// after all such nodes. Leaves that only these reach are not reported.
class FinalGradients {
 public:
  using IsFinal = std::function<void(const Node& leaf)>;

  explicit FinalGradients(IsFinal is_final);
  ~FinalGradients();
  FinalGradients(const FinalGradients&) = delete;
  FinalGradients& operator=(const FinalGradients&) = delete;

 private:
  IsFinal is_final_;
  const FinalGradients* before_;

  friend class GradientCount;
};

/// Counts, for the leaves of a watched pass, the edges over which gradients are still to come. A
/// part of backward().
class GradientCount {
 public:
  explicit GradientCount(const Node& root);
  ~GradientCount();
  GradientCount(const GradientCount&) = delete;
  GradientCount& operator=(const GradientCount&) = delete;

  /// Runs a node, and reports the leaves that are final then.
  void run(Node& node, Backward& b);

 private:
  const FinalGradients* watch_;  // null if nobody watches
  std::unordered_map<const Node*, std::int64_t> edges_;
  std::int64_t reentrant_ = 0;   // nodes that are still to run
  std::vector<Ref<Node>> done_;  // leaves that have all gradients of the nodes of this pass
};

}  // namespace heed
