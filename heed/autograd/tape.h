// The tape: define-by-run reverse-mode differentiation. An op computes its result and calls
// record() with a closure that takes the gradient of the result and adds to the gradients of the
// inputs:
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

/// Whether ops are recorded.
enum class GradMode { off, on };

/// True unless a NoGrad scope is open on this thread.
bool grad_enabled();

/// Switches recording on or off on this thread during its lifetime.
class GradScope {
 public:
  explicit GradScope(GradMode mode);
  ~GradScope();
  GradScope(const GradScope&) = delete;
  GradScope& operator=(const GradScope&) = delete;

 private:
  GradMode before_;
};

/// Ops on this thread record nothing during its lifetime.
class NoGrad : public GradScope {
 public:
  NoGrad() : GradScope(GradMode::off) {}
};

/// The interface of a closure to its node: it reads the gradients of the outputs and adds to those
/// of the inputs.
class Backward {
 public:
  explicit Backward(Node& node) : node_(node) {}

  /// The gradient of an output; zeros if none has arrived.
  const Tensor& dy(int output = 0);
  /// True if a gradient has arrived for the output.
  bool arrived(int output) const {
    return node_.slots()[static_cast<std::size_t>(output)].grad.defined();
  }
  /// True if the gradient of the input is needed.
  bool needs(int input) const {
    return static_cast<bool>(node_.edges()[static_cast<std::size_t>(input)].node);
  }
  /// Adds to the gradient of an input. A gradient of the broadcast shape is summed to the input's
  /// shape.
  void add(int input, Tensor gradient);

  /// A buffer of the input's shape to accumulate into. If `fresh`, it is uninitialised and must be
  /// overwritten.
  struct Target {
    Tensor& grad;
    bool fresh;
  };
  Target into(int input);
  /// The same buffer, zeroed if fresh, for gradients that cover only a part of the input.
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

/// Records y on the tape as the result of an op on inputs. `name` must be a string literal; it
/// appears in messages.
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

/// The same for several outputs, which are recorded in place.
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
/// Nodes are released as they finish, so backward can run only once on a graph.
void backward(const Tensor& y, const Tensor& dy);

}  // namespace heed
