// The tape: define-by-run reverse differentiation. An op computes its result and calls record()
// with a closure that, given the gradient of the result, adds to the gradients of its inputs:
//
//   Tensor square(const Tensor& x) {
//     Tensor y = ...;                                                   // forward
//     return record("square", {x}, y, [x](Backward& b) {                // backward, directly below
//       b.add(0, 2 * x * b.dy());
//     });
//   }
//
// Nothing is recorded when no input tracks gradients or inside a NoGrad scope.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <span>

#include "heed/autograd/node.h"
#include "heed/tensor/tensor.h"

namespace heed {

enum class GradMode { off, on };

/// True unless a NoGrad scope is open on this thread.
bool grad_enabled();

/// Recording on or off while it lives, on this thread.
class GradScope {
 public:
  explicit GradScope(GradMode mode);
  ~GradScope();
  GradScope(const GradScope&) = delete;
  GradScope& operator=(const GradScope&) = delete;

 private:
  GradMode before_;
};

/// While it lives, ops on this thread record nothing.
class NoGrad : public GradScope {
 public:
  NoGrad() : GradScope(GradMode::off) {}
};

/// What a closure sees of its node: the gradients that arrived and the inputs they go to.
class Backward {
 public:
  explicit Backward(Node& node) : node_(node) {}

  /// The gradient of an output; zeros if none of its users had one.
  const Tensor& dy(int output = 0);
  /// False when nothing arrived for that output.
  bool arrived(int output) const {
    return node_.slots()[static_cast<std::size_t>(output)].grad.defined();
  }
  /// Whether anybody wants the gradient of an input.
  bool needs(int input) const {
    return static_cast<bool>(node_.edges()[static_cast<std::size_t>(input)].node);
  }
  /// Adds to the gradient of an input; a gradient of the broadcast shape is summed to the input's
  /// own.
  void add(int input, Tensor gradient);

  /// A buffer of the input's shape to accumulate into; `fresh` says it is uninitialised and must be
  /// overwritten.
  struct Target {
    Tensor& grad;
    bool fresh;
  };
  Target into(int input);
  /// The same, zeroed when fresh: for gradients that touch only a part.
  Tensor& zeroed(int input);

 private:
  Slot& slot(int input);
  Node& node_;
};

namespace detail {

using TensorRefs = std::initializer_list<std::reference_wrapper<const Tensor>>;

inline bool tracked(const Tensor& x) { return x.tracks_grad(); }
void connect(Edge& edge, const Tensor& input);
void attach(const Ref<Node>& node, int output, Tensor& y);

template <typename Inputs>
bool wants_tape(const Inputs& inputs) {
  if (!grad_enabled()) return false;
  for (const Tensor& x : inputs) {
    if (tracked(x)) return true;
  }
  return false;
}

template <typename Inputs, typename F>
void record_into(const char* name, const Inputs& inputs, std::span<Tensor* const> outputs,
                 F&& backward) {
  if (!wants_tape(inputs)) return;
  const auto node = Node::make(name, static_cast<int>(inputs.size()),
                               static_cast<int>(outputs.size()), std::forward<F>(backward));
  std::size_t i = 0;
  for (const Tensor& x : inputs) connect(node->edges()[i++], x);
  for (std::size_t k = 0; k < outputs.size(); ++k) attach(node, static_cast<int>(k), *outputs[k]);
}

}  // namespace detail

/// Puts y on the tape as the result of an op on inputs. `name` must be a literal; it appears in
/// messages.
template <std::invocable<Backward&> F>
Tensor record(const char* name, detail::TensorRefs inputs, Tensor y, F&& backward) {
  Tensor* const outputs[] = {&y};
  detail::record_into(name, inputs, outputs, std::forward<F>(backward));
  return y;
}

/// The same for any number of inputs.
template <std::invocable<Backward&> F>
Tensor record(const char* name, std::span<const Tensor> inputs, Tensor y, F&& backward) {
  Tensor* const outputs[] = {&y};
  detail::record_into(name, inputs, outputs, std::forward<F>(backward));
  return y;
}

/// The same for several outputs, which are put on the tape in place.
template <std::invocable<Backward&> F>
void record_all(const char* name, detail::TensorRefs inputs, std::initializer_list<Tensor*> outputs,
                F&& backward) {
  detail::record_into(name, inputs, std::span(outputs.begin(), outputs.size()),
                      std::forward<F>(backward));
}
template <std::invocable<Backward&> F>
void record_all(const char* name, std::span<const Tensor> inputs,
                std::initializer_list<Tensor*> outputs, F&& backward) {
  detail::record_into(name, inputs, std::span(outputs.begin(), outputs.size()),
                      std::forward<F>(backward));
}

/// Runs the tape backwards from y, whose gradient is dy, and adds to the gradient of every leaf.
/// Nodes are taken apart as they finish, so a graph can be walked once.
void backward(const Tensor& y, const Tensor& dy);

}  // namespace heed
