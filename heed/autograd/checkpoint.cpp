#include "heed/autograd/checkpoint.h"

#include <vector>

#include "heed/autograd/replay.h"
#include "heed/autograd/tape.h"

namespace heed {
namespace {

// New leaves for the inputs, so that the graph of the second run ends there.
std::vector<Tensor> fresh_leaves(const std::vector<Tensor>& inputs, const Backward& outer) {
  std::vector<Tensor> leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor leaf = inputs[i].detach();
    if (outer.needs(static_cast<int>(i))) leaf.requires_grad();
    leaves.push_back(leaf);
  }
  return leaves;
}

}  // namespace

Tensor checkpoint(CheckpointBody body, std::span<const Tensor> inputs) {
  // If no input is tracked, the body runs normally, so that its own graph reaches its parameters.
  if (!grad_enabled() || !detail::wants_tape(inputs)) return body(inputs);
  const Generator::State random = default_generator().state();
  Tensor y = [&] {
    const NoGrad off;
    return body(inputs).detach();
  }();
  std::vector<Tensor> saved;
  for (const Tensor& x : inputs) saved.push_back(x.detach());
  return record("checkpoint", inputs, y,
                [body = std::move(body), saved = std::move(saved), random](Backward& b) {
                  std::vector<Tensor> leaves = fresh_leaves(saved, b);
                  {
                    const Replay replay(random);
                    const Tensor again = [&] {
                      const GradScope on(GradMode::on);
                      return body(leaves);
                    }();
                    backward(again, b.dy());
                  }
                  for (std::size_t i = 0; i < leaves.size(); ++i) {
                    if (leaves[i].tracks_grad() && leaves[i].grad().defined()) {
                      b.add(static_cast<int>(i), leaves[i].grad());
                    }
                  }
                });
}

}  // namespace heed
