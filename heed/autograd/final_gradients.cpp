#include "heed/autograd/final_gradients.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

// The innermost FinalGradients of this thread; none inside a pass.
thread_local const FinalGradients* watching = nullptr;
// The node of a watched pass that runs now.
thread_local const Node* running = nullptr;

// Nodes that run a backward pass of their own, which may reach leaves that are not their inputs.
constexpr std::string_view kReentrant[] = {"checkpoint", "reversible"};

bool is_reentrant(const Node& node) {
  return std::ranges::find(kReentrant, std::string_view(node.name())) != std::end(kReentrant);
}

}  // namespace

FinalGradients::FinalGradients(IsFinal is_final)
    : is_final_(std::move(is_final)), before_(std::exchange(watching, this)) {}
FinalGradients::~FinalGradients() { watching = before_; }

GradientCount::GradientCount(const Node& root) : watch_(std::exchange(watching, nullptr)) {
  // A node that is missing in the list would make leaves final too early.
  HEED_ASSERT(running == nullptr || is_reentrant(*running));
  if (watch_ == nullptr) return;
  std::vector<const Node*> nodes = {&root};
  std::unordered_set<const Node*> found = {&root};
  while (!nodes.empty()) {
    const Node& node = *nodes.back();
    nodes.pop_back();
    reentrant_ += is_reentrant(node) ? 1 : 0;
    for (const Edge& edge : node.edges()) {
      if (!edge.node) continue;
      if (edge.node->leaf()) {
        ++edges_[&*edge.node];
      } else if (found.insert(&*edge.node).second) {
        nodes.push_back(&*edge.node);
      }
    }
  }
}

GradientCount::~GradientCount() {
  if (watch_ == nullptr) return;
  watching = watch_;
  running = nullptr;
}

void GradientCount::run(Node& node, Backward& b) {
  if (watch_ == nullptr) return node.run(b);
  running = &node;
  node.run(b);
  running = nullptr;
  reentrant_ -= is_reentrant(node) ? 1 : 0;
  for (const Edge& edge : node.edges()) {
    if (edge.node && edge.node->leaf() && --edges_[&*edge.node] == 0) done_.push_back(edge.node);
  }
  if (reentrant_ > 0) return;
  for (const Ref<Node>& leaf : done_) watch_->is_final_(*leaf);
  done_.clear();
}

}  // namespace heed
