// One node of the tape: the op that made a tensor, the edges to its inputs, and the closure that
// computes their gradients. Nodes live in the arena; making one costs an allocation from a free
// list and the copies of the captured handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "heed/tensor/tensor.h"

namespace heed {

class Backward;

/// The destination of an input's gradient: an output slot of the node that made the input. If the
/// node is null, the gradient is not needed.
struct Edge {
  Ref<Node> node;
  int output = 0;
};

/// The gradient of one output, collected from all its users.
struct Slot {
  Shape shape;
  DType dtype = DType::f32;
  Tensor grad;  // undefined until a gradient is added
};

/// A reference-counted node of the tape.
class Node {
 public:
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* name() const { return name_; }
  /// Increases with every node made, so the users of a tensor have higher numbers than the node
  /// that made it.
  std::uint64_t sequence() const { return sequence_; }
  bool leaf() const { return closure_.call == nullptr; }
  std::span<Edge> edges() const { return {edges_, static_cast<std::size_t>(n_edges_)}; }
  std::span<Slot> slots() const { return {slots_, static_cast<std::size_t>(n_slots_)}; }

  /// A leaf collects gradients for its owner and has no closure.
  static Ref<Node> leaf(const Shape& shape, DType dtype);
  /// A node with empty edges and slots, and a closure that sends gradients along the edges.
  template <typename F>
  static Ref<Node> make(const char* name, int n_edges, int n_slots, F&& backward) {
    using Closure = std::remove_cvref_t<F>;
    static_assert(alignof(Closure) <= alignof(Slot));
    Node* const node = allocate(name, n_edges, n_slots, sizeof(Closure));
    new (node->closure_storage()) Closure(std::forward<F>(backward));
    node->closure_ = {[](void* closure, Backward& b) { (*static_cast<Closure*>(closure))(b); },
                      [](void* closure) { static_cast<Closure*>(closure)->~Closure(); }};
    return Ref<Node>::adopt(node);
  }

  /// Computes the gradients of the inputs from those collected in the slots.
  void run(Backward& backward) { closure_.call(closure_storage(), backward); }
  /// Releases the closure's captures, the gradients and the edges. Called as soon as the node has
  /// run.
  void finish();
  bool finished() const { return finished_; }

  bool queued = false;  // used only by the backward pass

 private:
  struct Calls {
    void (*call)(void*, Backward&) = nullptr;
    void (*destroy)(void*) = nullptr;
  };

  Node(const char* name, int n_edges, int n_slots, std::size_t bytes);
  ~Node() = default;
  static Node* allocate(const char* name, int n_edges, int n_slots, std::size_t closure_bytes);
  static void destroy(Node* node) noexcept;
  void* closure_storage() const { return slots_ + n_slots_; }

  std::atomic<std::int64_t> refs_{1};
  const char* name_;
  std::uint64_t sequence_;
  std::size_t bytes_;  // of the whole block
  int n_edges_;
  int n_slots_;
  Edge* edges_;
  Slot* slots_;
  Calls closure_;
  bool finished_ = false;

  friend void retain(Node* node);
  friend void release(Node* node) noexcept;
};

}  // namespace heed
