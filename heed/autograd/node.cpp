#include "heed/autograd/node.h"

namespace heed {
namespace {

std::atomic<std::uint64_t> next_sequence{0};

// Nodes whose last reference was dropped while another node was being destroyed. They are destroyed
// from this list, because recursion over a chain of a million nodes would overflow the stack.
thread_local Node* dying = nullptr;
thread_local bool destroying = false;

static_assert(alignof(Slot) <= alignof(std::max_align_t) && alignof(Edge) <= alignof(Slot));

}  // namespace

Node::Node(const char* name, int n_edges, int n_slots, std::size_t bytes)
    : name_(name),
      sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)),
      bytes_(bytes),
      n_edges_(n_edges),
      n_slots_(n_slots) {
  auto* const after = reinterpret_cast<std::byte*>(this + 1);
  edges_ = reinterpret_cast<Edge*>(after);
  slots_ = reinterpret_cast<Slot*>(after + sizeof(Edge) * static_cast<std::size_t>(n_edges));
  for (int i = 0; i < n_edges; ++i) new (edges_ + i) Edge;
  for (int i = 0; i < n_slots; ++i) new (slots_ + i) Slot;
}

Node* Node::allocate(const char* name, int n_edges, int n_slots, std::size_t closure_bytes) {
  const std::size_t bytes = sizeof(Node) + sizeof(Edge) * static_cast<std::size_t>(n_edges) +
                            sizeof(Slot) * static_cast<std::size_t>(n_slots) + closure_bytes;
  return new (arena::take(bytes)) Node(name, n_edges, n_slots, bytes);
}

Ref<Node> Node::leaf(const Shape& shape, DType dtype) {
  Node* const node = allocate("leaf", 0, 1, 0);
  node->slots_[0].shape = shape;
  node->slots_[0].dtype = dtype;
  return Ref<Node>::adopt(node);
}

void Node::finish() {
  if (finished_) return;
  finished_ = true;
  if (closure_.destroy != nullptr) closure_.destroy(closure_storage());
  for (Slot& slot : slots()) slot.grad = Tensor();
  for (Edge& edge : edges()) edge = Edge();
}

void Node::destroy(Node* node) noexcept {
  node->finish();
  for (Edge& edge : node->edges()) edge.~Edge();
  for (Slot& slot : node->slots()) slot.~Slot();
  const std::size_t bytes = node->bytes_;
  node->~Node();
  arena::give(node, bytes);
}

void retain(Node* node) { node->refs_.fetch_add(1, std::memory_order_relaxed); }

void release(Node* node) noexcept {
  if (node->refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // The sequence number is no longer needed; its memory holds the link of the list.
  node->sequence_ = reinterpret_cast<std::uint64_t>(dying);
  dying = node;
  if (destroying) return;
  destroying = true;
  while (dying != nullptr) {
    Node* const next = dying;
    dying = reinterpret_cast<Node*>(next->sequence_);
    Node::destroy(next);
  }
  destroying = false;
}

}  // namespace heed
