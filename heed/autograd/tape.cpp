#include "heed/autograd/tape.h"

#include <algorithm>
#include <vector>

#include "heed/autograd/final_gradients.h"
#include "heed/base/arena_vector.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

thread_local GradMode grad_mode = GradMode::on;

// Adds a gradient to a slot. Buffers are moved, not copied, and changed in place only if nothing
// else refers to them.
void accumulate(Slot& slot, bool leaf, Tensor gradient) {
  if (!slot.grad.defined()) {
    // The owner of a leaf may change its gradient (clipping, optimisers), so it must not share
    // memory.
    const bool own = gradient.contiguous() && gradient.storage()->exclusive();
    slot.grad = leaf && !own ? clone_data(gradient) : std::move(gradient);
  } else if (slot.grad.storage()->exclusive() && slot.grad.contiguous()) {
    add_into(slot.grad, gradient);
  } else {
    slot.grad = add_data(slot.grad, gradient);
  }
}

// Nodes still to run, newest first.
class Frontier {
 public:
  Frontier() = default;
  ~Frontier() {
    for (Ref<Node>& node : heap_) node->queued = false;
  }
  Frontier(const Frontier&) = delete;
  Frontier& operator=(const Frontier&) = delete;

  void add(const Ref<Node>& node) {
    if (!node || node->leaf() || node->queued) return;
    node->queued = true;
    heap_.push_back(node);
    std::push_heap(heap_.begin(), heap_.end(), older);
  }
  bool empty() const { return heap_.empty(); }
  Ref<Node> take() {
    std::pop_heap(heap_.begin(), heap_.end(), older);
    Ref<Node> node = std::move(heap_.back());
    heap_.pop_back();
    node->queued = false;
    return node;
  }

 private:
  static bool older(const Ref<Node>& a, const Ref<Node>& b) {
    return a->sequence() < b->sequence();
  }
  ArenaVector<Ref<Node>> heap_;
};

}  // namespace

bool grad_enabled() { return grad_mode == GradMode::on; }
GradScope::GradScope(GradMode mode) : before_(std::exchange(grad_mode, mode)) {}
GradScope::~GradScope() { grad_mode = before_; }

const Tensor& Backward::dy(int output) {
  Slot& slot = node_.slots()[static_cast<std::size_t>(output)];
  if (!slot.grad.defined()) slot.grad = zeros(slot.shape, slot.dtype);
  return slot.grad;
}

Slot& Backward::slot(int input) {
  const Edge& edge = node_.edges()[static_cast<std::size_t>(input)];
  return edge.node->slots()[static_cast<std::size_t>(edge.output)];
}

void Backward::add(int input, Tensor gradient) {
  if (!needs(input)) return;
  Slot& target = slot(input);
  if (gradient.shape() != target.shape) gradient = sum_to(gradient, target.shape);
  HEED_ASSERT(gradient.dtype() == target.dtype);
  accumulate(target, node_.edges()[static_cast<std::size_t>(input)].node->leaf(),
             std::move(gradient));
}

Backward::Target Backward::into(int input) {
  HEED_ASSERT(needs(input));
  Slot& target = slot(input);
  if (!target.grad.defined()) {
    target.grad = empty(target.shape, target.dtype);
    return {target.grad, true};
  }
  if (!target.grad.storage()->exclusive() || !target.grad.contiguous()) {
    target.grad = clone_data(target.grad);
  }
  return {target.grad, false};
}

Tensor& Backward::zeroed(int input) {
  Slot& target = slot(input);
  if (!target.grad.defined()) target.grad = zeros(target.shape, target.dtype);
  return into(input).grad;
}

namespace detail {

void connect(Edge& edge, const Tensor& input) {
  edge.node = input.node();
  edge.output = input.output_index();
}

void attach(const Ref<Node>& node, int output, Tensor& y) {
  Slot& slot = node->slots()[static_cast<std::size_t>(output)];
  slot.shape = y.shape();
  slot.dtype = y.dtype();
  y.set_node(node, output);
}

}  // namespace detail

void backward(const Tensor& y, const Tensor& dy) {
  HEED_CHECK(y.tracks_grad(),
             "[backward] the tensor was not computed from anything that requires a gradient");
  HEED_CHECK(y.shape() == dy.shape() && y.dtype() == dy.dtype(),
             "[backward] the gradient is {} {}, the tensor {} {}: they must agree",
             name_of(dy.dtype()), to_string(dy.shape()), name_of(y.dtype()), to_string(y.shape()));
  const Ref<Node>& root = y.node();
  HEED_CHECK(
      root->leaf() || !root->finished(),
      "[backward] this graph was walked already: compute the result again before backward()");
  const NoGrad off;
  GradientCount count(*root);
  accumulate(root->slots()[static_cast<std::size_t>(y.output_index())], root->leaf(), dy.detach());
  Frontier frontier;
  frontier.add(root);
  while (!frontier.empty()) {
    const Ref<Node> node = frontier.take();
    HEED_CHECK(!node->finished(),
               "[backward] a part of this graph ('{}') was walked already: compute it again first",
               node->name());
    Backward b(*node);
    count.run(*node, b);
    for (const Edge& edge : node->edges()) frontier.add(edge.node);
    node->finish();
  }
}

Tensor& Tensor::requires_grad(bool on) {
  HEED_CHECK(!on || dtype_ == DType::f32 || dtype_ == DType::f64,
             "[requires_grad] dtype {}: gradients are f32 or f64", name_of(dtype_));
  HEED_CHECK(
      !node_ || node_->leaf(),
      "[requires_grad] the tensor was computed by '{}': only leaves can be switched; use detach()",
      node_ ? node_->name() : "");
  if (!on) {
    set_node({}, 0);
  } else if (!node_) {
    set_node(Node::leaf(shape_, dtype_), 0);
  }
  return *this;
}

Tensor Tensor::grad() const {
  HEED_CHECK(node_ && node_->leaf(),
             "[grad] only leaves keep a gradient: call requires_grad() on them");
  return node_->slots()[0].grad;
}

void Tensor::set_grad(Tensor grad) {
  HEED_CHECK(node_ && node_->leaf(),
             "[set_grad] only leaves keep a gradient: call requires_grad() first");
  HEED_CHECK(!grad.defined() || (grad.shape() == shape_ && grad.dtype() == dtype_),
             "[set_grad] a gradient of shape {} for a tensor of shape {}", to_string(grad.shape()),
             to_string(shape_));
  node_->slots()[0].grad = std::move(grad);
}

void Tensor::backward() const {
  HEED_CHECK(defined() && numel() == 1,
             "[backward] a tensor of shape {}: start from a scalar (its sum or mean), or give "
             "its gradient with heed::backward(y, dy)",
             to_string(shape_));
  heed::backward(*this, full(shape_, 1.0, dtype_));
}

}  // namespace heed
